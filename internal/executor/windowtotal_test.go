package executor_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/egress"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/planner"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// cutDay is a day of PubMed that was cut by ids, in front of a provider that may lie about how much the whole day has.
type cutDay struct {
	t      *testing.T
	store  *store.Store
	url    string
	plan   *planner.Result
	truth  int
	parts  int64
	lie    func(nth int64) bool // whether the n-th count of the ids that lie in no part is wrong
	counts atomic.Int64
}

func newCutDay(t *testing.T) *cutDay {
	d := &cutDay{t: t}
	small := strings.NewReplacer("cap: 9998", "cap: 40", "pageSize: 9998", "pageSize: 20")
	file, err := source.Load("pubmed.yaml", []byte(small.Replace(shippedFast(t, "pubmed"))))
	if err != nil {
		t.Fatal(err)
	}
	day := from.AddDate(0, 0, 1)
	provider := sim.New(sim.Config{Seed: 9, From: from, To: day, PerDay: 120, Exact: true})
	d.truth = len(ids(provider.PubMed().Truth(from, day)))
	handler, total := provider.Handler(), regexp.MustCompile(`"count":"(\d+)"`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(asked))
		if !strings.HasSuffix(r.URL.Path, "/esearch.fcgi") || !strings.Contains(string(asked), "NOT") {
			handler.ServeHTTP(w, r)
			return
		}
		r.Header.Del("Accept-Encoding")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		body := answer.Body.Bytes()
		if nth := d.counts.Add(1); d.lie != nil && d.lie(nth) {
			body = total.ReplaceAll(body, []byte(`"count":"3"`))
		}
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	e := storetest.Engines()[0]
	d.url = e.URL(t)
	d.store = e.Connect(t, d.url)
	if _, err := d.store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	prober := &executor.Prober{Store: d.store, Gate: gate.NewLocal(), Log: slog.New(slog.DiscardHandler), Client: func(_ *source.Spec, base string) *http.Client {
		u, _ := url.Parse(base)
		return egress.NewClient(egress.Options{Host: u.Host, Trusted: true, Connect: time.Second, Headers: 5 * time.Second, Total: 10 * time.Second})
	}}
	p := &planner.Planner{Store: d.store, Prober: prober, Config: planner.Config{TaskAttempts: 5, Target: 10_000, MaxPages: 1000, MinStep: 24 * time.Hour, Probes: 200}}
	start, end := patra.InstantOf(from), patra.InstantOf(day)
	if d.plan, err = p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Contact: "t@example.org", From: &start, To: &end, BaseURL: server.URL}); err != nil {
		t.Fatal(err)
	}
	if d.parts = d.plan.Added; d.parts < 2 {
		t.Fatalf("the day was cut into %d parts", d.parts)
	}
	return d
}

// read lets one worker read the parts one after the other, and gives the day's answer.
func (d *cutDay) read(st executor.Store) patra.CoverageEntry {
	d.t.Helper()
	x := runner(d.t, d.store, d.plan)
	x.Store, x.Config.Workers = st, 1
	if err := x.Run(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	answers, err := d.store.CoverageEntries(d.t.Context(), d.plan.Plan.CursorID)
	if err != nil || len(answers) != 1 {
		d.t.Fatalf("the day has %d answers, %v", len(answers), err)
	}
	if n, err := d.store.CountRecords(d.t.Context(), "pubmed"); err != nil || n != int64(d.truth) {
		d.t.Errorf("%d records of %d, %v", n, d.truth, err)
	}
	storetest.CheckInvariants(d.t, storetest.Inspect(d.t, d.url))
	return answers[0]
}

// The parts of a window prove it together when no record has an id that lies in none of them. That is asked once, by the last part.
func TestPartsProveAWindowThatHasNothingElse(t *testing.T) {
	d := newCutDay(t)
	a := d.read(d.store)
	if a.State != patra.StateSealed || a.Proof == nil || a.Proof.Witness != patra.WitnessParts || *a.Proof.Rest != 0 || d.counts.Load() != 1 {
		t.Errorf("%s by %+v after %d counts of the rest", a.State, a.Proof, d.counts.Load())
	}
}

// A record whose id lies in no part was read by none.
func TestIDsThatLieInNoPartAreADispute(t *testing.T) {
	d := newCutDay(t)
	d.lie = func(int64) bool { return true }
	a := d.read(d.store)
	if a.State != patra.StateDisputed || a.Proof == nil || *a.Proof.Rest != 3 || d.counts.Load() != 1 {
		t.Errorf("%s by %+v after %d counts of the rest", a.State, a.Proof, d.counts.Load())
	}
}

// lateSight is a store in which the last part does not see, once, that it is the last: as if another closed meanwhile.
type lateSight struct {
	executor.Store
	last int64
}

func (s *lateSight) IsLastPart(ctx context.Context, c *patra.Claim) (bool, error) {
	last, err := s.Store.IsLastPart(ctx, c)
	if last {
		s.last++
	}
	return last && s.last > 1, err
}

// Of two parts that close at the same moment neither knows that it is the last. The one that comes second is told so by the
// store, and asks for the rest before it is closed.
func TestTwoLastPartsAtOnceAskForTheRestToo(t *testing.T) {
	d := newCutDay(t)
	a := d.read(&lateSight{Store: d.store})
	if a.State != patra.StateSealed || d.counts.Load() != 1 {
		t.Errorf("%s by %+v after %d counts of the rest", a.State, a.Proof, d.counts.Load())
	}
}
