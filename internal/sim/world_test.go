package sim

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

func TestEqualSeedsGiveEqualWorlds(t *testing.T) {
	c := small(5)
	c.Exact, c.PerDay = false, 30
	a, b := truth(New(c), 5), truth(New(c), 5)
	if len(a) == 0 || len(a) != len(b) {
		t.Fatalf("%d and %d works", len(a), len(b))
	}
	for i := range a {
		if string(a[i].JSON) != string(b[i].JSON) {
			t.Fatalf("work %d differs:\n%s\n%s", i, a[i].JSON, b[i].JSON)
		}
	}
	c.Seed++
	for _, w := range truth(New(c), 5) {
		if slices.Contains(ids(a), w.ID) {
			t.Fatalf("two seeds share the id %s", w.ID)
		}
	}
}

func TestCountsVaryAroundTheMean(t *testing.T) {
	c := small(700)
	c.Exact, c.PerDay = false, 1000
	s := New(c)
	total, weekend := 0, 0
	counts := s.Counts(newYear, newYear.AddDate(0, 0, 700))
	for _, d := range counts {
		if d.Count < 500 || d.Count > 1500 {
			t.Errorf("%s has %d works", d.Day, d.Count)
		}
		total += d.Count
		if w := d.Day.Weekday(); w == time.Saturday || w == time.Sunday {
			weekend += d.Count
		}
	}
	if mean := total / 700; mean < 970 || mean > 1030 {
		t.Errorf("mean is %d, want about 1000", mean)
	}
	if mean := weekend / 200; mean > 800 {
		t.Errorf("weekend mean is %d, want a dip", mean)
	}
	if n := counts[0].Count; n == counts[1].Count && n == counts[2].Count {
		t.Errorf("three days have the same count %d", n)
	}
}

func TestDaysOutsideTheWorldAreEmpty(t *testing.T) {
	s := New(small(3))
	for _, d := range s.Counts(newYear.AddDate(0, 0, -2), newYear.AddDate(0, 0, 5)) {
		want := 10
		if d.Day.Before(newYear) || !d.Day.Before(newYear.AddDate(0, 0, 3)) {
			want = 0
		}
		if d.Count != want {
			t.Errorf("%s has %d works, want %d", d.Day, d.Count, want)
		}
	}
	if n := len(truth(s, 100)); n != 30 {
		t.Errorf("truth of everything has %d works, want 30", n)
	}
}

func TestWorksOfADayAreUniqueAscendingAndReachBothEnds(t *testing.T) {
	c := small(3)
	c.PerDay = 200_000 // more than one work a second, so that times collide
	seen, last, n := map[string]bool{}, time.Time{}, 0
	s := New(c)
	w := s.world
	for i := range w.count(w.first) {
		sk := w.sketch(w.first, i, c.PerDay)
		at := time.UnixMilli(sk.indexed).UTC()
		if at.Before(last) || dayOf(at) != w.first || sk.created > sk.indexed {
			t.Fatalf("work %d is indexed at %s after one at %s, created %d", i, at, last, sk.created)
		}
		last = at
	}
	if want := newYear.Add(24*time.Hour - time.Millisecond); !last.Equal(want) {
		t.Errorf("the last work is indexed at %s, want %s", last, want)
	}
	for work := range s.Truth(newYear, newYear.AddDate(0, 0, 1)) {
		if n == 0 && !work.IndexedAt.Equal(newYear) {
			t.Errorf("the first work is indexed at %s", work.IndexedAt)
		}
		if seen[work.ID] {
			t.Fatalf("id %s twice", work.ID)
		}
		seen[work.ID] = true
		if n++; n == 5000 {
			break
		}
	}
}

func TestWorksLookReal(t *testing.T) {
	c := small(10)
	c.PerDay = 200
	size, abstracts, orcids, foreign, deposited := 0, 0, 0, 0, int64(0)
	works := truth(New(c), 10)
	for _, w := range works {
		size += len(w.JSON)
		it := decodeItem(t, w.JSON)
		if it.DOI != w.ID || it.Indexed.Text != w.IndexedAt.Format(time.RFC3339) || it.Indexed.MS/1000 != w.IndexedAt.Unix() {
			t.Fatalf("item and truth disagree: %+v, %s %s", it.Indexed, w.ID, w.IndexedAt)
		}
		if it.Deposited.MS < deposited || it.Deposited.MS > it.Indexed.MS || it.Created.MS > it.Deposited.MS {
			t.Fatalf("times out of order: %+v after a deposit at %d", it, deposited)
		}
		deposited = it.Deposited.MS
		abstracts += min(len(it.Abstract), 1)
		for _, a := range it.Author {
			orcids += min(len(a.ORCID), 1)
			foreign += min(len(a.Family)-len([]rune(a.Family)), 1)
		}
	}
	if mean := size / len(works); mean < 1500 || mean > 3000 {
		t.Errorf("a work has %d bytes on average", mean)
	}
	if abstracts == 0 || abstracts == len(works) || orcids == 0 || foreign == 0 {
		t.Errorf("%d works: %d abstracts, %d ORCIDs, %d names outside ASCII", len(works), abstracts, orcids, foreign)
	}
}

func TestItemHasTheProvidersFields(t *testing.T) {
	var fields map[string]any
	if err := json.Unmarshal(truth(New(small(1)), 1)[0].JSON, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"DOI", "title", "author", "container-title", "publisher", "type", "ISSN", "issued", "published", "created",
		"deposited", "indexed", "reference-count", "is-referenced-by-count", "subject", "language", "URL", "member",
		"prefix", "source", "score",
	} {
		if _, ok := fields[name]; !ok {
			t.Errorf("no field %s", name)
		}
	}
}
