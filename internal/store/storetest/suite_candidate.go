package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"patra"
	"patra/internal/query"
	"patra/internal/store"
)

// byID plans an update of some records and gives the plan.
func (w *World) byID(p patra.RecordSelector, buckets int64) patra.Plan {
	w.T.Helper()
	ctx, now := w.T.Context(), w.Clock.Instant()
	draft := w.draft(w.Cursor, patra.Window{From: Origin, To: Origin + patra.Day})
	draft.CursorID, draft.Operation, draft.Campaign, draft.Strategy = 0, patra.Update, p.Campaign(), patra.StrategyIDRange
	draft.Key = patra.PlanKey(draft) + store.NewOwner()
	plan, err := w.StartPlan(ctx, now, draft, patra.Snapshot{Fingerprint: patra.HashBytes(json.RawMessage(`{"v":1}`)), Source: "demo", Endpoint: "works", Operation: patra.Update, Body: json.RawMessage(`{"v":1}`)})
	w.must(err)
	w.must(w.FreezeRecordList(ctx, now, plan.ID, "demo", "work", p, buckets))
	w.must(w.FreezeRecordList(ctx, now, plan.ID, "demo", "work", patra.RecordSelector{By: patra.PickNamed, IDs: []string{"too late"}}, buckets)) // it has its list
	var slices []patra.Slice
	for _, r := range (patra.IDRange{From: 0, To: buckets}).Cut(buckets) {
		spec := patra.NewRangeSlice(patra.SliceRange{Kind: patra.RangeBucket, Key: p.Key(), IDRange: r, Of: patra.IDRange{From: 0, To: buckets}})
		slices = append(slices, patra.Slice{Purpose: patra.PurposeRefresh, Window: draft.Window, Fetch: draft.Window, Expr: query.All().JSON(), ExprHash: query.All().Hash(), Spec: spec, Signature: spec.Signature()})
	}
	w.must(w.AddSlices(ctx, now, plan.ID, 0, slices, patra.TriggerManual, 5))
	w.must(w.EndSlicing(ctx, plan.ID, patra.SlicingEnd{Status: patra.Ready}))
	return plan
}

// seeded claims all tasks of a plan and tells which ids are on their lists, in order.
func (w *World) seeded(plan patra.Plan) (claims []*patra.Claim, ids [][]string) {
	w.T.Helper()
	for {
		c := w.TryTake(patra.ClaimRequest{PlanID: plan.ID})
		if c == nil {
			return claims, ids
		}
		n, err := w.SeedItems(w.T.Context(), c, w.Clock.Instant(), *c.Slice.Spec.Range)
		w.must(err)
		items, err := w.Items(w.T.Context(), c, c.Task.ScanNo, 0, 1000)
		w.must(err)
		if int64(len(items)) != n {
			w.T.Errorf("%d items of %d", len(items), n)
		}
		var list []string
		for _, it := range items {
			list = append(list, it.ID)
		}
		claims, ids = append(claims, c), append(ids, list)
	}
}

// answer commits a detail page.
func (w *World) answer(c *patra.Claim, ordinal int64, outcomes map[patra.Status][]string, records ...patra.Observation) {
	w.T.Helper()
	page, err := w.OpenPage(w.T.Context(), c, w.Clock.Instant(), patra.PageOpen{BatchNo: ordinal, ScanNo: c.Task.ScanNo, Phase: patra.PhaseDetail, Ordinal: ordinal, RequestID: store.NewOwner(), GateKey: "demo", AcquiredAt: w.Clock.Instant()})
	w.must(err)
	res := w.Result(false, records...)
	res.Items = outcomes
	for _, id := range outcomes[patra.ItemMissing] {
		res.Refused = append(res.Refused, patra.Refusal{ID: id, At: w.Clock.Instant()})
	}
	_, _, err = w.CommitPage(w.T.Context(), c, w.Clock.Instant(), "work", page, res, nil)
	w.must(err)
}

