// Package evidence keeps whole answers of providers, so that a page can be read again when the provider has long changed.
//
// A body is kept once, under the hash of the bytes as they came, compressed, and durable before the page that it belongs
// to may count as read. What is read back is compared with its hash: it is what came, or an error. The package never
// decides what is kept and for how long, and never sees a secret: they are taken out before.
package evidence

import (
	"context"
	"errors"
	"fmt"

	"patra"
	"patra/internal/blob"
	"patra/internal/zstdchunks"
)

// ErrDamaged says that what is kept is not what was put there.
var ErrDamaged = errors.New("the kept body is damaged")

// Folder is where bodies are, below the place.
const Folder = "bodies"

// BodyStore keeps bodies at a place. It is safe for concurrent use.
type BodyStore struct{ place blob.Backend }

// NewKeeper makes a keeper.
func NewKeeper(place blob.Backend) *BodyStore { return &BodyStore{place} }

// Place is where the bodies are.
func (k *BodyStore) Place() blob.Backend { return k.place }

// Put keeps a body whose hash was taken as it came; if it is clean, nothing has been taken out of it since, and else secrets
// may have been. It is written also if it is there already: its age tells whoever cleans up that somebody needs it.
func (k *BodyStore) Put(ctx context.Context, came string, body []byte, clean bool) (patra.StoredBody, error) {
	e := patra.StoredBody{Body: came, Stored: came, Size: int64(len(body)), Codec: patra.CodecZstd, Location: Name(came)}
	if !clean {
		e.Stored = patra.HashBytes(body)
	}
	e.Redacted = e.Stored != e.Body
	whole, each := zstdchunks.Pack(body)
	e.StoredSize, e.Pieces = int64(len(whole)), each
	return e, k.place.Put(ctx, e.Location, whole)
}

// Name is the name of the blob of a body. There are few folders, so that all are there soon: one that is new costs the disk a
// wait of its own.
func Name(hash string) string {
	return fmt.Sprintf("%s/%s/%s.zst", Folder, hash[:2], hash)
}

// Get gives a body back, and sees that it is what was kept.
func (k *BodyStore) Get(ctx context.Context, e patra.StoredBody) ([]byte, error) {
	packed, err := k.place.Get(ctx, e.Location)
	if err != nil {
		return nil, err
	}
	body, err := zstdchunks.Open(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", e.Location, ErrDamaged, err)
	}
	if is := patra.HashBytes(body); is != e.Stored {
		return nil, fmt.Errorf("%s: %w: its hash is %s, and should be %s", e.Location, ErrDamaged, is, e.Stored)
	}
	return body, nil
}
