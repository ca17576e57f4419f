package observe_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/gate"
	"patra/internal/observe"
)

// board is a store that stands as a test wants it.
type board struct {
	n   patra.MetricsSnapshot
	err error
}

const boardTime = patra.Instant(1 << 50)

func (b *board) MetricsSnapshot(context.Context) (patra.MetricsSnapshot, error) {
	n := b.n
	n.At = boardTime
	return n, b.err
}

func (b *board) StoredBodyRange(context.Context, string) (patra.StoredBodyRange, error) {
	return patra.StoredBodyRange{}, b.err
}

func (b *board) Files() (file, log int64, ok bool) { return 1, 1, true }

func scrape(m *observe.Metrics) string {
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	return rec.Body.String()
}

func TestWhatPassesTheGateIsCounted(t *testing.T) {
	m := observe.NewMetrics("test")
	g := m.Gate(gate.NewLocal())
	l := patra.RateLimit{Key: "crossref", PerSecond: 1, Burst: 1}
	for range 3 {
		if _, err := g.Reserve(t.Context(), l, 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, status := range []int{200, 429, 429, 503, 500} {
		if err := g.Report(t.Context(), l, patra.RateFeedback{Status: status}); err != nil {
			t.Fatal(err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Reserve(cancelled, l, 1); err == nil {
		t.Error("granted to one who is gone")
	}
	b := &board{n: patra.MetricsSnapshot{Gates: []patra.KeyedRate{
		{Key: "a", RateState: patra.RateState{Limit: 3000, Tempo: patra.AdaptiveRate{Rate: 1500}, Arrival: boardTime.Add(2 * time.Second), RateDetails: patra.RateDetails{Slots: []patra.Slot{{Until: boardTime + 1}}}}},
		{Key: "b", RateState: patra.RateState{Limit: 3000, Cooldown: boardTime.Add(90 * time.Second)}},
	}, Quotas: []patra.QuotaUse{
		{Key: "a", Window: patra.QuotaDay, From: boardTime - 1, To: boardTime + 1, Limit: 100, Usable: 90, Used: 50},
		{Key: "a", Window: patra.QuotaDay, From: boardTime + 1, To: boardTime + 2, Limit: 100, Usable: 90}, // of tomorrow
	}}}
	m.WatchStore(b)
	said := scrape(m)
	for _, line := range []string{
		`patra_ingest_gate_grants_total{key="crossref"} 3`,
		`patra_ingest_gate_refusals_total{key="crossref",status="429"} 2`,
		`patra_ingest_gate_refusals_total{key="crossref",status="503"} 1`,
		`patra_ingest_qps_effective{key="a"} 1.5`,
		`patra_ingest_qps_effective{key="b"} 0`,
		`patra_ingest_gate_ahead_seconds{key="a"} 2`,
		`patra_ingest_gate_on_the_way{key="a"} 1`,
		`patra_ingest_gate_cooldown_seconds{key="a"} 0`,
		`patra_ingest_gate_cooldown_seconds{key="b"} 90`,
		`patra_ingest_budget_remaining{key="a",window="DAY"} 40`,
	} {
		if !strings.Contains(said, line+"\n") {
			t.Errorf("there is no %s in\n%s", line, said)
		}
	}
	if strings.Contains(said, `status="200"`) || !strings.Contains(said, `patra_ingest_gate_wait_seconds_total{key="crossref"} `) {
		t.Error(said)
	}
}

// However many keys there are, there are not more numbers than somebody can keep.
func TestKeysAreBounded(t *testing.T) {
	m := observe.NewMetrics("test")
	g, b := m.Gate(gate.NewLocal()), &board{}
	for n := range 1000 {
		key := fmt.Sprintf("host:%d.example.org", n)
		b.n.Gates = append(b.n.Gates, patra.KeyedRate{Key: key})
		if _, err := g.Reserve(t.Context(), patra.RateLimit{Key: key, PerSecond: 1, Burst: 1}, 1); err != nil {
			t.Fatal(err)
		}
	}
	m.WatchStore(b)
	said := scrape(m)
	if n := strings.Count(said, "\npatra_ingest_gate_grants_total{"); n != 201 || !strings.Contains(said, `patra_ingest_gate_grants_total{key="other"} 800`) {
		t.Errorf("%d numbers of grants", n)
	}
	if n := strings.Count(said, "\npatra_ingest_qps_effective{"); n != 200 {
		t.Errorf("%d rates", n)
	}
}
