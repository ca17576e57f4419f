package executor

import (
	"context"
	"time"

	"patra"
)

// fetchKnownIDs fetches again the records behind ids that are known. There is nothing to search for, so every id that is settled
// is all the proof there is.
func (r *run) fetchKnownIDs(ctx context.Context, buckets patra.SliceRange) error {
	if r.second == nil {
		return &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeInternal, Text: "the source has no way to fetch records by their ids"}
	}
	r.scan = r.newScan(r.claim.Task.ScanNo)
	n, err := r.Store.SeedItems(ctx, r.claim, patra.InstantOf(time.Now()), buckets)
	if err != nil {
		return err
	}
	r.scan.settled = n
	if err := r.details(ctx); err != nil {
		return err
	}
	r.proof = &patra.Proof{ScanNo: r.scan.no, Trust: patra.TrustNone, State: patra.StateSealed, IDsSeen: n, ByID: true}
	return nil
}
