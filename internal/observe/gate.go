package observe

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"patra"
	"patra/internal/executor"
)

// Gate counts what passes a gate. It changes nothing of what the gate says.
type Gate struct {
	executor.Gate
	m *Metrics
}

// Gate makes a gate whose grants, waits and refusals are counted by key.
func (m *Metrics) Gate(g executor.Gate) *Gate { return &Gate{g, m} }

// Reserve implements executor.Gate.
func (g *Gate) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	wait, err := g.Gate.Reserve(ctx, l, cost)
	if err == nil {
		key, seconds := g.m.keys.label(l.Key), max(wait, 0).Seconds()
		g.m.grants.WithLabelValues(key).Inc()
		g.m.waited.WithLabelValues(key).Add(seconds)
		g.m.waits.WithLabelValues(key).Observe(seconds)
	}
	return wait, err
}

// Report implements executor.Gate.
func (g *Gate) Report(ctx context.Context, l patra.RateLimit, a patra.RateFeedback) error {
	if a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable {
		g.m.refused.WithLabelValues(g.m.keys.label(l.Key), strconv.Itoa(a.Status)).Inc()
	}
	return g.Gate.Report(ctx, l, a)
}
