package store_test

import (
	"testing"

	"patra"
	"patra/internal/observe"
	"patra/internal/store/storetest"
)

// What it costs to tell how long statements take: the cheapest statement, and a page of a hundred records, with and without.
func BenchmarkWatched(b *testing.B) {
	for _, watched := range []bool{false, true} {
		name := map[bool]string{false: "alone", true: "watched"}[watched]
		b.Run("statement/"+name, func(b *testing.B) {
			w := storetest.NewWorld(b, storetest.Engines()[0], 1)
			if watched {
				w.Watch(observe.NewMetrics("test"))
			}
			for b.Loop() {
				if err := w.Ping(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("page/"+name, func(b *testing.B) {
			w := storetest.NewWorld(b, storetest.Engines()[0], 1)
			if watched {
				w.Watch(observe.NewMetrics("test"))
			}
			c := w.Take()
			for ordinal := int64(1); b.Loop(); ordinal++ {
				works := make([]patra.Observation, 100)
				for i := range works {
					works[i] = w.Record(patra.Hash([]int64{ordinal, int64(i)}), storetest.Origin, "x")
				}
				w.Page(c, ordinal, true, works...)
			}
		})
	}
}
