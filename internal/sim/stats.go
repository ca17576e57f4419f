package sim

import (
	"net/http"
	"sync"
)

// Stats count what the server has done. Pages and items are those that left whole: a cut or reset answer is under its
// fault only.
type Stats struct {
	Requests     int64 `json:"requests"` // to the provider; the simulator's own pages are not counted
	Pages        int64 `json:"pages"`    // work lists
	Items        int64 `json:"items"`    // works in them
	Works        int64 `json:"works"`    // single works by id
	RateLimited  int64 `json:"rate_limited"`
	BadRequests  int64 `json:"bad_requests"` // also those that were refused with a 200
	NotFound     int64 `json:"not_found"`    // unknown ids, unknown cursors, other routes
	OpenScrolls  int64 `json:"open_scrolls"`
	Histories    int64 `json:"open_histories"` // that PubMed remembers
	Throttled    int64 `json:"fault_throttle"`
	ServerErrors int64 `json:"fault_server_error"`
	Expired      int64 `json:"fault_expire_token"`
	Resets       int64 `json:"fault_reset"`
	CutBodies    int64 `json:"fault_cut_body"`
	Timeouts     int64 `json:"fault_timeout"`
}

// tally is Stats behind a lock.
type tally struct {
	mu sync.Mutex
	s  Stats
}

// begin counts a request and gives its number, from 1.
func (t *tally) begin() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Requests++
	return uint64(t.s.Requests)
}

func (t *tally) end(a answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.faults(a.fault); n != nil {
		*n++
		return
	}
	switch {
	case a.status == http.StatusTooManyRequests && !a.refused:
		t.s.RateLimited++
	case a.status == http.StatusNotFound:
		t.s.NotFound++
	case a.status != http.StatusOK || a.refused:
		t.s.BadRequests++
	case a.list:
		t.s.Pages++
		t.s.Items += int64(a.items)
	case a.items > 0:
		t.s.Works++
	}
}

func (t *tally) faults(f fault) *int64 {
	switch f {
	case faultThrottle:
		return &t.s.Throttled
	case faultError:
		return &t.s.ServerErrors
	case faultExpire:
		return &t.s.Expired
	case faultReset:
		return &t.s.Resets
	case faultCut:
		return &t.s.CutBodies
	case faultTimeout:
		return &t.s.Timeouts
	}
	return nil
}

func (t *tally) stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.s
}
