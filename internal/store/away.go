package store

import (
	"sync"
	"time"
)

// Outage is that the database could not be used, or can be used again.
type Outage struct {
	Over  bool
	Since time.Time // when that was first seen
	Err   error     // what was seen first
}

// outageDetector tells when the database goes away and when it is back: once each, however many of us notice it.
type outageDetector struct {
	mu      sync.Mutex
	tell    func(Outage)
	since   time.Time // zero: it is there
	err     error
	written bool // writing failed: that reading works says nothing then, as on a full disk
}

// OnOutage has tell called when the database goes away, and when it is back. Whoever serves for long goes on asking; what it
// would say of each failure is said here, twice in all.
func (s *Store) OnOutage(tell func(Outage)) {
	s.there.mu.Lock()
	defer s.there.mu.Unlock()
	s.there.tell = tell
}

// heard notes how the database answered.
func (w *outageDetector) heard(err error, writing bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch gone := err != nil && Unavailable(err); {
	case w.tell == nil, err != nil && !gone: // an error of another kind says nothing
	case gone && w.since.IsZero():
		w.since, w.err, w.written = time.Now(), err, writing
		w.tell(Outage{Since: w.since, Err: err})
	case gone:
		w.written = w.written || writing
	case !w.since.IsZero() && (writing || !w.written):
		told := Outage{Over: true, Since: w.since, Err: w.err}
		w.since, w.err, w.written = time.Time{}, nil, false
		w.tell(told)
	}
}
