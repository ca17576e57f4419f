package planner

import (
	"context"

	"patra"
)

// byVolume makes one slice of the whole part and lets the budget end it: what was read in order is confirmed, and the
// rest is cut again. It suits sources that cannot say how much there is.
func (j *job) byVolume(_ context.Context, p needPart, give sliceSink) bool {
	sl := j.slice(p, patra.StrategyVolume, p.Window, patra.Estimate{Records: j.Target, Grounds: patra.ByConstant})
	sl.Spec.Hints.Explore = true
	sl.Spec.Hints.Whole = j.single(p.Window)
	return one(give, sl)
}
