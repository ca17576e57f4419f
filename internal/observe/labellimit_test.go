package observe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/observe"
	"patra/internal/relay"
)

// series counts the numbers in what was told.
func series(said string) (n int) {
	for line := range strings.Lines(said) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

// hostile are texts of every kind that somebody may put into a source, a key or a name.
func hostile(n int) string {
	switch n % 5 {
	case 0:
		return fmt.Sprintf("source\"\n\\%d", n)
	case 1:
		return fmt.Sprintf("%d\xff\xfe", n) // no text
	case 2:
		return strings.Repeat("x", 5000) + fmt.Sprint(n)
	case 3:
		return fmt.Sprintf("https://user:secret@example.org/%d?query=title", n)
	}
	return fmt.Sprintf("{évil=%d}", n)
}

// However many sources, endpoints, keys, sinks, statements and watermarks there are, and whatever they are called, there are not
// more series than somebody can keep, and none of them is without numbers because of another.
func TestSeriesAreBounded(t *testing.T) {
	m := observe.NewMetrics("test")
	g, b := m.Gate(gate.NewLocal()), &board{}
	for n := range 3000 {
		name := hostile(n)
		claim := &patra.Claim{Task: patra.Task{Source: name, Endpoint: name, Operation: patra.Operations[n%3]}}
		for _, kind := range []string{executor.EventBegun, executor.EventPage, executor.EventNoPage, executor.EventRetry, executor.EventDone, executor.EventFailed, executor.EventPartial, executor.EventLost, executor.EventReleased, executor.EventHeld, executor.EventCancelled} {
			m.Event(executor.Event{Kind: kind, Claim: claim, Fault: &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeRateLimited}, Exchange: patra.Exchange{SentAt: 1, FinishedAt: 2},
				Counts: patra.Counts{Insert: 1, Update: 1, Same: 1, Quarantine: 1}})
		}
		for _, action := range []string{patra.HealRestart, patra.HealRescan, patra.HealReslice, patra.HealShrink, patra.HealBisect, patra.HealAside, patra.HealDownshift, patra.HealUpshift, patra.HealOpen, patra.HealHalfOpen, patra.HealClose, patra.HealHalt, patra.HealCooldown, patra.HealQuota} {
			m.Event(executor.Event{Kind: executor.EventHeal, Claim: claim, Healing: &patra.Healing{Action: action}})
		}
		limit := patra.RateLimit{Key: name, PerSecond: 1, Burst: 1}
		if _, err := g.Reserve(t.Context(), limit, 1); err != nil {
			t.Fatal(err)
		}
		for _, status := range []int{429, 503} {
			if err := g.Report(t.Context(), limit, patra.RateFeedback{Status: status}); err != nil {
				t.Fatal(err)
			}
		}
		m.Relayed(relay.Progress{Sink: name})
		m.Statement(name, time.Millisecond)
		m.Advanced(patra.Namespace{Source: name, Endpoint: name, Operation: patra.Operations[n%3]})
		op := patra.Operations[n%3]
		b.n.Gates = append(b.n.Gates, patra.KeyedRate{Key: name})
		for _, window := range []string{patra.QuotaDay, patra.QuotaMonth} {
			b.n.Quotas = append(b.n.Quotas, patra.QuotaUse{Key: name, Window: window, From: boardTime - 1, To: boardTime + 1})
		}
		b.n.Queue = append(b.n.Queue, patra.QueueState{Source: name, Endpoint: name, Operation: op})
		b.n.Sources = append(b.n.Sources, patra.SourceMetrics{Source: name, LastPage: new(boardTime)})
		b.n.Sinks = append(b.n.Sinks, patra.SinkMetrics{Name: name})
		b.n.Controls = append(b.n.Controls, patra.Control{Target: patra.Target{Scope: patra.ScopeSource, Key: name}, Kind: patra.KindPause})
		b.n.Cursors = append(b.n.Cursors, patra.CursorMetrics{Reach: 10, CursorFacts: patra.CursorFacts{Cursor: patra.Cursor{Namespace: patra.Namespace{Source: name, Endpoint: name, Operation: op, ScopeKey: name}}}})
	}
	b.n.Gates = append(b.n.Gates[:1:1], b.n.Gates...) // the same twice
	m.WatchStore(b)
	said := scrape(m)
	n := series(said)
	t.Logf("%d series", n)
	if n > observe.MostSeries || n < observe.MostSeries/2 {
		t.Errorf("%d series, and the bound is %d", n, observe.MostSeries)
	}
	for _, name := range []string{"patra_store_up 1", `patra_ingest_batches_total{endpoint="other",op="other",source="other"} 2900`, `patra_ingest_gate_grants_total{key="other"} 2800`} {
		told(t, said, name)
	}
	for line := range strings.Lines(said) {
		if len(line) > 500 || strings.Contains(line, "xxxxxxxxxx"+strings.Repeat("x", 60)) {
			t.Fatalf("a line is %d bytes long: %.200s", len(line), line)
		}
	}
	if _, err := m.Registry().Gather(); err != nil {
		t.Errorf("%.500s", err)
	}
}

// What telling the time of statements costs, which is added to every one of them.
func BenchmarkStatement(b *testing.B) {
	m := observe.NewMetrics("test")
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			m.Statement("select_cursor", 300*time.Microsecond)
		}
	})
}
