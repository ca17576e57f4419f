package evidence

import (
	"context"
	"time"
)

// young is how long a body stays that the tables do not know: it is put there before the page that it belongs to is written
// down.
const young = time.Hour

// DeleteUnreferenced deletes bodies that the tables do not know any more, but none that somebody put there again a short while ago. It
// tells how many it deleted.
func (k *BodyStore) DeleteUnreferenced(ctx context.Context, names []string, now time.Time) (n int, err error) {
	for _, name := range names {
		gone, err := k.place.DeleteOld(ctx, name, now.Add(-young))
		if err != nil {
			return n, err
		}
		if gone {
			n++
		}
	}
	return n, nil
}
