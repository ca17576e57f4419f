package main

import (
	"context"
)

// few and many are the records of a page whose costs are compared.
const few, many = 100, 1000

// batch finds what a page costs beyond its records. The same harvest is done in pages of 1,000 and in ten times as many of 100: what
// it costs more is the price of the additional pages. The floor pays one too, for the request, the transaction and a row of its
// ledger; what Patra pays beyond that is its overhead. All of it is processor time, which depends less on who else is busy.
func (b *bench) batch(ctx context.Context, rep *report) error {
	t := tasks[0]
	var who []contender
	for _, rows := range []int{many, few} {
		for _, c := range []contender{b.bins.floorOf("floor", "store", "sqlite"), b.bins.harvest("Patra", "sqlite")} {
			c.name += ", pages of " + grouped(int64(rows))
			c.rows = rows
			who = append(who, c)
		}
	}
	done, err := b.compare(ctx, t, t.world(b.world), manners{}, b.rounds, who)
	if err != nil {
		return err
	}
	rep.pages = &done
	price := func(of string, n int) float64 { // of one more page, in milliseconds
		large, small := done.named(of + ", pages of 1,000").turns[n], done.named(of + ", pages of 100").turns[n]
		return float64((small.CPU - large.CPU).Microseconds()) / 1000 / float64(max(small.Requests-large.Requests, 1))
	}
	var share, ours, floors []float64
	for n := range b.rounds {
		ours, floors = append(ours, price("Patra", n)), append(floors, price("floor", n))
		share = append(share, (ours[n]-floors[n])/done.named("Patra, pages of 1,000").turns[n].perThousand())
	}
	rep.pagePrice, rep.floorPrice = spreadOf(ours...), spreadOf(floors...)
	rep.figures.set("batch.overhead", spreadOf(share...))
	return nil
}
