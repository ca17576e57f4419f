package gate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// lentGate makes gates over a store that lends to Redis. Each who enters is another process.
func lentGate(e storetest.Engine) func(testing.TB) func() gatetest.Gate {
	return func(t testing.TB) func() gatetest.Gate {
		url, clock := e.URL(t), store.WithClock(time.Now)
		if _, err := e.Connect(t, url, clock).Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		return func() gatetest.Gate {
			fell := func(c gate.BackendChange) { t.Errorf("%s: lent is %v: %v", c.Key, c.Lent, c.Err) }
			return gate.NewShared(gate.NewLent(e.Connect(t, url, clock), openRedis(t, gatetest.RedisURL(t), gate.WithClock(time.Now)), gate.DefaultLeaseTerms(), fell))
		}
	}
}

func TestLentConformance(t *testing.T) {
	gatetest.RedisURL(t)
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		gatetest.Run(t, gatetest.Kind{Fresh: lentGate(e), Sends: 250})
	})
}

// errCut is what somebody gets who is cut off.
var errCut = errors.New("cut off")

// shaky are rows that fail on demand: before anything happened, or after it was done.
type shaky struct {
	gate.Rows
	cut, deaf atomic.Bool
	turns     atomic.Int64
}

func (s *shaky) UpdateGateState(ctx context.Context, key string, turn func(patra.Instant, time.Duration, patra.RateState) patra.RateState) error {
	if s.cut.Load() {
		return errCut
	}
	s.turns.Add(1)
	if err := s.Rows.UpdateGateState(ctx, key, turn); err != nil || !s.deaf.Load() {
		return err
	}
	return errCut
}

func (s *shaky) GateState(ctx context.Context, key string) (patra.RateState, patra.Instant, error) {
	if s.cut.Load() {
		return patra.RateState{}, 0, errCut
	}
	return s.Rows.GateState(ctx, key)
}

// stage is a store and a keeper in simulated time, and processes that use them.
type stage struct {
	t      *testing.T
	ledger *store.Store
	keeper *oblivious
	terms  gate.LeaseTerms
	limit  patra.RateLimit

	mu      sync.Mutex
	sent    []patra.Instant
	errs    int
	changes []gate.BackendChange
}

// actor is one process.
type actor struct {
	*stage
	*gate.Shared
	ledger, keeper *shaky
}

func newStage(t *testing.T, perSecond float64, burst int) *stage {
	s := &stage{t: t, terms: gate.LeaseTerms{Span: 4 * time.Second, HoldDown: 10 * time.Second, Probe: time.Second},
		limit: patra.RateLimit{Key: "source", PerSecond: perSecond, Burst: burst}}
	s.ledger = storetest.Engines()[0].Open(t, store.WithClock(time.Now))
	// The keeper's clock is another one.
	s.keeper = &oblivious{rows: openRedis(t, gatetest.RedisURL(t), gate.WithClock(func() time.Time { return time.Now().Add(-17 * time.Hour) }))}
	return s
}

func (s *stage) enter() *actor {
	a := &actor{stage: s, ledger: &shaky{Rows: s.ledger}, keeper: &shaky{Rows: s.keeper}}
	a.Shared = gate.NewShared(gate.NewLent(a.ledger, a.keeper, s.terms, func(c gate.BackendChange) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changes = append(s.changes, c)
	}))
	return a
}

// oblivious is a keeper that can lose its memory: what it is asked for is somewhere else since.
type oblivious struct {
	rows gate.Rows
	lost atomic.Int64
}

func (o *oblivious) key(key string) string { return fmt.Sprintf("%s.%d", key, o.lost.Load()) }

func (o *oblivious) UpdateGateState(ctx context.Context, key string, turn func(patra.Instant, time.Duration, patra.RateState) patra.RateState) error {
	return o.rows.UpdateGateState(ctx, o.key(key), turn)
}

func (o *oblivious) GateState(ctx context.Context, key string) (patra.RateState, patra.Instant, error) {
	return o.rows.GateState(ctx, o.key(key))
}

// send sends one request, as late as it may, and reports whether it could.
func (a *actor) send(dice *rand.Rand) bool {
	ctx := a.t.Context()
	for {
		wait, err := a.Reserve(ctx, a.limit, 1)
		if err != nil {
			a.failed(err)
			return false
		}
		at, late := time.Now().Add(wait), time.Duration(0)
		if dice != nil {
			late = time.Duration(dice.Int64N(int64(a.MaxLateness(a.limit)) + 1))
		}
		nap(wait + late)
		if time.Since(at) > a.MaxLateness(a.limit) {
			continue
		}
		left, err := a.CooldownRemaining(ctx, a.limit.Key)
		if err != nil {
			a.failed(err)
			return false
		}
		if left == 0 {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.sent = append(a.sent, patra.InstantOf(time.Now()))
			return true
		}
	}
}

