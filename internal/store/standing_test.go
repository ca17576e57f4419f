package store

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// memory is a coverage ledger in memory that counts what is read of it.
type memory struct {
	rows []patra.CoverageEntry
	few  int
	read int
}

func (m *memory) after(at patra.Instant) (next []patra.Window, _ error) {
	for _, a := range m.rows {
		if a.Window.To > at {
			next = append(next, a.Window)
		}
	}
	slices.SortFunc(next, func(a, b patra.Window) int { return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From)) })
	next = next[:min(len(next), m.few)]
	m.read += len(next)
	return next, nil
}

func (m *memory) across(at patra.Instant) (end *patra.Instant, _ error) {
	for _, a := range m.rows {
		if a.Window.Contains(at) && (end == nil || a.Window.To > *end) {
			end = new(a.Window.To)
		}
	}
	m.read++
	return end, nil
}

func (m *memory) about(w patra.Window) (all []patra.CoverageEntry, _ error) {
	for _, a := range m.rows {
		if a.Window.To > w.From && a.Window.From < w.To {
			all = append(all, a)
		}
	}
	m.read += len(all)
	return all, nil
}

// anyAnswer draws windows around an origin at 0, some of them before it, closed at clocks that do not agree.
func anyAnswer(id int64) *rapid.Generator[patra.CoverageEntry] {
	return rapid.Custom(func(t *rapid.T) patra.CoverageEntry {
		from := patra.Instant(rapid.IntRange(-6, 24).Draw(t, "from"))
		return patra.CoverageEntry{ID: id, Window: patra.Window{From: from, To: from + patra.Instant(rapid.IntRange(1, 9).Draw(t, "length"))},
			State:    rapid.SampledFrom([]patra.Completeness{patra.StateSealed, patra.StateSealed, patra.StateDisputed, patra.StateRead}).Draw(t, "state"),
			ClosedAt: patra.Instant(rapid.IntRange(0, 5).Draw(t, "closed at"))}
	})
}

// What is computed from a look at the edge is what Frontier and Paint make of everything.
func TestACursorStandsWhereAllItsAnswersSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var waived []patra.Window
		for range rapid.IntRange(0, 2).Draw(t, "waivers") {
			from := patra.Instant(rapid.IntRange(0, 20).Draw(t, "waived from"))
			waived = append(waived, patra.Window{From: from, To: from + 2})
		}
		m := &memory{few: rapid.IntRange(1, 4).Draw(t, "read at once")}
		var c patra.Cursor // at its origin, 0
		for id := range int64(rapid.IntRange(1, 14).Draw(t, "answers")) {
			a := anyAnswer(id).Draw(t, "answer")
			m.rows = append(m.rows, a)
			value, sealed, err := nextWatermark(c, a, patra.NewCoverage(waived...), m)
			if err != nil {
				t.Fatal(err)
			}
			if want := patra.CoverageOf(m.rows).Union(patra.NewCoverage(waived...)).Frontier(0); value != want {
				t.Fatalf("after %+v the watermark is %d, all answers say %d", a.Window, value, want)
			}
			if want := patra.CoverageByState(m.rows)[patra.StateSealed].Frontier(0); sealed != want {
				t.Fatalf("after %s %+v it is complete through %d, all answers say %d", a.State, a.Window, sealed, want)
			}
			c.Value, c.SealedThrough = value, sealed
		}
	})
}

// rowsRead closes n slices in the given order and tells how many rows of the coverage were looked at.
func rowsRead(n int, answer func(i int) patra.CoverageEntry) int {
	m := &memory{few: atOnce}
	var c patra.Cursor
	for i := range n {
		a := answer(i)
		a.ID, a.ClosedAt = int64(i), patra.Instant(i)
		m.rows = append(m.rows, a)
		c.Value, c.SealedThrough, _ = nextWatermark(c, a, nil, m)
	}
	return m.read
}

func TestTheRowsThatAreReadGrowWithTheSlicesAndNotWithTheirSquare(t *testing.T) {
	slot := func(i int) patra.Window { return patra.Window{From: patra.Instant(i), To: patra.Instant(i + 1)} }
	sealed := func(i int) patra.CoverageEntry { return patra.CoverageEntry{Window: slot(i), State: patra.StateSealed} }
	disputed := func(i int) patra.CoverageEntry {
		return patra.CoverageEntry{Window: slot(i), State: patra.StateDisputed}
	}
	for _, c := range []struct {
		name   string
		most   int // rows for one slice: a look at it by each of the two rules, and what was looked at in vain
		answer func(n, i int) patra.CoverageEntry
	}{
		{"newest first", 2, func(n, i int) patra.CoverageEntry { return sealed(n - 1 - i) }},
		{"oldest first", 2, func(_, i int) patra.CoverageEntry { return sealed(i) }},
		{"all of them in dispute", 2, func(_, i int) patra.CoverageEntry { return disputed(i) }},
		{"an early one in dispute", 2, func(_, i int) patra.CoverageEntry {
			if i == 3 {
				return disputed(i)
			}
			return sealed(i)
		}},
		{"towards those that are there, one step after the other", atOnce + 3, func(n, i int) patra.CoverageEntry { return sealed((i + n/2 + 1) % (n + 1)) }},
	} {
		for _, n := range []int{500, 2000} {
			if read := rowsRead(n, func(i int) patra.CoverageEntry { return c.answer(n, i) }); read > c.most*n+n/10 {
				t.Errorf("%s: %d rows were read to close %d slices", c.name, read, n)
			}
		}
	}
}
