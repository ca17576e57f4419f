package observe

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"patra"
)

// Statement is told how long a statement of the store took. It is on the way of every one of them: what is looked up is kept.
func (m *Metrics) Statement(name string, took time.Duration) {
	timer, ok := m.timers.Load(name)
	if !ok {
		timer = m.timer(name)
	}
	timer.(prometheus.Observer).Observe(took.Seconds())
}

// timer finds the numbers of a statement. What stands behind a space tells apart texts of one name. Names beyond the bound are
// none of ours, and not kept.
func (m *Metrics) timer(name string) any {
	short, _, longer := strings.Cut(name, " ")
	timer := any(m.statements.WithLabelValues(m.names.label(short)))
	if !longer && m.names.admit(label(short)) {
		timer, _ = m.timers.LoadOrStore(name, timer)
	}
	return timer
}

// Retried is told that a transaction is tried again.
func (m *Metrics) Retried(reason string) { m.transactionRetries.WithLabelValues(reason).Inc() }

// Refused is told that a transaction was given up because of the store itself.
func (m *Metrics) Refused() { m.refusals.Inc() }

// Advanced is told that a watermark has moved forward.
func (m *Metrics) Advanced(n patra.Namespace) {
	m.advances.WithLabelValues(m.places.at(n.Source, n.Endpoint, n.Operation, string(n.Direction()))...).Inc()
}
