package patra_test

import (
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// versions draws few different times and contents, so that every kind of tie happens.
func versions() *rapid.Generator[patra.Version] {
	few := rapid.Map(rapid.IntRange(0, 3), func(i int) patra.Instant { return patra.Instant(i) })
	return rapid.Custom(func(t *rapid.T) patra.Version {
		return patra.Version{
			UpdatedAt:  rapid.Ptr(few, true).Draw(t, "updated at"),
			ObservedAt: few.Draw(t, "observed at"),
			Hash:       rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "hash"),
		}
	})
}

// arrive is what the store does with a version.
func arrive(stored *patra.Version, v patra.Version) *patra.Version {
	switch patra.Decide(stored, v) {
	case patra.Insert, patra.Replace:
		return &v
	case patra.Same:
		if v.Newer(*stored) {
			return &v
		}
	}
	return stored
}

func equal(a, b patra.Version) bool {
	sameTime := (a.UpdatedAt == nil) == (b.UpdatedAt == nil) && (a.UpdatedAt == nil || *a.UpdatedAt == *b.UpdatedAt)
	return sameTime && a.ObservedAt == b.ObservedAt && a.Hash == b.Hash
}

func TestInWhateverOrderVersionsArriveTheStoreEndsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(versions(), 1, 8).Draw(t, "versions")
		var first, second *patra.Version
		for _, v := range all {
			first = arrive(first, v)
		}
		for _, v := range rapid.Permutation(all).Draw(t, "other order") {
			second = arrive(second, v)
		}
		if !equal(*first, *second) {
			t.Fatalf("one order ends with %+v, the other with %+v", *first, *second)
		}
		for _, v := range all {
			if v.Newer(*first) {
				t.Fatalf("%+v is newer than what is stored, %+v", v, *first)
			}
		}
	})
}

func TestAVersionThatArrivesAgainChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stored *patra.Version
		all := rapid.SliceOfN(versions(), 1, 8).Draw(t, "versions")
		for _, v := range all {
			stored = arrive(stored, v)
		}
		before := *stored
		if stored = arrive(stored, rapid.SampledFrom(all).Draw(t, "again")); !equal(*stored, before) {
			t.Fatalf("%+v became %+v", before, *stored)
		}
	})
}

func TestVersionsAreTotallyOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := versions().Draw(t, "a"), versions().Draw(t, "b"), versions().Draw(t, "c")
		switch {
		case a.Newer(b) && b.Newer(a):
			t.Fatal("each is newer than the other")
		case equal(a, b) == (a.Newer(b) || b.Newer(a)):
			t.Fatal("one of two different versions must be newer, of two equal ones none")
		case a.Newer(b) && b.Newer(c) && !a.Newer(c):
			t.Fatal("the order is not transitive")
		}
	})
}

func TestDecideByExample(t *testing.T) {
	at := func(i patra.Instant) *patra.Instant { return &i }
	old := patra.Version{UpdatedAt: at(5), ObservedAt: 10, Hash: "b"}
	tests := []struct {
		name string
		old  *patra.Version
		in   patra.Version
		want patra.Decision
	}{
		{"never seen", nil, old, patra.Insert},
		{"never seen and without a time", nil, patra.Version{Hash: "a"}, patra.Insert},
		{"newer by the provider's time", &old, patra.Version{UpdatedAt: at(6), ObservedAt: 1, Hash: "a"}, patra.Replace},
		{"older by the provider's time", &old, patra.Version{UpdatedAt: at(4), ObservedAt: 99, Hash: "c"}, patra.Stale},
		{"same time, asked later", &old, patra.Version{UpdatedAt: at(5), ObservedAt: 11, Hash: "a"}, patra.Replace},
		{"same time, asked earlier", &old, patra.Version{UpdatedAt: at(5), ObservedAt: 9, Hash: "c"}, patra.Stale},
		{"same times, the larger hash wins", &old, patra.Version{UpdatedAt: at(5), ObservedAt: 10, Hash: "c"}, patra.Replace},
		{"same times, the smaller hash loses", &old, patra.Version{UpdatedAt: at(5), ObservedAt: 10, Hash: "a"}, patra.Stale},
		{"same content, newer", &old, patra.Version{UpdatedAt: at(9), ObservedAt: 11, Hash: "b"}, patra.Same},
		{"same content, older", &old, patra.Version{UpdatedAt: at(1), ObservedAt: 1, Hash: "b"}, patra.Same},
		{"no time against a time", &old, patra.Version{ObservedAt: 99, Hash: "c"}, patra.Stale},
		{"a time against no time", &patra.Version{ObservedAt: 99, Hash: "b"}, patra.Version{UpdatedAt: at(1), ObservedAt: 1, Hash: "a"}, patra.Replace},
		{"no time on either side", &patra.Version{ObservedAt: 1, Hash: "b"}, patra.Version{ObservedAt: 2, Hash: "a"}, patra.Replace},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := patra.Decide(tt.old, tt.in); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAnObservationsVersionIsItsTimesAndItsHash(t *testing.T) {
	at := patra.Instant(3)
	o := patra.Observation{ID: "10.1/x", UpdatedAt: &at, ObservedAt: 4, Hash: "h", Raw: []byte("{}")}
	if got := o.Version(); got != (patra.Version{UpdatedAt: &at, ObservedAt: 4, Hash: "h"}) {
		t.Errorf("got %+v", got)
	}
}
