package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"patra"
)

// Statement is told how long a statement of the store took. It is on the way of every one of them: what is looked up is kept.
func (m *Metrics) Statement(name string, took time.Duration) {
	timer, ok := m.timers.Load(name)
	if !ok {
		timer, _ = m.timers.LoadOrStore(m.kept(name), m.statements.WithLabelValues(m.names.label(name)))
	}
	timer.(prometheus.Observer).Observe(took.Seconds())
}

// kept is the name under which a timer is found again. Names beyond the bound are not kept: they are no names of ours.
func (m *Metrics) kept(name string) string {
	if m.names.admit(label(name)) {
		return name
	}
	return others
}

// Retried is told that a transaction is tried again.
func (m *Metrics) Retried(reason string) { m.transactionRetries.WithLabelValues(reason).Inc() }

// Refused is told that a transaction was given up because of the store itself.
func (m *Metrics) Refused() { m.refusals.Inc() }

// Advanced is told that a watermark has moved forward.
func (m *Metrics) Advanced(n patra.Namespace) {
	m.advances.WithLabelValues(m.places.at(n.Source, n.Endpoint, n.Operation, string(n.Direction()))...).Inc()
}
