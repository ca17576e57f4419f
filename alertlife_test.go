package patra_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

// look is one alert at some looks of a minute: + is that it was found, - that it was not.
func look(t *testing.T, lasts time.Duration, seen string) (said []patra.AlertTransition) {
	t.Helper()
	var known []patra.StoredAlert
	for i, c := range seen {
		var found []patra.Alert
		if c == '+' {
			found = []patra.Alert{{Kind: patra.AlertErrors, Target: "demo", For: lasts}}
		}
		steps := patra.JudgeAlerts(patra.Instant(i)*patra.Minute, known, found)
		known = nil
		for _, s := range steps {
			said = append(said, s.Move)
			if s.Move != patra.AlertEnds && s.Move != patra.AlertVanishes {
				s.ID = 1
				known = append(known, s.StoredAlert)
			}
		}
	}
	return said
}

func TestTheLifeOfAnAlert(t *testing.T) {
	const begins, fires, lasts, missing, ends, vanishes = patra.AlertBegins, patra.AlertFires, patra.AlertLasts, patra.AlertMissing, patra.AlertEnds, patra.AlertVanishes
	for _, c := range []struct {
		name  string
		lasts time.Duration
		seen  string
		want  []patra.AlertTransition
	}{
		{"at once", 0, "+--", []patra.AlertTransition{fires, missing, ends}},
		{"it flaps, and is one", 0, "+-+-+--", []patra.AlertTransition{fires, missing, lasts, missing, lasts, missing, ends}},
		{"it comes back, and is another", 0, "+--+", []patra.AlertTransition{fires, missing, ends, fires}},
		{"for three minutes", 3 * time.Minute, "++++", []patra.AlertTransition{begins, lasts, lasts, fires}},
		{"not for three minutes in a row", 3 * time.Minute, "+++-++++", []patra.AlertTransition{begins, lasts, lasts, vanishes, begins, lasts, lasts, fires}},
		{"at two looks", time.Microsecond, "++", []patra.AlertTransition{begins, fires}},
		{"at one look only", time.Microsecond, "+-", []patra.AlertTransition{begins, vanishes}},
	} {
		if got := look(t, c.lasts, c.seen); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	// Nobody looked for an hour: whether it was so all the time is not known.
	pending := patra.JudgeAlerts(0, nil, []patra.Alert{{Kind: patra.AlertErrors, Target: "demo", For: 10 * time.Minute}})[0].StoredAlert
	if s := patra.JudgeAlerts(patra.Hour, []patra.StoredAlert{pending}, []patra.Alert{pending.Alert})[0]; s.Move != patra.AlertLasts || s.FirstAt != patra.Hour {
		t.Errorf("%+v", s)
	}
}

// However it comes and goes: an alert fires once before it ends, never ends while it is seen, never fires before it lasted, and to
// look twice at the same moment changes nothing.
func TestAlertsFireOnceAndEndOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lasts := time.Duration(rapid.IntRange(0, 5).Draw(t, "for")) * time.Minute
		targets := []string{"a", "b", "c"}
		var known []patra.StoredAlert
		id, now := int64(0), patra.Instant(0)
		firing, since, gone := map[int64]bool{}, map[string]patra.Instant{}, map[string]int{}
		for range rapid.IntRange(1, 40).Draw(t, "looks") {
			now += patra.Instant(rapid.IntRange(1, 120).Draw(t, "seconds")) * patra.Second
			var found []patra.Alert
			for _, target := range targets {
				if rapid.Bool().Draw(t, target) {
					found, gone[target] = append(found, patra.Alert{Kind: patra.AlertErrors, Target: target, For: lasts}), 0
					if _, on := since[target]; !on {
						since[target] = now
					}
				} else {
					delete(since, target)
					gone[target]++
				}
			}
			steps := patra.JudgeAlerts(now, known, found)
			known = nil
			seen := map[string]bool{}
			for _, s := range steps {
				if seen[s.Target] {
					t.Fatalf("two steps of %s", s.Target)
				}
				seen[s.Target] = true
				if s.ID == 0 {
					id++
					s.ID = id
				}
				switch s.Move {
				case patra.AlertFires:
					if firing[s.ID] || now.Sub(since[s.Target]) < lasts {
						t.Fatalf("%s fires again, or too early: since %d, now %d", s.Target, since[s.Target], now)
					}
					firing[s.ID] = true
				case patra.AlertEnds:
					if !firing[s.ID] || gone[s.Target] < 2 {
						t.Fatalf("%s ends without having fired, or while it is seen", s.Target)
					}
				}
				if s.Move != patra.AlertEnds && s.Move != patra.AlertVanishes {
					known = append(known, s.StoredAlert)
				}
			}
			for _, a := range found {
				if !seen[a.Target] {
					t.Fatalf("%s was found and has no step", a.Target)
				}
			}
			for _, s := range patra.JudgeAlerts(now, known, found) {
				if s.Move == patra.AlertFires || s.ID == 0 {
					t.Fatalf("the same look again: %s %s", s.Move, s.Target)
				}
			}
		}
	})
}

