package archive_test

import (
	"context"
	"errors"
	"sync"

	"patra"
	"patra/internal/archive"
	"patra/internal/blob"
	"patra/internal/store"
)

var storetestFilter = store.Filter{Limit: 1000}

var errNoRoom = errors.New("no space left on device")

// noRoom is a place where nothing fits.
type noRoom struct{ blob.Backend }

func (noRoom) Put(context.Context, string, []byte) error { return errNoRoom }

// meanwhile lets somebody else do the same between the file and the rows.
type meanwhile struct {
	archive.Store
	once  *sync.Once
	other func()
}

func (m meanwhile) Archive(ctx context.Context, now patra.Instant, a patra.ArchivedTask, sum func(each func(use func(patra.ArchiveRow) error) error) (string, error)) error {
	m.once.Do(m.other)
	return m.Store.Archive(ctx, now, a, sum)
}
