package executor

import (
	"context"
	"fmt"
	"time"

	"patra"
)

// bounded lays what was found out about the provider over a target. It is read for every claim, as another process may have
// found or doubted it since the plan was made.
func (x *Executor) bounded(ctx context.Context, c *patra.Claim, t *sourceClient) (*sourceClient, patra.FoundBounds, error) {
	spec := t.program.Spec
	if !spec.Discovers() {
		return t, patra.FoundBounds{}, nil
	}
	found, err := x.Store.WindowBounds(ctx, spec.Source, spec.Endpoint, spec.At(c.BaseURL))
	if err != nil {
		return nil, found, err
	}
	t, err = x.within(c, t, found.WindowBounds)
	return t, found, err
}

// within is a target with some bounds. What is learned about the provider on the way, it shares with the others.
func (x *Executor) within(c *patra.Claim, t *sourceClient, b patra.WindowBounds) (*sourceClient, error) {
	key := fmt.Sprintf("%s %s %s %s", c.Spec, c.BaseURL, b.Precision, b.Upper)
	if made, ok := x.ready.Load(key); ok {
		return made.(*sourceClient), nil
	}
	made := *t
	var err error
	if made.program, err = t.program.Spec.WithBounds(b).Compile(); err != nil {
		return nil, &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeInternal, Text: err.Error(), Err: err}
	}
	stored, _ := x.ready.LoadOrStore(key, &made)
	return stored.(*sourceClient), nil
}

// doubtBounds opens the upper bound again that a scan went by which did not find what the provider has shown, so that the next scan
// here, and everybody else's, asks widely.
func (r *run) doubtBounds(ctx context.Context, missing patra.ShownIDs) error {
	if len(missing) == 0 || r.bounds.Upper != patra.UpperInclusive {
		return nil
	}
	why := fmt.Sprintf("the provider has shown %s, which a scan of %s did not find", missing, r.claim.Slice.Window)
	kept, err := r.Store.DoubtWindowBounds(ctx, r.claim, patra.InstantOf(time.Now()), r.bounds, why)
	if err != nil {
		return err
	}
	r.widened = true
	r.log.WarnContext(ctx, "the window is asked for more widely: the provider does not read its end as was found out", "source", kept.Source, "endpoint", kept.Endpoint, "address", kept.Address, "reason", why)
	return r.widen(ctx, kept)
}

// widen goes on with what is known now, and widely.
func (r *run) widen(ctx context.Context, known patra.FoundBounds) error {
	plain, err := r.target(ctx, r.claim)
	if err != nil {
		return err
	}
	known.Upper = ""
	r.bounds = known
	r.sourceClient, err = r.within(r.claim, plain, known.WindowBounds)
	return err
}

// outdated reports whether the bounds that a finished scan went by have been doubted since it began. Then it is read once
// more.
func (r *run) outdated(ctx context.Context) (bool, error) {
	if r.bounds.Upper != patra.UpperInclusive {
		return false, nil
	}
	known, err := r.Store.WindowBounds(ctx, r.bounds.Source, r.bounds.Endpoint, r.bounds.Address)
	if err != nil || known.Upper == patra.UpperInclusive {
		return false, err
	}
	return true, r.widen(ctx, known)
}