// failed notes that nothing was granted. Only one who is cut off from the store may be told so.
func (s *stage) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs++
	if !errors.Is(err, errCut) {
		s.t.Error(err)
	}
}

func (s *stage) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sent)
}

func (s *stage) judge() {
	s.t.Helper()
	if err := gatetest.Judge(s.sent, s.limit.PerSecond, s.limit.Burst); err != nil {
		s.t.Error(err)
	}
	if err := gatetest.JudgeSeconds(s.sent, s.limit.PerSecond, 0); err != nil {
		s.t.Error(err)
	}
}

func (s *stage) loan() patra.StateLease {
	s.t.Helper()
	is, _, err := s.ledger.GateState(s.t.Context(), s.limit.Key)
	if err != nil {
		s.t.Fatal(err)
	}
	return is.Loan
}

func nap(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

// play lets processes send until a moment, each with some workers that make pauses; trouble is made meanwhile.
func (s *stage) play(lasts time.Duration, actors []*actor, trouble func()) {
	end := time.Now().Add(lasts)
	var all sync.WaitGroup
	for n, a := range actors {
		for m := range 3 {
			all.Go(func() {
				dice := rand.New(rand.NewPCG(uint64(n), uint64(m)))
				for time.Now().Before(end) {
					if !a.send(dice) {
						nap(100 * time.Millisecond)
					}
					if dice.IntN(20) == 0 {
						nap(time.Duration(dice.Float64() * 4 * float64(s.limit.Burst) / s.limit.PerSecond * float64(time.Second)))
					}
				}
			})
		}
	}
	trouble()
	all.Wait()
}

// Whatever happens to the keeper, to some or to all, the provider sees no more than it permits, and requests go on.
func TestTheLimitHoldsWhateverHappensToTheKeeper(t *testing.T) {
	gatetest.RedisURL(t)
	for _, l := range []struct {
		perSecond float64
		burst     int
	}{{20, 5}, {50, 20}, {3, 3}, {1, 1}, {0.2, 2}} {
		for _, trouble := range []struct {
			name string
			make func(s *stage, all []*actor, dice *rand.Rand)
		}{
			{"it forgets", func(s *stage, _ []*actor, dice *rand.Rand) {
				for range 6 {
					nap(time.Duration(dice.IntN(20_000)) * time.Millisecond)
					s.keeper.lost.Add(1)
				}
			}},
			{"one is cut off", func(s *stage, all []*actor, dice *rand.Rand) {
				for range 4 {
					nap(time.Duration(dice.IntN(15_000)) * time.Millisecond)
					all[0].keeper.cut.Store(true)
					nap(time.Duration(dice.IntN(15_000)) * time.Millisecond)
					all[0].keeper.cut.Store(false)
				}
			}},
			{"one does not hear what was done", func(s *stage, all []*actor, dice *rand.Rand) {
				for range 4 {
					nap(time.Duration(dice.IntN(15_000)) * time.Millisecond)
					all[1].keeper.deaf.Store(true)
					nap(time.Duration(dice.IntN(5_000)) * time.Millisecond)
					all[1].keeper.deaf.Store(false)
				}
			}},
			{"it dies and comes back empty", func(s *stage, all []*actor, dice *rand.Rand) {
				for range 3 {
					nap(time.Duration(dice.IntN(25_000)) * time.Millisecond)
					for _, a := range all {
						a.keeper.cut.Store(true)
					}
					nap(time.Duration(dice.IntN(15_000)) * time.Millisecond)
					s.keeper.lost.Add(1)
					for _, a := range all {
						a.keeper.cut.Store(false)
					}
				}
			}},
			{"the store fails for some", func(s *stage, all []*actor, dice *rand.Rand) {
				for n := range 6 {
					nap(time.Duration(dice.IntN(10_000)) * time.Millisecond)
					all[n%3].ledger.cut.Store(true)
					s.keeper.lost.Add(int64(n % 2))
					nap(time.Duration(dice.IntN(10_000)) * time.Millisecond)
					all[n%3].ledger.cut.Store(false)
				}
			}},
		} {
			t.Run(fmt.Sprintf("%v a second with a burst of %d: %s", l.perSecond, l.burst, trouble.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, lasts := newStage(t, l.perSecond, l.burst), min(90, 1200/l.perSecond)
					all := []*actor{s.enter(), s.enter(), s.enter(), s.enter()}
					s.play(time.Duration(lasts)*time.Second, all, func() { trouble.make(s, all, rand.New(rand.NewPCG(1, 2))) })
					s.judge()
					used := float64(len(s.sent)) / (lasts*l.perSecond + float64(l.burst))
					t.Logf("%d requests, %.0f %%, %d errors, %d changes, %d loans", len(s.sent), 100*used, s.errs, len(s.changes), s.loan().Epoch)
					if used < 0.4 {
						t.Errorf("only %.0f %% of what is permitted was used", 100*used)
					}
				})
			})
		}
	}
}

