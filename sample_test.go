package patra

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A share is a share: of many pages, however they are numbered, about as many are told of as somebody wants.
func TestASampleIsAsLargeAsItShouldBe(t *testing.T) {
	for _, share := range []float64{0.01, 0.1, 0.5} {
		for name, of := range map[string]func(i int64) []int64{
			"pages of one run":    func(i int64) []int64 { return []int64{17, i} },
			"first pages of runs": func(i int64) []int64 { return []int64{i, 1} },
			"runs":                func(i int64) []int64 { return []int64{i} },
		} {
			const all = 100_000
			n := 0.0
			for i := range int64(all) {
				if InLogSample(share, of(i)...) {
					n++
				}
			}
			if off := math.Abs(n/all - share); off > 5*math.Sqrt(share*(1-share)/all) {
				t.Errorf("%s: %g of %d, and it should be %g", name, n, all, share)
			}
		}
	}
}

func TestAllIsAllAndMoreIsMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run, batch := rapid.Int64().Draw(t, "run"), rapid.Int64().Draw(t, "batch")
		small := rapid.Float64Range(0, 1).Draw(t, "small")
		large := rapid.Float64Range(small, 1).Draw(t, "large")
		if !InLogSample(1, run, batch) || InLogSample(0, run, batch) {
			t.Fatal("all is not all, or nothing is something")
		}
		first, again := InLogSample(small, run, batch), InLogSample(small, run, batch)
		if first != again || first && !InLogSample(large, run, batch) {
			t.Fatal("what is of a small share is of a large one, each time")
		}
	})
}
