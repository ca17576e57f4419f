package planner

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// fillOf is a request for the gaps of a cursor.
func (y *yard) fillOf(plan patra.Plan, from, to int, disputed bool) Request {
	y.T.Helper()
	req, err := y.planner.RequestLike(y.T.Context(), plan)
	if err != nil {
		y.T.Fatal(err)
	}
	w := days(from, to)
	req.Source, req.Contact, req.From, req.To = y.file, "me@example.org", &w.From, &w.To
	req.Fill = &Fill{CursorID: plan.CursorID, Disputed: disputed}
	return req
}

// end closes the task of a day in one of three ways.
func (y *yard) end(cursorID int64, states map[patra.Window]patra.Completeness) {
	y.T.Helper()
	for c := y.TryTake(patra.ClaimRequest{CursorID: cursorID}); c != nil; c = y.TryTake(patra.ClaimRequest{CursorID: cursorID}) {
		state, known := states[c.Slice.Window]
		var err error
		switch {
		case !known:
			y.Work(c)
		case state == "":
			err = y.Finish(y.T.Context(), c, y.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Status: 403, Text: "no"}})
		default:
			y.Page(c, 1, false)
			err = y.Succeed(c, state)
		}
		if err != nil {
			y.T.Fatal(err)
		}
	}
}

func (y *yard) slicesOf(planID int64) (windows []patra.Window) {
	y.T.Helper()
	all, err := y.Slices(y.T.Context(), store.Filter{Plan: planID})
	if err != nil {
		y.T.Fatal(err)
	}
	for _, sl := range all {
		if sl.Purpose != patra.PurposeFill {
			y.T.Errorf("%s is there for %s", sl.Window, sl.Purpose)
		}
		windows = append(windows, sl.Window)
	}
	slices.Reverse(windows)
	return windows
}

func TestAFillReadsExactlyTheGapsAndMovesTheSameWatermark(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		y := newYard(t, e, "crossref")
		y.planner.Prober = nil
		harvest := y.plan(y.ask(patra.Harvest, 0, 6))
		cursor := harvest.Plan.CursorID
		y.end(cursor, map[patra.Window]patra.Completeness{days(1, 2): "", days(3, 4): patra.StateDisputed, days(4, 5): ""})

		missing := y.plan(y.fillOf(harvest.Plan, 0, 7, false))
		if missing.Plan.CursorID != cursor || missing.Plan.ID == harvest.Plan.ID {
			t.Fatalf("the fill is plan %d of cursor %d", missing.Plan.ID, missing.Plan.CursorID)
		}
		if got := y.slicesOf(missing.Plan.ID); !slices.Equal(got, []patra.Window{days(1, 2), days(4, 5), days(6, 7)}) {
			t.Errorf("it reads %v", got)
		}
		if again := y.plan(y.fillOf(harvest.Plan, 0, 7, false)); again.Added != 0 {
			t.Errorf("what is under way is planned again: %d slices", again.Added)
		}
		y.end(cursor, nil)
		c, _ := y.cursor(cursor)
		if c.Value != days(0, 7).To || c.SealedThrough != days(3, 4).From {
			t.Errorf("the watermark is %s, complete through %s", c.Value, c.SealedThrough)
		}
		if rest := y.plan(y.fillOf(harvest.Plan, 0, 7, false)); rest.Added != 0 {
			t.Errorf("a dispute is read again although nobody asked: %d slices", rest.Added)
		}

		y.Clock.Move(1)
		disputed := y.plan(y.fillOf(harvest.Plan, 0, 7, true))
		if got := y.slicesOf(disputed.Plan.ID); !slices.Equal(got, []patra.Window{days(3, 4)}) {
			t.Errorf("it reads %v again", got)
		}
		y.Clock.Move(1)
		y.end(cursor, nil)
		if c, _ := y.cursor(cursor); c.SealedThrough != days(0, 7).To {
			t.Errorf("complete through %s", c.SealedThrough)
		}
		storetest.CheckInvariants(t, storetest.Inspect(t, y.URL))
	})
}

