package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"patra/internal/sim"
)

// accessLog is the provider's own log, kept in memory. It can be waited on and be read while it is written.
type accessLog struct {
	mu      sync.Mutex
	entries []sim.Entry
	grown   chan struct{} // closed and made anew with every line
}

func newAccessLog() *accessLog { return &accessLog{grown: make(chan struct{})} }

// Write takes one line.
func (l *accessLog) Write(p []byte) (int, error) {
	var e sim.Entry
	if err := json.Unmarshal(p, &e); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
	close(l.grown)
	l.grown = make(chan struct{})
	return len(p), nil
}

func (l *accessLog) all() []sim.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// await returns when so many more requests have come, or when the patience is over; it tells which.
func (l *accessLog) await(more int, patience time.Duration) bool {
	l.mu.Lock()
	want := len(l.entries) + more
	l.mu.Unlock()
	for deadline := time.After(patience); ; {
		l.mu.Lock()
		n, grown := len(l.entries), l.grown
		l.mu.Unlock()
		if n >= want {
			return true
		}
		select {
		case <-grown:
		case <-deadline:
			return false
		}
	}
}

// breath is how long a process may need to learn what another was just told, and how far around a signal nobody is held
// to anything: whoever was killed took the news along, and whoever slept could not hear it.
const breath = 400 * time.Millisecond

// manners finds requests above the provider's limit and requests inside a wait that the provider had asked for. Moments
// are the times of signals.
func manners(entries []sim.Entry, rate float64, burst int, moments []time.Time) (rude []string) {
	slices.SortFunc(entries, func(a, b sim.Entry) int { return int(a.ReceivedUS - b.ReceivedUS) })
	excused := func(us int64) bool {
		at := time.UnixMicro(us)
		return slices.ContainsFunc(moments, func(m time.Time) bool { return at.Sub(m).Abs() < breath })
	}
	return append(tooMany(entries, rate, burst, excused), tooEarly(entries, excused)...)
}

// tooMany looks at every stretch of time at once: the requests of one never exceed the burst and the rate's share of it
// exactly if the number of a request less the share up to it never rises by more than the burst above its lowest.
func tooMany(entries []sim.Entry, rate float64, burst int, excused func(int64) bool) (rude []string) {
	lowest, counted := 0.0, 0.0
	for i, e := range entries {
		if excused(e.ReceivedUS) {
			continue
		}
		level := counted - rate*float64(e.ReceivedUS-entries[0].ReceivedUS)/1e6
		counted++
		if i == 0 || level < lowest {
			lowest = level
		}
		if level-lowest+1 > float64(burst)+1e-6 {
			rude = append(rude, fmt.Sprintf("request %s came above the limit of %g a second", e.Correlation, rate))
		}
	}
	return rude
}

// longestWait is the most that we grant a provider.
const longestWait = time.Hour

func tooEarly(entries []sim.Entry, excused func(int64) bool) (rude []string) {
	for i, said := range entries {
		until := min(said.RetryUntilUS, said.AnsweredUS+longestWait.Microseconds())
		if until == 0 || excused(said.AnsweredUS) {
			continue
		}
		for _, e := range entries[i+1:] {
			if e.ReceivedUS > said.AnsweredUS+breath.Microseconds() && e.ReceivedUS < until && !excused(e.ReceivedUS) {
				rude = append(rude, fmt.Sprintf("request %s came %s after a %d had asked for %s (%q)", e.Correlation, time.Duration(e.ReceivedUS-said.AnsweredUS)*time.Microsecond,
					said.Status, time.Duration(until-said.AnsweredUS)*time.Microsecond, said.RetryAfter))
			}
		}
	}
	return rude
}
