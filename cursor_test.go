package patra_test

import (
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// closings draws answers in the order in which they are closed. The clocks of two workers may differ.
func closings(from patra.Instant) *rapid.Generator[[]patra.CoverageEntry] {
	return rapid.Custom(func(t *rapid.T) []patra.CoverageEntry {
		var all []patra.CoverageEntry
		for n := range rapid.IntRange(1, 14).Draw(t, "closings") {
			start := from + patra.Instant(rapid.IntRange(0, 20).Draw(t, "from"))
			all = append(all, patra.CoverageEntry{
				ID: int64(n + 1), Window: patra.Window{From: start, To: start + patra.Instant(rapid.IntRange(1, 6).Draw(t, "length"))},
				State: anyState().Draw(t, "state"), ClosedAt: patra.Instant(n + rapid.IntRange(0, 2).Draw(t, "clock differs")),
			})
		}
		return all
	})
}

func TestCompleteThroughIsTheSealedStretchFromTheOriginAndPassesNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const origin = patra.Instant(0)
		through := origin
		all := closings(origin).Draw(t, "closings")
		for n, closing := range all {
			var rows []patra.CoverageEntry // what the store reads: all that reaches beyond the old value and the closing window
			for _, a := range all[:n+1] {
				if a.Window.To > min(through, closing.Window.From) {
					rows = append(rows, a)
				}
			}
			through = patra.SealedFrontier(through, closing, rows)
			want := origin
			for a := speaker(all[:n+1], want); a != nil && a.State == patra.StateSealed; a = speaker(all[:n+1], want) {
				want++
			}
			if through != want {
				t.Fatalf("after closing %d (%s of %d~%d) complete through %d, want %d", n+1, closing.State, closing.Window.From, closing.Window.To, through, want)
			}
		}
	})
}

func TestADisputeTakesCompletenessBackAndASealedRescanRestoresIt(t *testing.T) {
	day := func(n patra.Instant, state patra.Completeness, closed patra.Instant) patra.CoverageEntry {
		return patra.CoverageEntry{ID: int64(closed), Window: patra.Window{From: n, To: n + 1}, State: state, ClosedAt: closed}
	}
	rows := []patra.CoverageEntry{day(0, patra.StateSealed, 1), day(1, patra.StateSealed, 2), day(2, patra.StateSealed, 3)}
	rows = append(rows, day(1, patra.StateDisputed, 4))
	through := patra.SealedFrontier(3, rows[3], rows)
	if through != 1 {
		t.Fatalf("with day 1 in dispute complete through %d, want 1", through)
	}
	rows = append(rows, day(1, patra.StateSealed, 5))
	if through = patra.SealedFrontier(through, rows[4], rows); through != 3 {
		t.Fatalf("with day 1 sealed again complete through %d, want 3", through)
	}
}

func TestASealedLookBackBeforeTheOriginTakesNothingBack(t *testing.T) {
	rows := []patra.CoverageEntry{{ID: 1, Window: patra.Window{From: 0, To: 3}, State: patra.StateSealed, ClosedAt: 1},
		{ID: 2, Window: patra.Window{From: -5, To: -2}, State: patra.StateSealed, ClosedAt: 2}}
	if through := patra.SealedFrontier(3, rows[1], rows); through != 3 {
		t.Errorf("complete through %d, want 3", through)
	}
}

func TestAHarvestsNamespaceIsItsQuery(t *testing.T) {
	ns := patra.HarvestNamespace("crossref", "works", "indexed_at", "abc", nil)
	want := patra.Namespace{Source: "crossref", Endpoint: "works", Operation: patra.Harvest, Key: "indexed_at", Scope: patra.ScopeExpr, ScopeKey: "abc"}
	if ns != want {
		t.Errorf("got %+v, want %+v", ns, want)
	}
}

func TestEveryPartOfACursorsMoveIsInItsKey(t *testing.T) {
	ns, w := patra.HarvestNamespace("crossref", "works", "indexed_at", "abc", nil), patra.Window{From: 0, To: patra.Day}
	other := func(change func(*patra.Namespace)) patra.Namespace {
		changed := ns
		change(&changed)
		return changed
	}
	requireDistinct(t, map[string]string{
		"as it is":          patra.EventKey(ns, 0, patra.Day, w, 1),
		"another source":    patra.EventKey(other(func(n *patra.Namespace) { n.Source = "x" }), 0, patra.Day, w, 1),
		"another endpoint":  patra.EventKey(other(func(n *patra.Namespace) { n.Endpoint = "x" }), 0, patra.Day, w, 1),
		"another operation": patra.EventKey(other(func(n *patra.Namespace) { n.Operation = patra.Backfill }), 0, patra.Day, w, 1),
		"another field":     patra.EventKey(other(func(n *patra.Namespace) { n.Key = "x" }), 0, patra.Day, w, 1),
		"another query":     patra.EventKey(other(func(n *patra.Namespace) { n.ScopeKey = "x" }), 0, patra.Day, w, 1),
		"another start":     patra.EventKey(ns, 1, patra.Day, w, 1),
		"another end":       patra.EventKey(ns, 0, patra.Day+1, w, 1),
		"another window":    patra.EventKey(ns, 0, patra.Day, patra.Window{From: 0, To: 2 * patra.Day}, 1),
		"another run":       patra.EventKey(ns, 0, patra.Day, w, 2),
	})
}

// requireDistinct fails when two of the named values are equal.
func requireDistinct(t *testing.T, values map[string]string) {
	t.Helper()
	seen := map[string]string{}
	for name, v := range values {
		if twin, ok := seen[v]; ok {
			t.Errorf("%q and %q give the same: %s", name, twin, v)
		}
		seen[v] = name
	}
}
