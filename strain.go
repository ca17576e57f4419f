package patra

// WalkLimits are what a walk may put its provider and itself through before the rest of its slice is cut smaller.
type WalkLimits struct {
	Pages       int64   // of one walk
	Refusals    int     // that a provider asks us to slow down, within RefusedIn
	RefusedIn   Instant // microseconds
	Body        int64   // bytes of one page
	ErrorShare  float64 // of the last Recent requests; what chance brings is no reason to cut a slice
	Recent      int
	Overrun     int64 // how many times more than expected may come
	OverrunFrom int64 // records below which nothing was badly wrong
}

// DefaultWalkLimits is what holds unless a test says otherwise.
func DefaultWalkLimits() WalkLimits {
	return WalkLimits{Pages: 2000, Refusals: 5, RefusedIn: 300 * Second, Body: 5 << 20, ErrorShare: 0.5, Recent: 50, Overrun: 3, OverrunFrom: 5000}
}

// WalkLoad is how hard a walk was so far.
type WalkLoad struct {
	Limits  WalkLimits
	pages   int64
	refused []Instant // the latest few
	recent  []bool    // the latest requests: whether they failed
	next    int       // where the ring goes on
}

// Page counts a page that came.
func (s *WalkLoad) Page() {
	s.pages++
	s.outcome(false)
}

// Failed counts a request that gave no page; slow tells that the provider asked to be left alone.
func (s *WalkLoad) Failed(at Instant, slow bool) {
	s.outcome(true)
	if !slow {
		return
	}
	if s.refused = append(s.refused, at); len(s.refused) > s.Limits.Refusals {
		s.refused = s.refused[1:]
	}
}

func (s *WalkLoad) outcome(failed bool) {
	if len(s.recent) < s.Limits.Recent {
		s.recent = append(s.recent, failed)
		return
	}
	if len(s.recent) == 0 { // nobody asks
		return
	}
	s.recent[s.next] = failed
	s.next = (s.next + 1) % len(s.recent)
}

// Exceeded is why the rest of the slice should be cut smaller; empty if it need not be. A share of few requests says
// nothing, so it counts only when all of the latest are known.
func (s *WalkLoad) Exceeded(now Instant) string {
	l := s.Limits
	failed := 0
	for _, f := range s.recent {
		if f {
			failed++
		}
	}
	switch {
	case l.Pages > 0 && s.pages >= l.Pages:
		return ReslicePages
	case l.Refusals > 0 && len(s.refused) == l.Refusals && now-s.refused[0] <= l.RefusedIn:
		return ResliceThrottled
	case l.Recent > 0 && len(s.recent) == l.Recent && float64(failed) >= l.ErrorShare*float64(l.Recent):
		return ResliceErrors
	}
	return ""
}

// Overran reports whether far more came than somebody expected, so that there is no telling how much is left.
func (l WalkLimits) Overran(expected *Estimate, seen int64) bool {
	return l.Overrun > 0 && expected != nil && expected.Grounds != ByConstant && seen > l.OverrunFrom && seen > l.Overrun*expected.Records
}
