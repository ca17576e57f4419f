package patra_test

import (
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// lookup is one request for a record by its id: the provider gave the record, or refused it.
type lookup struct {
	at    patra.Instant
	given bool
}

// looks come in the order in which their pages are written, which need not be that of their requests.
func looks() *rapid.Generator[[]lookup] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) lookup {
		return lookup{patra.Instant(rapid.IntRange(1, 40).Draw(t, "day")) * patra.Day, rapid.IntRange(0, 5).Draw(t, "given") == 0}
	}), 0, 25)
}

func goneRules() *rapid.Generator[patra.GoneRule] {
	return rapid.Custom(func(t *rapid.T) patra.GoneRule {
		return patra.GoneRule{Refusals: int64(rapid.IntRange(1, 5).Draw(t, "refusals")), Over: patra.Period{Days: rapid.IntRange(0, 10).Draw(t, "days")}}
	})
}

// watched is a record as the store keeps it: when it was last seen, and its absence.
type watched struct {
	lastSeen patra.Instant
	patra.Absence
}

func (w watched) after(rule patra.GoneRule, l lookup) watched {
	if !l.given {
		w.Absence = rule.Refuse(w.Absence, w.lastSeen, l.at)
		return w
	}
	if w.EndsWith(l.at) {
		w.Absence = patra.Absence{}
	}
	w.lastSeen = max(w.lastSeen, l.at)
	return w
}

// A record is never gone before n refusals and d days, and never after a success in between: whatever the order in which
// pages are written, all refusals that count were sent after every request that brought the record.
func TestNothingIsGoneWithoutEnoughRefusalsSinceItWasSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule, w, seen := goneRules().Draw(t, "rule"), watched{}, patra.Instant(0)
		var refused []patra.Instant
		for _, l := range looks().Draw(t, "looks") {
			w = w.after(rule, l)
			if l.given {
				seen = max(seen, l.at)
			} else {
				refused = append(refused, l.at)
			}
			var since []patra.Instant
			for _, at := range refused {
				if at > seen {
					since = append(since, at)
				}
			}
			if w.Refusals > int64(len(since)) {
				t.Fatalf("%d refusals count, and %d were sent since the record was seen", w.Refusals, len(since))
			}
			if w.Refusals > 0 && (w.MissingSince <= seen || w.MissingSince > w.RefusedAt) {
				t.Fatalf("missing from %s to %s, and seen at %s", w.MissingSince, w.RefusedAt, seen)
			}
			if w.Status() == patra.AbsenceGone && (w.Refusals < rule.Refusals || w.RefusedAt < rule.Over.After(w.MissingSince)) {
				t.Fatalf("gone by %+v: %+v", rule, w.Absence)
			}
		}
	})
}

// Where pages are written in the order of their requests, a record is gone as soon as the rule is fulfilled, and stays so
// until it is given again.
func TestARecordIsGoneAsSoonAsTheRuleSaysSo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule, w, at := goneRules().Draw(t, "rule"), watched{}, patra.Instant(0)
		var first patra.Instant
		n, gone := int64(0), false
		for i, given := range rapid.SliceOfN(rapid.Bool(), 0, 25).Draw(t, "given") {
			at += patra.Instant(rapid.IntRange(1, 5).Draw(t, "days")) * patra.Day
			w = w.after(rule, lookup{at, given})
			switch {
			case given:
				n, gone = 0, false
			case n == 0:
				first, n = at, 1
			default:
				n++
			}
			gone = gone || n > 0 && n >= rule.Refusals && at >= rule.Over.After(first)
			want := patra.Status("")
			if n > 0 {
				want = patra.AbsenceMissing
			}
			if gone {
				want = patra.AbsenceGone
			}
			if w.Status() != want || w.Refusals != n {
				t.Fatalf("after %d looks %s with %d refusals, want %s with %d", i+1, w.Status(), w.Refusals, want, n)
			}
		}
	})
}

func TestADefaultRuleNeedsThreeRefusalsOverAWeek(t *testing.T) {
	day := func(n patra.Instant) patra.Instant { return patra.Date(2026, 5, 1) + n*patra.Day }
	for _, c := range []struct {
		name string
		days []patra.Instant
		want patra.Status
	}{
		{"one", []patra.Instant{0}, patra.AbsenceMissing},
		{"two over a month", []patra.Instant{0, 30}, patra.AbsenceMissing},
		{"four in six days", []patra.Instant{0, 2, 4, 6}, patra.AbsenceMissing},
		{"three over a week", []patra.Instant{0, 1, 7}, patra.AbsenceGone},
		{"three in any order", []patra.Instant{7, 1, 0}, patra.AbsenceGone},
		{"the last not later than it was seen", []patra.Instant{0, 1, 2, -1, -1}, patra.AbsenceMissing},
	} {
		var a patra.Absence
		for _, d := range c.days {
			a = patra.GoneRule{}.Refuse(a, day(-1), day(d))
		}
		if a.Status() != c.want {
			t.Errorf("%s: %s, %+v", c.name, a.Status(), a)
		}
	}
}
