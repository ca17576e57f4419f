package executor_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/query"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// requests keeps the rows of probes, and lets a test see them.
type requests struct {
	opened []patra.RequestOpen
	closed []patra.Exchange
}

func (r *requests) OpenRequest(_ context.Context, _ patra.Instant, open patra.RequestOpen) (int64, error) {
	r.opened = append(r.opened, open)
	return int64(len(r.opened)), nil
}

func (r *requests) CloseRequest(ctx context.Context, id int64, x patra.Exchange) error {
	if id != int64(len(r.opened)) {
		return errors.New("another request is closed than was opened")
	}
	if ctx.Err() == nil {
		r.closed = append(r.closed, x)
	}
	return ctx.Err()
}

func specOf(t *testing.T, text string) *source.Spec {
	t.Helper()
	file, err := source.Load("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := source.Compile(file, source.Options{Operation: patra.Harvest, Contact: "t@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func crossrefText(t *testing.T, change ...string) string {
	return strings.NewReplacer(change...).Replace(shippedFast(t, "crossref"))
}

// prober talks to a handler through memory.
func prober(t *testing.T, rows executor.RequestLedger, g executor.Gate, h http.Handler) *executor.Prober {
	client := pipeClient(t, h)
	return &executor.Prober{Store: rows, Gate: g, Log: slog.New(slog.DiscardHandler), Client: func(*source.Spec, string) *http.Client { return client }}
}

var month = patra.Window{From: day(0), To: day(4)}

func TestAProbeCounts(t *testing.T) {
	for name, text := range map[string]string{"a stateful source": crossrefText(t), "ids first": shippedFast(t, "pubmed"), "offsets": paged(offsets, "P1M")} {
		t.Run(name, func(t *testing.T) {
			st := storetest.Engines()[0].Open(t)
			p := prober(t, st, gate.NewLocal(), newWorks().Handler())
			probe, err := p.Probe(t.Context(), specOf(t, text), query.All(), month, "http://provider")
			if err != nil || probe.Total == nil || *probe.Total != 480 || probe.Trust != patra.TrustExact || probe.Bytes == 0 {
				t.Errorf("%+v, %v", probe, err)
			}
		})
	}
}

func TestAProbeHasARowOfItsOwn(t *testing.T) {
	e := storetest.Engines()[0]
	url := e.URL(t)
	st := e.Connect(t, url)
	if _, err := st.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := prober(t, st, gate.NewLocal(), newWorks().Handler())
	if _, err := p.Probe(t.Context(), specOf(t, crossrefText(t)), query.All(), month, "http://provider"); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := storetest.Inspect(t, url).QueryRow(`SELECT COUNT(*) FROM ing_request WHERE kind_code = 'PROBE' AND run_id IS NULL AND batch_id IS NULL AND gate_key = 'crossref'
		AND sent_at >= acquired_at AND finished_at IS NOT NULL AND http_status = 200 AND outcome_code = 'OK' AND bytes > 0`).Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// Without a count the first page says how far it reaches.
func TestAProbeReadsAFirstPage(t *testing.T) {
	text := strings.Replace(paged(offsets, "P1M"), `total: {path: "$.message['total-results']", trust: EXACT}`, `total: {trust: NONE}`, 1)
	p := prober(t, &requests{}, gate.NewLocal(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"message":{"items":[{"DOI":"a","indexed":{"date-time":"2026-05-01T01:00:00Z"}},{"DOI":"b","indexed":{"date-time":"2026-05-01T03:00:00Z"}},{"DOI":"c"},
			{"DOI":"d","indexed":{"date-time":"2026-05-01T02:00:00Z"}}]}}`)
	}))
	probe, err := p.Probe(t.Context(), specOf(t, text), query.All(), month, "http://provider")
	if err != nil || probe.Total != nil || probe.Items != 4 || !probe.HasNext || probe.Last == nil || *probe.Last != day(0)+3*patra.Hour {
		t.Errorf("%+v, %v", probe, err)
	}
}

func TestAWalkIsNotBegunForAProbe(t *testing.T) {
	rows := &requests{}
	p := prober(t, rows, gate.NewLocal(), http.NotFoundHandler())
	text := crossrefText(t, `total: {path: "$.message['total-results']", trust: EXACT}`, `total: {trust: NONE}`)
	if _, err := p.Probe(t.Context(), specOf(t, text), query.All(), month, "http://provider"); !errors.Is(err, executor.ErrCannotProbe) || len(rows.opened) > 0 {
		t.Errorf("%v after %d requests", err, len(rows.opened))
	}
}

// watched is a gate that tells how long it was closed.
type watched struct {
	*gate.Local
	cooled time.Duration
}

func (g *watched) Cooldown(ctx context.Context, key string, wait time.Duration) error {
	g.cooled += wait
	return g.Local.Cooldown(ctx, key, wait)
}

// Whoever gives up after a refusal has still heard when to come back, and so have the others.
func TestTheLastRefusalIsForEverybody(t *testing.T) {
	g := &watched{Local: gate.NewLocal()}
	p := prober(t, &requests{}, g, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "90")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	_, err := p.Probe(t.Context(), specOf(t, crossrefText(t, "maxAttempts: 30", "maxAttempts: 1")), query.All(), month, "http://provider")
	if err == nil || g.cooled < time.Minute {
		t.Errorf("everybody was held back for %s, %v", g.cooled, err)
	}
}

// A probe waits its turn, slows down with everybody when it is told to, and asks again only where that can help.
func TestAProbeKeepsToTheGate(t *testing.T) {
	works := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 120, Exact: true}).Handler()
	for _, c := range []struct {
		name   string
		refuse func(n int64, w http.ResponseWriter) bool
		asked  int
		took   time.Duration
		code   string
	}{
		{"at once", func(int64, http.ResponseWriter) bool { return false }, 1, 0, ""},
		{"told to wait", func(n int64, w http.ResponseWriter) bool {
			if n == 1 {
				w.Header().Set("Retry-After", "90")
				w.WriteHeader(http.StatusTooManyRequests)
			}
			return n == 1
		}, 2, 90 * time.Second, ""},
		{"closed for a while", func(n int64, w http.ResponseWriter) bool {
			if n == 1 {
				w.Header().Set("Retry-After", "90")
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return n == 1
		}, 2, 90 * time.Second, ""},
		{"out of order for a moment", func(n int64, w http.ResponseWriter) bool {
			if n < 3 {
				w.WriteHeader(http.StatusBadGateway)
			}
			return n < 3
		}, 3, time.Millisecond, ""},
		{"out of order for good", func(_ int64, w http.ResponseWriter) bool {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}, 3, time.Millisecond, patra.CodeHTTP},
		{"refused", func(_ int64, w http.ResponseWriter) bool {
			w.WriteHeader(http.StatusBadRequest)
			return true
		}, 1, 0, patra.CodeHTTP},
		{"not understood", func(_ int64, w http.ResponseWriter) bool {
			io.WriteString(w, "<html>log in</html>")
			return true
		}, 3, time.Millisecond, patra.CodeWebPage},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int64
				rows, g := &requests{}, &watched{Local: gate.NewLocal()}
				p := prober(t, rows, g, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !c.refuse(n.Add(1), w) {
						works.ServeHTTP(w, r)
					}
				}))
				began := time.Now()
				probe, err := p.Probe(t.Context(), specOf(t, crossrefText(t, "maxAttempts: 30", "maxAttempts: 4")), query.All(), month, "http://provider")
				most := c.took + min(c.took*3/20, 10*time.Second) + time.Second // nobody comes back at the very moment
				if took := time.Since(began); took < c.took || took > most {
					t.Errorf("it took %s", took)
				}
				if slow := c.took > time.Second; slow != (g.cooled >= time.Minute) {
					t.Errorf("everybody was held back for %s", g.cooled)
				}
				if len(rows.opened) != c.asked || len(rows.closed) != c.asked || int(n.Load()) != c.asked {
					t.Errorf("%d rows opened, %d closed, %d requests", len(rows.opened), len(rows.closed), n.Load())
				}
				if c.code == "" && (err != nil || *probe.Total != 480) {
					t.Errorf("%+v, %v", probe, err)
				}
				if c.code != "" && (err == nil || patra.AsFault(err).Code != c.code) {
					t.Errorf("%v", err)
				}
				for i, x := range rows.closed {
					if ok := x.Outcome == patra.OutcomeOK; ok != (c.code == "" && i == len(rows.closed)-1) || x.SentAt < rows.opened[i].AcquiredAt || rows.opened[i].Kind != patra.RequestProbe {
						t.Errorf("row %d: %+v, %+v", i, rows.opened[i], x)
					}
				}
			})
		})
	}
}

// A probe that is called off while it waits for its turn was never a request.
func TestAProbeThatIsCalledOffWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows, g := &requests{}, gate.NewLocal()
		if err := g.Cooldown(t.Context(), "crossref", time.Hour); err != nil {
			t.Fatal(err)
		}
		p := prober(t, rows, g, http.NotFoundHandler())
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := p.Probe(ctx, specOf(t, crossrefText(t)), query.All(), month, "http://provider"); !errors.Is(err, context.DeadlineExceeded) || len(rows.opened) > 0 {
			t.Errorf("%v after %d requests", err, len(rows.opened))
		}
	})
}

// One that is called off while the provider thinks was sent, and its row says so.
func TestAProbeThatIsCalledOffOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := &requests{}
		p := prober(t, rows, gate.NewLocal(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := p.Probe(ctx, specOf(t, crossrefText(t)), query.All(), month, "http://provider"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if len(rows.closed) != 1 || rows.closed[0].SentAt == 0 || rows.closed[0].Outcome == patra.OutcomeOK {
			t.Errorf("opened %+v, closed %+v", rows.opened, rows.closed)
		}
	})
}

// stingy is a store whose slices have little time.
type stingy struct{ *store.Store }

func (s stingy) Claim(ctx context.Context, req patra.ClaimRequest) (*patra.Claim, error) {
	c, err := s.Store.Claim(ctx, req)
	if c != nil {
		c.Slice.Spec.Budget, c.Slice.Spec.Hints.Whole = &patra.Budget{MaxSeconds: 15}, false
	}
	return c, err
}

// The time that counts is that of the run, the waiting for others included.
func TestTheBudgetOfTimeEndsASlice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				<-time.After(10 * time.Second)
				next.ServeHTTP(w, r)
			})
		})
		x := b.executor(nil)
		x.Store = stingy{b.Store}
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, err := b.PartialSlices(t.Context(), 0, 10)
		if err != nil || len(all) != 2 {
			t.Fatalf("%d slices wait to be cut, %v", len(all), err)
		}
		for _, sl := range all {
			if sl.Reslice.Reason != patra.ResliceSeconds || sl.Reslice.Requests != 2 {
				t.Errorf("left because of %+v", sl.Reslice)
			}
		}
	})
}
