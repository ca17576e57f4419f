package executor

import (
	"context"

	"patra"
)

// tracksShown reports whether what the provider shows of the window counts as evidence: where it filters by the time that a
// record has, and the slice answers for all of a window.
func (r *run) tracksShown() bool {
	sl := r.claim.Slice
	return r.program.Spec.ShowsEvidence() && r.second == nil && sl.Spec.Window != nil && sl.Spec.Cursor == nil && !sl.IsPart()
}

// recallShown reads what the provider has shown before.
func (r *run) recallShown(ctx context.Context) (err error) {
	if r.tracksShown() {
		r.shown, err = r.Store.Shown(ctx, r.claim.Slice.ID)
	}
	return err
}

// metShown is what the provider has shown once a page is read: which of the records came that it has shown before, and
// what a first page shows that is not the last. nil: nothing new.
func (r *run) metShown(page patra.OpenPage, res patra.PageResult) patra.ShownIDs {
	if !r.tracksShown() {
		return nil
	}
	shown, news := r.shown, false
	if len(shown) > 0 {
		shown, news = shown.Met(patra.PageIDs(res), r.scan.no)
	}
	if page.Ordinal == 1 && res.HasNext {
		shown, news = shown.With(patra.ShownOn(res.Records, r.claim.Slice.Window, r.scan.no), patra.MaxShown), true
	}
	if !news {
		return nil
	}
	return shown
}

// missingShown are the ids that the provider has shown and that the scan should have found.
func (r *run) missingShown(ctx context.Context) (patra.ShownIDs, error) {
	if len(r.shown) == 0 {
		return nil, nil
	}
	return r.Store.MissingShown(ctx, r.claim, r.scan.no)
}
