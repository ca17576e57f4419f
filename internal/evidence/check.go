package evidence

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"patra"
	"patra/internal/blob"
)

// Kinds of damage.
const (
	DamageNoRow   = "NO_ROW"  // a page was read, and nothing is known of its body
	DamageNoBlob  = "NO_BLOB" // the body should be there and is not
	DamageSize    = "SIZE"    // it is shorter or longer than it was
	DamageContent = "CONTENT" // it is not what was put there
)

// Damage is a body that is not what it should be.
type Damage struct {
	Kind string `json:"kind"`
	Body string `json:"body_sha256"`
	Text string `json:"text"`
}

// Inspect looks at one body: whether it is there, and with read also whether it is what was put there. It gives nil if all
// is well; an error is about the place, and not about the body.
func (k *BodyStore) Inspect(ctx context.Context, b patra.StoredBody, read bool) (*Damage, error) {
	if !read {
		size, err := k.place.Has(ctx, b.Location)
		switch {
		case errors.Is(err, blob.ErrNotFound):
			return &Damage{DamageNoBlob, b.Body, "there is no " + b.Location}, nil
		case err == nil && size != b.StoredSize:
			return &Damage{DamageSize, b.Body, b.Location + " has another size than when it was kept"}, nil
		}
		return nil, err
	}
	switch _, err := k.Get(ctx, b); {
	case errors.Is(err, blob.ErrNotFound):
		return &Damage{DamageNoBlob, b.Body, "there is no " + b.Location}, nil
	case errors.Is(err, ErrDamaged):
		return &Damage{DamageContent, b.Body, err.Error()}, nil
	default:
		return nil, err
	}
}

// inspectors is how many bodies are looked at at the same time: places answer slowly, and hashing is fast.
const inspectors = 8

// InspectAll looks at all bodies that each hands out, several at once, and tells of each. Whoever is told is told by one at
// a time. Memory does not grow with the number of bodies.
func (k *BodyStore) InspectAll(ctx context.Context, read bool, each func(use func(patra.StoredBody) error) error, tell func(patra.StoredBody, *Damage) error) error {
	type found struct {
		body   patra.StoredBody
		damage *Damage
	}
	group, ctx := errgroup.WithContext(ctx)
	todo, done := make(chan patra.StoredBody), make(chan found)
	group.Go(func() error {
		defer close(todo)
		return each(func(b patra.StoredBody) error {
			select {
			case todo <- b:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	})
	workers, inside := errgroup.WithContext(ctx)
	for range inspectors {
		workers.Go(func() error {
			for b := range todo {
				damage, err := k.Inspect(inside, b, read)
				if err != nil {
					return err
				}
				select {
				case done <- found{b, damage}:
				case <-inside.Done():
					return context.Cause(inside)
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(done)
		return workers.Wait()
	})
	group.Go(func() error {
		for f := range done {
			if err := tell(f.body, f.damage); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// Orphans visits bodies that are older than a time and that nobody knows. Younger ones may belong to a page that is about
// to be written.
func (k *BodyStore) Orphans(ctx context.Context, before time.Time, known func(hash string) (bool, error), use func(blob.Info) error) error {
	return k.place.Walk(ctx, Folder, func(i blob.Info) error {
		if !i.At.Before(before) {
			return nil
		}
		hash := strings.TrimSuffix(i.Name[strings.LastIndexByte(i.Name, '/')+1:], ".zst")
		if len(hash) == 64 { // in whichever folder: what a row knows is where it was put, and folders were deeper once
			if is, err := known(hash); err != nil || is {
				return err
			}
		}
		return use(i)
	})
}
