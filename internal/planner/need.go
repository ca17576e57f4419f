package planner

import (
	"cmp"
	"context"
	"slices"

	"patra"
)

// needPart is a stretch of time that is to be read, and why.
type needPart struct {
	patra.Window
	why patra.Purpose
}

// need reads what is to be done for a plan now. The version is what AddSlices must find unchanged.
func (p *Planner) need(ctx context.Context, j *job, c *patra.Cursor) (version int64, parts []needPart, err error) {
	w := j.plan.Window
	if w.IsEmpty() {
		return 0, nil, nil
	}
	if j.plan.Strategy == patra.StrategyIDRange { // the buckets are cut in their order, so their number says how far it is
		return j.plan.SliceCount, []needPart{{w, patra.PurposeRefresh}}, nil
	}
	if c == nil {
		return 0, planNeed(j.plan.Operation, w, w.From, nil, nil, nil, j.again(), j.Newest), nil
	}
	now, covered, live, err := p.Store.Need(ctx, c.ID)
	if err != nil {
		return 0, nil, err
	}
	var sliced patra.Coverage
	if j.plan.ID != 0 {
		if sliced, err = p.Store.Sliced(ctx, j.plan.ID); err != nil {
			return 0, nil, err
		}
	}
	if j.Fill {
		doubted, err := p.doubted(ctx, j, c)
		return now.PlanVersion, gapsToFill(w, covered, live, doubted, sliced), err
	}
	return now.PlanVersion, planNeed(j.plan.Operation, w, j.watermark, covered, live, sliced, j.again(), j.Newest), nil
}

// again is why all of the window is read, whatever is covered; empty if it is not.
func (j *job) again() patra.Purpose {
	if !j.Force {
		return ""
	}
	return cmp.Or(j.Purpose, patra.PurposeReconcile)
}

// planNeed is the planning rule. A harvest reads again, for late arrivals, what lay below its watermark when the window was
// decided; what others have covered since is no look-back of this plan. Everything else is read only where it is neither
// covered nor live, or all of it again if somebody insists. What the same plan has cut already is never cut twice.
func planNeed(op patra.Operation, w patra.Window, watermark patra.Instant, covered, live, sliced patra.Coverage, again patra.Purpose, newest bool) []needPart {
	whole := patra.NewCoverage(w)
	var parts []needPart
	add := func(c patra.Coverage, why patra.Purpose) {
		for _, s := range c.Minus(sliced) {
			parts = append(parts, needPart{s, why})
		}
	}
	switch {
	case again != "":
		add(whole, again)
	case op == patra.Harvest:
		below := whole.Clip(patra.Window{From: w.From, To: watermark})
		add(below, patra.PurposeLookback)
		add(whole.Minus(below).Minus(covered.Union(live)), patra.PurposeNeed)
	default:
		add(whole.Minus(covered.Union(live)), patra.PurposeNeed)
	}
	if newest {
		slices.Reverse(parts)
	}
	return parts
}
