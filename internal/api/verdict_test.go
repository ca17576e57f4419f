package api_test

import (
	"strings"
	"testing"

	"patra"
	"patra/internal/api"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// planned is a server on a store whose only plan covers some days, and the world behind it.
func planned(t *testing.T, days int) (*room, *storetest.World) {
	t.Helper()
	w := storetest.NewWorld(t, storetest.Engines()[0], days)
	return open(t, func(o *api.Options) { o.Store = storetest.Engines()[0].Connect(t, w.URL) }), w
}

// drafted is the same with a plan of another source that is stored and not cut.
func drafted(t *testing.T) (*room, *storetest.World, patra.Plan) {
	t.Helper()
	r, w := planned(t, 1)
	w.Work(w.Take())
	c, err := w.EnsureCursor(t.Context(), w.Clock.Instant(), patra.Cursor{Namespace: patra.HarvestNamespace("other", "works", "indexed_at", w.Cursor.ExprProtoHash, nil), Origin: storetest.Origin,
		OriginCode: patra.OriginUser, ExprProtoHash: w.Cursor.ExprProtoHash})
	if err != nil {
		t.Fatal(err)
	}
	return r, w, w.StartPlanFor(c, patra.Window{From: storetest.Origin, To: storetest.Origin + patra.Day})
}

func healthOf(t *testing.T, o api.Overview, source string) api.SourceHealth {
	t.Helper()
	for _, s := range o.Sources {
		if s.Code == source {
			return s
		}
	}
	t.Fatalf("%s is not in %+v", source, o.Sources)
	return api.SourceHealth{}
}

// A plan that nobody has cut has read nothing: its source is not fine.
func TestADraftIsNotDone(t *testing.T) {
	r, _, _ := drafted(t)
	s := healthOf(t, get[api.Overview](r, "/overview"), "other")
	if s.Health == "OK" || s.Health == "IDLE" || s.Gaps != 1 || strings.Contains(s.Said, "Everything is read") {
		t.Errorf("a source whose only plan is a draft stands at %+v", s)
	}
}

// Nor has a plan that could not be cut.
func TestAFailedPlanIsNotDone(t *testing.T) {
	r, w, p := drafted(t)
	cursor, _, _, err := w.Need(t.Context(), p.CursorID)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddSlices(t.Context(), w.Clock.Instant(), p.ID, cursor.PlanVersion, nil, patra.TriggerManual, 1); err != nil {
		t.Fatal(err)
	}
	if err := w.EndSlicing(t.Context(), p.ID, patra.SlicingEnd{Status: patra.Failed, Reason: "DEPTH"}); err != nil {
		t.Fatal(err)
	}
	s := healthOf(t, get[api.Overview](r, "/overview"), "other")
	if s.Health != "FAILED" || s.Gaps != 1 {
		t.Errorf("a source whose only plan failed stands at %+v", s)
	}
}

// A plan with disputed windows is not done, and its source not fine.
func TestADisputeIsSeen(t *testing.T) {
	r, w := planned(t, 3)
	for range 3 {
		c := w.Take()
		w.Page(c, 1, false)
		if err := w.Succeed(c, patra.StateDisputed); err != nil {
			t.Fatal(err)
		}
	}
	o := get[api.Overview](r, "/overview")
	if s := healthOf(t, o, "demo"); s.Health != "DISPUTED" || strings.Contains(s.Said, "Everything is read") {
		t.Errorf("a source with three disputes stands at %+v", s)
	}
	if p := o.Recent[0]; p.Ended != "DISPUTED" {
		t.Errorf("a plan with three disputes is shown as %q", p.Ended)
	}
	plans, err := w.Plans(t.Context(), store.Filter{Limit: 1})
	if err != nil || plans[0].Ended != "DISPUTED" {
		t.Errorf("%+v, %v", plans, err)
	}
}
