package main

import (
	"testing"
	"time"

	"patra/internal/sim"
)

// ordeal is a profile of the simulator as torture uses it, and the faults that must have happened for it to count.
type ordeal struct {
	profile string
	faults  []string
	tune    func(*sim.Faults)
}

// The probabilities are raised until a short run meets every fault; a wait of ten years is left to tests that need not
// live through it.
var ordeals = []ordeal{
	{"throttle", []string{"throttle", "unavailable", "retry-after-seconds", "retry-after-date", "retry-after-none", "retry-after-past", "retry-after-garbage", "retry-after-negative"}, func(f *sim.Faults) {
		f.AbsurdWait = 0
	}},
	{"flaky", []string{"server-error", "reset", "cut-body", "cut-chunked", "cut-plain", "half-gzip", "slow-body", "expire-token", "timeout", "transient-error"}, func(f *sim.Faults) {
		f.ExpireToken, f.Timeout, f.Transient = 0.05, 0.08, 0.06
	}},
	{"lying", []string{"html-page", "error-body", "empty-body", "wrong-total", "empty-page", "short-page", "duplicate-id"}, func(f *sim.Faults) {
		f.EmptyPage = 0.06
	}},
	{"moving", nil, func(f *sim.Faults) { f.MoveEvery = 3 }},
}

// latency is long enough for most kills to hit a request on its way.
const latency = 30 * time.Millisecond

func (o ordeal) load(t testing.TB) sim.Faults {
	f, err := sim.Profile(o.profile)
	if err != nil {
		t.Fatal(err)
	}
	f.Latency = latency
	o.tune(&f)
	return f
}
