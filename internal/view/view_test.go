package view_test

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/view"
)

// TestMain draws ten thousand states of each property, unless the command line says how many.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "10000"); err != nil {
		panic(err)
	}
	m.Run()
}

// The time of the generated cursors: few moments, so that windows meet in every way.
const low, high = patra.Instant(0), patra.Instant(12)

func windows(t *rapid.T, what string, most int) (all []patra.Window) {
	for range rapid.IntRange(0, most).Draw(t, what) {
		from := rapid.Int64Range(int64(low), int64(high)-1).Draw(t, what+" from")
		all = append(all, patra.Window{From: patra.Instant(from), To: patra.Instant(rapid.Int64Range(from+1, int64(high)).Draw(t, what+" to"))})
	}
	return all
}

// cursor draws everything that can be known about one cursor.
func cursor(t *rapid.T, id int64) view.CursorFacts {
	f := view.CursorFacts{Named: rapid.Bool().Draw(t, "named"), Lag: time.Minute}
	f.Cursor = patra.Cursor{ID: id, Namespace: patra.Namespace{Source: "demo", Endpoint: "works", Operation: rapid.SampledFrom(patra.Operations).Draw(t, "operation")}}
	f.Span = patra.Window{From: low, To: patra.Instant(rapid.Int64Range(int64(low), int64(high)).Draw(t, "span"))}
	f.Planned = patra.Instant(rapid.Int64Range(int64(low), int64(high)).Draw(t, "planned"))
	for i, w := range windows(t, "answers", 6) {
		a := patra.CoverageEntry{ID: int64(i + 1), Window: w, State: rapid.SampledFrom([]patra.Completeness{patra.StateSealed, patra.StateSealed, patra.StateRead, patra.StateDisputed}).Draw(t, "state"),
			ClosedAt: patra.Instant(rapid.IntRange(0, 3).Draw(t, "closed")), IDsSeen: 7}
		if rapid.Bool().Draw(t, "counted") {
			a.CountAfter = new(int64(rapid.IntRange(5, 9).Draw(t, "count")))
		}
		f.Answers = append(f.Answers, a)
	}
	if rapid.Bool().Draw(t, "READ accepted") {
		f.ReadAccepted = &patra.ReadAcceptance{Source: "demo", Reason: "no order", By: "ada"}
	}
	f.Live = patra.NewCoverage(windows(t, "live", 2)...)
	for i, w := range windows(t, "waived", 2) {
		f.Waivers = append(f.Waivers, patra.Waiver{ID: int64(i + 1), Window: w, Reason: "lost", By: "ada"})
	}
	for i, w := range windows(t, "ended", 3) {
		status := rapid.SampledFrom([]patra.Status{patra.Failed, patra.Cancelled}).Draw(t, "ended as")
		f.Ended = append(f.Ended, patra.UnfinishedSlice{SliceID: int64(i + 1), TaskID: int64(i + 1), Window: w, Status: status, Early: status == patra.Failed && rapid.Bool().Draw(t, "early")})
	}
	for i, w := range windows(t, "plans", 2) {
		f.Plans = append(f.Plans, patra.Plan{ID: int64(9 - i), Window: w, Status: rapid.SampledFrom([]patra.Status{patra.Draft, patra.Slicing, patra.Partial, patra.Failed}).Draw(t, "plan")})
	}
	return f
}

// outside draws what is not coverage: work, schedules, pauses, halts.
func outside(t *rapid.T, s *view.SourceFacts, f *view.Facts) {
	f.Now = high + 20*patra.Minute
	at := func(what string) *patra.Instant {
		if !rapid.Bool().Draw(t, what) {
			return nil
		}
		return new(patra.Instant(rapid.Int64Range(0, 20).Draw(t, what)))
	}
	s.Partitions = []patra.QueueState{{Source: "demo", Running: rapid.Int64Range(0, 2).Draw(t, "running"), Due: rapid.Int64Range(0, 2).Draw(t, "due")}}
	s.Failed, s.FailedAt, s.LastPage = rapid.Int64Range(0, 2).Draw(t, "failed"), at("failed at"), at("last page")
}

