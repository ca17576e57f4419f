package planner

import (
	"strings"
	"testing"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// Nothing is planned for an endpoint that waits for a person: neither when somebody asks, nor behind anybody's back.
func TestAHaltedEndpointIsNotPlannedFor(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		y := newYard(t, e, "crossref")
		y.planner.Prober = nil
		y.planner.Config.Inventory = 4
		first := y.plan(y.ask(patra.Backfill, 0, 10))
		if first.Plan.Status != patra.Partial || first.Added != 4 {
			t.Fatalf("%d slices, %s", first.Added, first.Plan.Status)
		}
		at := first.Plan.WorkScope()
		if _, err := y.Halt(t.Context(), at, patra.Fault{Level: patra.LevelFatal, Code: patra.CodeHTTP, Status: 401, Text: "who are you?"}); err != nil {
			t.Fatal(err)
		}
		y.planner.Config.Inventory = 0
		tend := func() int64 {
			t.Helper()
			if err := y.planner.ContinueAll(t.Context(), y.Clock.Instant()); err != nil {
				t.Fatal(err)
			}
			p, err := y.Store.Plan(t.Context(), first.Plan.ID)
			if err != nil {
				t.Fatal(err)
			}
			return p.SliceCount
		}
		if n := tend(); n != 4 {
			t.Errorf("the plan grew to %d slices", n)
		}
		_, err := y.planner.Plan(t.Context(), y.Clock.Instant(), y.ask(patra.Harvest, 0, 2))
		if err == nil || !strings.Contains(err.Error(), "HALTED at crossref/works") || !strings.Contains(err.Error(), "who are you?") || !strings.Contains(err.Error(), "patra resume crossref/works") {
			t.Errorf("refused with %v", err)
		}
		kept, err := y.Triggers(t.Context(), store.Filter{Status: patra.Rejected})
		if err != nil || len(kept) != 1 {
			t.Errorf("%d triggers are kept with the reason, %v", len(kept), err)
		}
		if _, err := y.Resume(t.Context(), at.EndpointTarget(), "", "me"); err != nil {
			t.Fatal(err)
		}
		if n := tend(); n != 10 {
			t.Errorf("the plan has %d of 10 slices", n)
		}
	})
}

// A breaker ends by itself: what is planned meanwhile waits for it.
func TestABreakerKeepsNobodyFromPlanning(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	at := patra.WorkScope{Source: "crossref", Endpoint: "works", Operation: patra.Harvest}
	if _, err := y.RecordFailure(t.Context(), at, patra.BreakerRule{Failures: 1, Shortest: 1, Longest: 2}, patra.EndpointFailure{}, patra.Fault{Level: patra.LevelRetry, Code: patra.CodeNetwork}); err != nil {
		t.Fatal(err)
	}
	if res := y.plan(y.ask(patra.Harvest, 0, 2)); res.Added != 2 {
		t.Errorf("%d slices", res.Added)
	}
}

// Whoever asks for a place that is paused gets a plan, and its slices when the pause is over.
func TestAPausedPlaceIsPlannedLater(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	for _, text := range []string{"crossref", "crossref/works", "crossref/*/BACKFILL"} {
		target, err := patra.ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := y.Pause(t.Context(), target, "", "me"); err != nil {
			t.Fatal(err)
		}
		req := y.ask(patra.Backfill, 0, 3)
		req.Campaign = "of " + text
		res := y.plan(req)
		if res.Added != 0 || res.Plan.Status != patra.Partial || res.Plan.Reason != patra.ReasonPaused {
			t.Errorf("%s: %d slices, %s %s", text, res.Added, res.Plan.Status, res.Plan.Reason)
		}
		if _, err := y.Resume(t.Context(), target, "", "me"); err != nil {
			t.Fatal(err)
		}
		if err := y.planner.ContinueAll(t.Context(), y.Clock.Instant()); err != nil {
			t.Fatal(err)
		}
		if p, err := y.Store.Plan(t.Context(), res.Plan.ID); err != nil || p.Status != patra.Ready || p.SliceCount != 3 {
			t.Errorf("%s: %d slices, %s, %v", text, p.SliceCount, p.Status, err)
		}
	}
}
