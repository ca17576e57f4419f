package executor

import (
	"context"
	"time"

	"patra"
)

// smallestPage is how few records are asked for at once before a page counts as one that cannot be had.
const smallestPage = 10

// shrink asks for half as much on a page from now on. Where a position depends on the size of the pages, or the provider
// keeps the size that a walk began with, that is only possible for a walk that begins anew. It reports whether there is
// something to try.
func (r *run) shrink(ctx context.Context, why string, anew bool) bool {
	p := r.program.Spec.Pagination
	if p.SizeParam == "" || p.PageSize/2 < smallestPage || (!anew && !r.resizable()) {
		return false
	}
	t := *r.sourceClient // others use it too
	t.program = r.program.Sized(p.PageSize / 2)
	r.sourceClient = &t
	r.heal(ctx, patra.HealShrink, why, map[string]any{"page_size": p.PageSize / 2, "was": p.PageSize, "ordinal": r.scan.ordinal})
	return true
}

// resizable reports whether pages of another size can follow in the same walk.
func (r *run) resizable() bool {
	p := r.program.Spec.Pagination
	switch p.Type {
	case pageOffset, pageTime:
		return true
	case pageToken:
		return !r.program.Spec.Stateful() && len(p.Token.Alone) == 0
	}
	return false
}

// tooLarge goes on after a page that cannot be had as it is. It is asked for once more, since one that swells may be an accident of a
// moment; then smaller, in the same walk or in a new one; then again as it is, as often as the source says; and then not at all.
func (r *run) tooLarge(ctx context.Context, fault *patra.Fault, attempt int, wait time.Duration) error {
	anew, most := !r.resizable(), r.program.Spec.Retry.MaxAttempts
	if again := attempt == 1 && most > 1 && !r.program.Spec.Stateful(); again {
		return r.sleep(ctx, wait)
	}
	if r.shrink(ctx, fault.Code, anew) {
		if anew {
			r.restart(ctx, patra.HealRestart, fault)
		}
		return nil
	}
	switch {
	case r.program.Spec.Stateful() && r.restarts < most:
		r.restart(ctx, patra.HealRestart, fault)
		return r.sleep(ctx, wait)
	case !r.program.Spec.Stateful() && attempt < most:
		return r.sleep(ctx, wait)
	case r.isUnsplittable():
		return lasting(fault)
	}
	return &earlyEndError{patra.ResliceBody, fault.Text}
}

// heavy makes the pages that follow a very large one smaller. Where that is not possible, shorter slices at least end
// with small pages, but that is tried once.
func (r *run) heavy(ctx context.Context, size int64) error {
	if limit := r.strain.Limits.Body; limit <= 0 || size <= limit || r.shrink(ctx, patra.ResliceBody, false) {
		return nil
	}
	hints := r.claim.Slice.Spec.Hints
	if r.isUnsplittable() || r.program.Spec.Pagination.SizeParam != "" || (hints != nil && hints.Heavy) {
		return nil
	}
	return &earlyEndError{reason: patra.ResliceBody}
}
