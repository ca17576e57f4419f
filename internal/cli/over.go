package cli

import (
	"context"
	"fmt"
	"strings"

	"patra"
	"patra/internal/store"
)

// refuseFinished refuses to do something about a plan, a slice or a task of which nothing is left to be done: it would change
// nothing, and look as if it had.
func refuseFinished(ctx context.Context, s *store.Store, t patra.Target, do string) error {
	ended, err := endOf(ctx, s, t)
	if err != nil || ended == "" {
		return err
	}
	return patra.Invalid("", "%s is over (%s): there is nothing to %s; patra retry %s queues what failed or was called off again", t, strings.ToLower(ended), do, shell(t))
}

// endOf is how a piece of work ended; empty if it has not, or if there is no such thing, which is found elsewhere.
func endOf(ctx context.Context, s *store.Store, t patra.Target) (string, error) {
	f := store.Filter{Limit: 1}
	switch t.Scope {
	case patra.ScopePlan:
		f.Plan = t.ID()
		all, err := s.Plans(ctx, f)
		if err != nil || len(all) == 0 {
			return "", err
		}
		return string(all[0].Ended), nil
	case patra.ScopeSlice:
		f.Slice = t.ID()
		all, err := s.Slices(ctx, f)
		if err != nil || len(all) == 0 || all[0].Status == patra.Ready || all[0].Status == patra.Partial {
			return "", err
		}
		return string(all[0].Status), nil
	case patra.ScopeTask:
		f.Task = t.ID()
		all, err := s.Tasks(ctx, f)
		if err != nil || len(all) == 0 || all[0].Status == patra.Queued || all[0].Status == patra.Running || all[0].Status == patra.Partial {
			return "", err
		}
		return string(all[0].Status), nil
	}
	return "", nil
}

// haltOver is the halt that holds a target back; nil if none does.
func haltOver(ctx context.Context, s *store.Store, t patra.Target) (*patra.Control, error) {
	controls, err := s.Controls(ctx)
	if err != nil {
		return nil, err
	}
	if t.IsScope() {
		for _, c := range controls {
			if c.Kind == patra.KindHalt && overlap(t.WorkScope(), c.WorkScope()) {
				return &c, nil
			}
		}
		return nil, nil
	}
	place, err := placeOfWork(ctx, s, t)
	if err != nil || place.Source == "" {
		return nil, err
	}
	return patra.HaltAt(controls, place), nil
}

// placeOfWork is where a piece of work stands.
func placeOfWork(ctx context.Context, s *store.Store, t patra.Target) (place patra.WorkScope, err error) {
	f := store.Filter{Limit: 1}
	switch t.Scope {
	case patra.ScopeCursor:
		f.Cursor = t.ID()
		all, err := s.Cursors(ctx, f)
		if err != nil || len(all) == 0 {
			return place, err
		}
		return all[0].WorkScope(), nil
	case patra.ScopePlan:
		f.Plan = t.ID()
	case patra.ScopeSlice:
		f.Slice = t.ID()
	case patra.ScopeTask:
		f.Task = t.ID()
	default:
		return place, fmt.Errorf("%s is no piece of work", t)
	}
	all, err := s.Tasks(ctx, f)
	if err != nil || len(all) == 0 {
		return place, err
	}
	return all[0].WorkScope(), nil
}
