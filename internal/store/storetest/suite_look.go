package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// ids asks for records part by part and gives the ids of all that came.
func (w *World) parts(q store.RecordQuery, most int) (ids []string) {
	w.T.Helper()
	var from *store.RecordPosition
	for range 1000 {
		p, err := w.FindPart(w.T.Context(), q, from, most)
		w.must(err)
		if int64(len(p.Records)) > q.Limit || p.Looked > most+200 {
			w.T.Fatalf("%d records of %d, %d looked at", len(p.Records), q.Limit, p.Looked)
		}
		for _, r := range p.Records {
			ids = append(ids, r.ProviderID)
		}
		if from = p.Next; from == nil {
			return ids
		}
	}
	w.T.Fatal("it never ends")
	return nil
}

// Whatever is asked, the parts together are what one look at everything finds, each record once.
func foundInParts(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	for day := range 3 {
		var records []patra.Observation
		for i := range 150 {
			records = append(records, w.Record(fmt.Sprintf("10.%d/%03d", day%2, day*100+i), Origin, fmt.Sprint(i%7)))
		}
		w.Clock.Move(time.Second)
		w.Work(w.Take(), records...)
	}
	since := w.Clock.Instant() - patra.Second
	for _, q := range []store.RecordQuery{
		{}, {Source: "demo"}, {Source: "demo", Type: "work"}, {Source: "demo", Type: "other"}, {Source: "nobody"},
		{Source: "demo", IDPrefix: "10.0/"}, {Source: "demo", Type: "work", IDPrefix: "10.1/1"}, {Source: "demo", IDPrefix: "10.0/0_"}, {Source: "demo", IDPrefix: "zzz"},
		{Source: "demo", ChangedSince: &since}, {Where: where("c=3").Where}, {Source: "demo", Where: where("c=3").Where}, {Source: "demo", Deleted: true},
		{Source: "demo", IDPrefix: "10.0/", Where: where("c=3").Where},
	} {
		var want []string
		w.must(w.Find(t.Context(), q, func(r patra.Record) error {
			want = append(want, r.ProviderID)
			return nil
		}))
		slices.Sort(want)
		for _, bounds := range [][2]int{{1000, 1000}, {7, 1000}, {1000, 200}, {50, 1}} {
			q.Limit = int64(bounds[0])
			got := w.parts(q, bounds[1])
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%+v in parts of %v: %d records and not %d", q, bounds, len(got), len(want))
			}
		}
	}
}

