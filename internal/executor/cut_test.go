package executor_test

import (
	"io"
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

// A provider that asks to be left alone is left alone, also if the rest of its answer does not arrive.
func TestARefusalWithoutItsBodyIsARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Engines()[0].Open(t, store.WithClock(time.Now))
		works := newWorks().Handler()
		var came []time.Time
		client := pipeClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if came = append(came, time.Now()); len(came) > 1 {
				works.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Retry-After", "60")
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, "too many")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}))
		spec := specOf(t, paged(offsets, "P1M"))
		p := &executor.Prober{Store: s, Gate: gate.NewShared(s), Log: slog.New(slog.DiscardHandler), Client: func(*source.Spec, string) *http.Client { return client }}
		if _, err := p.Probe(t.Context(), spec, query.All(), month, "http://provider"); err != nil {
			t.Fatal(err)
		}
		if len(came) != 2 || came[1].Sub(came[0]) < time.Minute {
			t.Errorf("%d requests came, the last one after %s", len(came), came[len(came)-1].Sub(came[0]))
		}
		if is, _, err := s.GateState(t.Context(), spec.Source); err != nil || is.Tempo == (patra.AdaptiveRate{}) {
			t.Errorf("%+v, %v", is.Tempo, err)
		}
	})
}
