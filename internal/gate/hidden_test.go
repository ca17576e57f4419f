package gate_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/gate/gatetest"
	"patra/internal/sim"
	"patra/internal/store/storetest"
)

// steady is a harvest at a limit from a provider that bears a part of it.
func steady(perSecond float64, burst int, part float64) gatetest.Hidden {
	return gatetest.Hidden{
		Limit:    patra.RateLimit{Key: "source", PerSecond: perSecond, Burst: burst},
		Capacity: &sim.Capacity{Steps: []sim.Step{{PerSecond: part * perSecond}}, Burst: float64(burst)},
		Workers:  int(4 + perSecond/2), Latency: 400 * time.Millisecond, WarmUp: 5 * time.Minute, Over: 65 * time.Minute,
	}
}

// found fails unless a capacity was found and followed.
func found(t *testing.T, h gatetest.Hidden, enter func() gatetest.Gate) {
	t.Helper()
	f, err := h.Play(enter)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(f)
	if f.Used < 0.85 || f.Share() >= 0.01 {
		t.Error("the promise is 85 % used and less than 1 % refused")
	}
}

func TestAHiddenCapacityIsFound(t *testing.T) {
	for _, l := range []struct {
		perSecond float64
		burst     int
	}{{2, 2}, {10, 5}, {50, 20}} {
		for _, part := range []float64{0.3, 0.6, 0.95} {
			t.Run(fmt.Sprintf("%v of %v", part, l.perSecond), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { found(t, steady(l.perSecond, l.burst, part), local(t)) })
			})
		}
	}
}

func TestAChangingCapacityIsFollowed(t *testing.T) {
	for _, l := range []struct {
		perSecond float64
		burst     int
	}{{2, 2}, {10, 5}, {50, 20}} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%v, seed %d", l.perSecond, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := steady(l.perSecond, l.burst, 1)
					if h.Over = 3 * time.Hour; l.perSecond > 10 { // enough is enough
						h.Over = 90 * time.Minute
					}
					h.Capacity.Steps = sim.Shifting(seed, 0.2*l.perSecond, 0.95*l.perSecond, h.Over)
					found(t, h, local(t))
				})
			})
		}
	}
}

// Four processes that share a provider through the store find what it bears, also when it changes.
func TestFourProcessesFollowACapacityThroughTheStore(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes for a while")
	}
	synctest.Test(t, func(t *testing.T) {
		found(t, shared(), sqlGate(storetest.Engines()[0])(t))
	})
}

// shared is a harvest of four processes from a provider that bears twice as much after a while. It takes them two to seven
// minutes to notice, depending on where they are between two refusals: an hour is long enough for every one of these.
func shared() gatetest.Hidden {
	h := steady(3, 3, 1)
	h.Processes, h.Workers = 4, 2
	h.Capacity.Steps = []sim.Step{{PerSecond: 1}, {After: 20 * time.Minute, PerSecond: 2}, {After: 45 * time.Minute, PerSecond: 1.2}}
	return h
}

// The same many times, for where it stands between two refusals is a matter of luck.
func TestFourProcessesFollowACapacityWhenever(t *testing.T) {
	for range 40 {
		synctest.Test(t, func(t *testing.T) { found(t, shared(), local(t)) })
	}
}

// However fast we are, and whatever an outage looks like.
func TestOutages(t *testing.T) {
	for _, l := range []patra.RateLimit{{PerSecond: 2, Burst: 2}, {PerSecond: 10, Burst: 5}, {PerSecond: 50, Burst: 20}} {
		for _, o := range []gatetest.Outage{{Status: 503}, {Status: 503, Wait: 30 * time.Second}, {Status: 503, Wait: 2 * time.Second}, {Status: sim.HangUp}} {
			o.Limit, o.Processes, o.Workers = l, 4, 2+int(l.PerSecond/5)
			o.Limit.Key = "source"
			t.Run(fmt.Sprintf("%v a second, %d, %s", l.PerSecond, o.Status, o.Wait), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					if err := o.Play(t, local(t)); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}
