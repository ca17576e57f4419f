package patra

// Density is how much was found in how much time.
type Density struct {
	Records   int64
	Span      Instant // microseconds of windows that were read to their end
	PageBytes int64   // of an average answer
}

// Expected is how many records a window has if it is like the others.
func (d Density) Expected(w Window) int64 {
	if d.Span <= 0 || w.IsEmpty() {
		return 0
	}
	return int64(float64(d.Records)/float64(d.Span)*float64(w.To-w.From) + 0.5)
}

// ReservedQuota is what of a provider's quota is spoken for by slices that wait. What was sent is in the ledger.
type ReservedQuota struct {
	Slices  int64
	Records int64 // that the waiting slices are expected to have
}

// SlicingEnd is how the cutting of a plan ended.
type SlicingEnd struct {
	Status   Status // READY, PARTIAL or FAILED
	Reason   string
	Records  int64 // that the slices of this call are expected to have
	Requests int64
	Warnings Problems // in addition to those that are known
}

// Why a plan is not cut to its end.
const (
	ReasonInventory = "INVENTORY" // enough is waiting
	ReasonQuota     = "QUOTA"     // the provider's quota is spoken for
	ReasonPaused    = "PAUSED"    // somebody holds it back
	ReasonHalted    = "HALTED"    // its endpoint waits for a person
	ReasonFailing   = "FAILING"   // its last slices all failed
)
