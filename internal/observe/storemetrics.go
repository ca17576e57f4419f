package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"patra"
)

// The bounds of what is told of the store.
const (
	mostKeys    = patra.MostKeys
	mostPlaces  = patra.MostPlaces
	mostCursors = patra.MostCursors
	mostSinks   = patra.MostSinks
)

// storeCollector are numbers that are read when they are asked for: they are everybody's, and not only ours. Every process of a store
// tells the same.
type storeCollector struct{ storeSnapshot }

// WatchStore shows how the store stands whenever somebody asks for the numbers.
func (m *Metrics) WatchStore(s Store) {
	m.registry.MustRegister(&storeCollector{storeSnapshot{store: s}})
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	storeUp   = desc("patra_store_up", "Whether the store tells how everything stands, in time.")
	readTook  = desc("patra_store_read_seconds", "How long it took the store to tell that, the last time.")
	walBytes  = desc("patra_store_wal_bytes", "Bytes in the log of an embedded store that are not in its file yet.")
	fileBytes = desc("patra_store_file_bytes", "Bytes of the file of an embedded store.")
	records   = desc("patra_store_records", "The number of the newest record: as many were stored, or a few less where the database skips numbers.")
	keptBytes = desc("patra_evidence_stored_bytes", "Bytes of all answers that are kept, as of the last walk through them.")
	keptCount = desc("patra_evidence_stored_bodies", "Answers that are kept, as of the last walk through them.")
	leftOut   = desc("patra_ingest_left_out", "What has no numbers here because there are too many of it; at least so many.", "what")

	queued    = desc("patra_ingest_tasks_queued", "Tasks that wait, due or not; counting ends at ten thousand of a priority.", where...)
	due       = desc("patra_ingest_tasks_due", "Tasks that wait and could run now.", where...)
	running   = desc("patra_ingest_tasks_running", "Tasks that somebody is at, in whatever process.", where...)
	oldestDue = desc("patra_ingest_queue_oldest_seconds", "How long the oldest task has been due; 0 if none is.", where...)
	queueHeld = desc("patra_ingest_queue_held", "Whether something holds all of these tasks back.", where...)
	expired   = desc("patra_ingest_leases_expired", "Running tasks whose worker gives no sign of life, and that nobody has taken over yet.")
	lastClaim = desc("patra_ingest_last_claim_timestamp_seconds", "When anybody last took a task.")
	inForce   = desc("patra_ingest_control_in_force", "What holds work back or slows it down now: a pause, halt, breaker, quota or limit; always 1.", "source", "endpoint", "op", "kind")

	cursorLag    = desc("patra_ingest_cursor_lag_seconds", "From a watermark to now.", "source", "endpoint", "op", "ns")
	cursorStood  = desc("patra_ingest_cursor_stood_seconds", "How long a watermark has not moved, although there is work before it; 0 if there is none.", "source", "endpoint", "op", "ns")
	gapsAhead    = desc("patra_ingest_coverage_gaps", "Stretches after watermarks that nobody has read and nobody is at, although something behind them was read or planned.", where...)
	disputed     = desc("patra_ingest_disputed_windows", "Stretches that were read and that the provider counts differently.", where...)
	completeness = desc("patra_ingest_completeness_ratio", "Of the time from the origins of watermarks to the end of all that was planned, the share that is sealed without a hole.", "source", "op")

	lastPage = desc("patra_ingest_last_page_timestamp_seconds", "When a page of a source was last stored, by anybody.", "source")
	failed   = desc("patra_ingest_tasks_failed", "Tasks that have used up their attempts, and that nobody has tried again; counting ends at ten thousand.", "source")
	openItem = desc("patra_ingest_quarantine_open", "Items in quarantine that nobody has settled; counting ends at ten thousand.", "source")

	sinkDepth    = desc("patra_relay_outbox_depth", "Events that a sink has not got.", "sink")
	sinkAside    = desc("patra_relay_aside_events", "Events that were set aside because a sink would not take them, and that nobody has sent again.", "sink")
	sinkFailures = desc("patra_relay_failures_in_a_row", "Attempts at a sink since one was acknowledged.", "sink")

	rateNow      = desc("patra_ingest_qps_effective", "Requests a second that the gate gives out now; 0 in a cooldown.", "key")
	cooldownLeft = desc("patra_ingest_gate_cooldown_seconds", "How long nobody may send.", "key")
	aheadNow     = desc("patra_ingest_gate_ahead_seconds", "How far ahead requests are given out.", "key")
	onTheirWay   = desc("patra_ingest_gate_on_the_way", "Requests on their way, where they are counted.", "key")
	budgetLeft   = desc("patra_ingest_budget_remaining", "Requests that may still be sent in this hour, day or month.", "key", "window")
	budgetLimit  = desc("patra_ingest_budget_usable", "Requests that may be sent in this hour, day or month altogether.", "key", "window")
)

