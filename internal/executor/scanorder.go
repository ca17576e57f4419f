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
func (r *run) follow(res patra.PageResult, fresh []patra.Observation) patra.ScanProgress {
	w := r.scan.walked
	spec := r.program.Spec
	if spec.Pagination.Type == pageTime && w.Latest != nil { // the last stretch is read again, from its beginning
		w.Latest = new(spec.Window.Precision.Floor(*w.Latest))
	}
	records := res.Records
	if r.scan.evidence.Seams() { // pages overlap, and what was read before says nothing new
		records = fresh
	}
	for _, o := range records {
		at := o.UpdatedAt
		if at != nil && !r.claim.Slice.Fetch.Contains(*at) {
			at = nil // what was not asked for is dated by another clock than the one that was asked about
		}
		w = w.Add(at)
	}
	if len(res.Quarantined) > 0 {
		w = w.Add(nil)
	}
	return w
}
