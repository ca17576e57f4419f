package gate_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
)

// local is the gate of one process: all who enter get the same.
func local(testing.TB) func() gatetest.Gate {
	g := gate.NewLocal()
	return func() gatetest.Gate { return g }
}

func TestLocalConformance(t *testing.T) {
	gatetest.Run(t, gatetest.Kind{Fresh: local, Sends: 10_000, Memory: true})
}

func TestTheJudgeCatchesOneRequestTooMany(t *testing.T) {
	sent := []patra.Instant{0, 0, 0, patra.Second, 2 * patra.Second}
	if err := gatetest.Judge(sent, 1, 3); err != nil {
		t.Error(err)
	}
	for _, extra := range []patra.Instant{0, patra.Second / 2, 2 * patra.Second} {
		if gatetest.Judge(append(slices.Clone(sent), extra), 1, 3) == nil {
			t.Errorf("one more at %s was not noticed", extra)
		}
	}
}

// The wrong gates: each does one thing that a gate must not do.
type (
	patient   struct{ *gate.Local } // grants are good for ever
	forgetful struct {              // a cooldown replaces the one before
		*gate.Local
		until *time.Time
	}
	blind struct{ *gate.Local } // a cooldown is nobody's business
	joint struct{ *gate.Local } // all keys are one
	deaf  struct{ *gate.Local } // a refusal changes nothing
	bold  struct{ *gate.Local } // the whole limit, and nothing in hand
	slack struct{ *gate.Local } // half of what is permitted
	hasty struct{ *gate.Local } // no warm-up
	stuck struct{ *gate.Local } // grants lie as far ahead as there are askers
)

func (g patient) MaxLateness(l patra.RateLimit) time.Duration { return 3 * g.Local.MaxLateness(l) }

func (g forgetful) Cooldown(_ context.Context, _ string, wait time.Duration) error {
	*g.until = time.Now().Add(wait)
	return nil
}

func (g forgetful) CooldownRemaining(context.Context, string) (time.Duration, error) {
	return max(0, time.Until(*g.until)), nil
}

func (g blind) Cooldown(context.Context, string, time.Duration) error { return nil }

func (g joint) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	l.Key = ""
	return g.Local.Reserve(ctx, l, cost)
}

func (g deaf) Report(context.Context, patra.RateLimit, patra.RateFeedback) error { return nil }

func (g bold) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	l.PerSecond, l.Burst = l.PerSecond*1.1, l.Burst+1
	return g.Local.Reserve(ctx, l, cost)
}

func (g slack) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	l.PerSecond /= 2
	return g.Local.Reserve(ctx, l, cost)
}

func (g hasty) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	l.Warmup = 0
	return g.Local.Reserve(ctx, l, cost)
}

// Reserve gives moments that lie further and further ahead, as a gate would that knows nothing of ThrottledError.
func (g stuck) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	wait, err := g.Local.Reserve(ctx, l, cost)
	if _, ok := errors.AsType[*patra.ThrottledError](err); ok {
		<-time.After(2 * time.Minute)
		return g.Reserve(ctx, l, cost)
	}
	return wait, err
}

// A suite that nobody saw fail proves nothing.
func TestTheSuiteCatchesWrongGates(t *testing.T) {
	shared := func(wrong func(*gate.Local) gatetest.Gate) func(testing.TB) func() gatetest.Gate {
		return func(testing.TB) func() gatetest.Gate {
			g := wrong(gate.NewLocal())
			return func() gatetest.Gate { return g }
		}
	}
	for _, c := range []struct {
		name   string
		fresh  func(testing.TB) func() gatetest.Gate
		caught string
	}{
		{"one gate for each process", func(testing.TB) func() gatetest.Gate { return func() gatetest.Gate { return gate.NewLocal() } },
			"what was charged is remembered by the next process"},
		{"one gate for each process, and many processes", func(testing.TB) func() gatetest.Gate { return func() gatetest.Gate { return gate.NewLocal() } },
			"in no stretch of time come more than 1 a second with a burst of 1 permits, however late they are"},
		{"grants are good for ever", shared(func(l *gate.Local) gatetest.Gate { return patient{l} }),
			"in no stretch of time come more than 1 a second with a burst of 1 permits, however late they are"},
		{"a later cooldown is a shorter one", shared(func(l *gate.Local) gatetest.Gate { return forgetful{l, new(time.Time)} }),
			"nobody is granted a moment inside a cooldown, and it only extends"},
		{"a cooldown ends in a crowd", shared(func(l *gate.Local) gatetest.Gate { return crowded{l} }), "a cooldown does not end in a crowd"},
		{"a cooldown is not heard", shared(func(l *gate.Local) gatetest.Gate { return blind{l} }), "nobody is granted a moment inside a cooldown, and it only extends"},
		{"all keys are one", shared(func(l *gate.Local) gatetest.Gate { return joint{l} }), "keys do not share a limit"},
		{"a refusal is not heard", shared(func(l *gate.Local) gatetest.Gate { return deaf{l} }), "a refusal slows everybody down, and answers bring the tempo back"},
		{"a tenth too fast", shared(func(l *gate.Local) gatetest.Gate { return bold{l} }),
			"in no stretch of time come more than 20 a second with a burst of 5 permits, however late they are"},
		{"a refusal is not heard, and there are many", shared(func(l *gate.Local) gatetest.Gate { return deaf{l} }),
			"a provider that bears less than it says is asked for no more than that"},
		{"an outage is not heard", shared(func(l *gate.Local) gatetest.Gate { return deaf{l} }), "an outage ends without a crowd"},
		{"grants from an outage hold on", shared(func(l *gate.Local) gatetest.Gate { return stuck{l} }), "an outage ends without a crowd"},
		{"what a provider says is not heard", shared(func(l *gate.Local) gatetest.Gate { return deaf{l} }),
			"what a provider says about its limits holds for everybody, and its last word counts"},
		{"no warm-up", shared(func(l *gate.Local) gatetest.Gate { return hasty{l} }), "after a pause the rate climbs slowly where a source says so"},
		{"half as fast as is permitted", shared(func(l *gate.Local) gatetest.Gate { return slack{l} }), "no time is lost while there is work"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := false
			for _, promise := range gatetest.Cases() {
				if promise.Name != c.caught {
					continue
				}
				found = true
				synctest.Test(t, func(t *testing.T) {
					if promise.Check(t, gatetest.Kind{Fresh: c.fresh, Sends: 1000}) == nil {
						t.Error("nobody noticed")
					}
				})
			}
			if !found {
				t.Errorf("there is no promise %q", c.caught)
			}
		})
	}
}

// crowded lets everybody go at the end of a cooldown: grants from before it are good again.
type crowded struct{ *gate.Local }

func (g crowded) CooldownRemaining(ctx context.Context, key string) (time.Duration, error) {
	left, err := g.Local.CooldownRemaining(ctx, key)
	<-time.After(left)
	return 0, err
}