// What a person, a provider or one who is cut off wrote into the store counts for those who use the keeper.
func TestWhatTheLedgerSaysReachesTheKeeper(t *testing.T) {
	gatetest.RedisURL(t)
	for name, c := range map[string]struct {
		write func(now patra.Instant, is *patra.RateState)
		most  int // requests in ten seconds, from three seconds after
	}{
		"set":      {func(_ patra.Instant, is *patra.RateState) { is.Set = 1000 }, 11},
		"told":     {func(_ patra.Instant, is *patra.RateState) { is.Told = 2000 }, 21},
		"cooldown": {func(now patra.Instant, is *patra.RateState) { is.Cooldown = now.Add(13 * time.Second) }, 0},
		"nothing":  {func(patra.Instant, *patra.RateState) {}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 20, 5)
				a := s.enter()
				before := 0
				s.play(20*time.Second, []*actor{a}, func() {
					nap(5 * time.Second)
					if err := s.ledger.UpdateGateState(t.Context(), s.limit.Key, func(now patra.Instant, _ time.Duration, is patra.RateState) patra.RateState {
						c.write(now, &is)
						return is
					}); err != nil {
						t.Error(err)
					}
					charged := a.keeper.turns.Load()
					nap(3 * time.Second)
					before = s.count()
					nap(10 * time.Second)
					if n := s.count() - before; n > c.most || n < c.most*2/3 {
						t.Errorf("%d requests in ten seconds, and at most %d are permitted", n, c.most)
					}
					if n := a.keeper.turns.Load() - charged; n > 400 {
						t.Errorf("the keeper was asked %d times", n)
					}
				})
				if s.loan().Epoch != 1 || len(s.changes) > 0 {
					t.Errorf("%+v, %v", s.loan(), s.changes)
				}
			})
		})
	}
}

// Whoever uses the store alone, as the configuration of one process may say, does not grant beside the keeper.
func TestOneWhoDoesNotBorrowCallsBack(t *testing.T) {
	gatetest.RedisURL(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 20, 5)
		plain := &actor{stage: s, Shared: gate.NewShared(s.ledger)}
		s.play(60*time.Second, []*actor{s.enter(), s.enter(), plain}, func() {})
		s.judge()
		if len(s.sent) < 60*20/2 {
			t.Errorf("%d requests", len(s.sent))
		}
	})
}

// Many begin at the same moment, and there is one loan.
func TestManyLendAtOnce(t *testing.T) {
	gatetest.RedisURL(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 20, 5)
		var all []*actor
		for range 8 {
			all = append(all, s.enter())
		}
		s.play(10*time.Second, all, func() {})
		s.judge()
		if s.loan().Epoch != 1 || len(s.changes) > 0 {
			t.Errorf("%+v, %v", s.loan(), s.changes)
		}
	})
}

// A process sleeps over the end of its loan with grants in its hands, while the keeper forgets and the others go on in the
// store. When it wakes up it neither uses what it held nor asks the keeper.
func TestOneSleepsOverTheEndOfALoan(t *testing.T) {
	gatetest.RedisURL(t)
	for _, asleep := range []time.Duration{time.Second, 3900 * time.Millisecond, 5 * time.Second, 9 * time.Second, 40 * time.Second} {
		t.Run(asleep.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 20, 5)
				sleeper, others := s.enter(), []*actor{s.enter(), s.enter()}
				s.play(60*time.Second, others, func() {
					for range 30 { // more than the loan has room for, and a lease behind them
						sleeper.send(nil)
					}
					waits := []time.Time{}
					for range 10 {
						wait, err := sleeper.Reserve(t.Context(), s.limit, 1)
						if err != nil {
							t.Error(err)
						}
						waits = append(waits, time.Now().Add(wait))
					}
					ends := s.loan().Until
					for _, at := range waits {
						if patra.InstantOf(at) > ends {
							t.Errorf("a grant for %s, and the loan ends at %s", at, ends)
						}
					}
					s.keeper.lost.Add(1)
					nap(asleep)
					for range 30 {
						sleeper.send(nil)
					}
				})
				s.judge()
			})
		})
	}
}

