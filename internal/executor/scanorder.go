package executor

import (
	"cmp"

	"patra"
)

// promised is the order that a new scan starts out with: what the source says about the times of its records. A search
// that gives ids proves nothing, in whatever order: their records are not there yet.
func (r *run) promised() string {
	if r.second != nil {
		return patra.OrderNone
	}
	return cmp.Or(r.program.Spec.Window.Order, patra.OrderNone)
}

// follow is the scan's walk with one more page. The order is believed only as far as every record shows it.
func (r *run) follow(res patra.PageResult) patra.ScanProgress {
	w := r.scan.walked
	spec := r.program.Spec
	if spec.Pagination.Type == pageTime && w.Latest != nil { // the last stretch is read again, from its beginning
		w.Latest = new(spec.Window.Precision.Floor(*w.Latest))
	}
	for _, o := range res.Records {
		at := o.UpdatedAt
		if at != nil && !r.claim.Slice.Fetch.Contains(*at) {
			at = nil // what was not asked for is dated by another clock than the one that was asked about
		}
		w = w.Add(at)
	}
	w.Moved = w.Moved || res.Total != nil && r.scan.total != nil && *res.Total != *r.scan.total
	if len(res.Quarantined) > 0 || r.resultsShifted(w) {
		w = w.Add(nil)
	}
	return w
}

// resultsShifted reports whether records came or went under a walk by numbers, of which only an exact count tells. Then one may
// have slipped over the edge of a page, and the number that was seen agrees with the last count all the same: another has
// gone that was seen.
func (r *run) resultsShifted(w patra.ScanProgress) bool {
	spec := r.program.Spec
	byNumbers := spec.Pagination.Type == pageOffset || spec.Pagination.Type == pagePage
	return byNumbers && spec.Response.Total.Trust == patra.TrustExact && w.Moved
}
