package storetest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"patra"
)

func proof(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	unread := w.Take()
	if err := w.Succeed(unread, patra.StateSealed); !errors.Is(err, patra.ErrNoProof) {
		t.Errorf("no page at all: %v", err)
	}
	halfway := w.Take()
	w.Page(halfway, 1, true)
	if err := w.Succeed(halfway, patra.StateSealed); !errors.Is(err, patra.ErrNoProof) {
		t.Errorf("more pages were announced: %v", err)
	}
	holed := w.Take()
	w.Page(holed, 1, true)
	w.Page(holed, 3, false)
	if err := w.Succeed(holed, patra.StateSealed); !errors.Is(err, patra.ErrNoProof) {
		t.Errorf("page 2 is missing: %v", err)
	}
	if c := w.Watermark(); c.Value != Origin {
		t.Errorf("the watermark moved to %s", c.Value)
	}
}

func watermark(t *testing.T, e Engine) {
	const days = 12
	w := NewWorld(t, e, days)
	var claims []*patra.Claim
	for range days {
		claims = append(claims, w.Take())
	}
	rand.Shuffle(days, func(i, j int) { claims[i], claims[j] = claims[j], claims[i] })
	stuck := claims[0]
	var done patra.Coverage
	for _, c := range claims[1:] {
		w.Work(c)
		done = done.Union(patra.NewCoverage(c.Slice.Window))
		if got, want := w.Watermark().Value, done.Frontier(Origin); got != want {
			t.Fatalf("watermark %s, the coverage reaches to %s", got, want)
		}
	}
	if got := w.Watermark(); got.Value != stuck.Slice.Window.From || got.SealedThrough != got.Value {
		t.Errorf("watermark %s, sealed %s, but %s is missing", got.Value, got.SealedThrough, stuck.Slice.Window)
	}
	w.Work(stuck)
	if got := w.Watermark(); got.Value != Origin+days*patra.Day || got.SealedThrough != got.Value {
		t.Errorf("watermark %s, sealed %s after everything was read", got.Value, got.SealedThrough)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func dispute(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	for range 3 {
		c := w.Take()
		w.Page(c, 1, false)
		state := patra.StateSealed
		if c.Slice.Window.From == Origin+patra.Day {
			state = patra.StateDisputed
		}
		w.must(w.Succeed(c, state))
	}
	if got := w.Watermark(); got.Value != Origin+3*patra.Day || got.SealedThrough != Origin+patra.Day {
		t.Errorf("watermark %s, complete through %s", got.Value, got.SealedThrough)
	}
	// The day is read again and agrees now.
	plan := w.StartPlanFor(w.Cursor, patra.Window{From: Origin + patra.Day, To: Origin + 2*patra.Day})
	c, _, _, err := w.Need(t.Context(), w.Cursor.ID)
	w.must(err)
	again := Days(Origin+patra.Day, 1)
	again[0].Purpose = patra.PurposeReconcile
	w.must(w.AddSlices(t.Context(), w.Clock.Instant(), plan.ID, c.PlanVersion, again, patra.TriggerManual, 5))
	w.Clock.Move(time.Second)
	w.Work(w.Take())
	if got := w.Watermark(); got.SealedThrough != Origin+3*patra.Day {
		t.Errorf("complete through %s after the dispute was settled", got.SealedThrough)
	}
}

// standing closes windows of any length in any order and state, under clocks that do not agree, and compares the cursor
// with what the rules make of all answers.
func standing(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	var stretches []patra.Slice
	taken := map[patra.Window]bool{}
	for len(stretches) < 40 {
		from := Day(rand.IntN(14) - 2).From
		window := patra.Window{From: from, To: from + patra.Instant(1+rand.IntN(4))*patra.Day}
		if !taken[window] {
			taken[window] = true
			stretches = append(stretches, Stretch(window))
		}
	}
	w.Add(stretches...)
	states := []patra.Completeness{patra.StateSealed, patra.StateSealed, patra.StateDisputed}
	for range stretches {
		c := w.Take()
		w.Page(c, 1, false)
		proof := &patra.Proof{ScanNo: 1, Trust: patra.TrustExact, State: states[rand.IntN(len(states))]}
		w.must(w.Finish(t.Context(), c, w.Clock.Instant()+patra.Instant(rand.IntN(5))*patra.Second, patra.RunResult{Status: patra.Succeeded, Proof: proof}))
		all := w.covered()
		value, sealed := patra.CoverageOf(all).Frontier(Origin), patra.CoverageByState(all)[patra.StateSealed].Frontier(Origin)
		if got := w.Watermark(); got.Value != value || got.SealedThrough != sealed {
			t.Fatalf("watermark %s, complete through %s; all answers say %s and %s", got.Value, got.SealedThrough, value, sealed)
		}
	}
	_, covered, live, err := w.Need(t.Context(), w.Cursor.ID)
	if err != nil || !slices.Equal(covered, patra.CoverageOf(w.covered())) || len(live) != 0 {
		t.Errorf("covered %v, live %v, %v", covered, live, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