// A long queue is no reason to charge what lies after the loan, nor to wait for it: the loan becomes longer.
func TestALoanLastsForALongQueue(t *testing.T) {
	gatetest.RedisURL(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0.1, 1)
		a := s.enter()
		for n := range 10 {
			wait, err := a.Reserve(t.Context(), s.limit, 1)
			if err != nil || wait < time.Duration(n)*10*time.Second {
				t.Fatalf("grant %d after %s, %v", n, wait, err)
			}
			if left := time.Duration(s.loan().Until-patra.InstantOf(time.Now())) * time.Microsecond; left < wait || left > wait+wait/50+3*s.terms.Span {
				t.Errorf("the loan lasts for %s, and a grant lies at %s", left, wait)
			}
		}
		// The keeper is gone: what was granted stays charged.
		a.keeper.cut.Store(true)
		if wait, err := a.Reserve(t.Context(), s.limit, 1); err != nil || wait < 100*time.Second || wait > 125*time.Second {
			t.Errorf("the next grant after %s, %v", wait, err)
		}
	})
}

// Without the store nothing is sent, and with it again everything goes on.
func TestWithoutTheLedgerNothingIsSent(t *testing.T) {
	gatetest.RedisURL(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 20, 5)
		all := []*actor{s.enter(), s.enter()}
		cut := func(is bool) {
			for _, a := range all {
				a.ledger.cut.Store(is)
			}
		}
		s.play(30*time.Second, all, func() {
			nap(5 * time.Second)
			cut(true)
			before := s.count()
			nap(5 * time.Second)
			if n := s.count() - before; n > 0 {
				t.Errorf("%d requests were sent", n)
			}
			if _, err := all[0].Reserve(t.Context(), s.limit, 1); err == nil {
				t.Error("something was granted")
			}
			cut(false)
			nap(5 * time.Second)
			if s.count() == before {
				t.Error("nothing goes on")
			}
		})
		s.judge()
	})
}

// A keeper that failed is asked again after a while, and each change is told once by each process.
func TestAKeeperThatIsWellAgainIsUsedAgain(t *testing.T) {
	gatetest.RedisURL(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 20, 5)
		a, b := s.enter(), s.enter()
		s.play(60*time.Second, []*actor{a, b}, func() {
			nap(5 * time.Second)
			s.keeper.lost.Add(1)
			nap(5 * time.Second)
			if l := s.loan(); l.Active() || l.Epoch != 1 {
				t.Errorf("%+v", l)
			}
			nap(20 * time.Second)
			if l := s.loan(); !l.Active() || l.Epoch != 2 {
				t.Errorf("%+v", l)
			}
		})
		s.judge()
		if len(s.changes) != 4 || s.changes[0].Lent || s.changes[0].Err == nil || s.changes[1].Lent || !s.changes[2].Lent || !s.changes[3].Lent {
			t.Errorf("%+v", s.changes)
		}
	})
}

// A key may be lent again before the loan before it is over. Who still has the old one, and who has the new one, grant one
// after the other.
func TestALoanBeginsWhereTheLastOneEnds(t *testing.T) {
	gatetest.RedisURL(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 20, 5)
		s.terms.HoldDown, s.terms.Probe = time.Millisecond, time.Millisecond
		all := []*actor{s.enter(), s.enter(), s.enter()}
		s.play(60*time.Second, all, func() {
			for n := range 8 {
				nap(6*time.Second + 100*time.Millisecond*time.Duration(n))
				s.keeper.lost.Add(int64(n % 2))
				all[n%3].keeper.deaf.Store(true)
				nap(500 * time.Millisecond)
				all[n%3].keeper.deaf.Store(false)
			}
		})
		s.judge()
		if s.loan().Epoch < 5 {
			t.Errorf("%+v", s.loan())
		}
	})
}

// A loan ended, nobody was there, and the keeper forgot it meanwhile: who comes next knows that something was granted.
func TestALoanThatEndedMayHaveBeenUsed(t *testing.T) {
	gatetest.RedisURL(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0.2, 1)
		if !s.enter().send(nil) {
			t.Fatal("nothing was sent")
		}
		s.keeper.lost.Add(1)
		nap(s.terms.Span + 100*time.Millisecond)
		if !s.enter().send(nil) {
			t.Fatal("nothing was sent")
		}
		s.judge()
		if l := s.loan(); !l.Active() || l.Epoch != 2 || len(s.changes) > 0 {
			t.Errorf("%+v, %v", l, s.changes)
		}
	})
}