func stalest(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	for i, id := range []string{"c", "a", "b", "gone", "fresh"} {
		w.Clock.Move(time.Hour)
		o := w.Record(id, Origin, id)
		o.Deleted = id == "gone"
		w.Page(c, int64(i+1), true, o)
	}
	w.Clock.Move(time.Hour)
	w.Page(c, 6, true, w.Record("c", Origin, "c")) // looked at again, and the same
	before := w.Clock.Instant().Add(-90 * time.Minute)
	pick := patra.RecordSelector{By: patra.PickStale, Before: &before, Most: 10}
	if n, err := w.CountCandidates(t.Context(), "demo", "work", pick); err != nil || n != 2 {
		t.Errorf("%d stale, %v", n, err)
	}
	pick.Most = 1
	plan := w.byID(pick, 1)
	claims, ids := w.seeded(plan)
	if fmt.Sprint(ids) != "[[a]]" {
		t.Fatalf("the stalest are %v", ids)
	}
	if patrols, err := w.RefreshProgress(t.Context(), ""); err != nil || len(patrols) != 0 {
		t.Errorf("%+v, %v", patrols, err)
	}
	w.answer(claims[0], 1, map[patra.Status][]string{patra.ItemDone: {"a"}}, w.Record("a", Origin, "a"))
	w.must(w.Finish(t.Context(), claims[0], w.Clock.Instant(), patra.RunResult{Status: patra.Succeeded,
		Proof: &patra.Proof{ScanNo: claims[0].Task.ScanNo, State: patra.StateSealed, Trust: patra.TrustNone, IDsSeen: 1, ByID: true}}))
	if patrols, err := w.RefreshProgress(t.Context(), "demo"); err != nil || len(patrols) != 1 || patrols[0].Runs != 1 || patrols[0].Last != w.Clock.Instant() {
		t.Errorf("%+v, %v", patrols, err)
	}
	if n, err := w.CountCandidates(t.Context(), "demo", "work", patra.RecordSelector{By: patra.PickStale, Before: &before, Most: 10}); err != nil || n != 1 {
		t.Errorf("%d are still stale, %v", n, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func lists(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	var named []string
	for i := range 70 {
		named = append(named, fmt.Sprintf("id %d", i))
	}
	plan := w.byID(patra.RecordSelector{By: patra.PickNamed, IDs: append(named, "id 1")}, 3)
	_, ids := w.seeded(plan)
	if len(ids) != 3 {
		t.Fatalf("%d lists", len(ids))
	}
	all := slices.Concat(ids...)
	slices.Sort(all)
	slices.Sort(named)
	if !slices.Equal(all, named) {
		t.Errorf("%d ids became %d", len(named), len(all))
	}
}

// wishes: signals are planned with the list, and done or failed with their ids. A record that is not there any more is
// marked and stays.
func wishes(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	w.Page(c, 1, true, w.Record("a", Origin, "a"), w.Record("lost", Origin, "x"))
	w.aside(c, 2, patra.RejectedItem{ID: "bad", Code: patra.CodeBadTime, Fragment: []byte("x")})
	w.must(w.RetryQuarantined(t.Context(), w.Clock.Instant(), w.quarantined(store.QuarantineFilter{})[0].ID, "bad", true, "me"))
	_, err := w.AddSignals(t.Context(), w.Clock.Instant(), "demo", "work", "", []string{"a", "lost"}, patra.SignalManual, "", "me")
	w.must(err)
	_, err = w.AddSignals(t.Context(), w.Clock.Instant(), "demo", "work", "", []string{"a"}, patra.SignalRetracted, "", "me")
	w.must(err)
	plan := w.byID(patra.RecordSelector{By: patra.PickSignals}, 1)
	if n, err := w.CountCandidates(t.Context(), "demo", "work", patra.RecordSelector{By: patra.PickSignals}); err != nil || n != 0 {
		t.Errorf("%d are still to be planned, %v", n, err)
	}
	w.Clock.Move(time.Hour)
	asked := w.Clock.Instant()
	claims, ids := w.seeded(plan)
	if fmt.Sprint(ids) != "[[bad a lost]]" {
		t.Fatalf("the list is %v", ids)
	}
	w.answer(claims[0], 1, map[patra.Status][]string{patra.ItemDone: {"a"}}, w.Record("a", Origin, "a"))
	w.answer(claims[0], 2, map[patra.Status][]string{patra.ItemMissing: {"lost"}, patra.ItemBad: {"bad"}})
	all, err := w.Signals(t.Context(), store.Filter{})
	w.must(err)
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprintf("%s %s %s", s.RecordID, s.Reason, s.Status))
	}
	if want := []string{"a RETRACTED DONE", "lost MANUAL DONE", "a MANUAL DONE", "bad QUARANTINE FAILED"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	lost, err := w.Store.Record(t.Context(), "demo", "work", "lost")
	if err != nil || lost.MissingSince == nil || *lost.MissingSince != asked || lost.Rev != 1 || lost.Deleted || lost.LastSeen >= asked {
		t.Errorf("%+v, %v", lost, err)
	}
	if q := w.quarantined(store.QuarantineFilter{})[0]; q.Status != patra.Open {
		t.Errorf("%+v", q)
	}
	soon := asked + patra.Second
	if n, err := w.CountCandidates(t.Context(), "demo", "work", patra.RecordSelector{By: patra.PickStale, Before: &asked, Most: 10}); err != nil || n != 0 {
		t.Errorf("%d were not looked at, %v", n, err)
	}
	if n, err := w.CountCandidates(t.Context(), "demo", "work", patra.RecordSelector{By: patra.PickStale, Before: &soon, Most: 10}); err != nil || n != 2 {
		t.Errorf("%d are looked at next time, %v", n, err)
	}
	w.Page(c, 3, true, w.Record("lost", Origin, "x"))
	if lost, err = w.Store.Record(t.Context(), "demo", "work", "lost"); err != nil || lost.MissingSince != nil {
		t.Errorf("%+v, %v", lost, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

// orphans: a signal whose plan ended without it is taken up by the next plan, and not before.
func orphans(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	_, err := w.AddSignals(t.Context(), w.Clock.Instant(), "demo", "work", "", []string{"a"}, patra.SignalManual, "", "me")
	w.must(err)
	open := func(want int64) {
		t.Helper()
		if n, err := w.CountCandidates(t.Context(), "demo", "work", patra.RecordSelector{By: patra.PickSignals}); err != nil || n != want {
			t.Errorf("%d to be planned, want %d, %v", n, want, err)
		}
	}
	open(1)
	plan := w.byID(patra.RecordSelector{By: patra.PickSignals}, 1)
	open(0)
	claims, _ := w.seeded(plan)
	w.must(w.Finish(t.Context(), claims[0], w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeInternal}}))
	open(1)
	again := w.byID(patra.RecordSelector{By: patra.PickSignals}, 1)
	open(0)
	claims, ids := w.seeded(again)
	if fmt.Sprint(ids) != "[[a]]" {
		t.Fatalf("the list is %v", ids)
	}
	w.answer(claims[0], 1, map[patra.Status][]string{patra.ItemDone: {"a"}}, w.Record("a", Origin, "a"))
	if all, err := w.Signals(t.Context(), store.Filter{}); err != nil || len(all) != 1 || all[0].Status != patra.SignalDone || all[0].PlanID != again.ID {
		t.Errorf("%+v, %v", all, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
