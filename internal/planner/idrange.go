package planner

import (
	"cmp"
	"context"

	"patra"
)

// byID makes buckets of the ids that are known, each about as large as a slice should be. Which bucket an id is in
// depends on the id alone, so every known id is in exactly one of them, also those that are added meanwhile.
func (j *job) byID(ctx context.Context, p needPart, give sliceSink) bool {
	known, key := j.Known, cmp.Or(j.IDsOf, patra.OwnIDs)
	if j.Pick != nil {
		key = j.Pick.Key()
	} else {
		var err error
		if known, err = j.judge.planner.known(ctx, j.spec, j.IDsOf); err != nil {
			give(nil, err)
			return false
		}
	}
	n := j.Buckets
	if n == 0 {
		return true
	}
	all := patra.IDRange{From: 0, To: n}
	for _, r := range all.Cut(n)[min(j.plan.SliceCount, n):] { // the first of them are there already
		est := patra.Estimate{Records: (known + n - 1) / n, Grounds: patra.ByShare}
		spec := patra.NewRangeSlice(patra.SliceRange{Kind: patra.RangeBucket, Key: key, IDRange: r, Of: all})
		spec.Budget, spec.Hints = j.budget(est), &patra.Hints{Whole: true}
		sl := patra.Slice{Purpose: p.why, Window: p.Window, Fetch: p.Window, Expr: j.expr.JSON(), ExprHash: j.expr.Hash(), Spec: spec, Estimate: &est}
		if !one(give, sl) {
			return false
		}
	}
	return true
}
