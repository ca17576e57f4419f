// Package observe turns what happens into numbers, lines and traces that a monitoring system can read.
//
// It is told of events and counts them, writes lines without what nobody may see, and sends spans to a collector that nobody
// waits for; it never decides anything and never stores anything. Its labels are sources, endpoints, operations and codes, of
// which there are few: never ids, addresses or titles. What it reads of the store it reads when somebody asks for numbers,
// seldom and not for long.
//
// docs/metrics.md tells what every number means.
package observe

import (
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the counters of one process.
type Metrics struct {
	registry *prometheus.Registry
	places   scopeLabels
	keys     *labelLimiter
	sinks    *labelLimiter

	batches, items, errors, throttled, retries, heals, tasks *prometheus.CounterVec
	batchTime, httpTime                                      *prometheus.HistogramVec
	concurrency                                              *prometheus.GaugeVec

	gateChanges, grants, waited, refused *prometheus.CounterVec
	waits                                *prometheus.HistogramVec

	published, unpublished, aside *prometheus.CounterVec
	lag                           *prometheus.GaugeVec

	statements         *prometheus.HistogramVec
	timers             sync.Map // name of a statement -> prometheus.Observer
	names              *labelLimiter
	transactionRetries *prometheus.CounterVec
	refusals           prometheus.Counter
	advances           *prometheus.CounterVec

	evidenceWritten, evidenceBodies prometheus.Counter
	traces                          atomic.Pointer[Traces] // nil: nobody traces
}

// where says what a number is about.
var where = []string{"source", "endpoint", "op"}

// millis are the bounds of the latencies that are told in milliseconds.
var millis = []float64{10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000}

// WatchTraces counts the spans that nobody will see.
func (m *Metrics) WatchTraces(t *Traces) { m.traces.Store(t) }

func (m *Metrics) dropped() float64 {
	if t := m.traces.Load(); t != nil {
		return float64(t.Dropped())
	}
	return 0
}

// NewMetrics makes counters that start at nothing.
func NewMetrics(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), places: scopeLabels{newBounded(mostPlaces)}, keys: newBounded(mostKeys), sinks: newBounded(mostSinks), names: newBounded(mostStatements)}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	build := m.gauge("patra_build_info", "Which program this is; always 1.", "version", "goversion")
	build.WithLabelValues(label(version), runtime.Version()).Set(1)

	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "patra_trace_spans_dropped_total", Help: "Spans that the collector of traces did not take."}, m.dropped))

	at := func(more ...string) []string { return append(append([]string{}, where...), more...) }
	m.batches = m.counter("patra_ingest_batches_total", "Pages that were read and kept.", at()...)
	m.items = m.counter("patra_ingest_items_total", "Records of these pages, by what became of them.", at("action")...)
	m.errors = m.counter("patra_ingest_errors_total", "Requests that gave no page, and records that were put aside, by how grave that is; L4 when it ends a task.", at("level")...)
	m.throttled = m.counter("patra_ingest_429_total", "Requests that a provider refused because we are too fast.", at()...)
	m.retries = m.counter("patra_ingest_retries_total", "Pages that were asked for again.", at()...)
	m.heals = m.counter("patra_ingest_self_heal_events_total", "What was done so that work goes on although something went wrong.", at("type")...)
	m.tasks = m.counter("patra_ingest_tasks_total", "Tasks that a run of this process ended, by how.", at("end")...)
	m.batchTime = m.histogram("patra_ingest_batch_latency_ms", "Milliseconds from sending a request until its page is committed.", millis, at()...)
	m.httpTime = m.histogram("patra_ingest_http_latency_ms", "Milliseconds from sending a request until its answer is read, also of one that gave no page.", millis, at()...)
	m.concurrency = m.gauge("patra_ingest_executor_concurrency", "Tasks that this process is at.", at()...)
	m.advances = m.counter("patra_ingest_cursor_advance_events_total", "Times that this process moved a watermark forward.", at("direction")...)

	m.gateChanges = m.counter("patra_ingest_gate_changes_total", "Times that a key of the rate gate went from Redis to the store, or back.", "to")
	for _, to := range []string{toStore, toRedis} {
		m.gateChanges.WithLabelValues(to)
	}
	m.grants = m.counter("patra_ingest_gate_grants_total", "Requests that this process charged at the gate.", "key")
	m.waited = m.counter("patra_ingest_gate_wait_seconds_total", "How long they were told to wait for their turn, together.", "key")
	m.waits = m.histogram("patra_ingest_gate_wait_seconds", "How long each of them was told to wait for its turn.", []float64{0.01, 0.1, 1, 5, 15, 60, 300}, "key")
	m.refused = m.counter("patra_ingest_gate_refusals_total", "Answers that said that we are too fast, or that the provider is too busy.", "key", "status")

	m.published = m.counter("patra_relay_published_total", "Events that a sink acknowledged.", "sink")
	m.unpublished = m.counter("patra_relay_failed_total", "Attempts to send events that were not acknowledged.", "sink")
	m.aside = m.counter("patra_relay_aside_total", "Events that were set aside because a sink would not take them.", "sink")
	m.lag = m.gauge("patra_relay_lag_events", "Events that a sink has not got, as of the last attempt of this process.", "sink")

	m.statements = m.histogram("patra_store_statement_seconds", "How long statements took, with the reading of their rows; commit is the end of a transaction.", []float64{0.0005, 0.002, 0.01, 0.05, 0.25, 1, 5}, "statement")
	m.transactionRetries = m.counter("patra_store_transaction_retries_total", "Transactions that were tried again: the store was busy, a connection broke, or it took too long.", "reason")
	for _, reason := range []string{"busy", "broken", "slow"} { // which may never happen, and is 0 then
		m.transactionRetries.WithLabelValues(reason)
	}
	m.refusals = m.one("patra_store_unavailable_total", "Transactions that were given up because of the store itself.")

	m.evidenceWritten = m.one("patra_evidence_written_bytes_total", "Bytes of answers that this process kept, as they are kept.")
	m.evidenceBodies = m.one("patra_evidence_written_bodies_total", "Answers that this process kept.")
	return m
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) one(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(g)
	return g
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(h)
	return h
}

// Registry has everything that is counted, for whoever wants to look at it from inside.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// Handler serves the numbers. What one part of the program cannot tell keeps nobody from the rest.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4})
}