// A list with a filter that has no index comes in parts that look at few rows, and all of it comes.
func walkedLists(t *testing.T, e Engine) {
	w := NewWorld(t, e, 30)
	for range 10 {
		w.Work(w.Take())
	}
	for _, f := range []store.Filter{{Source: "demo"}, {Cursor: w.Cursor.ID}, {Status: patra.Queued}, {Source: "demo", Status: patra.Succeeded}, {Plan: w.Plan.ID}, {Source: "nobody"}, {}} {
		f.Limit = 1000
		all, err := w.Tasks(t.Context(), f)
		w.must(err)
		var got []int64
		f.Limit, f.Before = 3, 0
		for range 100 {
			f.Walk = &store.ScanLimit{Rows: 4}
			part, err := w.Tasks(t.Context(), f)
			w.must(err)
			for _, k := range part {
				got = append(got, k.ID)
			}
			switch {
			case len(part) == f.Limit:
				f.Before = part[len(part)-1].ID
				continue
			case f.Walk.Next > 0:
				f.Before = f.Walk.Next
				continue
			}
			break
		}
		var want []int64
		for _, k := range all {
			want = append(want, k.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %v and not %v", f, got, want)
		}
	}
}

// stands looks at the queue, at what failed and at what is missing.
func stands(t *testing.T, e Engine) {
	w := NewWorld(t, e, 6)
	ctx := t.Context()
	w.Work(w.Take(), w.Record("a", Origin, "a"))
	bad := w.Take()
	fault := patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Status: 400, Text: "no"}
	page, err := w.OpenAt(bad, 1, 1, 1)
	w.must(err)
	_, err = w.FailPage(ctx, bad, w.Clock.Instant(), page, patra.PageFailure{Exchange: patra.Exchange{SentAt: w.Clock.Instant(), FinishedAt: w.Clock.Instant(), Status: 400, Outcome: patra.OutcomeHTTPError}, Fault: fault}, nil)
	w.must(err)
	w.must(w.Finish(ctx, bad, w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &fault}))
	w.Take()
	back := w.Take()
	w.must(w.Finish(ctx, back, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, RetryIn: time.Hour, WaitCode: patra.WaitScheduled, GiveBack: true}))
	queue, err := w.QueueStates(ctx)
	w.must(err)
	if len(queue) != 1 || queue[0].Due != 2 || queue[0].Later != 1 || queue[0].Running != 1 || queue[0].Oldest == nil || queue[0].NextAt == nil || queue[0].Waits[patra.WaitScheduled] != 1 || queue[0].Held != "" {
		t.Errorf("the queue is %+v", queue)
	}
	failed, err := w.FailedOf(ctx, "demo")
	w.must(err)
	if failed.Count != 1 || failed.Last.ID != bad.TaskID || failed.Fault == nil || failed.Fault.Code != patra.CodeHTTP {
		t.Errorf("%+v", failed)
	}
	failures, err := w.Failures(ctx, w.Clock.Instant()-patra.Hour, 10)
	w.must(err)
	if len(failures) != 1 || failures[0].Endpoint != "works" || failures[0].Fault.Status != 400 {
		t.Errorf("%+v", failures)
	}
	if later, err := w.Failures(ctx, w.Clock.Instant()+patra.Hour, 10); err != nil || len(later) != 0 {
		t.Errorf("%+v, %v", later, err)
	}
	facts, err := w.CursorFacts(ctx, w.Watermark())
	w.must(err)
	if facts.Gaps != 1 || !facts.Waiting || facts.Disputed != 0 {
		t.Errorf("%+v", facts)
	}
	openIsWhole(w, 1)
	span := patra.Window{From: Origin, To: Origin + 6*patra.Day}
	known, until, err := w.MapFacts(ctx, w.Cursor.ID, span)
	w.must(err)
	if until != span.To {
		t.Errorf("it ends at %s", until)
	}
	states := ""
	for _, s := range patra.Segments(span, known) {
		states += string(s.State) + " "
	}
	for _, want := range []patra.MapState{patra.MapSealed, patra.MapFailed, patra.MapRunning, patra.MapQueued} {
		if !strings.Contains(states, string(want)) {
			t.Errorf("the map is %s", states)
		}
	}
	if last, err := w.LastPageOf(ctx, "demo"); err != nil || last == nil {
		t.Errorf("%v, %v", last, err)
	}
	if sources, err := w.Sources(ctx); err != nil || !slices.Equal(sources, []string{"demo"}) {
		t.Errorf("%v, %v", sources, err)
	}
	if n, _, err := w.ChangedSince(ctx, "demo", 0); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	events, err := w.EventList(ctx, store.EventQuery{Type: "patra.task.%"}, store.ListPage{Limit: 10, Walk: &store.ScanLimit{Rows: 1000}})
	w.must(err)
	if len(events) != 2 || events[0].ID < events[1].ID {
		t.Errorf("%+v", events)
	}
	// Which day was read first is chance, and with it whether the watermark has moved.
	moved, err := w.CursorEvents(ctx, store.Filter{Cursor: w.Cursor.ID})
	w.must(err)
	if moves, err := w.Timeline(ctx, w.Cursor.ID, 0, 10); err != nil || !slices.Equal(moves, moved) {
		t.Errorf("%+v, %v", moves, err)
	}
	if moves, err := w.CursorEventsOfPlan(ctx, w.Plan.ID, 10); err != nil || len(moves) != len(moved) {
		t.Errorf("%+v, %v", moves, err)
	}
	if _, err := w.SinkTroubles(ctx); err != nil {
		t.Error(err)
	}
	if _, err := w.RecentQuarantineShare(ctx, "demo", 0); err != nil {
		t.Error(err)
	}
	if _, err := w.AllWaivers(ctx, 0, 10); err != nil {
		t.Error(err)
	}
}

