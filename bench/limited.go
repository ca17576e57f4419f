package main

import (
	"context"
	"fmt"
	"math"
)

// What a limited provider permits, and how it is asked.
const (
	limitRate, limitBurst = 50, 20
	limitRows, limitDay   = 20, 200 // records of a page, and of a day: ten pages, and an empty one
	limitWorkers          = 8
)

// limited asks a provider that permits 50 requests a second, from as many workers as could ask for far more. The gate
// keeps a fiftieth of the rate for requests that leave late.
func (b *bench) limited(ctx context.Context, rep *report) error {
	t := tasks[0]
	t.rows, t.rate = limitRows, fmt.Sprintf("perSecond: %d, burst: %d", limitRate, limitBurst)
	w := world{PerDay: limitDay, Days: int(math.Ceil((limitRate*b.limitFor.Seconds() + limitBurst) / (limitDay/limitRows + 1)))}
	c := b.bins.harvest("Patra, SQLite", "sqlite")
	c.workers = limitWorkers
	var used, between []float64
	var over int64
	for range b.rounds {
		p, err := startProvider(ctx, w, manners{Rate: limitRate, Burst: limitBurst})
		if err != nil {
			return err
		}
		res, err := b.turn(ctx, p, c, t, w)
		p.stop()
		if err != nil {
			return err
		}
		if res.Lost != 0 {
			return fmt.Errorf("%d records were lost", res.Lost)
		}
		permitted := 1 + limitRate*res.Last.Sub(res.First).Seconds()
		used = append(used, float64(res.Requests-res.Refused)/permitted)
		over += res.Refused
		if share, ok := steady(res.Seconds); ok {
			between = append(between, share)
		}
		fmt.Fprintf(b.out, "limited  %d requests of %.0f permitted, %d refused\n", res.Requests, permitted, res.Refused)
	}
	rep.figures.set("limited.steady", spreadOf(between...))
	rep.figures.set("limited.used", spreadOf(used...))
	rep.figures.set("limited.over", spreadOf(float64(over)))
	return nil
}

// steady is how much of the rate was used in the seconds between the first and the last two: what is done at once at the beginning, and
// what is left undone at the end, is not in it.
func steady(seconds []int64) (share float64, ok bool) {
	if len(seconds) < 4 {
		return 0, false
	}
	between := seconds[1 : len(seconds)-2]
	var sum int64
	for _, n := range between {
		sum += n
	}
	return float64(sum) / float64(limitRate*len(between)), true
}
