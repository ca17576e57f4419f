package verifier

import (
	"strings"
	"testing"
	"time"
)

// The judge of manners is seen to be strict, and fair to whoever could not know.
func TestMannersAreJudged(t *testing.T) {
	at := func(ms int64) seen {
		return seen{received: ms * 1000, answered: ms*1000 + 1, acquired: ms*1000 - 500, finished: ms*1000 + 2}
	}
	asks := func(e seen, wait time.Duration) seen {
		e.until = e.answered + wait.Microseconds()
		return e
	}
	even := func(n int, gap int64) (list []seen) {
		for i := range n {
			list = append(list, at(int64(i)*gap))
		}
		return list
	}
	granted := func(e seen, ms int64) seen {
		e.acquired = ms * 1000
		return e
	}
	untold := func(e seen) seen {
		e.finished = 0
		return e
	}
	for _, tt := range []struct {
		name string
		log  []seen
		says string
	}{
		{"an even pace", even(100, 100), ""},
		{"a little too fast, for long", even(100, 90), "above the limit"},
		{"a burst", even(4, 0), ""},
		{"a burst of one too many", even(5, 0), "above the limit"},
		{"a burst after a pause", []seen{at(0), at(60_000), at(60_000), at(60_000), at(60_000), at(60_000)}, "above the limit"},
		{"a wait that is kept", []seen{asks(at(0), 2*time.Second), at(2001)}, ""},
		{"a wait that is not kept", []seen{asks(at(0), 2*time.Second), at(1500)}, "had asked for 2s"},
		{"a request that was on its way", []seen{asks(at(0), 2*time.Second), at(10)}, ""},
		{"one who was told and killed", []seen{untold(asks(at(0), 2*time.Second)), at(1500)}, ""},
		{"one who slept on the way", []seen{asks(at(0), 2*time.Second), granted(at(1500), -10)}, ""},
		{"a wait of ten years that is kept for an hour", []seen{asks(at(0), 87600*time.Hour), at(3_600_100)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var v Invariant
			tooMany(tt.log, 10, 4, &v)
			crowded(tt.log, 10, 0, &v)
			tooEarly(tt.log, &v)
			got := strings.Join(v.Examples, "\n")
			if (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
				t.Errorf("got %q, want %q", got, tt.says)
			}
		})
	}
}

// Every half-open second is looked at, with what may be lost on the way; below one a second the interval is.
func TestACrowdedSecondIsFound(t *testing.T) {
	at := func(ms ...int64) (log []seen) {
		for _, m := range ms {
			log = append(log, seen{received: m * 1000})
		}
		return log
	}
	for _, tt := range []struct {
		name     string
		rate     float64
		forgiven int
		log      []seen
		found    int64
	}{
		{"three at once", 3, 0, at(0, 0, 0, 1000, 1000, 1000), 0},
		{"four in the first second", 3, 0, at(0, 0, 0, 334, 1000), 1},
		{"one of them is forgiven", 3, 1, at(0, 0, 0, 334, 1000), 0},
		{"a little shorter on the way", 3, 0, at(0, 0, 0, 951), 0},
		{"an interval", 0.1, 0, at(0, 9951, 20_000), 0},
		{"half an interval", 0.1, 0, at(0, 5000), 1},
		{"no whole number", 2.5, 0, at(0, 400, 800, 1200), 0},
		{"too many of no whole number", 2.5, 0, at(0, 0, 0, 1100), 1},
	} {
		var v Invariant
		if crowded(tt.log, tt.rate, tt.forgiven, &v); v.Count != tt.found {
			t.Errorf("%s: %q", tt.name, v.Examples)
		}
	}
}

// What one provider asks for and permits is not held against requests to another one, though one log has both.
func TestSourcesAreJudgedApart(t *testing.T) {
	log := &accessLog{}
	for n := range int64(6) {
		for _, key := range []string{"crossref", "pubmed"} {
			at := n * 1_000_000
			e := seen{key: key, received: at, answered: at + 1, acquired: at - 500, finished: at + 2}
			if key == "crossref" && n > 0 && n < 5 {
				continue
			}
			if key == "crossref" && n == 0 {
				e.until, e.status, e.retryAfter = 5_000_000, 429, "5"
			}
			log.requests = append(log.requests, e)
		}
	}
	s, rate, wait := &Scene{Given: Given{Rate: 1, Burst: 1}, seen: log}, Invariant{}, Invariant{}
	if err := askRate(t.Context(), s, &rate); err != nil || rate.Count > 0 || rate.Looked != 8 {
		t.Errorf("%+v, %v", rate, err)
	}
	if err := askRetryAfter(t.Context(), s, &wait); err != nil || wait.Count > 0 || wait.Looked != 1 {
		t.Errorf("%+v, %v", wait, err)
	}
	log.requests[3].key = "crossref"
	if err := askRetryAfter(t.Context(), s, &wait); err != nil || wait.Count != 1 {
		t.Errorf("one that came too early is not found: %+v, %v", wait, err)
	}
}
