package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"patra"
	"patra/internal/store/storetest"
	"patra/internal/view"
)

// life is a harvest to which everything happens that can happen to the time of a watermark.
type life struct {
	*storetest.World
	*testing.T
	dice  *rand.Rand
	plans patra.Instant
}

// must is for what cannot go wrong.
func (l *life) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// some is a stretch of one to three days.
func (l *life) some() patra.Window {
	from := storetest.Origin + patra.Instant(l.dice.IntN(9))*patra.Day
	return patra.Window{From: from, To: from + patra.Instant(1+l.dice.IntN(3))*patra.Day}
}

// plan makes a plan that is like no other.
func (l *life) plan(w patra.Window) patra.Plan {
	l.plans++
	return l.StartPlanFor(l.Cursor, patra.Window{From: w.From, To: w.To + l.plans})
}

// step is one thing that happens.
func (l *life) step() string {
	ctx, now, w := l.Context(), l.Clock.Instant(), l.some()
	word := patra.Waiver{CursorID: l.Cursor.ID, Window: w, Reason: "lost", By: "ada"}
	switch l.dice.IntN(12) {
	case 0, 1:
		plan := l.plan(w)
		c, _, _, err := l.Need(ctx, l.Cursor.ID)
		l.must(err)
		l.must(l.AddSlices(ctx, now, plan.ID, c.PlanVersion, storetest.Days(w.From, int((w.To-w.From)/patra.Day)), patra.TriggerManual, 5))
		l.must(l.EndSlicing(ctx, plan.ID, patra.SlicingEnd{Status: patra.Ready}))
		return fmt.Sprintf("%s is planned", w)
	case 2:
		_, err := l.Waive(ctx, now, word)
		l.must(err)
		return fmt.Sprintf("%s is waived", w)
	case 3:
		word.Window = patra.Window{From: storetest.Origin, To: storetest.Origin + 99*patra.Day}
		_, _, err := l.Revoke(ctx, now, word)
		l.must(err)
		return "all waivers are revoked"
	case 4:
		plan := l.plan(w)
		l.must(l.EndSlicing(ctx, plan.ID, patra.SlicingEnd{Status: patra.Failed, Reason: "DEPTH"}))
		return fmt.Sprintf("a plan of %s failed", w)
	case 5:
		said := patra.ReadAcceptance{Source: "demo", Reason: "enough", By: "ada"}
		if accepted, err := l.ReadAccepted(ctx, "demo"); err == nil && accepted != nil {
			l.must(l.RevokeRead(ctx, now, said))
			return "READ is not accepted any more"
		}
		l.must(l.AcceptRead(ctx, now, said))
		return "READ is accepted"
	}
	c := l.TryTake(patra.ClaimRequest{})
	if c == nil {
		return "nothing waits"
	}
	if l.dice.IntN(5) == 0 {
		l.must(l.Finish(ctx, c, now, patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Status: 403, Text: "no"}}))
		return fmt.Sprintf("%s fails", c.Slice.Window)
	}
	state := []patra.Completeness{patra.StateSealed, patra.StateSealed, patra.StateSealed, patra.StateRead, patra.StateDisputed}[l.dice.IntN(5)]
	l.Page(c, 1, false)
	l.must(l.Succeed(c, state))
	return fmt.Sprintf("%s is read: %s", c.Slice.Window, state)
}

// listed are gaps as words.
func listed(f patra.CursorCoverage) (all []string) {
	for _, g := range (view.CursorFacts{CursorCoverage: f}).Gaps(nil) {
		all = append(all, fmt.Sprintf("%s %s %v", g.Window, g.Kind, g.Actionable()))
	}
	return all
}

// A verdict is made of what lies behind the first moment at which anything can be wrong, the list of gaps of all that was ever asked
// for. Whatever happens, both say the same.
func TestAVerdictAndTheListOfGapsReadTheSame(t *testing.T) {
	const lives, steps = 20, 50 // ten times as many were run once
	for n := range uint64(lives) {
		w := storetest.NewWorld(t, storetest.Engines()[0], 2)
		l := life{World: w, T: t, dice: rand.New(rand.NewPCG(n, 7))}
		var story []string
		for range steps {
			story = append(story, l.step())
			c := l.Watermark()
			now := l.Clock.Instant()
			whole, err := l.CursorCoverage(t.Context(), c, now)
			l.must(err)
			open, err := l.OpenCoverage(t.Context(), c, now)
			l.must(err)
			if all, some := listed(whole), listed(open); !slices.Equal(all, some) {
				t.Fatalf("life %d: the list of gaps has %v, the verdict %v: %v", n, all, some, story)
			}
		}
	}
}
