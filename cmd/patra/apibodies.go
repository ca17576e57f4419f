package main

import (
	"context"
	"errors"
	"sync"

	"patra"
	"patra/internal/config"
	"patra/internal/evidence"
)

// keptBodies gives the bodies of answers. Their place is opened when somebody first wants one.
type keptBodies struct {
	app *app
	cfg config.Config

	mu     sync.Mutex
	keeper *evidence.Keeper
}

// Body reads one.
func (k *keptBodies) Body(ctx context.Context, b patra.KeptBody) ([]byte, error) {
	keeper, err := k.open()
	if err != nil {
		return nil, err
	}
	return keeper.Body(ctx, b)
}

func (k *keptBodies) open() (*evidence.Keeper, error) {
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
