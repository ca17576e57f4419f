package executor_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/query"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// troubledGate is one whose provider asks for patience whenever somebody is about to leave.
type troubledGate struct {
	*gate.Shared
	waits []time.Duration
	paid  time.Time
}

func (g *troubledGate) AcquireSlot(ctx context.Context, l patra.RateLimit, e patra.InFlightRequest) (time.Duration, error) {
	wait, err := g.Shared.AcquireSlot(ctx, l, e)
	if e.Cost > 0 {
		g.paid = time.Now()
	}
	if len(g.waits) > 0 {
		err = g.Cooldown(ctx, l.Key, g.waits[0])
		g.waits = g.waits[1:]
	}
	return wait, err
}

// What was charged to a quota half a minute ago may have been for yesterday, however lately its slot was seen.
func TestWhatWasPaidLongAgoIsPaidAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Engines()[0].Open(t, store.WithClock(time.Now))
		g := &troubledGate{waits: []time.Duration{25 * time.Second, 9 * time.Second}}
		g.Shared = gate.NewShared(s, gate.WithLedger(s, func(patra.Operation) float64 { return 1 }))
		works := newWorks().Handler()
		var came time.Time
		client := pipeClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			came = time.Now()
			works.ServeHTTP(w, r)
		}))
		spec := specOf(t, paged(offsets, "P1M"))
		spec.Rate.Quota.Daily = 100
		p := &executor.Prober{Store: s, Gate: g, Log: slog.New(slog.DiscardHandler), Client: func(*source.Spec, string) *http.Client { return client }}
		if _, err := p.Probe(t.Context(), spec, query.All(), month, "http://provider"); err != nil {
			t.Fatal(err)
		}
		if late := came.Sub(g.paid); len(g.waits) > 0 || late > patra.QuotaGrace/2 {
			t.Errorf("it left %s after it was paid for", late)
		}
	})
}
