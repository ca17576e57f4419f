package sim

import (
	"maps"
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

	// Faults are all of them by the names they have in the access log, those above too. Refusals that say when to come
	// back are counted once more, by the way they say it: retry-after-seconds and so on.
	Faults map[string]int64 `json:"faults,omitempty"`
	Moves  int64            `json:"moves,omitempty"` // records that changed or came late

	QuotaUsed int64 `json:"quota_used,omitempty"` // the most that came in one window of the quota
	OverQuota int64 `json:"over_quota,omitempty"` // requests that were refused because it was used up
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
	if a.dialect != "" {
		t.name("retry-after-" + a.dialect)
	}
	if a.fault != faultNone {
		t.name(string(a.fault))
		if a.fault == faultReset && a.reused {
			t.name("reset-reused")
		}
		if n := t.faults(a.fault); n != nil {
			*n++
		}
		if a.fault != faultSlow && !a.fault.lie() { // what was sent whole counts as a page too
			return
		}
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

// name counts under a name; the lock is held.
func (t *tally) name(n string) {
	if t.s.Faults == nil {
		t.s.Faults = map[string]int64{}
	}
	t.s.Faults[n]++
}

func (t *tally) stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.s
	s.Faults = maps.Clone(s.Faults)
	return s
}
