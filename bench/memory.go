package main

import (
	"context"
	"slices"
)

// memoryPerDay is how many records a day has: few enough that also the smallest harvest has a day for every worker, or it would hold
// fewer pages at a time. There are no more days than have passed of the world's year.
const memoryPerDay, memoryDays = 2500, 250

// long is a size that is harvested once: it takes minutes.
const long = 500_000

// memory looks at the peak of harvests of different sizes. The provider keeps no pages, as a million would not fit.
func (b *bench) memory(ctx context.Context, rep *report) error {
	var peaks []float64
	for _, size := range b.sizes {
		w := world{Days: min(max(size/memoryPerDay, 1), memoryDays)}
		w.PerDay = size / w.Days
		rounds := b.rounds
		if size >= long {
			rounds = 1
		}
		done, err := b.compare(ctx, tasks[0], w, manners{Fresh: true}, rounds, []contender{b.bins.harvest("Patra, SQLite", "sqlite"), b.bins.floorOf("floor, SQLite", "store", "sqlite")})
		if err != nil {
			return err
		}
		rep.sizes = append(rep.sizes, done)
		peaks = append(peaks, done.named("Patra, SQLite").spread(result.megabytes).Mid)
	}
	rep.figures.set("memory.flat", spreadOf(slices.Max(peaks)/slices.Min(peaks)-1))
	rep.figures.set("memory.peak", spreadOf(slices.Max(peaks)))
	return nil
}

func (r result) megabytes() float64 { return float64(r.Peak) / 1e6 }
