package patra_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// A walk in order that ends early after some pages: what it confirms holds nothing that it has not seen.
func TestOnlyWhatWasSeenIsConfirmed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := patra.Window{From: 0, To: patra.Instant(rapid.IntRange(1, 20).Draw(t, "length")) * patra.Second}
		times := rapid.SliceOfN(rapid.Map(rapid.Int64Range(0, int64(w.To)-1), func(i int64) patra.Instant { return patra.Instant(i) }), 1, 30).Draw(t, "times")
		slices.Sort(times)
		order := rapid.SampledFrom([]string{patra.OrderAscending, patra.OrderDescending, patra.OrderNone}).Draw(t, "order")
		if order == patra.OrderDescending {
			slices.Reverse(times)
		}
		n := rapid.IntRange(1, len(times)).Draw(t, "seen")
		grain := rapid.SampledFrom([]patra.Unit{patra.UnitMillisecond, patra.UnitSecond}).Draw(t, "grain")
		c := patra.ConfirmedWindow(w, order, &times[n-1], grain)
		for _, unseen := range times[n:] {
			if c.Contains(unseen) {
				t.Fatalf("%s was confirmed in order %s, and %s was not seen", c, order, unseen)
			}
		}
		if !c.IsEmpty() && (c.From < w.From || c.To > w.To || (c.From != w.From && c.To != w.To)) {
			t.Fatalf("%s is not an end of %s", c, w)
		}
		if order == patra.OrderNone && !c.IsEmpty() {
			t.Fatalf("%s was confirmed without an order", c)
		}
		rest := patra.RemainingWindow(w, c)
		if got := rest.Union(patra.NewCoverage(c)); !slices.Equal(got, patra.NewCoverage(w)) {
			t.Fatalf("%v and %s are not %s", rest, c, w)
		}
	})
}

func TestNothingIsConfirmedBeforeTheFirstTime(t *testing.T) {
	if c := patra.ConfirmedWindow(patra.Window{From: 0, To: patra.Day}, patra.OrderAscending, nil, patra.UnitDay); !c.IsEmpty() {
		t.Error(c)
	}
}
