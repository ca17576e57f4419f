package gate

import (
	"context"
	"sync"
	"time"

	"patra"
)

// Local is a gate within one process, with no history.
type Local struct{ *Shared }

// NewLocal makes a gate with no history.
func NewLocal(opts ...Option) *Local {
	return &Local{newShared(&memory{began: time.Now(), rows: map[string]patra.RateState{}}, false, opts...)}
}

// memory keeps rows for one process, by a clock that nobody sets.
type memory struct {
	mu    sync.Mutex
	began time.Time
	rows  map[string]patra.RateState
}

func (m *memory) now() patra.Instant { return patra.InstantOf(m.began.Add(time.Since(m.began))) }

// UpdateGateState implements Rows.
func (m *memory) UpdateGateState(ctx context.Context, key string, turn func(patra.Instant, time.Duration, patra.RateState) patra.RateState) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[key] = turn(m.now(), 0, m.rows[key])
	return ctx.Err()
}

// GateState implements Rows.
func (m *memory) GateState(_ context.Context, key string) (patra.RateState, patra.Instant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows[key], m.now(), nil
}
