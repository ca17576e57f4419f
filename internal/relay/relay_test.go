package relay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/relay"
	"patra/internal/relay/relaytest"
	"patra/internal/store/storetest"
)

func TestEverythingArrivesInOrder(t *testing.T) {
	w := newWorld(t)
	for rev := 1; rev <= 4; rev++ {
		w.change(rev, 10)
	}
	sink := &memory{}
	must(t, newRelay(w.opened(t), to("m", sink)).Run(t.Context()))
	w.verify(t, relaytest.Read(t, sink))
	if n := len(sink.got); n != 40 {
		t.Errorf("%d events were sent", n)
	}
	w.change(5, 3)
	must(t, newRelay(w.opened(t), to("m", sink)).Run(t.Context()))
	w.verify(t, relaytest.Read(t, sink))
	if n := len(sink.got); n != 43 {
		t.Errorf("%d events were sent", n)
	}
}

func TestAnEventSaysWhatItsVersionWas(t *testing.T) {
	w := newWorld(t)
	w.change(1, 1)
	w.change(2, 1)
	sink := &memory{}
	must(t, newRelay(w.opened(t), to("m", sink)).Run(t.Context()))
	var old, current struct {
		Subject, Type, Source string
		Data                  patra.RecordEvent
	}
	must(t, json.Unmarshal(sink.got[0], &old))
	must(t, json.Unmarshal(sink.got[1], &current))
	if old.Data.Fields != nil || old.Data.CurrentRev != 2 || old.Data.ContentSHA256 != patra.Hash("r0v1") || old.Subject != "demo/work/r0" {
		t.Errorf("%s", sink.got[0])
	}
	if string(current.Data.Fields) != `{"c":"r0v2"}` || current.Data.PrevSHA256 != patra.Hash("r0v1") || current.Data.Lineage.Batch == 0 || current.Type != "patra.record.upserted" || !strings.HasPrefix(current.Source, "patra/") {
		t.Errorf("%s", sink.got[1])
	}
}

func TestANewSinkBeginsWhereItIsTold(t *testing.T) {
	w := newWorld(t)
	w.change(1, 5)
	s := w.opened(t)
	now, start := &memory{}, &memory{}
	late := to("now", now)
	late.FromNow = true
	must(t, newRelay(s, late).Run(t.Context()))
	w.change(2, 5)
	must(t, newRelay(s, late, to("start", start)).Run(t.Context()))
	if len(now.got) != 5 || len(start.got) != 10 {
		t.Errorf("%d from now on, %d from the start", len(now.got), len(start.got))
	}
	// Rewound, it gets everything again, with the same ids.
	if _, err := s.Rewind(t.Context(), "now", 0, "me", "why not"); err != nil {
		t.Fatal(err)
	}
	must(t, newRelay(s, late).Run(t.Context()))
	if all := relaytest.Read(t, now); len(all) != 15 || len(relaytest.FirstOfEach(all)) != 10 {
		t.Errorf("%d arrived", len(all))
	}
}

// One event that no sink ever takes holds back only its own record, and only for a while.
func TestAPoisonedEventIsSetAside(t *testing.T) {
	for name, poison := range map[string]error{"refused": relay.ErrRefused, "without a reason": errors.New("internal error")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				for rev := 1; rev <= 3; rev++ {
					w.change(rev, 10)
				}
				bad := 0
				sink := &memory{fault: func(e patra.Event) error {
					if strings.HasSuffix(e.Subject, "/r4") && strings.Contains(string(e.Data), `"rev":2,`) {
						bad++
						return poison
					}
					return nil
				}}
				r := newRelay(w.Store, to("m", sink))
				r.Config.Attempts = 3
				w.follow()
				must(t, r.Run(t.Context()))
				delete(w.want, "r4/2")
				got := map[string]bool{}
				for _, e := range relaytest.Read(t, sink) {
					got[fmt.Sprintf("%s/%d", e.Data.ID, e.Data.Rev)] = true
				}
				for key := range w.want {
					if !got[key] {
						t.Errorf("%s is missing", key)
					}
				}
				states, err := w.Sinks(t.Context())
				must(t, err)
				if bad != 3 || states[0].Aside != 1 || states[0].Waiting != 0 || states[0].Error == "" {
					t.Errorf("%d attempts, %+v", bad, states[0])
				}
				storetest.CheckInvariants(t, storetest.Inspect(t, w.URL))
			})
		})
	}
}

