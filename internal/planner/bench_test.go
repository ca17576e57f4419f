package planner

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// BenchmarkPlanByTheHour plans years by the hour: the time must grow like the number of slices, and the memory not at
// all. The bare inserts of as many rows are measured beside it.
func BenchmarkPlanByTheHour(b *testing.B) {
	for _, years := range []int{2, 5, 10} {
		b.Run(fmt.Sprintf("years=%d", years), func(b *testing.B) {
			for b.Loop() {
				planned, peak, n := planYears(b, years)
				inserted := insertAlone(b, years)
				b.ReportMetric(float64(n), "slices")
				b.ReportMetric(planned.Seconds()/float64(n)*1e6, "µs/slice")
				b.ReportMetric(float64(peak)/1e6, "peak-MB")
				b.ReportMetric(planned.Seconds()/inserted.Seconds(), "x-bare-inserts")
			}
		})
	}
}

func planYears(b *testing.B, years int) (took time.Duration, peak uint64, n int64) {
	b.Helper()
	y := newYardB(b)
	stop := watch(&peak)
	began := time.Now()
	res, err := y.planner.Plan(b.Context(), y.Clock.Instant(), yearsOf(y, years))
	took = time.Since(began)
	stop()
	if err != nil || res.Plan.Status != patra.Ready {
		b.Fatal(err)
	}
	return took, peak, res.Added
}

// watch keeps the greatest heap that was in use.
func watch(peak *uint64) (stop func()) {
	runtime.GC()
	var done atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var m runtime.MemStats
		for !done.Load() {
			runtime.ReadMemStats(&m)
			*peak = max(*peak, m.HeapInuse)
			time.Sleep(2 * time.Millisecond)
		}
	}()
	return func() {
		done.Store(true)
		<-ended
	}
}

// insertAlone is the floor: the same rows, with everything about them known before.
func insertAlone(b *testing.B, years int) time.Duration {
	b.Helper()
	y := newYardB(b)
	d, err := y.planner.Draft(b.Context(), y.Clock.Instant(), yearsOf(y, years))
	if err != nil {
		b.Fatal(err)
	}
	seq, _, err := y.planner.Slices(b.Context(), d)
	if err != nil {
		b.Fatal(err)
	}
	var all []patra.Slice
	for sl := range seq {
		all = append(all, sl)
	}
	id, err := y.planner.accept(b.Context(), y.Clock.Instant(), yearsOf(y, years))
	if err != nil {
		b.Fatal(err)
	}
	d.Plan.InstanceID = id
	if err := y.planner.store(b.Context(), y.Clock.Instant(), d); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	version := d.Cursor.PlanVersion
	for chunk := range slices.Chunk(all, chunkSize) {
		if err := y.AddSlices(b.Context(), y.Clock.Instant(), d.Plan.ID, version, chunk, patra.TriggerManual, 5); err != nil {
			b.Fatal(err)
		}
		version++
	}
	return time.Since(began)
}

func yearsOf(y *yard, years int) Request {
	from, to := patra.Date(2026-years, time.January, 1), patra.Date(2026, time.January, 1)
	return Request{Source: y.file, Operation: patra.Backfill, Contact: "me@example.org", From: &from, To: &to}
}

func newYardB(b *testing.B) *yard {
	b.Helper()
	w := &storetest.World{T: b, Clock: storetest.NewClock()}
	w.Store = storetest.Engines()[0].Open(b, store.WithClock(w.Clock.Now))
	y := &yard{World: w, file: loadFile(b, "crossref")}
	e := y.file.Endpoints["works"]
	e.Window.Size, e.Window.Precision, e.Window.Align = patra.Period{Clock: time.Hour}, patra.UnitHour, patra.UnitHour
	y.file.Endpoints["works"] = e
	y.planner = &Planner{Store: w.Store, Config: settings}
	return y
}
