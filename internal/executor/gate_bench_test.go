package executor_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/sim"
)

// clocked measures what the gate asks of the store.
type clocked struct {
	gate.Rows
	turns, reads atomic.Int64
	took, held   atomic.Int64 // from the call to the answer; and from the moment that the row was locked
}

func (c *clocked) UpdateGateState(ctx context.Context, key string, turn func(patra.Instant, time.Duration, patra.RateState) patra.RateState) error {
	began, locked := time.Now(), time.Time{}
	err := c.Rows.UpdateGateState(ctx, key, func(now patra.Instant, took time.Duration, is patra.RateState) patra.RateState {
		locked = time.Now().Add(-took)
		return turn(now, took, is)
	})
	c.turns.Add(1)
	c.took.Add(int64(time.Since(began)))
	c.held.Add(int64(time.Since(locked)))
	return err
}

func (c *clocked) GateState(ctx context.Context, key string) (patra.RateState, patra.Instant, error) {
	c.reads.Add(1)
	return c.Rows.GateState(ctx, key)
}

// BenchmarkGate harvests at 50 requests a second and tells which share of the time the gate held the store's writer,
// how often it wrote for a request, how much of the permitted rate was used, and how many were refused.
func BenchmarkGate(b *testing.B) {
	for b.Loop() {
		file := fast(b)
		file.Defaults.Rate.PerSecond, file.Defaults.Rate.Burst = 50, 20
		h := newHarness(b, sim.Config{Seed: 5, PerDay: 2500, Rate: 50, Burst: 20, Faults: sim.Faults{Latency: 10 * time.Millisecond}}, nil, file)
		rows := &clocked{Rows: h.store}
		x := h.executor(8)
		x.Gate = gate.NewShared(rows)
		began := time.Now()
		if err := x.Run(b.Context()); err != nil {
			b.Fatal(err)
		}
		took, stats := time.Since(began), h.sim.Stats()
		if h.events[executor.EventDone] == 0 || stats.RateLimited > 0 {
			b.Errorf("%v, %d refused", h.events, stats.RateLimited)
		}
		requests := float64(stats.Requests)
		b.ReportMetric(100*float64(rows.held.Load())/float64(took), "%held")
		b.ReportMetric(100*float64(rows.took.Load())/float64(took)/8, "%waited")
		b.ReportMetric(float64(rows.turns.Load())/requests, "writes/request")
		b.ReportMetric(float64(rows.reads.Load())/requests, "reads/request")
		b.ReportMetric(100*requests/took.Seconds()/50, "%used")
	}
}
