package patra_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// step is one thing that happens to a cursor's coverage.
type step struct {
	what   string
	window patra.Window
	waiver bool
}

// world is the story of one plan: a window cut into slices that close in any order, some of them never, some again
// and again, among windows that a user asked for, look-backs and waivers.
type world struct {
	plan  patra.Window
	steps []step
}

// worlds draws stories. A slice that no step names has failed for ever.
func worlds() *rapid.Generator[world] {
	return rapid.Custom(func(t *rapid.T) world {
		plan := patra.Window{From: 0, To: patra.Instant(rapid.IntRange(1, 20).Draw(t, "plan ends"))}
		slices := drawCut(t, plan)
		w := world{plan: plan}
		for _, n := range rapid.Permutation(indexes(len(slices))).Draw(t, "order") {
			if rapid.IntRange(0, 5).Draw(t, "fails for ever") > 0 {
				w.steps = append(w.steps, step{what: "slice closes", window: slices[n]})
			}
			for range rapid.IntRange(0, 2).Draw(t, "meanwhile") {
				w.steps = append(w.steps, drawAside(t, plan, slices))
			}
		}
		return w
	})
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// drawCut tiles the plan with slices of uneven length.
func drawCut(t *rapid.T, plan patra.Window) []patra.Window {
	var out []patra.Window
	for from := plan.From; from < plan.To; {
		to := min(plan.To, from+patra.Instant(rapid.IntRange(1, 5).Draw(t, "slice length")))
		out = append(out, patra.Window{From: from, To: to})
		from = to
	}
	return out
}

// drawAside draws what happens beside the plan's own slices closing for the first time.
func drawAside(t *rapid.T, plan patra.Window, slices []patra.Window) step {
	length := patra.Instant(rapid.IntRange(1, 6).Draw(t, "length"))
	switch rapid.IntRange(0, 3).Draw(t, "aside") {
	case 0:
		return step{what: "slice closes again", window: rapid.SampledFrom(slices).Draw(t, "slice")}
	case 1:
		from := patra.Instant(rapid.IntRange(0, 26).Draw(t, "user from"))
		return step{what: "user's window closes", window: patra.Window{From: from, To: from + length}}
	case 2:
		to := patra.Instant(rapid.IntRange(-3, int(plan.To)).Draw(t, "look-back ends"))
		return step{what: "look-back closes", window: patra.Window{From: to - length, To: to}}
	}
	from := patra.Instant(rapid.IntRange(0, 22).Draw(t, "waived from"))
	return step{what: "gap is waived", window: patra.Window{From: from, To: from + 1}, waiver: true}
}

// rule computes the new watermark after a step from the old one and what has been closed and waived so far.
type rule func(was patra.Instant, last patra.Window, closed, waived []patra.Window) patra.Instant

// contiguous is the rule of the store: answers and waivers that reach beyond the watermark, merged, then the frontier.
func contiguous(was patra.Instant, last patra.Window, closed, waived []patra.Window) patra.Instant {
	var rows []patra.CoverageEntry
	for _, w := range closed {
		if w.To > min(was, last.From) {
			rows = append(rows, patra.CoverageEntry{Window: w, State: patra.StateSealed})
		}
	}
	beyond := slices.DeleteFunc(slices.Clone(waived), func(w patra.Window) bool { return w.To <= was })
	return patra.CoverageOf(rows).Union(patra.NewCoverage(beyond...)).Frontier(was)
}

// live tells the story under a rule and reports the first promise that it breaks. What is covered is held instant by
// instant, so the judge shares no code with the rules.
func (w world) live(advance rule) error {
	mark, covered := w.plan.From, &points{}
	var closed, waived []patra.Window
	for n, s := range w.steps {
		if covered.add(s.window); s.waiver {
			waived = append(waived, s.window)
		} else {
			closed = append(closed, s.window)
		}
		was := mark
		mark = advance(was, s.window, closed, waived)
		tell := func(broken string) error {
			return fmt.Errorf("step %d, %s %d~%d: the watermark went from %d to %d: %s", n, s.what, s.window.From, s.window.To, was, mark, broken)
		}
		switch {
		case mark < was:
			return tell("it went back")
		case !covered.hasAll(w.plan.From, mark):
			return tell("it passed an instant that nobody has read")
		case covered.has(mark):
			return tell("it stays behind what is covered without a hole")
		case covered.hasAll(w.plan.From, w.plan.To) && mark < w.plan.To:
			return tell("everything is covered and it has not arrived")
		}
	}
	return nil
}

func TestTheWatermarkNeverPassesAHoleNeverGoesBackAndArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := worlds().Draw(t, "world").live(contiguous); err != nil {
			t.Fatal(err)
		}
	})
}

