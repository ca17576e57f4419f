package planner

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// Result is a stored plan.
type Result struct {
	Draft
	SlicingStats `json:"tally"`
	Added        int64 `json:"added"`   // slices of this call
	Retried      int   `json:"retried"` // failed tasks of an earlier trigger that were queued again
}

// Plan decides a plan and stores it: the trigger first, so that a request that cannot be compiled is kept with its
// reason.
func (p *Planner) Plan(ctx context.Context, now patra.Instant, req Request) (res *Result, err error) {
	ctx, span := p.triggered(ctx, req)
	defer func() { finish(span, res, err) }()
	id, err := p.accept(ctx, now, req)
	if err != nil {
		return nil, err
	}
	compiling, compile := p.span(ctx, SpanCompile)
	d, err := p.Draft(compiling, now, req)
	fail(compile, err)
	compile.End()
	if err != nil {
		return nil, p.reject(ctx, id, err)
	}
	d.Plan.InstanceID = id
	if err := p.refuseHalted(ctx, d.Plan); err != nil {
		return nil, p.reject(ctx, id, err)
	}
	if err := p.store(ctx, now, d); err != nil {
		return nil, err
	}
	if err := p.freeze(ctx, now, d, req.Pick); err != nil {
		return nil, err
	}
	return p.addSlices(compiling, now, d, true)
}

// freeze makes the list of an update that is for some records only, before anything of it can run. A plan that was found
// has its list already.
func (p *Planner) freeze(ctx context.Context, now patra.Instant, d *Draft, pick *patra.RecordSelector) error {
	if pick == nil || d.Plan.Status != patra.Draft {
		return nil
	}
	var params sliceParams
	if err := json.Unmarshal(d.Plan.SliceParams, &params); err != nil {
		return err
	}
	return p.Store.FreezeRecordList(ctx, now, d.Plan.ID, d.Spec.Source, d.Spec.RecordType, *pick, params.Buckets)
}

// store keeps the plan without slices, and the cursor that it is for.
func (p *Planner) store(ctx context.Context, now patra.Instant, d *Draft) error {
	if !d.Decision.Window.IsEmpty() && d.Plan.Strategy != patra.StrategyIDRange {
		c, err := p.Store.EnsureCursor(ctx, now, patra.Cursor{Namespace: d.namespace(), Origin: d.Decision.Window.From, OriginCode: d.Decision.OriginCode,
			ExprProtoHash: d.Plan.ExprProtoHash, Campaign: d.Plan.Campaign, Repository: d.Plan.Repository})
		if err != nil {
			return err
		}
		d.Cursor = &c
	}
	if d.Cursor != nil {
		d.Plan.CursorID = d.Cursor.ID
	}
	d.Plan.Trace = traceparent(ctx)
	stored, err := p.Store.StartPlan(ctx, now, d.Plan, d.Snapshot)
	found(trace.SpanFromContext(ctx), d.Plan.Trace, stored)
	d.Plan = stored
	return err
}

// accept writes down that somebody asked.
func (p *Planner) accept(ctx context.Context, now patra.Instant, req Request) (int64, error) {
	given := map[string]string{}
	for name, value := range req.Params {
		given[name] = source.WithoutPassword(value)
	}
	params, err := json.Marshal(map[string]any{"from": req.From, "to": req.To, "query": req.Query, "params": given, "base_url": req.BaseURL, "force": req.Force,
		"campaign": req.Campaign, "by_id": req.ByID, "ids_of": req.IDsOf, "pick": req.Pick, "newest_first": req.Newest, "first": req.First, "priority": req.Priority, "fill": req.Fill})
	if err != nil {
		return 0, err
	}
	by := req.By
	return p.Store.AcceptTrigger(ctx, now, patra.Trigger{Scheduler: cmp.Or(by.Scheduler, patra.SchedulerManual), JobID: cmp.Or(by.Job, "cli"), LogID: cmp.Or(by.Log, rand.Text()),
		Trigger: cmp.Or(by.Type, patra.TriggerManual), TriggeredAt: now, Params: params, Source: req.Source.Code, Endpoint: req.Endpoint, Operation: cmp.Or(req.Operation, patra.Harvest)})
}

// reject keeps why a trigger came to nothing and gives the reason back.
func (p *Planner) reject(ctx context.Context, id int64, why error) error {
	reason := map[string]any{"error": why.Error()}
	if problems, ok := errors.AsType[patra.Problems](why); ok {
		reason["problems"] = problems
	}
	b, err := json.Marshal(reason)
	if err == nil {
		err = p.Store.RejectTrigger(ctx, id, b)
	}
	return errors.Join(why, err)
}

// Continue goes on with a plan that was not cut to its end, as soon as there is room for a good part of it. All it needs
// is in the tables.
func (p *Planner) Continue(ctx context.Context, now patra.Instant, plan patra.Plan) (res *Result, err error) {
	d, err := p.restore(ctx, plan)
	if err != nil {
		return nil, err
	}
	j, err := p.job(d.Spec, d.Expr, plan)
	if err != nil {
		return nil, err
	}
	r, err := p.room(ctx, now, j)
	if err != nil {
		return nil, err
	}
	failing, err := p.failing(ctx, plan.ID)
	if err != nil {
		return nil, err
	}
	why := r.cramped()
	if failing {
		why = patra.ReasonFailing
	}
	if why != "" {
		res := &Result{Draft: *d}
		res.Plan.Reason = why
		return res, nil
	}
	ctx, span := p.span(under(ctx, plan), SpanContinue, attribute.Int64("plan_id", plan.ID), attribute.String("source", plan.Source), attribute.String("op", string(plan.Operation)))
	defer func() { finish(span, res, err) }()
	if err := p.freeze(ctx, now, d, j.Pick); err != nil { // whoever began it may have died before
		return nil, err
	}
	return p.addSlices(ctx, now, d, false)
}

// enoughFailed is how many failures in a row are a reason not to go on by oneself.
const enoughFailed = 5

// failing reports whether the last slices of a plan all failed. To add more would only burn them too: a person must look,
// and ask for the plan again.
func (p *Planner) failing(ctx context.Context, planID int64) (bool, error) {
	ends, err := p.Store.LastEnds(ctx, planID, enoughFailed)
	return len(ends) == enoughFailed && !slices.ContainsFunc(ends, func(s patra.Status) bool { return s != patra.Failed }), err
}

// restore reads a draft back from what was stored with its plan.
func (p *Planner) restore(ctx context.Context, plan patra.Plan) (*Draft, error) {
	body, err := p.Store.Snapshot(ctx, plan.Spec)
	if err != nil {
		return nil, err
	}
	d := &Draft{Plan: plan}
	if d.Spec, err = source.FromSnapshot(plan.Spec, body); err != nil {
		return nil, err
	}
	if err := p.knownBounds(ctx, d, plan.BaseURL); err != nil {
		return nil, err
	}
	if d.Expr, err = query.ParseJSON(plan.ExprProto); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(plan.Inputs, &d.Decision); err != nil {
		return nil, err
	}
	if plan.CursorID != 0 {
		d.Cursor = &patra.Cursor{ID: plan.CursorID}
	}
	return d, nil
}
