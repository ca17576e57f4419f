package sim

import (
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// In any second, and any other stretch of time, no more than the burst and the rate's share are admitted, however
// the requests come.
func TestTheRateIsNeverExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.2, 50).Draw(t, "rate")
		burst := rapid.IntRange(1, 20).Draw(t, "burst")
		gaps := rapid.SliceOfN(rapid.IntRange(0, 700), 1, 300).Draw(t, "gaps in ms")
		g, now := newGate(rate, burst), newClock()
		var admitted []time.Time
		for _, gap := range gaps {
			now.pass(time.Duration(gap) * time.Millisecond)
			if g.admit(now.t) {
				admitted = append(admitted, now.t)
			}
		}
		for _, window := range []time.Duration{time.Second, 100 * time.Millisecond, 10 * time.Second} {
			most := burst + int(math.Floor(rate*window.Seconds()))
			if n := busiest(admitted, window); n > most {
				t.Fatalf("%d requests within %s, allowed %d", n, window, most)
			}
		}
	})
}

// busiest is the largest number of times within any window, both ends included.
func busiest(times []time.Time, window time.Duration) int {
	most, first := 0, 0
	for i, t := range times {
		for t.Sub(times[first]) > window {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

func TestAnEvenPaceIsNeverRefused(t *testing.T) {
	g, now := newGate(3, 3), newClock()
	for i := range 1000 {
		if !g.admit(now.t) {
			t.Fatalf("request %d at the permitted pace was refused", i)
		}
		now.pass(time.Second/3 + 1)
	}
}

func TestWithABurstOfOneNoSecondHoldsMoreThanTheRate(t *testing.T) {
	g, now := newGate(3, 1), newClock()
	var admitted []time.Time
	for range 5000 {
		if g.admit(now.t) {
			admitted = append(admitted, now.t)
		}
		now.pass(time.Millisecond)
	}
	if n := busiest(admitted, time.Second-1); n != 3 {
		t.Errorf("%d requests within a second, want 3", n)
	}
}

func TestOverTheRateIsA429ThatConsumesNothing(t *testing.T) {
	c, now := small(5), newClock()
	c.Now, c.Rate, c.Burst = now.now, 2, 2
	s := New(c)
	token := open(t, s.Handler(), "5").next()
	now.pass(500 * time.Millisecond)
	get(t, s.Handler(), "cursor", token)
	get(t, s.Handler(), "cursor", token)
	for range 5 {
		w := do(s.Handler(), worksURL("cursor", token))
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Content-Type") != "text/html" || w.Header().Get("Connection") != "close" {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
		if w.Header().Get("Retry-After") != "" || w.Header().Get("X-Rate-Limit-Limit") != "" || w.Body.Len() > 200 {
			t.Errorf("%v %s", w.Header(), w.Body)
		}
	}
	now.pass(500 * time.Millisecond)
	if got, want := get(t, s.Handler(), "cursor", token).ids(t), ids(truth(s, 5))[15:20]; !slices.Equal(got, want) {
		t.Errorf("after the refusals: %v, want %v", got, want)
	}
	if st := s.Stats(); st.RateLimited != 5 || st.Requests != 9 || st.Pages != 4 || st.Items != 20 {
		t.Errorf("%+v", st)
	}
}
