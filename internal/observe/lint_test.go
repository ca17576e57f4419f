package observe_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/observe"
	"patra/internal/relay"
)

// full is a store that has one of everything.
var full = board{n: patra.MetricsSnapshot{
	Gates:    []patra.KeyedRate{{Key: "a"}},
	Quotas:   []patra.QuotaUse{{Key: "a", Window: patra.QuotaDay, From: boardTime - 1, To: boardTime + 1}},
	Queue:    []patra.QueueState{{Source: "a", Endpoint: "b", Operation: patra.Harvest}},
	Controls: []patra.Control{{Target: patra.Target{Scope: patra.ScopeSource, Key: "a"}, Kind: patra.KindPause}},
	Cursors:  []patra.CursorMetrics{{Reach: 10}},
	Sources:  []patra.SourceMetrics{{Source: "a", LastPage: new(boardTime)}},
	Sinks:    []patra.SinkMetrics{{Name: "hook"}}, LastClaim: new(boardTime),
}}

// fixedNames are those that were agreed on before there was a program, with what the linter says against them.
var fixedNames = map[string]string{
	"patra_ingest_batch_latency_ms": "latencies are told in milliseconds, as agreed",
	"patra_ingest_http_latency_ms":  "latencies are told in milliseconds, as agreed",
}

// Names and help are as those who read numbers expect, but for what was agreed on otherwise.
func TestNamesAreAsExpected(t *testing.T) {
	m := observe.NewMetrics("test")
	m.WatchStore(&full)
	everything(t, m)
	problems, err := promlint.New(strings.NewReader(scrape(m))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	said := scrape(m)
	for name := range registered(m) {
		if !strings.Contains(said, "\n# TYPE "+name+" ") {
			t.Errorf("%s was not looked at", name)
		}
	}
	found := map[string]bool{}
	for _, p := range problems {
		if found[p.Metric] = true; fixedNames[p.Metric] == "" {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	for name := range fixedNames {
		if !found[name] {
			t.Errorf("nobody complains of %s any more", name)
		}
	}
}

// everything makes each number appear.
func everything(t *testing.T, m *observe.Metrics) {
	t.Helper()
	claim := &patra.Claim{Task: patra.Task{Source: "crossref", Endpoint: "works", Operation: patra.Harvest}}
	for _, kind := range []string{executor.EventBegun, executor.EventPage, executor.EventNoPage, executor.EventRetry, executor.EventDone} {
		m.Event(executor.Event{Kind: kind, Claim: claim, Fault: &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeRateLimited}, Exchange: patra.Exchange{SentAt: 1, FinishedAt: 2}, Counts: patra.Counts{Insert: 1}})
	}
	m.Event(executor.Event{Kind: executor.EventHeal, Claim: claim, Healing: &patra.Healing{Action: patra.HealRestart}})
	g := m.Gate(gate.NewLocal())
	limit := patra.RateLimit{Key: "crossref", PerSecond: 1, Burst: 1}
	if _, err := g.Reserve(t.Context(), limit, 1); err != nil {
		t.Fatal(err)
	}
	if err := g.Report(t.Context(), limit, patra.RateFeedback{Status: 429}); err != nil {
		t.Fatal(err)
	}
	m.Relayed(relay.Progress{Sink: "hook"})
	m.Statement("commit", time.Millisecond)
	m.Advanced(patra.Namespace{Source: "crossref", Endpoint: "works", Operation: patra.Harvest})
}

// registered are the names and labels of everything that is counted here.
func registered(m *observe.Metrics) map[string][]string {
	all, descs := map[string][]string{}, make(chan *prometheus.Desc)
	go func() {
		m.Registry().Describe(descs)
		close(descs)
	}()
	form := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	for d := range descs {
		found := form.FindStringSubmatch(d.String())
		if name := found[1]; strings.HasPrefix(name, "patra_") {
			all[name] = slices.DeleteFunc(strings.Split(found[2], ","), func(l string) bool { return l == "" })
			slices.Sort(all[name])
		}
	}
	return all
}

// Every number is described for those who read it, with its labels, and nothing is described that is not there.
func TestNumbersAreDescribed(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	m := observe.NewMetrics("test")
	m.WatchStore(&board{})
	there, described := registered(m), map[string]bool{}
	row := regexp.MustCompile("^\\| `(patra_[a-z0-9_]+)` \\| (\\w+) \\|([^|]*)\\|([^|]+)\\|([^|]*)\\|$")
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| `patra_") {
			continue
		}
		found := row.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			t.Errorf("not a line of the table: %s", line)
			continue
		}
		name, labels := found[1], strings.Fields(strings.NewReplacer("`", "", ",", " ").Replace(found[3]))
		slices.Sort(labels)
		want, ok := there[name]
		switch {
		case !ok:
			t.Errorf("%s is described, and not there", name)
		case described[name]:
			t.Errorf("%s is described twice", name)
		case !slices.Equal(labels, want):
			t.Errorf("%s is described with the labels %v, and has %v", name, labels, want)
		}
		described[name] = true
	}
	for name := range there {
		if !described[name] {
			t.Errorf("%s is not described", name)
		}
	}
}