// schedules, pauses and halts that can be added to facts.
func burdens(t *rapid.T, f *view.Facts, s *view.SourceFacts) {
	for range rapid.IntRange(0, 2).Draw(t, "controls") {
		kind := rapid.SampledFrom([]patra.ControlKind{patra.KindPause, patra.KindHalt}).Draw(t, "control")
		state := map[patra.ControlKind]patra.Status{patra.KindPause: patra.Paused, patra.KindHalt: patra.Halted}[kind]
		target := rapid.SampledFrom([]patra.Target{{Scope: patra.ScopeSource, Key: "demo"}, {Scope: patra.ScopeEndpoint, Key: "demo/works"}, {Scope: patra.ScopeSource, Key: "other"}}).Draw(t, "target")
		f.Controls = append(f.Controls, patra.Control{Target: target, Kind: kind, State: state, Reason: "broken"})
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "schedules") {
		due := patra.Instant(rapid.Int64Range(0, 9).Draw(t, "due"))
		fired := patra.Instant(rapid.Int64Range(0, 9).Draw(t, "fired"))
		f.Schedules = append(f.Schedules, patra.ScheduleState{Name: fmt.Sprint("nightly", i), Source: "demo", Operation: patra.Update, Due: &due, Fired: &fired, Refused: rapid.Int64Range(0, 2).Draw(t, "refused"), Why: "no key"})
	}
	for i := range s.Cursors {
		if rapid.Bool().Draw(t, "expected") {
			fired := patra.Instant(0)
			s.Cursors[i].Expected = patra.CursorFacts{Cursor: s.Cursors[i].Cursor, Schedule: "nightly", Fired: &fired, Due: high}
		}
	}
}

// speaks is the newest answer about a moment; nil if there is none.
func speaks(all []patra.CoverageEntry, i patra.Instant) *patra.CoverageEntry {
	var newest *patra.CoverageEntry
	for n, a := range all {
		if a.Window.Contains(i) && (newest == nil || cmp.Or(cmp.Compare(a.ClosedAt, newest.ClosedAt), cmp.Compare(a.ID, newest.ID)) > 0) {
			newest = &all[n]
		}
	}
	return newest
}

// complete says moment by moment whether a cursor is complete, without any list of gaps.
func complete(f view.CursorFacts) bool {
	for i := f.Span.From; i < f.Span.To; i++ {
		a := speaks(f.Answers, i)
		waived := slices.ContainsFunc(f.Waivers, func(w patra.Waiver) bool { return w.Window.Contains(i) })
		ahead := f.Cursor.Operation == patra.Harvest && i >= f.Planned && !slices.ContainsFunc(f.Ended, func(s patra.UnfinishedSlice) bool { return s.Window.Contains(i) })
		switch {
		case a != nil && (a.State == patra.StateDisputed || a.State == patra.StateRead && f.ReadAccepted == nil), a == nil && !waived && !f.Live.Contains(i) && !ahead:
			return false
		}
	}
	return true
}

// A verdict is complete exactly when `patra coverage gaps` exits with 0, and when no moment is missing or in dispute.
func TestAVerdictIsCompleteExactlyWhenNoGapIsListed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f view.Facts
		s := view.SourceFacts{Source: "demo"}
		var listed []patra.GapView
		outside(t, &s, &f)
		whole := true
		for i := range rapid.IntRange(0, 3).Draw(t, "cursors") {
			s.Cursors = append(s.Cursors, cursor(t, int64(i+1)))
		}
		burdens(t, &f, &s)
		for _, c := range s.Cursors {
			listed, whole = append(listed, c.Gaps(f.Controls)...), whole && complete(c)
		}
		f.Sources = []view.SourceFacts{s}
		all, each := view.Installation(f)
		exits0 := view.TallyOf(listed).Problem() == nil
		if each[0].Complete != exits0 || all.Complete != exits0 || whole != exits0 {
			t.Fatalf("the verdict is complete: %v, all: %v, coverage gaps exits 0: %v, every moment is there: %v\n%+v", each[0].Complete, all.Complete, exits0, whole, each[0])
		}
		fine := []view.Health{view.HealthOK, view.HealthIdle, view.HealthRunning}
		if slices.Contains(fine, each[0].Health) && !exits0 {
			t.Fatalf("%s, and coverage gaps exits 4: %+v", each[0].Health, each[0].Reasons)
		}
		for _, r := range each[0].Reasons {
			if r.Message == "" || r.Next == "" || r.Health != "" && !each[0].Health.AtLeast(r.Health) {
				t.Fatalf("%s has the reason %+v", each[0].Health, r)
			}
		}
	})
}

