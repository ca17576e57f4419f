package observe

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"patra"
	"patra/internal/executor"
)

// Gate counts what passes a gate. It changes nothing of what the gate says.
type Gate struct {
	executor.Gate
	keys                   *bounded
	grants, waits, refused *prometheus.CounterVec
}

// Gate makes a gate whose grants, waits and refusals are counted by key.
func (m *Metrics) Gate(g executor.Gate) *Gate {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patra_ingest_gate_" + name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	return &Gate{
		Gate: g, keys: &bounded{known: map[string]bool{}},
		grants:  counter("grants_total", "Requests that this process charged at the gate.", "key"),
		waits:   counter("wait_seconds_total", "How long they were told to wait for their turn.", "key"),
		refused: counter("refusals_total", "Answers that said that we are too fast, or that the provider is too busy.", "key", "status"),
	}
}

// Reserve implements executor.Gate.
func (g *Gate) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	wait, err := g.Gate.Reserve(ctx, l, cost)
	if err == nil {
		key := g.keys.label(l.Key)
		g.grants.WithLabelValues(key).Inc()
		g.waits.WithLabelValues(key).Add(max(wait, 0).Seconds())
	}
	return wait, err
}

// Report implements executor.Gate.
func (g *Gate) Report(ctx context.Context, l patra.RateLimit, a patra.RateAnswer) error {
	if a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable {
		g.refused.WithLabelValues(g.keys.label(l.Key), strconv.Itoa(a.Status)).Inc()
	}
	return g.Gate.Report(ctx, l, a)
}

// mostKeys bounds how many keys have numbers of their own. A key that names an address depends on what somebody harvests.
const mostKeys = 200

// otherKeys is where the rest is counted.
const otherKeys = "other"

// bounded gives labels to keys, until there are too many.
type bounded struct {
	mu    sync.Mutex
	known map[string]bool
}

func (b *bounded) label(key string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.known[key] {
		if len(b.known) >= mostKeys {
			return otherKeys
		}
		b.known[key] = true
	}
	return key
}

// Keys reads the state of the gate and of quotas, which all processes share.
type Keys interface {
	AllGates(ctx context.Context) ([]patra.KeyedRate, patra.Instant, error)
	Quotas(ctx context.Context) ([]patra.QuotaUse, error)
}

// WatchKeys shows the state of the gate whenever somebody asks for the numbers.
func (m *Metrics) WatchKeys(keys Keys) { m.registry.MustRegister(gauges{keys}) }

// gauges are read when they are asked for: they are everybody's, and not only ours.
type gauges struct{ keys Keys }

var (
	rateNow      = prometheus.NewDesc("patra_ingest_qps_effective", "Requests a second that the gate gives out now; 0 in a cooldown.", []string{"key"}, nil)
	cooldownLeft = prometheus.NewDesc("patra_ingest_gate_cooldown_seconds", "How long nobody may send.", []string{"key"}, nil)
	aheadNow     = prometheus.NewDesc("patra_ingest_gate_ahead_seconds", "How far ahead requests are given out.", []string{"key"}, nil)
	onTheirWay   = prometheus.NewDesc("patra_ingest_gate_on_the_way", "Requests on their way, where they are counted.", []string{"key"}, nil)
	budgetLeft   = prometheus.NewDesc("patra_ingest_budget_remaining", "Requests that may still be sent in this hour, day or month.", []string{"key", "window"}, nil)
)

// Describe implements prometheus.Collector.
func (gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{rateNow, cooldownLeft, aheadNow, onTheirWay, budgetLeft} {
		to <- d
	}
}

// lookTime is how long the store may take to tell its state. Whoever asks for numbers does not wait for a store that is
// not well.
const lookTime = 2 * time.Second

// Collect implements prometheus.Collector. What cannot be read has no number.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	all, now, err := g.keys.AllGates(ctx)
	if err != nil {
		return
	}
	for _, k := range all[:min(len(all), mostKeys)] {
		rate, left := k.Rate(), max(k.Cooldown.Sub(now).Seconds(), 0)
		if left > 0 {
			rate = 0
		}
		gauge(rateNow, rate, k.Key)
		gauge(cooldownLeft, left, k.Key)
		gauge(aheadNow, max(k.Arrival.Sub(now).Seconds(), 0), k.Key)
		gauge(onTheirWay, float64(k.Taken(now)), k.Key)
	}
	quotas, err := g.keys.Quotas(ctx)
	if err != nil {
		return
	}
	shown := 0
	for _, q := range quotas {
		if q.From <= now && now < q.To && shown < mostKeys {
			gauge(budgetLeft, float64(q.Left()), q.Key, q.Window)
			shown++
		}
	}
}
