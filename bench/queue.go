package main

import (
	"context"
	"fmt"
)

// queue measures claims and the ledger where the store's own tests are: nobody outside can ask for one claim.
func (b *bench) queue(ctx context.Context, rep *report) error {
	got, err := goBench(ctx, 1, "patra/internal/store", "^Benchmark(Claim|Ledger)$",
		fmt.Sprint("BENCH_QUEUED=", b.queued), fmt.Sprint("BENCH_CLAIMS=", b.claims), fmt.Sprint("BENCH_ROUNDS=", b.rounds))
	if err != nil {
		return err
	}
	rep.queued = b.queued
	for _, e := range engines {
		for _, workers := range []int{1, 16} {
			name := fmt.Sprintf("BenchmarkClaim/%s/workers=%d", e.code, workers)
			key := fmt.Sprintf("claim.%s.%d", e.code, workers)
			rep.figures.set(key+".avg", got.spread(name, "avg-ms"))
			rep.figures.set(key+".p95", got.spread(name, "p95-ms"))
			rep.claims = append(rep.claims, claimed{e, workers, got.spread(name, "claims/s")})
		}
		rep.figures.set("ledger."+e.code+".avg", got.spread("BenchmarkLedger/"+e.code, "avg-ms"))
		rep.figures.set("ledger."+e.code+".p95", got.spread("BenchmarkLedger/"+e.code, "p95-ms"))
	}
	return nil
}

// claimed is how many tasks were taken in a second.
type claimed struct {
	engine  engine
	workers int
	rate    spread
}

// plan measures planning where the planner's own tests are.
func (b *bench) plan(ctx context.Context, rep *report) error {
	got := metrics{}
	for _, years := range b.years {
		name := fmt.Sprintf("BenchmarkPlanByTheHour/years=%d", years)
		one, err := goBench(ctx, b.rounds, "patra/internal/planner", fmt.Sprintf("^BenchmarkPlanByTheHour$/^years=%d$", years))
		if err != nil {
			return err
		}
		got[name] = one[name]
		rep.plans = append(rep.plans, planned{years, one.spread(name, "slices"), one.spread(name, "µs/slice"), one.spread(name, "x-bare-inserts"), one.spread(name, "peak-MB")})
	}
	last := rep.plans[len(rep.plans)-1]
	if last.years == 10 {
		rep.figures.set("plan.inserts", last.times)
		rep.figures.set("plan.linear", ratios(got["BenchmarkPlanByTheHour/years=10"]["µs/slice"], got["BenchmarkPlanByTheHour/years=2"]["µs/slice"]))
	}
	return nil
}

// planned is what it took to plan some years by the hour.
type planned struct {
	years                      int
	slices, micros, times, mem spread
}
