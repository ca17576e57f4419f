package cli

import (
	"context"

	"patra"
	"patra/internal/planner"
	"patra/internal/store"
)

// outdated are the plans of a place with work left that go by a source which has changed since. What failed because of its
// source file fails again, however often it is resumed, and whoever mended the file must learn why.
func (a *app) outdated(ctx context.Context, s *store.Store, t patra.Target) (targets []string) {
	if !t.IsScope() {
		return nil
	}
	place := t.WorkScope()
	plans, err := s.Plans(ctx, store.Filter{Source: place.Source, Status: patra.Ready, Limit: 100})
	if err != nil {
		return nil
	}
	for _, p := range plans {
		if p.Ended != "" || p.CursorID == 0 || place.Endpoint != "" && place.Endpoint != p.Endpoint {
			continue
		}
		// A source that cannot be compiled is told to whoever plans next; here it keeps nobody from going on.
		if now, err := a.fingerprint(ctx, s, p); err == nil && now != p.Spec {
			targets = append(targets, patra.WorkTarget(patra.ScopePlan, p.ID).String())
		}
	}
	return targets
}

// fingerprint is that of the source which the same plan would be made with now.
func (a *app) fingerprint(ctx context.Context, s *store.Store, p patra.Plan) (string, error) {
	req, err := (&planner.Planner{Store: s}).RequestLike(ctx, p)
	if err != nil {
		return "", err
	}
	cfg, err := a.load()
	if err != nil {
		return "", err
	}
	file, rows, err := a.activeSource(ctx, p.Source)
	if err != nil {
		return "", err
	}
	req.Source, req.Contact = file, cfg.Contact
	if req, err = resolveOperation(rows, req); err != nil {
		return "", err
	}
	spec, err := (&planner.Planner{Store: s}).Spec(ctx, req)
	if err != nil {
		return "", err
	}
	snap, err := spec.Snapshot()
	return snap.Fingerprint, err
}
