package evidence

import (
	"context"
	"path"
	"time"

	"patra/internal/blob"
)

// young is how long a body stays that the tables do not know: it is put there before the page that it belongs to is written
// down.
const young = time.Hour

// Forget deletes bodies that the tables do not know any more, but none that somebody put there again a short while ago. It
// tells how many it deleted.
func (k *Keeper) Forget(ctx context.Context, names []string, now time.Time) (n int, err error) {
	for _, name := range names {
		old := false
		err := k.place.Walk(ctx, path.Dir(name), func(i blob.Info) error {
			old = old || i.Name == name && now.Sub(i.At) > young
			return nil
		})
		if err != nil {
			return n, err
		}
		if !old {
			continue
		}
		if err := k.place.Delete(ctx, name); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
