package cli

import (
	"context"
	"errors"
	"sync"

	"patra"
	"patra/internal/config"
	"patra/internal/evidence"
)

// evidenceBodies gives the bodies of answers. Their place is opened when somebody first wants one.
type evidenceBodies struct {
	app *app
	cfg config.Config

	mu     sync.Mutex
	keeper *evidence.BodyStore
}

// Get reads one.
func (k *evidenceBodies) Get(ctx context.Context, b patra.StoredBody) ([]byte, error) {
	keeper, err := k.open()
	if err != nil {
		return nil, err
	}
	return keeper.Get(ctx, b)
}

func (k *evidenceBodies) open() (*evidence.BodyStore, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keeper != nil {
		return k.keeper, nil
	}
	keeper, err := k.app.evidence(k.cfg)
	if err == nil && keeper == nil {
		err = errors.New("answers are not kept (evidence.url)")
	}
	k.keeper = keeper
	return keeper, err
}