// However facts are drawn, there is one alert of a kind and target, its severity is known, and it says what to do.
func TestThereIsOneAlertOfAKindAndTarget(t *testing.T) {
	now := patra.Date(2026, 11, 15)
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string, most int) int64 { return rapid.Int64Range(0, int64(most)).Draw(t, name) }
		f := patra.AlertFacts{Now: now}
		for i := range rapid.IntRange(0, 6).Draw(t, "of each") {
			source := fmt.Sprint("s", n("source", 2))
			cursor := patra.Cursor{ID: n("cursor", 2) + 1, Namespace: patra.Namespace{Source: source, Endpoint: "works", Operation: patra.Operations[n("operation", len(patra.Operations)-1)]}, Value: now - patra.Instant(n("value", 20))*patra.Day, UpdatedAt: now - patra.Instant(n("stood", 48))*patra.Hour}
			fired := now - patra.Instant(n("fired", 48))*patra.Hour
			f.Pages = append(f.Pages, patra.PageShare{Source: source, Pages: 20 + n("pages", 200), Errors: n("errors", 20), Throttled: n("throttled", 20)})
			f.Cursors = append(f.Cursors, patra.CursorFacts{Cursor: cursor, Disputed: n("disputed", 1), Gaps: n("gaps", 1), Waiting: n("waiting", 1) == 1, Schedule: "x", Fired: &fired, Due: fired})
			f.Volumes = append(f.Volumes, patra.VolumeFacts{Cursor: cursor, Day: now, Records: n("records", 500), Before: rapid.SliceOfN(rapid.Int64Range(0, 300), 0, 8).Draw(t, "before")})
			f.Quotas = append(f.Quotas, patra.QuotaUse{Key: source, Window: patra.QuotaDay, From: now - patra.Instant(i), To: now + patra.Day, Limit: 100, Usable: 100, Used: n("used", 100)})
			f.Queue = append(f.Queue, patra.QueueState{Key: source + "/works/HARVEST", Source: source, Due: n("due", 900), Running: n("running", 1), Oldest: &fired})
			f.Crowds = append(f.Crowds, patra.QueueAverage{Key: source + "/works/HARVEST", Samples: 100, Mean: 10, Sigma: 5})
			f.Plans = append(f.Plans, patra.UnstartedPlan{Plan: patra.Plan{ID: n("plan", 3) + 1, Source: source}, Due: fired})
			f.Receivers = append(f.Receivers, patra.ReceiverState{Name: "r", Failures: n("failures", 5)})
			f.Failed = append(f.Failed, patra.FailedWork{Source: source, Count: n("failed", 2)})
		}
		seen := map[string]bool{}
		for _, a := range patra.DefaultAlertRules.Alerts(f) {
			key := string(a.Kind) + " " + a.Target
			if seen[key] || a.Target == "" || a.Said == "" || a.Next == "" || !slices.Contains(patra.Severities, a.Severity) || !slices.Contains(patra.AlertKinds, a.Kind) {
				t.Fatalf("%+v", a)
			}
			seen[key] = true
		}
		off := patra.DefaultAlertRules
		off.Off = patra.AlertKinds
		if all := off.Alerts(f); len(all) != 0 {
			t.Fatalf("what nobody wants: %+v", all)
		}
	})
}

// One odd day among eight does not make another day odd, and a day within the others is never odd.
func TestABandIsNotMovedByOneDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		usual := rapid.Int64Range(50, 1_000_000).Draw(t, "usual")
		var before []int64
		for range rapid.IntRange(5, 7).Draw(t, "days") {
			before = append(before, usual+rapid.Int64Range(-usual/10, usual/10).Draw(t, "off"))
		}
		before = append(before, rapid.Int64Range(0, 100*usual).Draw(t, "odd"))
		b, ok := patra.DefaultAlertRules.Band(before)
		if !ok || float64(usual) < b.Least || float64(usual) > b.Most {
			t.Fatalf("%v: %+v", before, b)
		}
		if b.Least > 0 && float64(usual)/20 >= b.Least {
			t.Fatalf("%v: a twentieth is usual: %+v", before, b)
		}
	})
}

func TestADayIsWhatItsNewestReadingsSay(t *testing.T) {
	day := patra.Date(2026, 11, 13)
	r := func(from, to int, n int64, closed patra.Instant) patra.WindowCount {
		return patra.WindowCount{Window: patra.Window{From: day + patra.Instant(from)*patra.Hour, To: day + patra.Instant(to)*patra.Hour}, Records: n, ClosedAt: closed}
	}
	for _, c := range []struct {
		name string
		read []patra.WindowCount
		n    int64
		ok   bool
	}{
		{"nothing", nil, 0, false},
		{"one", []patra.WindowCount{r(0, 24, 7, 1)}, 7, true},
		{"in parts", []patra.WindowCount{r(0, 12, 3, 1), r(12, 24, 4, 2)}, 7, true},
		{"read again", []patra.WindowCount{r(0, 24, 7, 1), r(0, 24, 9, 5)}, 9, true},
		{"half of it", []patra.WindowCount{r(0, 12, 3, 1)}, 3, false},
		{"more than it", []patra.WindowCount{r(-24, 24, 9, 1)}, 0, false},
		{"a part was read again", []patra.WindowCount{r(0, 12, 3, 1), r(12, 24, 4, 1), r(12, 24, 5, 2)}, 8, true},
	} {
		if n, ok := patra.DayVolume(day, c.read); ok != c.ok || ok && n != c.n {
			t.Errorf("%s: %d, %v", c.name, n, ok)
		}
	}
}
