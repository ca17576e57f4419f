package patra_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// versions draws few different times and contents, so that every kind of tie happens.
func versions() *rapid.Generator[patra.Version] {
	few := rapid.Map(rapid.IntRange(0, 3), func(i int) patra.Instant { return patra.Instant(i) })
	return rapid.Custom(func(t *rapid.T) patra.Version {
		content := rapid.SampledFrom([]struct{ hash, mark string }{{"a", "10"}, {"b", "9"}, {"c", "9"}, {"d", ""}, {"e", "v2"}}).Draw(t, "content") // which has its mark in it
		return patra.Version{
			Hash: content.hash, Mark: content.mark,
			UpdatedAt:  rapid.Ptr(few, true).Draw(t, "updated at"),
			ObservedAt: few.Draw(t, "observed at"),
		}
	})
}

func merges() *rapid.Generator[patra.Merge] {
	return rapid.Custom(func(t *rapid.T) patra.Merge {
		return patra.Merge{EqualTime: rapid.SampledFrom([]patra.TieBreak{"", patra.EqualOverwrite, patra.EqualKeep, patra.EqualBy}).Draw(t, "equal time"),
			Nulls: rapid.SampledFrom([]patra.Nulls{"", patra.NullsOverwrite, patra.NullsFill}).Draw(t, "nulls")}
	})
}

// arrive is what the store does with a version.
func arrive(m patra.Merge, stored *patra.Version, v patra.Version) *patra.Version {
	switch m.Decide(stored, v) {
	case patra.Insert, patra.Replace:
		return &v
	case patra.Same:
		if m.Newer(v, *stored) {
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
		m := merges().Draw(t, "merge")
		all := rapid.SliceOfN(versions(), 1, 8).Draw(t, "versions")
		var first, second *patra.Version
		for _, v := range all {
			first = arrive(m, first, v)
		}
		for _, v := range rapid.Permutation(all).Draw(t, "other order") {
			second = arrive(m, second, v)
		}
		if !equal(*first, *second) {
			t.Fatalf("one order ends with %+v, the other with %+v", *first, *second)
		}
		for _, v := range all {
			if m.Newer(v, *first) {
				t.Fatalf("%+v is newer than what is stored, %+v", v, *first)
			}
		}
	})
}

func TestAVersionThatArrivesAgainChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := merges().Draw(t, "merge")
		var stored *patra.Version
		all := rapid.SliceOfN(versions(), 1, 8).Draw(t, "versions")
		for _, v := range all {
			stored = arrive(m, stored, v)
		}
		before := *stored
		if stored = arrive(m, stored, rapid.SampledFrom(all).Draw(t, "again")); !equal(*stored, before) {
			t.Fatalf("%+v became %+v", before, *stored)
		}
	})
}

func TestVersionsAreTotallyOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := merges().Draw(t, "merge")
		a, b, c := versions().Draw(t, "a"), versions().Draw(t, "b"), versions().Draw(t, "c")
		switch {
		case m.Newer(a, b) && m.Newer(b, a):
			t.Fatal("each is newer than the other")
		case equal(a, b) == (m.Newer(a, b) || m.Newer(b, a)):
			t.Fatal("one of two different versions must be newer, of two equal ones none")
		case m.Newer(a, b) && m.Newer(b, c) && !m.Newer(a, c):
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
			if got := (patra.Merge{}).Decide(tt.old, tt.in); got != tt.want {
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

func TestWhatDecidesBetweenVersionsOfTheSameTime(t *testing.T) {
	at := func(i patra.Instant) *patra.Instant { return &i }
	old := patra.Version{UpdatedAt: at(5), ObservedAt: 10, Hash: "b", Mark: "9"}
	keep, by := patra.Merge{EqualTime: patra.EqualKeep}, patra.Merge{EqualTime: patra.EqualBy}
	for _, tt := range []struct {
		name  string
		merge patra.Merge
		old   patra.Version
		in    patra.Version
		want  patra.Decision
	}{
		{"kept, whatever comes later", keep, old, patra.Version{UpdatedAt: at(5), ObservedAt: 11, Hash: "a"}, patra.Stale},
		{"but what was asked for earlier was there first", keep, old, patra.Version{UpdatedAt: at(5), ObservedAt: 9, Hash: "a"}, patra.Replace},
		{"a newer time wins all the same", keep, old, patra.Version{UpdatedAt: at(6), ObservedAt: 11, Hash: "a"}, patra.Replace},
		{"no time is no equal time", keep, patra.Version{ObservedAt: 10, Hash: "b"}, patra.Version{ObservedAt: 11, Hash: "a"}, patra.Replace},
		{"the greater number", by, old, patra.Version{UpdatedAt: at(5), ObservedAt: 1, Hash: "a", Mark: "10"}, patra.Replace},
		{"the smaller number", by, old, patra.Version{UpdatedAt: at(5), ObservedAt: 99, Hash: "a", Mark: "8"}, patra.Stale},
		{"no number", by, old, patra.Version{UpdatedAt: at(5), ObservedAt: 99, Hash: "a"}, patra.Stale},
		{"the same number, asked for later", by, old, patra.Version{UpdatedAt: at(5), ObservedAt: 11, Hash: "a", Mark: "09"}, patra.Replace},
		{"an older time loses, whatever its number", by, old, patra.Version{UpdatedAt: at(4), ObservedAt: 99, Hash: "a", Mark: "99"}, patra.Stale},
		{"gone, and nobody says when", patra.Merge{}, old, patra.Version{ObservedAt: 11, Hash: "a", Deleted: true}, patra.Replace},
		{"gone, but that was before", patra.Merge{}, old, patra.Version{ObservedAt: 9, Hash: "a", Deleted: true}, patra.Stale},
		{"back again", patra.Merge{}, patra.Version{ObservedAt: 9, Hash: "a", Deleted: true}, old, patra.Replace},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.merge.Decide(&tt.old, tt.in); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// With FILL, what the newest version says of itself is the same in every order; what is filled is what was seen.
func TestFilledFieldsNeverHideWhatTheNewestVersionSays(t *testing.T) {
	fields := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]string{`1`, `2`, `null`, `{"x":[1]}`}))
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) (m map[string]json.RawMessage, raw json.RawMessage) {
			m = map[string]json.RawMessage{}
			for k, v := range fields.Draw(t, name) {
				m[k] = json.RawMessage(v)
			}
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			return m, raw
		}
		older, olderRaw := text("older")
		newer, newerRaw := text("newer")
		raw, err := patra.Fill(olderRaw, newerRaw)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "c"} {
			want, ok := newer[name]
			if !ok || string(want) == "null" {
				want = older[name]
			}
			if string(got[name]) != string(want) {
				t.Errorf("%s is %s, want %s", name, got[name], want)
			}
		}
	})
}

func TestATombstoneKeepsWhatIsKnownUnlessTheSourceSaysOtherwise(t *testing.T) {
	gone, there := patra.Version{Deleted: true}, patra.Version{}
	for _, tt := range []struct {
		nulls       patra.Nulls
		gone, there bool
	}{{"", true, false}, {patra.NullsOverwrite, false, false}, {patra.NullsFill, true, true}} {
		m := patra.Merge{Nulls: tt.nulls}
		if m.KeepsMissingFields(gone) != tt.gone || m.KeepsMissingFields(there) != tt.there {
			t.Errorf("nulls %q: a tombstone fills %v, a version %v", tt.nulls, m.KeepsMissingFields(gone), m.KeepsMissingFields(there))
		}
	}
}