// Schedules, pauses and halts make a verdict worse or leave it: they never take a reason away, and nothing becomes complete by them.
func TestSchedulesPausesAndHaltsNeverMakeAVerdictBetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f view.Facts
		s := view.SourceFacts{Source: "demo"}
		outside(t, &s, &f)
		for i := range rapid.IntRange(0, 2).Draw(t, "cursors") {
			s.Cursors = append(s.Cursors, cursor(t, int64(i+1)))
		}
		f.Sources = []view.SourceFacts{s}
		before, _ := view.Installation(f)
		s.Cursors = slices.Clone(s.Cursors)
		burdens(t, &f, &s)
		f.Sources = []view.SourceFacts{s}
		after, _ := view.Installation(f)
		if !after.Health.AtLeast(before.Health) || after.Complete != before.Complete {
			t.Fatalf("%s became %s, complete %v became %v", before.Health, after.Health, before.Complete, after.Complete)
		}
		for _, r := range before.Reasons {
			if !slices.ContainsFunc(after.Reasons, func(a view.Reason) bool {
				return a.Kind == r.Kind && a.Cursor == r.Cursor && a.Plan == r.Plan && a.Count == r.Count
			}) {
				t.Fatalf("%+v is not among %+v", r, after.Reasons)
			}
		}
	})
}

