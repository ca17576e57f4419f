package observe_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"patra/internal/observe"
)

// A process is ready when all checks are well; if not it says which is not, and why.
func TestReadiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, drain := context.WithCancel(t.Context())
		var store error
		var takes atomic.Int64 // whoever does not listen may still be at it when it changes
		h := &observe.Health{Drains: ctx, Checks: []observe.Check{
			{Name: "store", Do: func(context.Context) error { time.Sleep(time.Duration(takes.Load())); return store }}, // it does not even listen
			{Name: "tables", Do: func(context.Context) error { return nil }},
		}}
		ask := func(code int, parts ...string) {
			t.Helper()
			rec := httptest.NewRecorder()
			began := time.Now()
			h.Ready(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
			if rec.Code != code || time.Since(began) > 2*time.Second {
				t.Errorf("%d after %s: %s", rec.Code, time.Since(began), rec.Body)
			}
			for _, part := range parts {
				if !strings.Contains(rec.Body.String(), part) {
					t.Errorf("there is no %s in %s", part, rec.Body)
				}
			}
		}
		ask(200, `{"ready":true,`)
		store = errors.New("connection refused")
		ask(503, `{"ready":false,`, `{"name":"store","ok":false,"reason":"connection refused"}`, `{"name":"tables","ok":true}`)
		store = nil
		takes.Store(int64(time.Minute))
		ask(503, `{"name":"store","ok":false,"reason":"there was no answer in 2s"}`)
		takes.Store(0)
		ask(200)
		drain()
		ask(503, `{"name":"draining","ok":false,"reason":"the process was told to stop, and finishes what it is at"}`, `{"name":"store","ok":true}`)
		rec := httptest.NewRecorder()
		h.Alive(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", nil))
		if rec.Code != http.StatusNoContent {
			t.Errorf("alive: %d", rec.Code)
		}
		time.Sleep(time.Hour) // whoever still checks comes to an end
	})
}

// Whoever asks on behalf of a person tells why somebody is not ready, on one line; of what is no such answer nothing is told.
func TestWhyNotReady(t *testing.T) {
	h := &observe.Health{Drains: t.Context(), Checks: []observe.Check{{Name: "store", Do: func(context.Context) error { return errors.New("connection\nrefused") }}, {Name: "tables", Do: func(context.Context) error { return nil }}}}
	w := httptest.NewRecorder()
	h.Ready(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	if why := observe.NotReady(w.Body); why != `; store: "connection\nrefused"` {
		t.Errorf("%q", why)
	}
	for _, other := range []string{"", "<html>", "{}", `{"checks":"no"}`} {
		if why := observe.NotReady(strings.NewReader(other)); why != "" {
			t.Errorf("%q: %q", other, why)
		}
	}
}