// Describe implements prometheus.Collector.
func (*storeCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		storeUp, readTook, walBytes, fileBytes, records, keptBytes, keptCount, leftOut,
		queued, due, running, oldestDue, queueHeld, expired, lastClaim, inForce,
		cursorLag, cursorStood, gapsAhead, disputed, completeness, lastPage, failed, openItem,
		sinkDepth, sinkAside, sinkFailures, rateNow, cooldownLeft, aheadNow, onTheirWay, budgetLeft, budgetLimit,
	} {
		to <- d
	}
}

// metricEmitter gives numbers, each of them once: two of the same name would keep everybody from all of them.
type metricEmitter struct {
	to   chan<- prometheus.Metric
	told map[*prometheus.Desc]map[string]bool
}

func (t metricEmitter) emit(d *prometheus.Desc, value float64, labels ...string) {
	id := ""
	for i, text := range labels {
		labels[i] = label(text)
		id += labels[i] + "\x00"
	}
	if t.told[d] == nil {
		t.told[d] = map[string]bool{}
	}
	if !t.told[d][id] {
		t.told[d][id] = true
		t.to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
}

// Collect implements prometheus.Collector. What cannot be read has no number.
func (s *storeCollector) Collect(to chan<- prometheus.Metric) {
	t := metricEmitter{to, map[*prometheus.Desc]map[string]bool{}}
	if file, log, ok := s.store.Files(); ok {
		t.emit(fileBytes, float64(file))
		t.emit(walBytes, float64(log))
	}
	n, total := s.now()
	if n == nil {
		t.emit(storeUp, 0)
		return
	}
	t.emit(storeUp, 1)
	t.emit(readTook, s.lastTook().Seconds())
	t.emit(records, float64(n.Records))
	if total != nil {
		t.emit(keptBytes, float64(total.bytes))
		t.emit(keptCount, float64(total.bodies))
	}
	for _, what := range []string{patra.LeftGates, patra.LeftQuotas, patra.LeftQueues, patra.LeftCursors, patra.LeftSources, patra.LeftSinks} {
		t.emit(leftOut, float64(n.LeftOut[what]), what)
	}
	t.queue(n)
	t.cursors(n)
	t.sources(n)
	t.gates(n)
}

func (t metricEmitter) queue(n *patra.MetricsSnapshot) {
	for _, q := range n.Queue[:min(len(n.Queue), mostPlaces)] {
		at := func(d *prometheus.Desc, value float64) { t.emit(d, value, q.Source, q.Endpoint, string(q.Operation)) }
		at(queued, float64(q.Queued()))
		at(due, float64(q.Due))
		at(running, float64(q.Running))
		oldest := 0.0
		if q.Oldest != nil && q.Due > 0 {
			oldest = max(n.At.Sub(*q.Oldest).Seconds(), 0)
		}
		at(oldestDue, oldest)
		at(queueHeld, truth(q.Held != ""))
	}
	t.emit(expired, float64(n.Expired))
	if n.LastClaim != nil {
		t.emit(lastClaim, unix(*n.LastClaim))
	}
	for _, c := range n.Controls[:min(len(n.Controls), 2*mostPlaces)] {
		at := c.WorkScope()
		t.emit(inForce, 1, at.Source, at.Endpoint, string(at.Operation), string(c.Kind))
	}
}

// namespace is a short name of what a watermark is about: the beginning of the hash of its question.
func namespace(n patra.Namespace) string {
	return string(n.Scope) + "-" + patra.Hash([]any{n.Key, n.ScopeKey})[:8]
}

func (t metricEmitter) cursors(n *patra.MetricsSnapshot) {
	type sum struct{ gaps, disputed, planned, sealed float64 }
	type place struct{ source, endpoint, op string }
	at, of := map[place]sum{}, map[place]sum{}
	for _, c := range n.Cursors[:min(len(n.Cursors), mostCursors)] {
		p := place{c.Cursor.Source, c.Cursor.Endpoint, string(c.Cursor.Operation)}
		ns := namespace(c.Cursor.Namespace)
		t.emit(cursorLag, n.At.Sub(c.Cursor.Value).Seconds(), p.source, p.endpoint, p.op, ns)
		stood := 0.0
		if c.Waiting || c.Gaps > 0 {
			stood = max(n.At.Sub(c.Cursor.UpdatedAt).Seconds(), 0)
		}
		t.emit(cursorStood, stood, p.source, p.endpoint, p.op, ns)
		planned, sealed := c.Planned()
		here := at[p]
		here.gaps, here.disputed = here.gaps+float64(c.Gaps), here.disputed+float64(c.Disputed)
		at[p] = here
		p.endpoint = ""
		all := of[p]
		all.planned, all.sealed = all.planned+planned, all.sealed+sealed
		of[p] = all
	}
	for p, s := range at {
		t.emit(gapsAhead, s.gaps, p.source, p.endpoint, p.op)
		t.emit(disputed, s.disputed, p.source, p.endpoint, p.op)
	}
	for p, s := range of {
		if s.planned > 0 {
			t.emit(completeness, s.sealed/s.planned, p.source, p.op)
		}
	}
}

func (t metricEmitter) sources(n *patra.MetricsSnapshot) {
	for _, s := range n.Sources[:min(len(n.Sources), mostPlaces)] {
		if s.LastPage != nil {
			t.emit(lastPage, unix(*s.LastPage), s.Source)
		}
		t.emit(failed, float64(s.Failed), s.Source)
		t.emit(openItem, float64(s.Aside), s.Source)
	}
	for _, s := range n.Sinks[:min(len(n.Sinks), mostSinks)] {
		t.emit(sinkDepth, float64(s.Depth), s.Name)
		t.emit(sinkAside, float64(s.Aside), s.Name)
		t.emit(sinkFailures, float64(s.Failures), s.Name)
	}
}

func (t metricEmitter) gates(n *patra.MetricsSnapshot) {
	for _, k := range n.Gates[:min(len(n.Gates), mostKeys)] {
		rate, left := k.Rate(), max(k.Cooldown.Sub(n.At).Seconds(), 0)
		if left > 0 {
			rate = 0
		}
		t.emit(rateNow, rate, k.Key)
		t.emit(cooldownLeft, left, k.Key)
		t.emit(aheadNow, max(k.Arrival.Sub(n.At).Seconds(), 0), k.Key)
		t.emit(onTheirWay, float64(k.InFlight(n.At)), k.Key)
	}
	for _, q := range n.Quotas[:min(len(n.Quotas), 2*mostKeys)] {
		if q.From <= n.At && n.At < q.To {
			t.emit(budgetLeft, float64(q.Left()), q.Key, q.Window)
			t.emit(budgetLimit, float64(q.Usable), q.Key, q.Window)
		}
	}
}

func unix(at patra.Instant) float64 { return float64(at) / float64(patra.Second) }

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
