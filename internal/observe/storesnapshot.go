package observe

import (
	"context"
	"sync"
	"time"

	"patra"
)

// Store tells how everything stands that all processes share.
type Store interface {
	MetricsSnapshot(ctx context.Context) (patra.MetricsSnapshot, error)
	StoredBodyRange(ctx context.Context, after string) (patra.StoredBodyRange, error)
	Files() (file, log int64, ok bool)
}

const (
	// patience is how long somebody who asks for numbers waits for the store.
	patience = time.Second
	// readTime is how long the store may take to tell how everything stands.
	readTime = 10 * time.Second
	// What was read is shown for a while: for leastFresh at least, for longer where reading took long, so that reading takes a
	// fiftieth of one connection at most, and never for longer than mostFresh.
	leastFresh, mostFresh, shareFresh = 5 * time.Second, time.Minute, 50
)

// evidenceTotals is what is known of the answers that are kept.
type evidenceTotals struct{ bodies, bytes int64 }

// storeSnapshot reads the store for those who ask for numbers: seldom, one at a time, and not longer than they would wait.
type storeSnapshot struct {
	store Store

	mu      sync.Mutex
	have    *patra.MetricsSnapshot // nil: nothing is known, or what was known is too old
	at      time.Time              // when it was read
	until   time.Time              // nobody reads before
	reading chan struct{}          // closed when the reading that is under way is over; nil: none is
	took    time.Duration

	total *evidenceTotals // of the last walk through all kept answers; nil: none was done yet
	walk  evidenceTotals  // of the one that is under way
	after string          // as far as it came
}

// now gives how everything stands, or nil if the store does not say so in time. What it said a moment ago is good enough for
// as long as it is only slow.
func (s *storeSnapshot) now() (*patra.MetricsSnapshot, *evidenceTotals) {
	s.mu.Lock()
	if time.Now().Before(s.until) {
		defer s.mu.Unlock()
		return s.have, s.total
	}
	if s.reading == nil {
		s.reading = make(chan struct{})
		go s.read(s.reading)
	}
	done := s.reading
	s.mu.Unlock()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.have != nil && time.Since(s.at) > mostFresh+readTime {
		s.have = nil
	}
	return s.have, s.total
}

// lastTook is how long the last reading took.
func (s *storeSnapshot) lastTook() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.took
}

func (s *storeSnapshot) read(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	began := time.Now()
	n, err := s.store.MetricsSnapshot(ctx)
	var part patra.StoredBodyRange
	if err == nil {
		part, err = s.store.StoredBodyRange(ctx, s.after) // nobody else touches it while a reading is under way
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.have, s.took = nil, time.Since(began)
	if err == nil {
		s.have, s.at = &n, time.Now()
		s.walked(part)
	}
	s.until = time.Now().Add(min(max(shareFresh*s.took, leastFresh), mostFresh))
	s.reading = nil
	close(done)
}

// walked adds a part of the kept answers. To add up all at once would take as long as there are answers, so each reading does
// some, and the sum is told when all were seen.
func (s *storeSnapshot) walked(part patra.StoredBodyRange) {
	if part.Last != "" {
		s.walk.bodies, s.walk.bytes, s.after = s.walk.bodies+part.Bodies, s.walk.bytes+part.Bytes, part.Last
	}
	if part.Bodies == patra.KeptAtOnce { // there may be more
		return
	}
	total := s.walk
	s.total, s.walk, s.after = &total, evidenceTotals{}, ""
}
