package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// strategies are all ways to cut. A new one is one more line here, and a file of its own.
var strategies = map[patra.Strategy]func(*job, context.Context, needPart, sliceSink) bool{
	patra.StrategyTime:     (*job).byTime,
	patra.StrategyHybrid:   (*job).byTime, // which turns to ids where time alone does not help
	patra.StrategyIDRange:  (*job).byID,
	patra.StrategyLandmark: (*job).byLandmark,
	patra.StrategyVolume:   (*job).byVolume,
}

// sliceSink takes slices that belong together: all of them are stored, or none. It gives false when no more are wanted.
type sliceSink func([]patra.Slice, error) bool

// job is one plan while it is cut.
type job struct {
	sliceParams
	spec   *source.Spec
	expr   query.Node
	plan   patra.Plan
	tariff patra.RequestCost

	watermark patra.Instant // where the cursor was when the window was decided

	judge *estimator
	tally SlicingStats
}

// SlicingStats is what cutting a plan came to.
type SlicingStats struct {
	Of       string             `json:"-"` // source/endpoint
	Price    patra.CostEstimate `json:"price"`
	Probes   int                `json:"probes"`
	Warnings patra.Problems     `json:"warnings,omitempty"`

	tariff patra.RequestCost // with what was learned on the way
}

// Settled is the price in time, bytes and quota.
func (t SlicingStats) Settled(now patra.Instant) patra.CostEstimate {
	price := t.Price
	price.Finalize(t.tariff, now)
	return price
}

func (p *Planner) job(spec *source.Spec, query query.Node, plan patra.Plan) (*job, error) {
	j := &job{spec: spec, expr: query, plan: plan, tariff: spec.Tariff(p.have()), tally: SlicingStats{Of: plan.Source + "/" + plan.Endpoint}}
	j.tariff.Share = patra.QuotaShare(plan.Operation, p.Config.BackfillShare)
	if err := json.Unmarshal(plan.SliceParams, &j.sliceParams); err != nil {
		return nil, fmt.Errorf("slice parameters of plan %s: %w", plan.Key, err)
	}
	var decided struct {
		Cursor *patra.Instant `json:"cursor"`
	}
	if err := json.Unmarshal(plan.Inputs, &decided); err != nil {
		return nil, fmt.Errorf("window inputs of plan %s: %w", plan.Key, err)
	}
	if j.watermark = plan.Window.From; decided.Cursor != nil {
		j.watermark = *decided.Cursor
	}
	j.judge = &estimator{planner: p, job: j, left: p.Config.Probes}
	return j, nil
}

// cut cuts all parts, one slice after the other.
func (j *job) cut(ctx context.Context, parts []needPart) iter.Seq2[patra.Slice, error] {
	return func(give func(patra.Slice, error) bool) {
		j.groups(ctx, parts, func(group []patra.Slice, err error) bool {
			if err != nil {
				give(patra.Slice{}, err)
				return false
			}
			for _, sl := range group {
				if !give(sl, nil) {
					return false
				}
			}
			return true
		})
	}
}

// groups cuts all parts; slices that belong together come together, checked and counted.
func (j *job) groups(ctx context.Context, parts []needPart, give sliceSink) {
	slicer, ok := strategies[j.plan.Strategy]
	if !ok {
		give(nil, fmt.Errorf("slice strategy %q is not known", j.plan.Strategy))
		return
	}
	defer func() { j.tally.tariff = j.tariff }()
	for _, p := range parts {
		if !slicer(j, ctx, p, j.checked(give)) {
			return
		}
	}
}

// checked lets nothing through that could not be executed faithfully, and counts what is taken.
func (j *job) checked(give sliceSink) sliceSink {
	return func(group []patra.Slice, err error) bool {
		for i := range group {
			sl := &group[i]
			sl.Signature = sl.Spec.Signature()
			sl.PartNo, sl.PartCount = int64(i+1), int64(len(group))
			if bad := sl.Spec.Validate(); bad != nil {
				return give(nil, fmt.Errorf("slice %s: %w", sl.Window, bad))
			}
		}
		if !give(group, err) {
			return false
		}
		for _, sl := range group {
			j.tally.Price.Add(j.tariff, sl.Estimate.Records)
		}
		return true
	}
}

// slice makes a slice that answers for w.
func (j *job) slice(p needPart, strategy patra.Strategy, w patra.Window, est patra.Estimate) patra.Slice {
	bound := query.Bind(j.expr, j.spec.Window.Field, w)
	spec := patra.NewTimeSlice(w, j.spec.Window.Precision, patra.Hints{PageSize: j.spec.Pagination.PageSize, Order: j.spec.Window.Order})
	spec.Strategy, spec.Budget = strategy, j.budget(est)
	return patra.Slice{Shown: j.judge.shown.Within(w), Purpose: p.why, Window: w, Fetch: w.Widen(j.spec.Window.Overlap, j.spec.Window.Precision), Expr: bound.JSON(), ExprHash: bound.Hash(), Spec: spec, Estimate: &est}
}

// one yields a single slice.
func one(give sliceSink, sl patra.Slice) bool { return give([]patra.Slice{sl}, nil) }