// openIsWhole compares what is known from the first doubt on with all that is known: both must list the same gaps.
func openIsWhole(w *World, least int) {
	w.T.Helper()
	ctx, now := w.T.Context(), w.Clock.Instant()
	whole, err := w.CursorCoverage(ctx, w.Watermark(), now)
	w.must(err)
	open, err := w.OpenCoverage(ctx, w.Watermark(), now)
	w.must(err)
	all, few := patra.Gaps(whole.Span, whole.CoverageFacts), patra.Gaps(open.Span, open.CoverageFacts)
	if len(all) < least || !reflect.DeepEqual(all, few) {
		w.T.Errorf("all that is known lists %+v, what is open %+v", all, few)
	}
}

// judged looks at plans that failed, schedules that were refused, and disputes behind a hole.
func judged(t *testing.T, e Engine) {
	w := NewWorld(t, e, 4)
	ctx, now := t.Context(), w.Clock.Instant()
	for c := w.TryTake(patra.ClaimRequest{}); c != nil; c = w.TryTake(patra.ClaimRequest{}) {
		switch c.Slice.Window {
		case Day(0):
			w.Work(c)
		case Day(1):
			w.must(w.Finish(ctx, c, now, patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Status: 400, Text: "no"}}))
		default:
			w.Page(c, 1, false)
			w.must(w.Succeed(c, patra.StateDisputed))
		}
	}
	facts, err := w.CursorFacts(ctx, w.Watermark())
	w.must(err)
	if facts.Disputed != 2 || facts.First == nil || *facts.First != Day(2).From {
		t.Errorf("%+v", facts)
	}
	openIsWhole(w, 3)
	_, err = w.Waive(ctx, now, patra.Waiver{CursorID: w.Cursor.ID, Window: Day(1), Reason: "lost", By: "ada"})
	w.must(err)
	openIsWhole(w, 3)
	p := w.StartPlanFor(w.Cursor, patra.Window{From: Origin, To: Day(5).To})
	cursor, _, _, err := w.Need(ctx, w.Cursor.ID)
	w.must(err)
	w.must(w.AddSlices(ctx, now, p.ID, cursor.PlanVersion, nil, patra.TriggerManual, 1))
	if plans, err := w.UncutPlans(ctx, w.Cursor.ID, Origin); err != nil || len(plans) != 1 || plans[0].Status != patra.Slicing {
		t.Errorf("%+v, %v", plans, err)
	}
	w.must(w.EndSlicing(ctx, p.ID, patra.SlicingEnd{Status: patra.Failed, Reason: "DEPTH"}))
	if plans, err := w.FailedPlans(ctx); err != nil || len(plans) != 1 || plans[0].Reason != "DEPTH" {
		t.Errorf("%+v, %v", plans, err)
	}
	if plans, err := w.FailedPlansByID(ctx, "demo"); err != nil || len(plans) != 0 {
		t.Errorf("%+v, %v", plans, err)
	}
	for i, status := range []patra.Status{patra.Planned, patra.Rejected, patra.Rejected, patra.Accepted} {
		id, err := w.AcceptTrigger(ctx, now, patra.Trigger{Scheduler: patra.SchedulerCron, JobID: "nightly", LogID: fmt.Sprint(i), Trigger: patra.TriggerScheduled, TriggeredAt: now + patra.Instant(i), Params: json.RawMessage(`{}`), Source: "demo", Operation: patra.Backfill})
		w.must(err)
		switch status {
		case patra.Planned:
			again := p
			again.InstanceID = id
			_, err = w.StartPlan(ctx, now, again, patra.Snapshot{Fingerprint: p.Spec, Source: "demo", Endpoint: "works", Operation: patra.Harvest, Body: snapshot})
			w.must(err)
		case patra.Rejected:
			w.must(w.RejectTrigger(ctx, id, json.RawMessage(`{"error":"no key"}`)))
		}
	}
	states, err := w.ScheduleStates(ctx)
	if err != nil || len(states) != 1 || states[0].Refused != 2 || states[0].Why != "no key" || *states[0].Since != now+1 || *states[0].Fired != now+3 || states[0].Capped {
		t.Errorf("%+v, %v", states, err)
	}
}
