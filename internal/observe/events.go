package observe

import (
	"context"
	"net/http"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/relay"
)

// Event counts something that an executor tells. An error is counted once: with the request that gave no page or, if it is
// fatal, with the task that ended of it.
func (m *Metrics) Event(e executor.Event) {
	t := e.Claim.Task
	at := func(more ...string) []string { return m.places.at(t.Source, t.Endpoint, t.Operation, more...) }
	switch e.Kind {
	case executor.EventBegun:
		m.concurrency.WithLabelValues(at()...).Inc()
	case executor.EventOver:
		m.concurrency.WithLabelValues(at()...).Dec()
	case executor.EventPage:
		m.batches.WithLabelValues(at()...).Inc()
		m.page(e.Counts, at)
		m.exchange(e, at)
		if e.Exchange.SentAt != 0 {
			m.batchTime.WithLabelValues(at()...).Observe(float64(e.Took) / float64(time.Millisecond))
		}
	case executor.EventNoPage:
		m.exchange(e, at)
	case executor.EventRetry, executor.EventRestart:
		m.retries.WithLabelValues(at()...).Inc()
	case executor.EventHeal:
		m.heals.WithLabelValues(at(e.Healing.Action)...).Inc()
	default:
		m.tasks.WithLabelValues(at(e.Kind)...).Inc()
		if e.Fault != nil && e.Fault.Level == patra.LevelFatal {
			m.errors.WithLabelValues(at(string(patra.LevelFatal))...).Inc()
		}
	}
}

// exchange counts what came of one request.
func (m *Metrics) exchange(e executor.Event, at func(...string) []string) {
	x := e.Exchange
	if x.SentAt != 0 && x.FinishedAt != 0 {
		m.httpTime.WithLabelValues(at()...).Observe(float64(x.FinishedAt-x.SentAt) / float64(patra.Second/1000))
	}
	if x.Status == http.StatusTooManyRequests || e.Fault != nil && e.Fault.Code == patra.CodeRateLimited {
		m.throttled.WithLabelValues(at()...).Inc()
	}
	if e.Fault != nil && e.Fault.Level != patra.LevelFatal {
		m.errors.WithLabelValues(at(string(e.Fault.Level))...).Inc()
	}
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

// Where the state of a key is kept.
const toStore, toRedis = "store", "redis"

// GateChange counts that a key of the rate gate is kept in Redis from now on, or in the store.
func (m *Metrics) GateChange(lent bool) {
	to := toStore
	if lent {
		to = toRedis
	}
	m.gateChanges.WithLabelValues(to).Inc()
}

// Relayed counts what became of events that were sent.
func (m *Metrics) Relayed(p relay.Progress) {
	sink := m.sinks.label(p.Sink)
	m.published.WithLabelValues(sink).Add(float64(p.Published))
	m.unpublished.WithLabelValues(sink).Add(float64(p.Failed))
	m.aside.WithLabelValues(sink).Add(float64(p.Aside))
	m.lag.WithLabelValues(sink).Set(float64(p.Lag))
}

// countingBodyWriter counts what is kept. It changes nothing of it.
type countingBodyWriter struct {
	executor.BodyWriter
	m *Metrics
}

// Evidence makes a keeper of answers whose work is counted.
func (m *Metrics) Evidence(e executor.BodyWriter) executor.BodyWriter {
	if e == nil {
		return nil
	}
	return countingBodyWriter{e, m}
}

// Put implements executor.BodyWriter.
func (e countingBodyWriter) Put(ctx context.Context, came string, body []byte, clean bool) (patra.StoredBody, error) {
	kept, err := e.BodyWriter.Put(ctx, came, body, clean)
	if err == nil {
		e.m.evidenceBodies.Inc()
		e.m.evidenceWritten.Add(float64(kept.StoredSize))
	}
	return kept, err
}
