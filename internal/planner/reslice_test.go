package planner

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// children cuts a parent as Reslice does, without tables.
func (b *bench) children(t fataler, parent patra.Slice) []patra.Slice {
	t.Helper()
	children, err := b.job().children(b.ctx(), parent)
	if err != nil {
		t.Fatal(err)
	}
	return children
}

// Whatever ended early, at whatever point: the children and what was confirmed are the parent, and they are smaller.
func TestChildrenAndTheConfirmedPartAreTheParent(t *testing.T) {
	spec := pubmed(t, smallCap)
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(spec, drawPapers(t, smallCap))
		b.planner.Config.Probes = rapid.SampledFrom([]int{0, 3, 1000}).Draw(t, "probes")
		planned, _ := newBench(spec, nil).cut(t, needed(days(0, 12))...)
		parent := rapid.SampledFrom(planned).Draw(t, "parent")
		if rapid.Bool().Draw(t, "long") {
			parent = newBench(spec, nil).job().slice(needPart{days(0, 12), patra.PurposeNeed}, patra.StrategyTime, days(0, 12), patra.Estimate{})
		}
		confirmed := parent.Window
		switch rapid.IntRange(0, 2).Draw(t, "order") {
		case 0:
			confirmed.To = confirmed.From
		case 1:
			confirmed.To = patra.UnitDay.Floor(confirmed.From + (confirmed.To-confirmed.From)/2)
		case 2:
			confirmed.From = patra.UnitDay.Ceil(confirmed.From + (confirmed.To-confirmed.From)/2)
		}
		if rest := patra.RemainingWindow(parent.Window, confirmed); len(rest) > 0 && !confirmed.IsEmpty() {
			parent.Confirmed = &confirmed
		}
		total := int64(rapid.IntRange(0, 1000).Draw(t, "total"))
		parent.ID, parent.Status, parent.Reslice = 7, patra.Partial, &patra.Reslice{Reason: patra.ResliceCap, Total: &total}
		children := b.children(t, parent)
		if err := parent.CheckChildren(children); err != nil {
			t.Fatal(err)
		}
		for _, c := range children {
			if c.Window == parent.Window && !c.IsPart() && !c.Spec.Hints.Whole {
				t.Fatalf("the child %s is as large as its parent", c.Window)
			}
			if c.ParentID != 7 || c.Purpose != parent.Purpose {
				t.Fatalf("%+v", c)
			}
		}
	})
}

func TestAPartThatIsTooFullIsCutIntoSmallerParts(t *testing.T) {
	spec := pubmed(t, smallCap)
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(spec, drawPapers(t, smallCap))
		b.planner.Config.Probes = rapid.SampledFrom([]int{0, 2, 1000}).Draw(t, "probes")
		space := patra.IDRange{From: 1, To: 100_000_000}
		from := rapid.Int64Range(1, 1_000_000).Draw(t, "from")
		r := patra.IDRange{From: from, To: from + rapid.Int64Range(2, 1_000_000).Draw(t, "length")}
		j := b.job()
		parent := j.partSlices(needPart{days(0, 1), patra.PurposeNeed}, space, []idPart{{r, patra.Estimate{}}})[0]
		parent.ID, parent.Status = 7, patra.Partial
		children := b.children(t, parent)
		if err := parent.CheckChildren(children); err != nil || len(children) < 2 {
			t.Fatal(len(children), err)
		}
	})
}

// A slice that ends early, over and over, is read to its end all the same.
func TestWhatEndsEarlyIsCutUntilAllOfItIsRead(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		y := newYard(t, e, "datacite")
		y.planner.Prober = nil
		res := y.plan(y.ask(patra.Harvest, 0, 2))
		id := res.Plan.CursorID
		early := 0
		for range 200 {
			c := y.TryTake(patra.ClaimRequest{CursorID: id})
			if c == nil {
				n, err := y.planner.Reslice(t.Context(), y.Clock.Instant(), id)
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					break
				}
				continue
			}
			if c.Slice.Window.To-c.Slice.Window.From <= 3*patra.Hour {
				y.Work(c)
				continue
			}
			early++
			y.Page(c, 1, true)
			err := y.Finish(t.Context(), c, y.Clock.Instant(), patra.RunResult{Status: patra.Partial, Early: &patra.EarlyEnd{ScanNo: c.Task.ScanNo, Order: patra.OrderNone,
				Reslice: patra.Reslice{Reason: patra.ResliceRequests}}})
			if err != nil {
				t.Fatal(err)
			}
		}
		cur, covered := y.cursor(id)
		if !slices.Equal(covered, patra.NewCoverage(days(0, 2))) || cur.Value != days(0, 2).To || early == 0 {
			t.Errorf("covered %v, watermark %s after %d early ends", covered, cur.Value, early)
		}
		storetest.CheckInvariants(t, storetest.Inspect(t, y.URL))
		rows, err := y.Slices(t.Context(), store.Filter{Status: patra.Split, Limit: 1000})
		if err != nil || len(rows) != early {
			t.Errorf("%d slices are SPLIT, %d ended early, %v", len(rows), early, err)
		}
	})
}

func TestWhatCannotBeCutAnyFurtherRunsToItsEnd(t *testing.T) {
	spec := pubmed(t, smallCap)
	spec.Window.Split = nil
	b := newBench(spec, nil)
	parent, _ := b.cut(t, needed(days(0, 1))...)
	parent[0].ID, parent[0].Status = 7, patra.Partial
	children := b.children(t, parent[0])
	if len(children) != 1 || !children[0].Spec.Hints.Whole || children[0].Window != days(0, 1) {
		t.Errorf("%+v", children)
	}
	if !strings.Contains(string(children[0].Expr), "entered_at") {
		t.Errorf("%s", children[0].Expr)
	}
}
