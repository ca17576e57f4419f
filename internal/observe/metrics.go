// Package observe turns what happens into numbers, lines and traces that a monitoring system can read.
//
// It is told of events and counts them, writes lines without what nobody may see, and sends spans to a collector that nobody
// waits for; it never decides anything and never stores anything. Its labels are sources, endpoints, operations and codes, of which there are few: never ids, addresses or titles.
package observe

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"patra"
	"patra/internal/executor"
	"patra/internal/relay"
)

// Metrics are the counters of one process.
type Metrics struct {
	registry *prometheus.Registry

	batches, items, errors, throttled, retries, heals *prometheus.CounterVec
	tasks                                             *prometheus.CounterVec
	gates                                             *prometheus.CounterVec
	published, unpublished, aside                     *prometheus.CounterVec
	lag                                               *prometheus.GaugeVec
}

// where says what a number is about.
var where = []string{"source", "endpoint", "op"}

// NewMetrics makes counters that start at nothing.
func NewMetrics() *Metrics {
	reg := prometheus.NewRegistry()
	counter := func(name, help string, more ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patra_ingest_" + name, Help: help}, append(append([]string{}, where...), more...))
		reg.MustRegister(c)
		return c
	}
	gates := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patra_ingest_gate_changes_total",
		Help: "Times that a key of the rate gate went from Redis to the store, or back."}, []string{"to"})
	reg.MustRegister(gates)
	ofSinks := func(name, help string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patra_relay_" + name, Help: help}, []string{"sink"})
		reg.MustRegister(c)
		return c
	}
	lag := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "patra_relay_lag_events", Help: "Events that a sink has not got, as of the last attempt of this process."}, []string{"sink"})
	reg.MustRegister(lag)
	return &Metrics{
		registry:    reg,
		gates:       gates,
		published:   ofSinks("published_total", "Events that a sink acknowledged."),
		unpublished: ofSinks("failed_total", "Attempts to send events that were not acknowledged."),
		aside:       ofSinks("aside_total", "Events that were set aside because a sink would not take them."),
		lag:         lag,
		batches:     counter("batches_total", "Pages that were read and kept."),
		items:       counter("items_total", "Records of these pages, by what became of them.", "action"),
		errors:      counter("errors_total", "Requests that gave no page, and records that were put aside, by how grave it is.", "level"),
		throttled:   counter("429_total", "Times that a provider asked us to slow down."),
		retries:     counter("retries_total", "Pages that were asked for again."),
		heals:       counter("self_heal_events_total", "What was done so that work goes on although something went wrong.", "type"),
		tasks:       counter("tasks_total", "Tasks that a run of this process ended, by how.", "end"),
	}
}

// Event counts something that an executor tells.
func (m *Metrics) Event(e executor.Event) {
	t := e.Claim.Task
	at := func(more ...string) []string {
		return append([]string{t.Source, t.Endpoint, string(t.Operation)}, more...)
	}
	if f := e.Fault; f != nil {
		m.errors.WithLabelValues(at(string(f.Level))...).Inc()
		if f.Code == patra.CodeRateLimited {
			m.throttled.WithLabelValues(at()...).Inc()
		}
	}
	switch e.Kind {
	case executor.EventPage:
		m.batches.WithLabelValues(at()...).Inc()
		m.page(e.Counts, at)
	case executor.EventRetry, executor.EventRestart:
		m.retries.WithLabelValues(at()...).Inc()
	case executor.EventHeal:
		m.heals.WithLabelValues(at(e.Healing.Action)...).Inc()
	default:
		m.tasks.WithLabelValues(at(e.Kind)...).Inc()
	}
}

// GateChange counts that a key of the rate gate is kept in Redis from now on, or in the store.
func (m *Metrics) GateChange(lent bool) {
	to := "store"
	if lent {
		to = "redis"
	}
	m.gates.WithLabelValues(to).Inc()
}

// Relayed counts what became of events that were sent.
func (m *Metrics) Relayed(p relay.Progress) {
	m.published.WithLabelValues(p.Sink).Add(float64(p.Published))
	m.unpublished.WithLabelValues(p.Sink).Add(float64(p.Failed))
	m.aside.WithLabelValues(p.Sink).Add(float64(p.Aside))
	m.lag.WithLabelValues(p.Sink).Set(float64(p.Lag))
}

func (m *Metrics) page(n patra.Counts, at func(...string) []string) {
	add := func(action string, count int64) {
		if count > 0 {
			m.items.WithLabelValues(at(action)...).Add(float64(count))
		}
	}
	add("insert", n.Insert)
	add("update", n.Update)
	add("skip", n.Same+n.Stale+n.Dup)
	add("quarantine", n.Quarantine)
	if n.Quarantine > 0 {
		m.errors.WithLabelValues(at(string(patra.LevelData))...).Add(float64(n.Quarantine))
	}
}

// Handler serves the numbers, and says that the process is alive.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return mux
}