func TestAFillOfACampaignStaysInTheCampaign(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		y := newYard(t, e, "crossref")
		y.planner.Prober = nil
		ahead := y.plan(y.ask(patra.Harvest, 10, 12))
		y.work(ahead.Plan.CursorID, 2)
		req := y.ask(patra.Backfill, 4, 10)
		req.Campaign = "old"
		past := y.plan(req)
		y.end(past.Plan.CursorID, map[patra.Window]patra.Completeness{days(6, 7): ""})
		fill := y.plan(y.fillOf(past.Plan, 4, 12, false))
		if fill.Plan.CursorID != past.Plan.CursorID || fill.Plan.Operation != patra.Backfill || fill.Plan.Campaign != "old" || fill.Plan.Priority != 8 {
			t.Errorf("the fill is %+v", fill.Plan)
		}
		// The harvest is two days ahead, and the campaign may follow it: what it never read is missing of it.
		if got := y.slicesOf(fill.Plan.ID); !slices.Equal(got, []patra.Window{days(6, 7), days(10, 11), days(11, 12)}) {
			t.Errorf("it reads %v", got)
		}
		y.end(past.Plan.CursorID, nil)
		if c, _ := y.cursor(past.Plan.CursorID); c.Value != days(4, 12).To {
			t.Errorf("the campaign is at %s", c.Value)
		}
		storetest.CheckInvariants(t, storetest.Inspect(t, y.URL))
	})
}

func TestAFillOfAnotherWatermarkIsRefused(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	harvest := y.plan(y.ask(patra.Harvest, 0, 2))
	req := y.fillOf(harvest.Plan, 0, 2, false)
	req.Query = "title:heart"
	req.expr = nil
	_, err := y.planner.Draft(t.Context(), y.Clock.Instant(), req)
	if found, ok := errors.AsType[patra.Problems](err); !ok || found[0].Code != "OTHER_CURSOR" {
		t.Errorf("another question: %v", err)
	}
}

func TestWhatIsWaivedIsNotFilledUntilTheWordIsTakenBack(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	harvest := y.plan(y.ask(patra.Harvest, 0, 3))
	y.end(harvest.Plan.CursorID, map[patra.Window]patra.Completeness{days(1, 2): ""})
	word := patra.Waiver{CursorID: harvest.Plan.CursorID, Window: days(1, 2), Reason: "lost", By: "ada"}
	if _, err := y.Waive(t.Context(), y.Clock.Instant(), word); err != nil {
		t.Fatal(err)
	}
	if fill := y.plan(y.fillOf(harvest.Plan, 0, 3, true)); fill.Added != 0 {
		t.Errorf("%d slices for what is waived", fill.Added)
	}
	if _, _, err := y.Revoke(t.Context(), y.Clock.Instant(), word); err != nil {
		t.Fatal(err)
	}
	if fill := y.plan(y.fillOf(harvest.Plan, 0, 3, true)); fill.Added != 1 {
		t.Errorf("%d slices for what is missing again", fill.Added)
	}
}

func TestAFillIsWhatIsMissingOrInDisputeAndNobodysWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) patra.Coverage {
			var ws []patra.Window
			for range rapid.IntRange(0, 4).Draw(t, name) {
				from := rapid.IntRange(0, 11).Draw(t, "from")
				ws = append(ws, days(from, from+rapid.IntRange(1, 4).Draw(t, "length")))
			}
			return patra.NewCoverage(ws...)
		}
		covered, live, sliced, disputed := draw("covered"), draw("live"), draw("sliced"), draw("disputed")
		parts := gapsToFill(days(0, 12), covered, live, disputed, sliced)
		for day := range 14 {
			at := days(day, day+1).From
			var hits int
			for _, p := range parts {
				if p.Contains(at) {
					hits++
				}
			}
			want := day < 12 && (!covered.Contains(at) || disputed.Contains(at)) && !live.Contains(at) && !sliced.Contains(at)
			if (hits == 1) != want || hits > 1 {
				t.Fatalf("day %d is read %d times", day, hits)
			}
		}
	})
}