func TestASourceIsJudgedByItsGravestReason(t *testing.T) {
	now := patra.Date(2026, time.November, 15)
	at := func(i patra.Instant) *patra.Instant { return &i }
	works := func(running, due, later int64) []patra.QueueState {
		return []patra.QueueState{{Source: "demo", Running: running, Due: due, Later: later, NextAt: at(now + patra.Hour)}}
	}
	control := func(key string, scope patra.ControlScope, kind patra.ControlKind, state patra.Status) patra.Control {
		return patra.Control{Target: patra.Target{Scope: scope, Key: key}, Kind: kind, State: state, Until: now + patra.Minute, Actor: "ada", Reason: "AUTH 401: who are you?", Detail: patra.ControlDetail{Since: now - patra.Hour}}
	}
	halt := control("demo/works", patra.ScopeEndpoint, patra.KindHalt, patra.Halted)
	breaker := control("demo/works", patra.ScopeEndpoint, patra.KindBreaker, patra.Open)
	first := patra.Window{From: patra.Date(2026, time.November, 1), To: patra.Date(2026, time.November, 2)}
	cursor := func(change func(*view.CursorFacts)) []view.CursorFacts {
		f := view.CursorFacts{}
		f.Cursor = patra.Cursor{ID: 1, Namespace: patra.Namespace{Source: "demo", Endpoint: "works", Operation: patra.Harvest}, Value: first.From, SealedThrough: first.From}
		f.Span, f.Planned = first, first.To
		change(&f)
		return []view.CursorFacts{f}
	}
	failed := cursor(func(f *view.CursorFacts) {
		f.Ended = []patra.UnfinishedSlice{{SliceID: 1, Window: first, Status: patra.Failed, Fault: &patra.Fault{Code: patra.CodeHTTP, Status: 400, Text: "no"}}}
	})
	for _, c := range []struct {
		name     string
		facts    view.SourceFacts
		controls []patra.Control
		claim    *patra.Instant
		sched    []patra.ScheduleState
		want     view.Health
		said     string
	}{
		{name: "nothing", want: view.HealthIdle, said: "Nothing was read yet."},
		{name: "all is read", facts: view.SourceFacts{LastPage: at(now - patra.Hour), Complete: at(now - patra.Day)}, want: view.HealthOK, said: "Everything is read that was asked for, complete through 2026-11-14T00:00:00.000Z."},
		{name: "running", facts: view.SourceFacts{Partitions: works(3, 17, 0)}, want: view.HealthRunning, said: "3 tasks are running, and 17 wait."},
		{name: "the last one runs", facts: view.SourceFacts{Partitions: works(1, 0, 0)}, want: view.HealthRunning, said: "1 task is running."},
		{name: "no worker", facts: view.SourceFacts{Partitions: works(0, 2, 0)}, want: view.HealthWaiting, said: "2 tasks are due, and no worker takes one: is patra serve running?"},
		{name: "it is not its turn", facts: view.SourceFacts{Partitions: works(0, 2, 0)}, claim: at(now - patra.Second), want: view.HealthWaiting, said: "2 tasks wait for their turn."},
		{name: "due later", facts: view.SourceFacts{Partitions: works(0, 0, 1)}, want: view.HealthWaiting, said: "1 task is due later, the first at 2026-11-15T01:00:00.000Z."},
		{name: "a breaker", facts: view.SourceFacts{Partitions: works(0, 0, 4)}, controls: []patra.Control{breaker}, want: view.HealthWaiting, said: "4 tasks wait; demo/works does not answer and is left alone until 2026-11-15T00:01:00.000Z."},
		{name: "a breaker of another source", facts: view.SourceFacts{Partitions: works(0, 4, 0)}, claim: &now, controls: []patra.Control{control("other/works", patra.ScopeEndpoint, patra.KindBreaker, patra.Open)}, want: view.HealthWaiting, said: "4 tasks wait for their turn."},
		{name: "a quota", facts: view.SourceFacts{Partitions: works(0, 0, 4)}, controls: []patra.Control{control("demo", patra.ScopeSource, patra.KindQuota, patra.UsedUp)}, want: view.HealthWaiting, said: "4 tasks wait; a quota of demo is used up until 2026-11-15T00:01:00.000Z."},
		{name: "a failure since", facts: view.SourceFacts{Partitions: works(1, 1, 0), Failed: 2, FailedAt: at(now - patra.Minute), LastPage: at(now - patra.Hour)}, want: view.HealthFailed, said: "2 tasks of demo have failed, the last at 2026-11-14T23:59:00.000Z."},
		{name: "a failure before", facts: view.SourceFacts{Failed: 2, FailedAt: at(now - patra.Day), LastPage: at(now - patra.Hour)}, want: view.HealthOK, said: "Everything is read that was asked for, the last page at 2026-11-14T23:00:00.000Z."},
		{name: "a gap", facts: view.SourceFacts{Failed: 1, FailedAt: at(now - patra.Day), LastPage: at(now), Cursors: failed}, want: view.HealthFailed, said: "1 stretch of demo/works HARVEST failed, 2026-11-01~2026-11-02: HTTP 400: no."},
		{name: "a halt", facts: view.SourceFacts{Partitions: works(3, 1, 0), Cursors: failed}, controls: []patra.Control{breaker, halt}, want: view.HealthStopped, said: "demo/works is halted since 2026-11-14T23:00:00.000Z, because only a person can mend this: AUTH 401: who are you? 1 more reason."},
		{name: "a pause", facts: view.SourceFacts{Partitions: works(3, 1, 0)}, controls: []patra.Control{control("demo", patra.ScopeSource, patra.KindPause, patra.Paused)}, want: view.HealthStopped, said: "demo is paused by ada since 2026-11-14T23:00:00.000Z: AUTH 401: who are you?"},
		{name: "a part is paused", facts: view.SourceFacts{Partitions: works(3, 1, 0)}, controls: []patra.Control{control("demo/works", patra.ScopeEndpoint, patra.KindPause, patra.Paused)}, want: view.HealthRunning, said: "3 tasks are running, and 1 waits."},
		{name: "never planned", facts: view.SourceFacts{Cursors: cursor(func(*view.CursorFacts) {})}, want: view.HealthIncomplete, said: "1 stretch of demo/works HARVEST was never planned, 2026-11-01~2026-11-02: nobody has planned it."},
		{name: "a draft", facts: view.SourceFacts{Cursors: cursor(func(f *view.CursorFacts) { f.Plans = []patra.Plan{{ID: 4, Window: first, Status: patra.Draft}} })}, want: view.HealthIncomplete, said: "1 stretch of demo/works HARVEST waits for its plan, 2026-11-01~2026-11-02: plan 4 is a draft: it is not cut into slices."},
		{name: "a plan that is being cut", facts: view.SourceFacts{Cursors: cursor(func(f *view.CursorFacts) {
			f.Plans = []patra.Plan{{ID: 4, Window: first, Status: patra.Slicing, CreatedAt: now}}
		})}, want: view.HealthWaiting, said: "1 stretch of demo/works HARVEST waits for its plan, 2026-11-01~2026-11-02: plan 4 is not cut to its end."},
		{name: "a plan that failed", facts: view.SourceFacts{Cursors: cursor(func(f *view.CursorFacts) {
			f.Plans = []patra.Plan{{ID: 4, Window: first, Status: patra.Failed, Reason: "DEPTH"}}
		})}, want: view.HealthFailed, said: "1 stretch of demo/works HARVEST is not read, 2026-11-01~2026-11-02: plan 4 failed (DEPTH)."},
		{name: "a plan by id that failed", facts: view.SourceFacts{Plans: []patra.Plan{{ID: 5, Source: "demo", Endpoint: "works", Operation: patra.Update, Status: patra.Failed}}}, want: view.HealthFailed, said: "Plan 5 of demo/works UPDATE failed: nothing of it was read."},
		{name: "disputes", facts: view.SourceFacts{Cursors: cursor(func(f *view.CursorFacts) {
			f.Answers = []patra.CoverageEntry{{Window: first, State: patra.StateDisputed, IDsSeen: 1108, CountAfter: new(int64(1115))}}
		})}, want: view.HealthDisputed, said: "1 stretch of demo/works HARVEST is in dispute, 2026-11-01~2026-11-02: the provider counts 1,115, 1,108 were read."},
		{name: "not proved", facts: view.SourceFacts{Cursors: cursor(func(f *view.CursorFacts) {
			f.Answers = []patra.CoverageEntry{{Window: first, State: patra.StateRead}}
		})}, want: view.HealthUnproved, said: "1 stretch of demo/works HARVEST is read and not proved, 2026-11-01~2026-11-02: it was read to its end, and nothing would have noticed a record that was missed."},
		{name: "not proved, which is accepted", facts: view.SourceFacts{Complete: &first.From, Cursors: cursor(func(f *view.CursorFacts) {
			f.Answers = []patra.CoverageEntry{{Window: first, State: patra.StateRead}}
			f.ReadAccepted = &patra.ReadAcceptance{Source: "demo", Reason: "no order", By: "ada"}
		})}, want: view.HealthOK, said: "Everything is read that was asked for, complete through 2026-11-01T00:00:00.000Z, but 1 stretch is read without a proof, which is accepted."},
		{name: "signed off", facts: view.SourceFacts{Complete: &first.From, Cursors: cursor(func(f *view.CursorFacts) { f.Waivers = []patra.Waiver{{Window: first, Reason: "lost", By: "ada"}} })}, want: view.HealthOK, said: "Everything is read that was asked for, complete through 2026-11-01T00:00:00.000Z, but 1 stretch that a waiver signs off."},
		{name: "a refused schedule", sched: []patra.ScheduleState{{Name: "nightly", Source: "demo", Operation: patra.Update, Refused: 3, Since: &first.From, Why: "the secret key is not set"}}, want: view.HealthFailed,
			said: "The schedule nightly of demo UPDATE was refused 3 times in a row, since 2026-11-01T00:00:00.000Z: the secret key is not set."},
		{name: "a refused schedule of another source", sched: []patra.ScheduleState{{Name: "nightly", Source: "other", Operation: patra.Update, Refused: 3}}, want: view.HealthIdle, said: "Nothing was read yet."},
		{name: "a schedule that did not fire", sched: []patra.ScheduleState{{Name: "nightly", Source: "demo", Fired: &first.From, Due: &first.To}}, want: view.HealthLate, said: "The schedule nightly was due at 2026-11-02T00:00:00.000Z and did not fire."},
	} {
		c.facts.Source = "demo"
		f := view.Facts{Now: now, Controls: c.controls, LastClaim: c.claim, Schedules: c.sched}
		got := view.Source(c.facts, f)
		if got.Health != c.want || got.Message != c.said {
			t.Errorf("%s: %s, %s", c.name, got.Health, got.Message)
		}
	}
}
