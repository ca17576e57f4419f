package planner

import (
	"context"

	"patra"
)

// byLandmark makes one slice of the whole part: the source cannot be asked for a stretch of time, so every walk sees
// everything, and answers for all of the time at once.
func (j *job) byLandmark(ctx context.Context, p needPart, give sliceSink) bool {
	est, err := j.judge.estimate(ctx, p.Window, nil)
	if err != nil {
		give(nil, err)
		return false
	}
	sl := j.slice(p, patra.StrategyLandmark, p.Window, est)
	sl.Spec.Cursor = &patra.SliceCursor{Type: j.spec.Pagination.Type, Stop: patra.StopExhausted}
	sl.Spec.Hints.Whole = true
	sl.Expr, sl.ExprHash = j.expr.JSON(), j.expr.Hash()
	return one(give, sl)
}
