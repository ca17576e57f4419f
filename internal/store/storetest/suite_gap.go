package storetest

import (
	"database/sql"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// refuse fails a task as a provider that says no would.
func (w *World) refuse(c *patra.Claim) {
	w.T.Helper()
	w.must(w.Finish(w.T.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Status: 403, Text: "no"}}))
}

func gapsListed(t *testing.T, e Engine) {
	w := NewWorld(t, e, 5)
	w.Work(w.takeOf(Day(0)))
	w.refuse(w.takeOf(Day(1)))
	disputed := w.takeOf(Day(2))
	w.Page(disputed, 1, false)
	w.must(w.Succeed(disputed, patra.StateDisputed))
	w.Take() // the third day is under way, the fourth waits
	gaps, err := w.Gaps(t.Context(), w.Cursor.ID, patra.Window{From: Origin, To: Day(6).To})
	w.must(err)
	var told []string
	for _, g := range gaps {
		told = append(told, g.Window.String()+" "+string(g.Kind))
		if g.CursorID != w.Cursor.ID {
			t.Errorf("%+v is of another cursor", g)
		}
	}
	want := []string{Day(1).String() + " FAILED", Day(2).String() + " DISPUTED", patra.Window{From: Day(5).From, To: Day(6).To}.String() + " UNPLANNED"}
	if !slices.Equal(told, want) {
		t.Fatalf("told %v, want %v", told, want)
	}
	if gaps[0].Fault == nil || gaps[0].Fault.Status != 403 || gaps[0].SliceID == 0 {
		t.Errorf("the reason is %+v", gaps[0])
	}
	if c, err := w.CoverageIn(t.Context(), w.Cursor.ID, patra.StateDisputed); err != nil || !slices.Equal(c, patra.NewCoverage(Day(2))) {
		t.Errorf("in dispute: %v, %v", c, err)
	}
}

