package planner

import (
	"context"

	"patra"
	"patra/internal/query"
)

// idPart is a range of ids and what it is expected to hold.
type idPart struct {
	patra.IDRange
	est patra.Estimate
}

// byParts cuts a window that is too full by ids. The parts tile the space of ids, the empty stretches too: nobody can
// say that an id is not there before it was asked for.
func (j *job) byParts(ctx context.Context, p needPart, space patra.IDRange, est patra.Estimate, give sliceSink) bool {
	all, err := j.judge.within(ctx, p.Window, space, est)
	if err == nil && !all {
		est, err = j.judge.estimate(ctx, p.Window, &space)
	}
	var parts []idPart
	if err == nil {
		parts, err = j.divideIDs(ctx, p.Window, idPart{space, est})
	}
	if err != nil {
		give(nil, err)
		return false
	}
	return give(j.partSlices(p, space, parts), nil)
}

func (j *job) partSlices(p needPart, space patra.IDRange, parts []idPart) []patra.Slice {
	field := j.spec.Window.Split.Field
	group := make([]patra.Slice, 0, len(parts))
	for _, r := range parts {
		sl := j.slice(p, patra.StrategyHybrid, p.Window, r.est)
		sl.Spec.Range = &patra.SliceRange{Kind: patra.RangeNumber, Key: field, IDRange: r.IDRange, Of: space}
		sl.Spec.Hints.Whole = r.To-r.From == 1
		bound := query.Bind(query.BindRange(j.expr, field, r.IDRange), j.spec.Window.Field, p.Window)
		sl.Expr, sl.ExprHash = bound.JSON(), bound.Hash()
		group = append(group, sl)
	}
	return group
}

// divideIDs cuts a range until every piece fits, and joins neighbours that fit together.
func (j *job) divideIDs(ctx context.Context, w patra.Window, r idPart) ([]idPart, error) {
	limit := j.limit()
	length := r.To - r.From
	if r.est.Records <= limit || length < 2 {
		return []idPart{r}, nil
	}
	ranges := r.Cut(max((r.est.Records+limit-1)/limit, 2))
	shares, err := j.judge.divideIDs(ctx, w, r, ranges)
	if err != nil {
		return nil, err
	}
	if shares == nil { // it is cut again while it is read, if it is too full
		r.est, err = j.judge.estimate(ctx, w, &r.IDRange)
		return []idPart{r}, err
	}
	var all []idPart
	for i, piece := range ranges {
		parts := []idPart{{piece, shares[i]}}
		if shares[i].Grounds == patra.ByCount { // a share of a cluster says nothing about where the cluster is
			if parts, err = j.divideIDs(ctx, w, parts[0]); err != nil {
				return nil, err
			}
		}
		all = append(all, parts...)
	}
	return joinIDs(all, limit), nil
}

// joinIDs joins neighbours as long as together they are not too full.
func joinIDs(parts []idPart, limit int64) []idPart {
	var joined []idPart
	for _, p := range parts {
		if n := len(joined); n > 0 && joined[n-1].est.Records+p.est.Records <= limit {
			joined[n-1].To = p.To
			joined[n-1].est.Records += p.est.Records
			continue
		}
		joined = append(joined, p)
	}
	return joined
}
