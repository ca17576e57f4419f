package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"patra/internal/sim"
	"patra/internal/store/storetest"
)

// TestManners: one process is asked to slow down in every way there is. It never comes above the provider's limit, and
// never inside a wait that the provider had asked for.
func TestManners(t *testing.T) {
	t.Parallel()
	for _, src := range torturedSources {
		t.Run(src.code, func(t *testing.T) {
			t.Parallel()
			o := ordeals[0]
			o.tune = func(f *sim.Faults) { f.Throttle, f.Unavailable, f.AbsurdWait = 0.05, 0.10, 0 }
			s := newStage(t, storetest.Engines()[0], src, o, 7, 1)
			s.plan()
			f := s.fleet(1)
			s.drain(f, time.Minute)
			s.calm(f)
			s.finish()
			s.check(f)
			for _, text := range s.findings {
				t.Error(text)
			}
			asked := map[int]int{}
			for _, e := range s.log.all() {
				if e.RetryUntilUS > 0 {
					asked[e.Status]++
				}
			}
			if asked[http.StatusTooManyRequests] == 0 || asked[http.StatusServiceUnavailable] == 0 {
				t.Errorf("nobody was asked to wait: %v", asked)
			}
		})
	}
}

// The judge of manners is seen to be strict, and fair to whoever could not know.
func TestMannersAreJudged(t *testing.T) {
	at := func(ms int64) sim.Entry { return sim.Entry{ReceivedUS: ms * 1000, AnsweredUS: ms*1000 + 1} }
	asks := func(e sim.Entry, wait time.Duration) sim.Entry {
		e.RetryUntilUS = e.AnsweredUS + wait.Microseconds()
		return e
	}
	even := func(n int, gap int64) (list []sim.Entry) {
		for i := range n {
			list = append(list, at(int64(i)*gap))
		}
		return list
	}
	for _, tt := range []struct {
		name    string
		log     []sim.Entry
		moments []time.Time
		says    string
	}{
		{"an even pace", even(100, 100), nil, ""},
		{"a little too fast, for long", even(100, 90), nil, "above the limit"},
		{"a burst", even(4, 0), nil, ""},
		{"a burst of one too many", even(5, 0), nil, "above the limit"},
		{"a burst after a pause", append([]sim.Entry{at(0)}, at(60_000), at(60_000), at(60_000), at(60_000), at(60_000)), nil, "above the limit"},
		{"a wait that is kept", []sim.Entry{asks(at(0), 2*time.Second), at(2001)}, nil, ""},
		{"a wait that is not kept", []sim.Entry{asks(at(0), 2*time.Second), at(1500)}, nil, "had asked for 2s"},
		{"a request that was on its way", []sim.Entry{asks(at(0), 2*time.Second), at(10)}, nil, ""},
		{"one who was told and killed", []sim.Entry{asks(at(0), 2*time.Second), at(1500)}, []time.Time{time.UnixMilli(100)}, ""},
		{"one who slept through it", []sim.Entry{asks(at(0), 2*time.Second), at(1500)}, []time.Time{time.UnixMilli(1400)}, ""},
		{"a wait of ten years that is kept for an hour", []sim.Entry{asks(at(0), 87600*time.Hour), at(3_600_100)}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(manners(tt.log, 10, 4, tt.moments), "\n")
			if (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
				t.Errorf("got %q, want %q", got, tt.says)
			}
		})
	}
}
