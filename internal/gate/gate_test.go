package gate_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/gate"
)

// checkRate looks at every pair of grants by brute force: between them, both included, there may be no more than the
// burst and the rate's share of the time. slack is added to the time for every grant in it.
func checkRate(grants []patra.Instant, perSecond float64, burst int, slack float64) error {
	slices.Sort(grants)
	for i, first := range grants {
		for j := i + burst; j < len(grants); j++ {
			n := j - i + 1
			took := float64(grants[j]-first) + slack*float64(n)
			if most := float64(burst) + perSecond*took/float64(patra.Second); float64(n) > most+1e-9 {
				return fmt.Errorf("%d grants within %.6f s at %v a second and a burst of %d, which allows %.3f", n, took/float64(patra.Second), perSecond, burst, most)
			}
		}
	}
	return nil
}

// local drives a gate within a bubble, where waiting takes no time, and notes every grant.
type local struct {
	*gate.Local
	t         *testing.T
	perSecond float64
	burst     int
}

func (l local) reserve(key string) patra.Instant {
	l.t.Helper()
	now := patra.InstantOf(time.Now())
	wait, err := l.Reserve(context.Background(), key, l.perSecond, l.burst)
	if err != nil || wait < 0 {
		l.t.Errorf("wait %s, %v", wait, err)
	}
	return now.Add(wait)
}

func (l local) cooldown(key string, wait time.Duration) {
	l.t.Helper()
	if err := l.Cooldown(context.Background(), key, wait); err != nil {
		l.t.Fatal(err)
	}
}

func (l local) remaining(key string) time.Duration {
	l.t.Helper()
	left, err := l.Remaining(context.Background(), key)
	if err != nil {
		l.t.Fatal(err)
	}
	return left
}

func TestInNoStretchOfTenThousandGrantsIsTheRateExceeded(t *testing.T) {
	for _, tt := range []struct {
		perSecond float64
		burst     int
	}{{1, 1}, {0.1, 2}, {2, 3}, {10, 1}, {50, 20}} { // rates whose interval is a whole number of microseconds
		t.Run(fmt.Sprintf("%v a second and a burst of %d", tt.perSecond, tt.burst), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := local{gate.NewLocal(), t, tt.perSecond, tt.burst}
				dice := rand.New(rand.NewPCG(1, uint64(tt.burst)))
				var grants []patra.Instant
				for len(grants) < 10_000 {
					for range dice.IntN(3 * tt.burst) { // a crowd, then a pause that may be shorter or longer than the crowd needs
						grants = append(grants, l.reserve("source"))
					}
					time.Sleep(time.Duration(dice.Float64() * 4 * float64(tt.burst) / tt.perSecond * float64(time.Second)))
				}
				if err := checkRate(grants, tt.perSecond, tt.burst, 0); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The rule holds however requests come and even when the clock steps back. The interval is rounded to a microsecond,
// so half a one is allowed for each grant.
func TestGrantNeverExceedsTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond, burst := rapid.Float64Range(0.01, 1000).Draw(t, "per second"), rapid.IntRange(1, 12).Draw(t, "burst")
		now, arrival := patra.Instant(0), patra.Instant(rapid.Int64Range(-10, 10).Draw(t, "arrival"))
		var grants []patra.Instant
		for _, gap := range rapid.SliceOfN(rapid.Float64Range(-2, 5), 1, 120).Draw(t, "gaps in intervals") {
			now += patra.Instant(gap * float64(patra.Second) / perSecond)
			var at patra.Instant
			at, arrival = gate.Grant(arrival, now, perSecond, burst)
			if at < now {
				t.Fatalf("granted at %d, before it was asked for at %d", at, now)
			}
			grants = append(grants, at)
		}
		if err := checkRate(grants, perSecond, burst, 0.5); err != nil {
			t.Fatal(err)
		}
	})
}

func TestARateThatDoesNotDivideTheSecondIsKeptToo(t *testing.T) {
	var grants []patra.Instant
	arrival := patra.Instant(0)
	for range 10_000 {
		var at patra.Instant
		at, arrival = gate.Grant(arrival, 0, 3, 1)
		grants = append(grants, at)
	}
	if err := checkRate(grants, 3, 1, 0); err != nil {
		t.Error(err)
	}
}

