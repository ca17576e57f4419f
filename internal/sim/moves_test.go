package sim

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// moving is a world in which something happens at every request.
func moving() (*Server, *clock) {
	c, now := small(12), newClock()
	c.Now, c.Faults.MoveEvery = now.now, 1
	return New(c), now
}

// pass lets so many requests come, a second apart.
func passRequests(t *testing.T, s *Server, now *clock, n int) {
	t.Helper()
	for range n {
		now.pass(time.Second)
		get(t, s.Handler(), "rows", "0")
	}
}

func TestAMovedRecordLeavesItsWindowForToday(t *testing.T) {
	s, now := moving()
	p, days := s.Crossref(), newYear.AddDate(0, 0, 10)
	before := p.Count(newYear, days)
	passRequests(t, s, now, 10)
	changed, late := 0, 0
	for v := range p.Journal() {
		switch {
		case v.Number == 2:
			changed++
			if v.At.Before(days) || !bytes.Contains(v.Bytes, []byte("(revised)")) || v.From.IsZero() {
				t.Errorf("%+v", v)
			}
		case !v.From.IsZero():
			late++
		}
	}
	if changed == 0 || late == 0 || changed+late != 10 || s.Stats().Moves != 10 {
		t.Errorf("%d changed and %d came, %d moves", changed, late, s.Stats().Moves)
	}
	if after := p.Count(newYear, days); after != before-changed+late {
		t.Errorf("%d records, then %d", before, after)
	}
	if n, want := p.Count(days, days.AddDate(0, 0, 2)), 20+changed; n != want {
		t.Errorf("today has %d, want %d", n, want)
	}
}

// What was visible throughout a reading is what a reader of it must have: no more, no less.
func TestTheJournalKnowsWhatWasThereThroughout(t *testing.T) {
	s, now := moving()
	began := now.t
	passRequests(t, s, now, 8)
	ended := now.t
	n := 0
	for v := range s.OAI().Journal() {
		if v.Throughout(began, ended) {
			n++
			if !v.From.IsZero() || !v.Until.IsZero() {
				t.Errorf("%s came at %s and left at %s", v.ID, v.From, v.Until)
			}
		}
	}
	first := 0
	for v := range s.OAI().Journal() {
		if v.From.IsZero() {
			first++
		}
	}
	changed := 0
	for v := range s.OAI().Journal() {
		if v.Number == 2 {
			changed++
		}
	}
	if n != first-changed {
		t.Errorf("%d were there throughout, of %d of which %d changed", n, first, changed)
	}
}

// A scroll is a picture of the world: what moves meanwhile is in it as it was.
func TestAScrollIsAPicture(t *testing.T) {
	s, now := moving()
	want := ids(truth(s, 12))
	p := get(t, s.Handler(), "rows", "30", "cursor", "*", "sort", asc, "order", "asc")
	var got []string
	for len(p.Message.Items) > 0 {
		got = append(got, p.ids(t)...)
		now.pass(time.Second)
		p = get(t, s.Handler(), "rows", "30", "cursor", p.next())
	}
	slices.Sort(got)
	slices.Sort(want)
	missing := 0
	for _, id := range want {
		if _, found := slices.BinarySearch(got, id); !found {
			missing++
		}
	}
	// The first request has moved one record itself.
	if missing != 0 || len(got) > len(want)+1 {
		t.Errorf("%d works, %d before, %d of them missing", len(got), len(want), missing)
	}
}

// A record of PubMed keeps its day of entry, whatever becomes of it, so that a search by it does not move.
func TestADayOfEntryStays(t *testing.T) {
	s, now := moving()
	p, days := s.PubMed(), newYear.AddDate(0, 0, 10)
	before := p.Count(newYear, days)
	passRequests(t, s, now, 10)
	late := 0
	for v := range p.Journal() {
		if v.Number == 1 && !v.From.IsZero() {
			late++
		}
		if v.Number == 2 && !v.At.Before(days) {
			t.Errorf("%s was entered again", v.ID)
		}
	}
	if got := p.Count(newYear, days); got != before+late {
		t.Errorf("%d records, then %d, of which %d came late", before, got, late)
	}
}

func TestACalmWorldStandsStill(t *testing.T) {
	s, now := moving()
	passRequests(t, s, now, 3)
	s.Calm()
	passRequests(t, s, now, 10)
	if n := s.Stats().Moves; n != 3 {
		t.Errorf("%d moves", n)
	}
}