// wrongRules are rules that look right and lose records, or never arrive.
var wrongRules = map[string]rule{
	"the latest end that closed": func(was patra.Instant, last patra.Window, _, _ []patra.Window) patra.Instant {
		return max(was, last.To)
	},
	"the end of the slice that closed last": func(_ patra.Instant, last patra.Window, _, _ []patra.Window) patra.Instant {
		return last.To
	},
	"the next covered stretch, whatever lies before it": func(was patra.Instant, _ patra.Window, closed, waived []patra.Window) patra.Instant {
		for _, w := range patra.NewCoverage(slices.Concat(closed, waived)...) {
			if w.To > was {
				return w.To
			}
		}
		return was
	},
	"only the slice in hand": func(was patra.Instant, last patra.Window, _, _ []patra.Window) patra.Instant {
		return patra.NewCoverage(last).Frontier(was)
	},
	"answers without waivers": func(was patra.Instant, _ patra.Window, closed, _ []patra.Window) patra.Instant {
		return patra.NewCoverage(closed...).Frontier(was)
	},
	"one instant too many": func(was patra.Instant, last patra.Window, closed, waived []patra.Window) patra.Instant {
		if reach := contiguous(was, last, closed, waived); reach > was {
			return reach + 1
		}
		return was
	},
}

// The property above is worth something only if a wrong rule does not pass it.
func TestTheJudgeOfWatermarksCatchesEveryWrongRule(t *testing.T) {
	const stories = 300
	for name, wrong := range wrongRules {
		t.Run(name, func(t *testing.T) {
			caught := 0
			for seed := range stories {
				if worlds().Example(seed).live(wrong) != nil {
					caught++
				}
			}
			if caught == 0 {
				t.Errorf("none of %d worlds shows that the rule is wrong", stories)
			}
			t.Logf("caught in %d of %d worlds", caught, stories)
		})
	}
}

func TestTheWatermarkArrivesWhenAPlanSucceedsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := patra.Window{From: 0, To: patra.Instant(rapid.IntRange(1, 20).Draw(t, "plan ends"))}
		cut := rapid.Permutation(drawCut(t, plan)).Draw(t, "order")
		mark := plan.From
		for n := range cut {
			mark = contiguous(mark, cut[n], cut[:n+1], nil)
			if (mark == plan.To) != (n == len(cut)-1) {
				t.Fatalf("after %d of %d slices the watermark is %d of %d", n+1, len(cut), mark, plan.To)
			}
		}
	})
}

func TestASliceThatNeverClosesHoldsTheWatermark(t *testing.T) {
	closed := []patra.Window{{From: 0, To: 2}, {From: 5, To: 9}, {From: 3, To: 5}}
	if got := contiguous(0, closed[2], closed, nil); got != 2 {
		t.Fatalf("with [2,3) missing the watermark is %d, want 2", got)
	}
	if got := contiguous(2, closed[2], closed, []patra.Window{{From: 2, To: 3}}); got != 9 {
		t.Fatalf("with [2,3) waived the watermark is %d, want 9", got)
	}
}
