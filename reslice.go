package patra

// Reslice is the request of a run to cut the rest of its slice into smaller ones. It is a row: the slice is PARTIAL
// until a planner has put its children in its place, and until then the rest counts as under way.
type Reslice struct {
	Reason   string `json:"reason"`
	Requests int64  `json:"requests"`        // sent before the run gave up
	Records  int64  `json:"records"`         // seen before the run gave up
	Total    *int64 `json:"total,omitempty"` // what the provider says the whole slice has
	Text     string `json:"text,omitempty"`
}

// Why a slice is to be cut.
const (
	ResliceCap      = "CAP"      // the provider answers no position as deep as that
	ResliceRequests = "REQUESTS" // the budget of requests is used up
	ResliceRecords  = "RECORDS"  // the budget of records is used up
	ResliceSeconds  = "SECONDS"  // the budget of time is used up
)

// Confirm is what a walk has proved about a window when it ends early after a page whose last record has the time last.
// Going up, everything before the last time is there; records of that very time may follow. Going down it is the other
// end. Without a verified order nothing is proved.
func Confirm(w Window, order string, last *Instant, grain Unit) Window {
	none := Window{From: w.From, To: w.From}
	if last == nil {
		return none
	}
	var c Window
	switch order {
	case OrderAscending:
		c = Window{From: w.From, To: min(grain.Floor(*last), w.To)}
	case OrderDescending:
		c = Window{From: max(grain.Next(grain.Floor(*last)), w.From), To: w.To}
	default:
		return none
	}
	if c.IsEmpty() {
		return none
	}
	return c
}

// The orders in which a provider gives records by time.
const (
	OrderAscending  = "ASC"
	OrderDescending = "DESC"
	OrderNone       = "NONE"
)

// Rest is what is left of a window when a part of it is confirmed.
func Rest(w, confirmed Window) Coverage {
	return NewCoverage(w).Minus(NewCoverage(confirmed))
}
