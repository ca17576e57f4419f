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
func (r *run) follow(res patra.PageResult) patra.Walked {
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
		w = w.See(at)
	}
	if len(res.Quarantined) > 0 || r.shifted(res.Total) {
		w = w.See(nil)
	}
	return w
}

// shifted reports whether records came or went under a walk by numbers. Then one may have slipped over the edge of a
// page, and nobody counts a walk that is not finished.
func (r *run) shifted(total *int64) bool {
	switch spec := r.program.Spec; {
	case spec.Pagination.Type != pageOffset && spec.Pagination.Type != pagePage, spec.Response.Total.Trust != patra.TrustExact:
		return false
	default:
		return total != nil && r.scan.total != nil && *total != *r.scan.total
	}
}
