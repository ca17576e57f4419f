package executor_test

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/query"
	"patra/internal/source"
)

// hearing is a gate that remembers what it was told, and has no grants for those who ask first.
type hearing struct {
	*gate.Local
	told  []patra.RateFeedback
	empty int
}

func (g *hearing) Report(ctx context.Context, l patra.RateLimit, a patra.RateFeedback) error {
	g.told = append(g.told, a)
	return g.Local.Report(ctx, l, a)
}

func (g *hearing) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	if g.empty > 0 {
		g.empty--
		return 0, &patra.ThrottledError{Wait: 7 * time.Second}
	}
	return g.Local.Reserve(ctx, l, cost)
}

// What the first answer says decides when the second request leaves.
func TestTheGateHearsWhatAnswersSay(t *testing.T) {
	for _, c := range []struct {
		name        string
		first       func(w http.ResponseWriter) bool // writes the first answer; false: as usual
		want        patra.RateFeedback               // without the times
		least, most time.Duration                    // between the two requests
	}{
		{"nothing", func(http.ResponseWriter) bool { return false }, patra.RateFeedback{Status: 200}, time.Second, 2 * time.Second},
		{"a lower limit", func(w http.ResponseWriter) bool {
			w.Header().Set("X-Limit", "12")
			w.Header().Set("X-Slots", "3")
			return false
		}, patra.RateFeedback{Status: 200, Told: patra.AdvertisedLimit{PerSecond: 0.2, Concurrency: 3}}, time.Second, 2 * time.Second},
		{"nothing is left", func(w http.ResponseWriter) bool {
			w.Header().Set("X-Left", "0")
			w.Header().Set("X-Reset", strconv.FormatInt(time.Now().Unix()+30, 10))
			return false
		}, patra.RateFeedback{Status: 200}, 31500 * time.Millisecond, 36 * time.Second},
		{"come back in a while", func(w http.ResponseWriter) bool {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(503)
			return true
		}, patra.RateFeedback{Status: 503}, 63 * time.Second, 73 * time.Second},
		{"come back in a while, in its own way", func(w http.ResponseWriter) bool {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(504)
			return true
		}, patra.RateFeedback{Status: 504}, 63 * time.Second, 73 * time.Second},
		{"no answer", func(http.ResponseWriter) bool { panic(http.ErrAbortHandler) }, patra.RateFeedback{}, time.Second, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var came []time.Time
				works := newWorks().Handler()
				client := pipeClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if came = append(came, time.Now()); len(came) == 1 && c.first(w) {
						return
					}
					works.ServeHTTP(w, r)
				}))
				g := &hearing{Local: gate.NewLocal()}
				p := &executor.Prober{Store: &requests{}, Gate: g, Log: slog.New(slog.DiscardHandler), Client: func(*source.Spec, string) *http.Client { return client }}
				spec := specOf(t, paged(offsets, "P1M"))
				spec.Rate.PerSecond, spec.Rate.Burst, spec.Retry.AfterOn = 1, 1, []int{504}
				spec.Rate.Headers = source.RateHeaders{Limit: "X-Limit", Per: source.Duration(time.Minute), Concurrency: "X-Slots", Remaining: "X-Left", Reset: "X-Reset", ResetIs: "EPOCH"}
				for len(came) < 2 {
					if _, err := p.Probe(t.Context(), spec, query.All(), month, "http://provider"); err != nil {
						t.Fatal(err)
					}
				}
				is := g.told[0]
				if is.RetryAfter, is.Took = 0, 0; is != c.want {
					t.Errorf("the gate was told %+v", g.told[0])
				}
				if gap := came[1].Sub(came[0]); gap < c.least || gap > c.most {
					t.Errorf("the second request came after %s, not between %s and %s", gap, c.least, c.most)
				}
			})
		})
	}
}

// Whoever gets no grant yet asks again later, and sends nothing before.
func TestWhoGetsNoGrantAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, came := time.Now(), time.Duration(0)
		works := newWorks().Handler()
		client := pipeClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			came = time.Since(began)
			works.ServeHTTP(w, r)
		}))
		g := &hearing{Local: gate.NewLocal(), empty: 3}
		p := &executor.Prober{Store: &requests{}, Gate: g, Log: slog.New(slog.DiscardHandler), Client: func(*source.Spec, string) *http.Client { return client }}
		if _, err := p.Probe(t.Context(), specOf(t, paged(offsets, "P1M")), query.All(), month, "http://provider"); err != nil {
			t.Fatal(err)
		}
		if came < 21*time.Second || came > 25*time.Second {
			t.Errorf("it came after %s", came)
		}
	})
}
