package patra_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// requireSame compares a coverage with the model, instant by instant, and checks its canonical form.
func requireSame(t *rapid.T, what string, got patra.Coverage, want func(patra.Instant) bool) {
	t.Helper()
	for n, w := range got {
		if w.IsEmpty() {
			t.Fatalf("%s = %v holds an empty window", what, got)
		}
		if n > 0 && w.From <= got[n-1].To {
			t.Fatalf("%s = %v: windows must be ascending, disjoint and not touch", what, got)
		}
	}
	for i := low - 1; i <= high; i++ {
		if got.Contains(i) != want(i) {
			t.Fatalf("%s = %v: contains %d is %v", what, got, i, got.Contains(i))
		}
	}
}

func TestCoverageIsTheSetOfItsInstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ws := smallWindows().Draw(t, "windows")
		requireSame(t, "coverage", patra.NewCoverage(ws...), pointsOf(ws...).has)
	})
}

func TestUnionMinusAndClipAreSetOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		as, bs, w := smallWindows().Draw(t, "a"), smallWindows().Draw(t, "b"), smallWindow().Draw(t, "clip")
		a, b := patra.NewCoverage(as...), patra.NewCoverage(bs...)
		pa, pb := pointsOf(as...), pointsOf(bs...)
		requireSame(t, "union", a.Union(b), func(i patra.Instant) bool { return pa.has(i) || pb.has(i) })
		requireSame(t, "minus", a.Minus(b), func(i patra.Instant) bool { return pa.has(i) && !pb.has(i) })
		requireSame(t, "clip", a.Clip(w), func(i patra.Instant) bool { return pa.has(i) && w.Contains(i) })
		if !slices.Equal(a, patra.NewCoverage(as...)) || !slices.Equal(b, patra.NewCoverage(bs...)) {
			t.Fatal("an operation changed one of its arguments")
		}
	})
}

func TestWhatIsTakenAwayAndWhatStaysAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := patra.NewCoverage(smallWindows().Draw(t, "a")...), patra.NewCoverage(smallWindows().Draw(t, "b")...)
		both := a.Minus(a.Minus(b))
		if whole := a.Minus(b).Union(both); !slices.Equal(whole, a) {
			t.Fatalf("%v without %v, and what both have, are %v", a, b, whole)
		}
		if !slices.Equal(both, b.Minus(b.Minus(a))) {
			t.Fatalf("what %v and %v share depends on the side", a, b)
		}
	})
}

func TestMergingDoesNotDependOnTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ws := smallWindows().Draw(t, "windows")
		want := patra.NewCoverage(ws...)
		shuffled := rapid.Permutation(ws).Draw(t, "shuffled")
		if got := patra.NewCoverage(shuffled...); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		var grown patra.Coverage
		for _, w := range shuffled {
			grown = grown.Union(patra.NewCoverage(w))
		}
		if !slices.Equal(grown, want) {
			t.Fatalf("one after the other gives %v, at once %v", grown, want)
		}
	})
}

func TestTheFrontierIsTheFirstInstantThatIsNotCovered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ws, from := smallWindows().Draw(t, "windows"), smallInstant().Draw(t, "from")
		covered, want := pointsOf(ws...), from
		for covered.has(want) {
			want++
		}
		if got := patra.NewCoverage(ws...).Frontier(from); got != want {
			t.Fatalf("frontier of %v from %d is %d, want %d", patra.NewCoverage(ws...), from, got, want)
		}
	})
}

// answers draws rows of the ledger: windows closed at few different times, so that some are closed at once.
func answers() *rapid.Generator[[]patra.CoverageEntry] {
	return rapid.Custom(func(t *rapid.T) []patra.CoverageEntry {
		var all []patra.CoverageEntry
		for n, w := range smallWindows().Draw(t, "windows") {
			all = append(all, patra.CoverageEntry{ID: int64(n + 1), Window: w, State: anyState().Draw(t, "state"), ClosedAt: patra.Instant(rapid.IntRange(0, 4).Draw(t, "closed at"))})
		}
		return all
	})
}

func anyState() *rapid.Generator[patra.Completeness] {
	return rapid.SampledFrom([]patra.Completeness{patra.StateSealed, patra.StateDisputed, patra.StateRead})
}

// speaker is the newest answer about an instant, found by looking at all of them; nil if there is none.
func speaker(all []patra.CoverageEntry, i patra.Instant) *patra.CoverageEntry {
	var newest *patra.CoverageEntry
	for n, a := range all {
		if !a.Window.Contains(i) {
			continue
		}
		if newest == nil || cmp.Or(cmp.Compare(a.ClosedAt, newest.ClosedAt), cmp.Compare(a.ID, newest.ID)) > 0 {
			newest = &all[n]
		}
	}
	return newest
}

func TestWhereAnswersOverlapTheNewestSpeaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := answers().Draw(t, "answers")
		painted := patra.CoverageByState(rapid.Permutation(all).Draw(t, "in any order"))
		for _, state := range []patra.Completeness{patra.StateSealed, patra.StateDisputed, patra.StateRead} {
			requireSame(t, string(state), painted[state], func(i patra.Instant) bool {
				a := speaker(all, i)
				return a != nil && a.State == state
			})
		}
	})
}

func TestThePaintedStatesAreDisjointAndTogetherAllThatIsMerged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := answers().Draw(t, "answers")
		var together patra.Coverage
		for state, c := range patra.CoverageByState(all) {
			if !slices.Equal(c.Minus(together), c) {
				t.Fatalf("%s shares instants with another state", state)
			}
			together = together.Union(c)
		}
		if !slices.Equal(together, patra.CoverageOf(all)) {
			t.Fatalf("painted %v, merged %v", together, patra.CoverageOf(all))
		}
	})
}

func TestOnlyAnExactTotalCastsDoubt(t *testing.T) {
	tests := []struct {
		name  string
		trust patra.Trust
		total *int64
		seen  int64
		want  patra.Completeness
	}{
		{"exact and equal", patra.TrustExact, ptr(int64(7)), 7, patra.StateSealed},
		{"exact and more", patra.TrustExact, ptr(int64(8)), 7, patra.StateDisputed},
		{"exact and fewer", patra.TrustExact, ptr(int64(6)), 7, patra.StateDisputed},
		{"exact and nothing there", patra.TrustExact, ptr(int64(0)), 0, patra.StateSealed},
		{"exact but not told", patra.TrustExact, nil, 7, patra.StateSealed},
		{"estimate that differs", patra.TrustEstimate, ptr(int64(900)), 7, patra.StateSealed},
		{"no total", patra.TrustNone, nil, 7, patra.StateSealed},
		{"a total that is not to be trusted at all", patra.TrustNone, ptr(int64(900)), 7, patra.StateSealed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := patra.AssessCompleteness(tt.trust, tt.total, tt.seen); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Rows and notes of earlier releases say FETCHED.
func TestFetchedIsRead(t *testing.T) {
	var from patra.Completeness
	if err := from.Scan([]byte("FETCHED")); err != nil || from != patra.StateRead {
		t.Errorf("%q, %v", from, err)
	}
	var note patra.CoverageNote
	if err := json.Unmarshal([]byte(`{"from":"FETCHED","to":"SEALED"}`), &note); err != nil || note.From != patra.StateRead || note.To != patra.StateSealed {
		t.Errorf("%+v, %v", note, err)
	}
}
