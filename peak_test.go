package patra

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The busiest stretch is what looking at every stretch finds, and no more than one stretch is remembered.
func TestAPeakIsTheBusiestStretch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := Instant(rapid.Int64Range(1, 50).Draw(t, "span"))
		var came []stamp
		at := Instant(1000)
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			at += Instant(rapid.Int64Range(0, 30).Draw(t, "gap"))
			came = append(came, stamp{at, rapid.Int64Range(1, 5).Draw(t, "cost")})
		}
		p := NewPeak(span)
		for _, s := range came {
			p.Add(s.at, s.cost)
			for _, r := range p.recent {
				if r.at <= s.at-span {
					t.Fatalf("at %d it still knows of %d", s.at, r.at)
				}
			}
		}
		most := int64(0)
		for i := range came {
			sum := int64(0)
			for _, s := range came[i:] {
				if s.at < came[i].at+span {
					sum += s.cost
				}
			}
			most = max(most, sum)
		}
		if p.Most != most {
			t.Fatalf("%d, and by looking at all of them %d", p.Most, most)
		}
	})
}

// Moments come out in their order, if none is told of that lies before one that was already asked for.
func TestMomentsComeOutInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o inOrder
		var told []Instant
		tell := func(s stamp) { told = append(told, s.at) }
		asked := Instant(0)
		n := rapid.IntRange(0, 100).Draw(t, "n")
		for range n {
			asked += Instant(rapid.Int64Range(0, 10).Draw(t, "gap"))
			o.until(asked, tell)
			o.add(stamp{asked + Instant(rapid.Int64Range(0, 100).Draw(t, "wait")), 1}, tell)
		}
		o.until(1<<62, tell)
		if len(told) != n || !slices.IsSorted(told) {
			t.Fatalf("%v", told)
		}
	})
}
