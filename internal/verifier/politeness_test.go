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
			tooEarly(tt.log, &v)
			got := strings.Join(v.Examples, "\n")
			if (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
				t.Errorf("got %q, want %q", got, tt.says)
			}
		})
	}
}