// A sink that is away for a day sets nothing aside, and gets everything when it is back.
func TestASinkThatIsAwayForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.follow()
		away := time.Now().Add(24 * time.Hour)
		sink := &memory{}
		sink.fault = func(patra.Event) error {
			if time.Now().Before(away) {
				return errors.New("away")
			}
			return nil
		}
		for rev := 1; rev <= 3; rev++ {
			w.change(rev, 10)
		}
		r := newRelay(w.Store, to("m", sink))
		r.Config.Once, r.Config.Poll, r.Config.Lease = false, time.Minute, 10*time.Minute
		done := make(chan error)
		ctx, stop := contextWithStop(t)
		go func() { done <- r.Run(ctx) }()
		time.Sleep(25 * time.Hour)
		synctest.Wait()
		stop()
		must(t, <-done)
		w.verify(t, relaytest.Read(t, sink))
		if sink.calls > 24*60/4*20 {
			t.Errorf("it was asked %d times", sink.calls)
		}
		states, err := w.Sinks(t.Context())
		must(t, err)
		if s := states[0]; s.Lag != 0 || s.Aside != 0 || s.Held {
			t.Errorf("%+v", s)
		}
	})
}

// Whoever lost the role can write nothing down.
func TestALostRoleMarksNothing(t *testing.T) {
	w := newWorld(t)
	w.change(1, 3)
	s := w.opened(t)
	must(t, s.EnsureSink(t.Context(), "m", false))
	first, ok, err := s.AcquireLease(t.Context(), patra.RelayLease("m"), "one", -time.Second)
	must(t, err)
	second, took, err := s.AcquireLease(t.Context(), patra.RelayLease("m"), "two", time.Minute)
	must(t, err)
	if _, third, err := s.AcquireLease(t.Context(), patra.RelayLease("m"), "three", time.Minute); !ok || !took || third || err != nil {
		t.Fatal(ok, took, third, err)
	}
	if err := s.MarkSent(t.Context(), &first, "m", patra.DeliveryResult{Position: 3}); !errors.Is(err, patra.ErrLeaseLost) {
		t.Errorf("got %v", err)
	}
	if err := s.RenewLease(t.Context(), first); !errors.Is(err, patra.ErrLeaseLost) {
		t.Errorf("got %v", err)
	}
	must(t, s.MarkSent(t.Context(), &second, "m", patra.DeliveryResult{Position: 2}))
}

// A process that is told to stop breaks off what is on its way. That says nothing about the events: none is set aside for
// it, however often it was tried before.
func TestBeingToldToStopSetsNothingAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.change(1, 10)
		ctx, stop := contextWithStop(t)
		hangs := errors.New("internal error")
		sink := &hanging{memory: memory{fault: func(e patra.Event) error {
			if strings.HasSuffix(e.Subject, "/r4") || strings.HasSuffix(e.Subject, "/r5") {
				return hangs
			}
			return nil
		}}}
		r := newRelay(w.Store, relay.Sink{Name: "m", Filter: records, Open: func(context.Context) (relay.Publisher, error) { return sink, nil }})
		r.Config.Attempts, r.Config.Once, r.Config.Poll = 2, false, 3*time.Second // both are due when it looks again
		w.follow()
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		for waiting := int64(0); waiting != 2; {
			time.Sleep(100 * time.Millisecond)
			states, err := w.Sinks(t.Context())
			must(t, err)
			if len(states) > 0 {
				waiting = states[0].Waiting
			}
		}
		// r4 is taken the next time, and r5 is on its way when the process must end.
		sink.mu.Lock()
		sink.hang, sink.fault = "/r5", nil
		sink.mu.Unlock()
		time.Sleep(5 * time.Second)
		stop()
		must(t, <-done)
		states, err := w.Sinks(t.Context())
		must(t, err)
		if states[0].Aside != 0 || states[0].Waiting != 1 {
			t.Errorf("%+v", states[0])
		}
	})
}

// hanging is a sink that does not answer for some events.
type hanging struct {
	memory
	hang string
}

func (h *hanging) Publish(ctx context.Context, events []patra.Event) []error {
	errs := h.memory.Publish(ctx, events)
	h.mu.Lock()
	hang := h.hang
	h.mu.Unlock()
	for i, e := range events {
		if hang != "" && strings.HasSuffix(e.Subject, hang) {
			<-ctx.Done()
			errs[i] = context.Cause(ctx)
		}
	}
	return errs
}