func waiving(t *testing.T, e Engine) {
	w := NewWorld(t, e, 4)
	for range 4 {
		if c := w.Take(); c.Slice.Window == Day(1) {
			w.refuse(c)
		} else {
			w.Work(c)
		}
	}
	word := patra.Waiver{CursorID: w.Cursor.ID, Window: Day(1), Reason: "lost", By: "ada"}
	for round := range 2 { // what is taken back can be said again
		c, err := w.Waive(t.Context(), w.Clock.Instant(), word)
		w.must(err)
		if got := w.Watermark(); c.Value != Day(3).To || got.Value != c.Value || got.SealedThrough != Day(1).From {
			t.Errorf("round %d: watermark %s, complete through %s", round, got.Value, got.SealedThrough)
		}
		gaps, err := w.Gaps(t.Context(), w.Cursor.ID, patra.Window{From: Origin, To: Day(3).To})
		if err != nil || len(gaps) != 1 || gaps[0].Kind != patra.GapWaived || gaps[0].Waiver.Reason != "lost" || gaps[0].Waiver.By != "ada" {
			t.Errorf("round %d: gaps %+v, %v", round, gaps, err)
		}
		CheckInvariants(t, Inspect(t, w.URL))
		c, n, err := w.Revoke(t.Context(), w.Clock.Instant(), word)
		w.must(err)
		if n != 1 || c.Value != Day(1).From || w.Watermark().Value != c.Value {
			t.Errorf("round %d: %d taken back, the watermark is %s", round, n, c.Value)
		}
		CheckInvariants(t, Inspect(t, w.URL))
	}
	if _, n, err := w.Revoke(t.Context(), w.Clock.Instant(), word); err != nil || n != 0 {
		t.Errorf("%d taken back twice, %v", n, err)
	}
	if all, err := w.Waivers(t.Context(), w.Cursor.ID); err != nil || len(all) != 2 || all[0].RevokedAt == nil {
		t.Errorf("waivers %+v, %v", all, err)
	}
	scan(t, Inspect(t, w.URL), "SELECT * FROM v_check_chain", func(*sql.Rows) error { t.Error("a watermark that went back looks like a broken chain"); return nil })
	// A stretch that is read after all needs nobody's word.
	w.Add(Stretch(Day(1)))
	w.Work(w.takeOf(Day(1)))
	if got := w.Watermark(); got.Value != Day(3).To || got.SealedThrough != Day(3).To {
		t.Errorf("watermark %s, complete through %s after it was read", got.Value, got.SealedThrough)
	}
	if _, err := w.Waive(t.Context(), w.Clock.Instant(), patra.Waiver{CursorID: 99, Window: Day(1)}); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("a waiver of no cursor: %v", err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func acceptingRead(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	for range 3 {
		c := w.Take()
		w.Page(c, 1, false)
		state := patra.StateSealed
		if c.Slice.Window == Day(1) {
			state = patra.StateRead
		}
		w.must(w.Succeed(c, state))
	}
	if got := w.Watermark(); got.Value != Day(2).To || got.SealedThrough != Day(1).From {
		t.Errorf("watermark %s, complete through %s: READ is covered and not proved", got.Value, got.SealedThrough)
	}
	check := func(actionable bool, reason string) {
		t.Helper()
		gaps, err := w.Gaps(t.Context(), w.Cursor.ID, patra.Window{From: Origin, To: Day(2).To})
		w.must(err)
		if len(gaps) != 1 || gaps[0].Kind != patra.GapRead || gaps[0].Window != Day(1) || gaps[0].Unread() || gaps[0].Actionable() != actionable || !strings.Contains(gaps[0].Reason(), reason) {
			t.Errorf("%+v", gaps)
		}
		facts, err := w.OpenCoverage(t.Context(), w.Watermark(), w.Clock.Instant())
		w.must(err)
		if (facts.ReadAccepted == nil) != actionable {
			t.Errorf("the facts of the cursor say %+v", facts.ReadAccepted)
		}
	}
	check(true, "nothing would have noticed")
	word := patra.ReadAcceptance{Source: "demo", Reason: "no order", By: "ada"}
	if err := w.RevokeRead(t.Context(), w.Clock.Instant(), word); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("nothing to revoke: %v", err)
	}
	w.must(w.AcceptRead(t.Context(), w.Clock.Instant(), word))
	check(false, "no order (ada")
	if err := w.AcceptRead(t.Context(), w.Clock.Instant(), word); err == nil {
		t.Errorf("accepted twice: %v", err)
	}
	if got := w.Watermark(); got.SealedThrough != Day(1).From {
		t.Errorf("complete through %s: accepted is not proved", got.SealedThrough)
	}
	w.must(w.RevokeRead(t.Context(), w.Clock.Instant(), patra.ReadAcceptance{Source: "demo", Reason: "it has a key now", By: "bob"}))
	check(true, "nothing would have noticed")
	all, err := w.ReadAcceptances(t.Context(), "demo")
	w.must(err)
	if len(all) != 1 || all[0].RevokedAt == nil || all[0].By != "ada" {
		t.Errorf("kept: %+v", all)
	}
	log, err := w.AuditLog(t.Context(), store.AuditFilter{Limit: 10})
	w.must(err)
	if len(log) != 2 || log[0].Action == log[1].Action || log[0].Target != "source:demo" {
		t.Errorf("the audit log says %+v", log)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func settling(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	for range 3 {
		c := w.Take()
		w.Page(c, 1, false)
		state := patra.StateSealed
		if c.Slice.Window == Day(1) {
			state = patra.StateDisputed
		}
		w.must(w.Succeed(c, state))
	}
	id := map[patra.Window]int64{}
	for _, a := range w.covered() {
		id[a.Window] = a.ID
	}
	accept := patra.CoverageNote{At: w.Clock.Instant(), By: "ada", From: patra.StateDisputed, To: patra.StateSealed, Reason: "withdrawn works"}
	if err := w.ResolveDispute(t.Context(), w.Cursor.ID, []int64{id[Day(1)], id[Day(2)]}, accept); !errors.Is(err, patra.ErrIllegalMove) {
		t.Errorf("one of them is not in dispute: %v", err)
	}
	if got := w.Watermark(); got.SealedThrough != Day(1).From {
		t.Errorf("complete through %s although it was refused", got.SealedThrough)
	}
	w.must(w.ResolveDispute(t.Context(), w.Cursor.ID, []int64{id[Day(1)]}, accept))
	if got := w.Watermark(); got.SealedThrough != Day(2).To {
		t.Errorf("complete through %s", got.SealedThrough)
	}
	// A later count begins a dispute about the first day, which ends when it is read again.
	counted := int64(7)
	w.must(w.ResolveDispute(t.Context(), w.Cursor.ID, []int64{id[Day(0)]}, patra.CoverageNote{At: w.Clock.Instant(), By: "ada", From: patra.StateSealed, To: patra.StateDisputed, Reason: "counted again", Counted: &counted}))
	if got := w.Watermark(); got.SealedThrough != Origin || got.Value != Day(2).To {
		t.Errorf("watermark %s, complete through %s", got.Value, got.SealedThrough)
	}
	d := patra.Disputes(w.covered())
	if len(d) != 1 || *d[0].CountAfter != 7 || len(d[0].Remarks) != 1 || d[0].SealedAt != nil {
		t.Errorf("in dispute: %+v", d)
	}
	CheckInvariants(t, Inspect(t, w.URL))
	w.drawnAsItIs()
	again := Stretch(Day(0))
	again.Purpose = patra.PurposeFill
	w.Add(again)
	w.Clock.Move(time.Second)
	w.Work(w.takeOf(Day(0)))
	if got := w.Watermark(); got.SealedThrough != Day(2).To {
		t.Errorf("complete through %s after it was read again", got.SealedThrough)
	}
	if err := w.ResolveDispute(t.Context(), w.Cursor.ID, nil, patra.CoverageNote{From: patra.StateOpen, To: patra.StateSealed}); !errors.Is(err, patra.ErrIllegalMove) {
		t.Errorf("nobody can accept what was never read: %v", err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

// drawnAsItIs fails unless a map is drawn from what the answers say, and from an index alone.
func (w *World) drawnAsItIs() {
	w.T.Helper()
	facts, _, err := w.MapFacts(w.T.Context(), w.Cursor.ID, patra.Window{From: Origin, To: Origin + 1000*patra.Day})
	w.must(err)
	var want []patra.CoverageEntry
	for _, a := range w.covered() {
		want = append(want, patra.CoverageEntry{ID: a.ID, CursorID: a.CursorID, SliceID: a.SliceID, Window: a.Window, State: a.State, CountAfter: a.CountAfter, IDsSeen: a.IDsSeen, ClosedAt: a.ClosedAt})
	}
	if len(want) == 0 || !reflect.DeepEqual(facts.Answers, want) {
		w.T.Errorf("it is drawn from\n%+v\nand not from\n%+v", facts.Answers, want)
	}
	plan := w.explain(`SELECT id, slice_id, window_from, window_to, state_code, count_after, ids_seen, closed_at FROM ing_coverage WHERE cursor_id = 1 AND window_to > 5 AND window_to <= 7 ORDER BY window_to, window_from LIMIT 9`)
	// Each engine says it in its own words: SQLite and MySQL, MariaDB, TiDB.
	alone := func(words string) bool { return strings.Contains(strings.ToLower(plan), words) }
	if !strings.Contains(plan, "idx_cov_drawn") || !alone("covering index") && !alone("using index ") && !alone("indexreader") {
		w.T.Errorf("it is read by\n%s", plan)
	}
}

func ledgerOfWindows(t *testing.T, e Engine) {
	w := NewWorld(t, e, 2)
	w.Work(w.takeOf(Day(0)), w.Record("1", Origin, "a"))
	counted := Stretch(Day(4))
	counted.Estimate = &patra.Estimate{Records: 120, Grounds: patra.ByCount}
	w.Add(counted)
	ledger, err := w.Completeness(t.Context(), w.Cursor.ID)
	w.must(err)
	if len(ledger) != 3 || ledger[0].State != patra.StateSealed || ledger[1].State != patra.StateOpen || ledger[2].State != patra.StateCounted {
		t.Fatalf("ledger %+v", ledger)
	}
	if ledger[0].Window != Day(0) || *ledger[0].Stored != 1 || ledger[1].Counted != nil || ledger[1].Seen != nil || *ledger[2].Counted != 120 {
		t.Errorf("ledger %+v", ledger)
	}
}

func health(t *testing.T, e Engine) {
	w := NewWorld(t, e, 2)
	w.Take()
	engine, err := w.Engine(t.Context())
	if err != nil || engine.Kind == "" || (e.Name == "sqlite") != (engine.Kind == store.SQLite) {
		t.Errorf("engine %q, %v", engine, err)
	}
	if settings, err := w.Settings(t.Context()); err != nil || (e.Name == "sqlite") != (len(settings) == 0) || e.Name != "sqlite" && settings["transaction_isolation"] != "READ-COMMITTED" {
		t.Errorf("settings %v, %v", settings, err)
	}
	if complaints, err := w.Integrity(t.Context(), true); err != nil || len(complaints) > 0 {
		t.Errorf("complaints %v, %v", complaints, err)
	}
	if now, err := w.Now(t.Context()); err != nil || now != w.Clock.Instant() {
		t.Errorf("it is %s, %v", now, err)
	}
	if trouble, err := w.StuckWork(t.Context()); err != nil || trouble != (patra.StuckWork{Queued: 1}) {
		t.Errorf("%+v, %v", trouble, err)
	}
	w.Clock.Move(time.Hour)
	if trouble, err := w.StuckWork(t.Context()); err != nil || trouble.Expired != 1 {
		t.Errorf("%+v, %v", trouble, err)
	}
	told := 0
	broken, err := w.Verify(t.Context(), func(int, int, string) { told++ })
	if err != nil || len(broken) != 1 || broken[0].Verdict != patra.VerdictWarn || told < 30 {
		t.Errorf("told of %d promises, broken %+v, %v", told, broken, err)
	}
}

// holes: days that nobody planned are missing once something behind them was read, and not before.
func holes(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	gaps := func(want int64, when string) {
		t.Helper()
		if n, err := w.GapsAhead(t.Context(), w.Watermark()); err != nil || n != want {
			t.Errorf("%s, %d stretches are missing, and %d should be: %v", when, n, want, err)
		}
	}
	gaps(0, "before anything is read")
	w.Work(w.Take())
	gaps(0, "when all is read")
	w.Add(Days(Origin+3*patra.Day, 1)...)
	gaps(1, "with two days left out")
	w.Work(w.Take())
	gaps(1, "with what is behind them read")
	plan := w.StartPlanFor(w.Cursor, patra.Window{From: Origin + patra.Day, To: Origin + 3*patra.Day})
	gaps(0, "with a plan that is being cut")
	c, _, _, err := w.Need(t.Context(), w.Cursor.ID)
	w.must(err)
	w.must(w.AddSlices(t.Context(), w.Clock.Instant(), plan.ID, c.PlanVersion, Days(Origin+patra.Day, 2), patra.TriggerManual, 5))
	w.must(w.EndSlicing(t.Context(), plan.ID, patra.SlicingEnd{Status: patra.Ready}))
	gaps(0, "with somebody at them")
	w.Work(w.Take())
	w.Work(w.Take())
	gaps(0, "when they are read")
	if got := w.Watermark(); got.Value != Origin+4*patra.Day {
		t.Errorf("the watermark is at %s", got.Value)
	}
	plan = w.StartPlanFor(w.Cursor, patra.Window{From: Origin + 4*patra.Day, To: Origin + 6*patra.Day})
	w.must(w.EndSlicing(t.Context(), plan.ID, patra.SlicingEnd{Status: patra.Failed, Reason: "DEPTH"}))
	gaps(1, "when a plan for more could not be cut")
	n, err := w.MetricsSnapshot(t.Context())
	w.must(err)
	if got := n.Cursors[0].Reach; got != Origin+6*patra.Day {
		t.Errorf("all that was planned ends at %s", got)
	}
}
