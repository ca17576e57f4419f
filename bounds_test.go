package patra

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What is drawn here is a repository with records, and how it reads the ends of a filter. It is asked as a planner would.
func TestUpperIsFoundOutWhateverTheRepositoryHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grain := rapid.SampledFrom([]Unit{UnitDay, UnitSecond}).Draw(t, "grain")
		inclusive := rapid.Bool().Draw(t, "inclusive")
		var all ShownIDs
		for n := range rapid.IntRange(1, 20).Draw(t, "records") {
			at := Date(2026, 5, 1) + Instant(rapid.Int64Range(0, 3*86400-1).Draw(t, "second"))*Second
			all = append(all, ShownID{ID: string(rune('a' + n)), At: grain.Floor(at)})
		}
		witness, ok := BoundsWitness(all, grain)
		if !ok {
			t.Fatal("none of the records is a witness")
		}
		var answer ShownIDs
		for _, s := range all {
			if inclusive && grain.Floor(s.At) == grain.Floor(witness.At) {
				answer = append(answer, s)
			}
		}
		want := UpperExclusive
		if inclusive {
			want = UpperInclusive
		}
		if got := JudgeUpper(witness, answer, grain, true); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// A repository of seconds that is asked by days takes a day for its midnight. A record of that moment proves nothing.
func TestMidnightProvesNoInclusiveDay(t *testing.T) {
	midnight, noon := ShownID{ID: "m", At: Date(2026, 5, 1)}, ShownID{ID: "n", At: Date(2026, 5, 1) + 12*Hour}
	if w, _ := BoundsWitness(ShownIDs{midnight, noon}, UnitDay); w != noon {
		t.Errorf("the witness is %v", w)
	}
	for _, c := range []struct {
		witness ShownID
		answer  ShownIDs
		known   bool
		want    UpperBound
	}{
		{noon, nil, false, UpperExclusive},
		{noon, ShownIDs{midnight}, false, ""},
		{noon, ShownIDs{midnight}, true, ""},
		{noon, ShownIDs{midnight, noon}, false, UpperInclusive},
		{midnight, ShownIDs{midnight}, false, ""},
		{midnight, ShownIDs{midnight}, true, UpperInclusive},
		{noon, ShownIDs{{ID: "x", At: Date(2026, 6, 1)}}, true, ""},
	} {
		if got := JudgeUpper(c.witness, c.answer, UnitDay, c.known); got != c.want {
			t.Errorf("%v: %q", c, got)
		}
	}
}

func TestOnlyWhatCanLoseRecordsIsDoubted(t *testing.T) {
	at := Instant(7)
	found := FoundBounds{WindowBounds: WindowBounds{Precision: UnitDay, Upper: UpperInclusive}, FoundAt: &at, Evidence: "e"}
	if got := found.Doubted(9, "why"); got.Upper != "" || got.Precision != UnitDay || got.FoundAt != nil || got.Doubt != "why" || *got.DoubtedAt != 9 {
		t.Errorf("%+v", got)
	}
	found.Upper = UpperExclusive
	if got := found.Doubted(9, "why"); got != found {
		t.Errorf("%+v", got)
	}
}

// A scan has found all that was shown, or it names what it has not: never what it brought, never what has left the window,
// never what was outside of it.
func TestMissingIsWhatWasShownAndNotFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Window{From: Date(2026, 5, 2), To: Date(2026, 5, 3)}
		var shown ShownIDs
		page, stored, want := map[string]bool{}, map[string]Instant{}, []string{}
		for n := range rapid.IntRange(0, 30).Draw(t, "shown") {
			s := ShownID{ID: string(rune('A' + n)), At: Date(2026, 5, 1) + Instant(rapid.IntRange(0, 71).Draw(t, "hour"))*Hour, Scan: rapid.Int64Range(0, 1).Draw(t, "scan")}
			shown = append(shown, s)
			page[s.ID] = rapid.Bool().Draw(t, "on the page")
			if rapid.Bool().Draw(t, "stored") {
				stored[s.ID] = Date(2026, 5, 1) + Instant(rapid.IntRange(0, 71).Draw(t, "stored hour"))*Hour
			}
			at, is := stored[s.ID]
			if w.Contains(s.At) && !page[s.ID] && (!is || w.Contains(at) && at < s.At) {
				want = append(want, s.ID)
			}
		}
		before := slices.Clone(shown)
		met, _ := shown.Met(page, 2)
		if got := met.Missing(w, 2, stored).ids(); !slices.Equal(got, want) {
			t.Fatalf("missing are %v, want %v", got, want)
		}
		if !slices.Equal(shown, before) {
			t.Fatal("what was shown before has changed")
		}
	})
}

func TestShownIsBounded(t *testing.T) {
	w := Window{From: 0, To: Day}
	var many ShownIDs
	for n := range 3 * MaxShown {
		many = append(many, ShownID{ID: string(rune('a' + n)), At: Instant(n)})
	}
	if in := many.Within(w); len(in) != MaxShown {
		t.Errorf("%d are kept", len(in))
	}
	all := ShownIDs{{ID: "a", At: 5, Scan: 1}}.With(append(many, ShownID{ID: "a", At: 9}), MaxShown)
	if len(all) != MaxShown || all[0] != (ShownID{ID: "a", At: 9, Scan: 1}) {
		t.Errorf("%d are kept, the first is %v", len(all), all[0])
	}
	if text := many.String(); text != "a, b, c and 297 more" {
		t.Error(text)
	}
	if all.Afresh()[0].Scan != 0 || all[0].Scan != 1 {
		t.Error("a scan of others is one of theirs")
	}
}