func TestTheJudgeOfRatesCatchesOneGrantTooMany(t *testing.T) {
	grants := []patra.Instant{0, 0, 0, patra.Second, 2 * patra.Second}
	if err := checkRate(grants, 1, 3, 0); err != nil {
		t.Error(err)
	}
	for _, extra := range []patra.Instant{0, patra.Second / 2, 2 * patra.Second} {
		if checkRate(append(slices.Clone(grants), extra), 1, 3, 0) == nil {
			t.Errorf("a grant more at %s was not noticed", extra)
		}
	}
}

func TestAnIdleGateLetsAWholeBurstPassAndThenKeepsThePace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond, burst := rapid.Float64Range(0.01, 1000).Draw(t, "per second"), rapid.IntRange(1, 12).Draw(t, "burst")
		now := patra.Instant(rapid.Int64Range(1, 1<<50).Draw(t, "now"))
		interval := patra.Instant(math.Ceil(float64(patra.Second) / perSecond))
		arrival := patra.Instant(0)
		for n := range 3 * burst {
			var at patra.Instant
			at, arrival = gate.Grant(arrival, now, perSecond, burst)
			if want := now + patra.Instant(max(0, n-burst+1))*interval; at != want {
				t.Fatalf("grant %d is at %d, want %d", n, at-now, want-now)
			}
		}
	})
}

func TestNobodyIsGrantedInsideACooldownAndItOnlyExtends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := local{gate.NewLocal(), t, 5, 4}
		dice := rand.New(rand.NewPCG(2, 3))
		var end patra.Instant
		for range 10_000 {
			switch dice.IntN(4) {
			case 0:
				wait := time.Duration(dice.IntN(5000)) * time.Millisecond
				before := l.remaining("source")
				l.cooldown("source", wait)
				if got := l.remaining("source"); got != max(before, wait) {
					t.Fatalf("%s were left, %s more were asked for, and now there are %s", before, wait, got)
				}
				end = max(end, patra.InstantOf(time.Now()).Add(wait))
			case 1:
				time.Sleep(time.Duration(dice.IntN(2000)) * time.Millisecond)
			default:
				if at := l.reserve("source"); at < end {
					t.Fatalf("granted at %s, inside the cooldown until %s", at, end)
				}
			}
			if want := max(0, end-patra.InstantOf(time.Now())); l.remaining("source") != time.Duration(want)*time.Microsecond {
				t.Fatalf("%s remain, want %d us", l.remaining("source"), want)
			}
		}
	})
}

func TestACooldownDoesNotEndInACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := local{gate.NewLocal(), t, 1, 1}
		l.cooldown("source", time.Minute)
		var grants []patra.Instant
		for range 20 {
			grants = append(grants, l.reserve("source"))
		}
		if err := checkRate(grants, 1, 1, 0); err != nil {
			t.Error(err)
		}
	})
}

func TestKeysDoNotShareALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := local{gate.NewLocal(), t, 1, 1}
		now := patra.InstantOf(time.Now())
		l.cooldown("a", time.Hour)
		if at := l.reserve("b"); at != now {
			t.Errorf("b must wait for a until %s", at)
		}
		if at := l.reserve("c"); at != now {
			t.Errorf("c must wait for b until %s", at)
		}
		if left := l.remaining("b"); left != 0 {
			t.Errorf("b cools down for %s", left)
		}
		if at := l.reserve("a"); at != now.Add(time.Hour) {
			t.Errorf("a is granted at %s", at)
		}
	})
}

func TestWorkersThatAskAtOnceAreAllCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, each = 20, 50
		l := local{gate.NewLocal(), t, 10, 3}
		var mu sync.Mutex
		var grants []patra.Instant
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				for range each {
					at := l.reserve("source")
					mu.Lock()
					grants = append(grants, at)
					mu.Unlock()
					time.Sleep(time.Until(at.Time()))
				}
			})
		}
		all.Wait()
		if err := checkRate(grants, 10, 3, 0); err != nil {
			t.Error(err)
		}
		span := slices.MaxFunc(grants, cmp.Compare[patra.Instant]) - grants[0]
		if want := patra.Instant(workers*each-3) * patra.Second / 10; len(grants) != workers*each || span != want {
			t.Errorf("%d grants took %d us, want %d in %d us: no time is lost either", len(grants), span, workers*each, want)
		}
	})
}
