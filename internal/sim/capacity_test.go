package sim_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra/internal/sim"
)

// Whatever is asked, and however the capacity changes, it answers no more than a burst and what it offers; and whoever asks
// all the time gets all of it.
func TestACapacityGivesWhatItOffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		began := time.Unix(1<<30, 0)
		c := &sim.Capacity{Began: began, Burst: rapid.Float64Range(0, 20).Draw(t, "burst")}
		var at time.Duration
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			c.Steps = append(c.Steps, sim.Step{After: at, PerSecond: rapid.Float64Range(0.1, 50).Draw(t, "rate"), Down: rapid.SampledFrom([]int{0, 0, 503}).Draw(t, "down")})
			at += time.Duration(rapid.IntRange(1, 20).Draw(t, "lasts")) * time.Second
		}
		now, given := began, 0
		for now.Before(began.Add(time.Minute)) {
			if status, _ := c.Ask(now); status == http.StatusOK {
				given++
			}
			now = now.Add(time.Duration(rapid.IntRange(1, 50).Draw(t, "gap")) * time.Millisecond)
		}
		offered := c.Offered(began, now)
		if most := max(c.Burst, 1) + offered; float64(given) > most+1e-6 {
			t.Fatalf("%d were answered, and %.2f may be", given, most)
		}
		if seen := c.Seen(); seen.Given != given || seen.Given+seen.Refused+seen.Down == 0 {
			t.Fatalf("%+v", seen)
		}
	})
}

func TestACapacityOverHTTP(t *testing.T) {
	began := time.Now()
	c := &sim.Capacity{Began: began, Steps: []sim.Step{{PerSecond: 1e-6}}, Burst: 2, Wait: 7 * time.Second}
	server := httptest.NewServer(c.Limit(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("works")) })))
	defer server.Close()
	ask := func() (status int, after string) {
		resp, err := server.Client().Get(server.URL)
		if err != nil {
			return sim.HangUp, ""
		}
		resp.Body.Close()
		return resp.StatusCode, resp.Header.Get("Retry-After")
	}
	for _, want := range []int{200, 200, 429} {
		if status, after := ask(); status != want || (status == 429) != (after == "7") {
			t.Errorf("%d with Retry-After %q, want %d", status, after, want)
		}
	}
	for _, down := range []int{503, sim.HangUp} {
		c.Steps = []sim.Step{{Down: down}}
		if status, _ := ask(); status != down {
			t.Errorf("%d, want %d", status, down)
		}
	}
	if seen := c.Seen(); seen != (sim.Answers{Given: 2, Refused: 1, Down: seen.Down}) || seen.Down < 2 { // a client may try again
		t.Errorf("%+v", seen)
	}
}

func TestAShiftingCapacityIsTheSameEachTime(t *testing.T) {
	for seed := range uint64(50) {
		steps := sim.Shifting(seed, 1, 10, 5*time.Hour)
		if !reflect.DeepEqual(steps, sim.Shifting(seed, 1, 10, 5*time.Hour)) || len(steps) < 15 {
			t.Fatalf("%v", steps)
		}
		for n, s := range steps[1:] {
			gap, factor := s.After-steps[n].After, math.Max(s.PerSecond/steps[n].PerSecond, steps[n].PerSecond/s.PerSecond)
			if gap < 10*time.Minute || gap > 20*time.Minute || factor > 3+1e-9 || s.PerSecond < 1-1e-9 || s.PerSecond > 10+1e-9 {
				t.Fatalf("%v, then %v", steps[n], s)
			}
		}
	}
}
