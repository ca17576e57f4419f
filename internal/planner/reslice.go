package planner

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"

	"patra"
)

// resliceAtOnce is how many early ends one call looks at.
const resliceAtOnce = 100

// Reslice puts smaller slices in the place of those that ended early; cursorID 0 is everybody's. It tells how many it
// cut. The children and what the parent confirmed are the parent, exactly.
func (p *Planner) Reslice(ctx context.Context, now patra.Instant, cursorID int64) (int, error) {
	early, err := p.Store.PartialSlices(ctx, cursorID, resliceAtOnce)
	if err != nil {
		return 0, err
	}
	cut := 0
	var failed error
	for _, parent := range early {
		plan, err := p.Store.Plan(ctx, parent.PlanID)
		if err != nil {
			return cut, errors.Join(failed, err)
		}
		if why, err := p.blockedBy(ctx, plan); err != nil || why != "" { // cutting may cost requests
			failed = errors.Join(failed, err)
			continue
		}
		err = p.replace(ctx, now, plan, parent)
		switch problems, refused := errors.AsType[patra.Problems](err); {
		case err == nil:
			cut++
		case errors.Is(err, patra.ErrIllegalMove): // another planner was faster
		case refused: // it will not be cut the next time either: people must see that
			failed = errors.Join(failed, p.Store.FailSlice(ctx, now, parent, patra.Fault{Level: patra.LevelRequest, Code: problems[0].Code, Path: problems[0].Path, Text: problems[0].Text}))
		default:
			failed = errors.Join(failed, fmt.Errorf("cut slice %d: %w", parent.ID, err))
		}
	}
	return cut, failed
}

// replace puts the children of a slice in its place.
func (p *Planner) replace(ctx context.Context, now patra.Instant, plan patra.Plan, parent patra.Slice) (err error) {
	ctx, span := p.span(under(ctx, plan), SpanReslice, attribute.Int64("plan_id", plan.ID), attribute.Int64("slice_id", parent.ID), attribute.String("source", plan.Source), attribute.String("window", parent.Window.String()))
	defer func() {
		fail(span, err)
		span.End()
	}()
	children, err := p.children(ctx, plan, parent)
	if err != nil {
		return err
	}
	span.SetAttributes(attribute.Int("slices", len(children)))
	trail := p.trail(0)
	trail.add(ctx, plan, children)
	return p.Store.Split(ctx, now, parent, children, patra.TriggerReslice, p.Config.TaskAttempts)
}

// children cuts the rest of a slice that ended early.
func (p *Planner) children(ctx context.Context, plan patra.Plan, parent patra.Slice) ([]patra.Slice, error) {
	d, err := p.restore(ctx, plan)
	if err != nil {
		return nil, err
	}
	j, err := p.job(d.Spec, d.Expr, plan)
	if err != nil {
		return nil, err
	}
	shown, err := p.Store.Shown(ctx, parent.ID)
	if err != nil {
		return nil, err
	}
	j.judge.shown = shown.Afresh() // the children count their scans anew
	return j.children(ctx, parent)
}

// children cuts the rest of a slice into pieces that are smaller than it.
func (j *job) children(ctx context.Context, parent patra.Slice) ([]patra.Slice, error) {
	j.Newest = false
	var children []patra.Slice
	var failed error
	give := j.checked(func(group []patra.Slice, err error) bool {
		children, failed = append(children, group...), errors.Join(failed, err)
		return err == nil
	})
	if parent.IsPart() {
		j.cutPart(ctx, parent, give)
	} else {
		for _, w := range patra.RemainingWindow(parent.Window, confirmed(parent)) {
			if !j.cutRest(ctx, parent, w, give) {
				break
			}
		}
	}
	for i := range children {
		children[i].ParentID = parent.ID
		if why := parent.Reslice; why != nil && why.Reason == patra.ResliceBody && children[i].Spec.Hints != nil {
			children[i].Spec.Hints.Heavy = true
		}
	}
	return children, failed
}

func confirmed(s patra.Slice) patra.Window {
	if s.Confirmed == nil {
		return patra.Window{}
	}
	return *s.Confirmed
}

// cutRest cuts a window into halves at least, whatever is expected of it: as it was, it did not fit.
func (j *job) cutRest(ctx context.Context, parent patra.Slice, w patra.Window, give sliceSink) bool {
	p := needPart{w, parent.Purpose}
	est, err := j.judge.again(ctx, parent, w, nil)
	if err != nil {
		give(nil, err)
		return false
	}
	pieces := j.pieces(w, est)
	if len(pieces) == 0 {
		pieces = group(w.Cut(j.grid(w)), 2)
	}
	if len(pieces) == 0 {
		return j.cutIDs(ctx, p, est, give)
	}
	shares, err := j.judge.divide(ctx, w, est, pieces)
	if err != nil {
		give(nil, err)
		return false
	}
	for i, piece := range pieces {
		var est patra.Estimate
		if shares != nil {
			est = shares[i]
		} else if est, err = j.judge.estimate(ctx, piece, nil); err != nil { // the counts do not add up
			give(nil, err)
			return false
		}
		if !j.fit(ctx, needPart{piece, p.why}, est, give) {
			return false
		}
	}
	return true
}

// cutIDs cuts by ids what cannot be cut by time. Where that is not possible either, the slice runs to its end, whatever
// it takes.
func (j *job) cutIDs(ctx context.Context, p needPart, est patra.Estimate, give sliceSink) bool {
	if split := j.spec.Window.Split; split != nil {
		return j.halves(ctx, p, idPart{split.Range(), est}, split.Range(), give)
	}
	sl := j.slice(p, patra.StrategyTime, p.Window, est)
	sl.Spec.Hints.Whole = true
	return one(give, sl)
}

// cutPart cuts a part whose ids were too many.
func (j *job) cutPart(ctx context.Context, parent patra.Slice, give sliceSink) bool {
	r := parent.Spec.Range
	est, err := j.judge.again(ctx, parent, parent.Window, &r.IDRange)
	if err != nil {
		give(nil, err)
		return false
	}
	return j.halves(ctx, needPart{parent.Window, parent.Purpose}, idPart{r.IDRange, est}, r.Of, give)
}

// halves cuts a range of ids into two at least.
func (j *job) halves(ctx context.Context, p needPart, r idPart, space patra.IDRange, give sliceSink) bool {
	parts, err := j.divideIDs(ctx, p.Window, r)
	if err == nil && len(parts) == 1 {
		parts = nil
		for _, half := range r.Cut(2) {
			parts = append(parts, idPart{half, patra.Estimate{Records: (r.est.Records + 1) / 2, Grounds: patra.ByShare}})
		}
	}
	if err != nil {
		give(nil, err)
		return false
	}
	return give(j.partSlices(p, space, parts), nil)
}

// again estimates what ended early: by asking anew, or by what the provider said while it was read.
func (g *estimator) again(ctx context.Context, parent patra.Slice, w patra.Window, ids *patra.IDRange) (patra.Estimate, error) {
	if !g.counts() && parent.Reslice != nil && parent.Reslice.Total != nil {
		share := float64(w.To-w.From) / float64(parent.Window.To-parent.Window.From)
		return patra.Estimate{Records: int64(float64(*parent.Reslice.Total)*share + 0.5), Grounds: patra.ByShare}, nil
	}
	return g.estimate(ctx, w, ids)
}
