// Package planner turns a trigger into slices: it decides which window to ask for, subtracts what is covered or under
// way, and cuts the rest.
//
// It talks to no provider, holds no SQL and runs nothing. What it decides is a function of the request, the source,
// the state of the cursor and the time, and every input is stored with the plan.
//
// Its words: the need is what is neither covered nor live; a look-back reads again what is covered, for records that
// arrived late; a generation is a plan that somebody insisted on making again.
package planner

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"patra"
	"patra/internal/expr"
	"patra/internal/source"
)

// Triggers keeps what was asked for, whatever comes of it.
type Triggers interface {
	AcceptTrigger(ctx context.Context, now patra.Instant, in patra.Instance) (int64, error)
	RejectTrigger(ctx context.Context, id int64, reason json.RawMessage) error
}

// Cursors tells how far a namespace has come. Need's PlanVersion must not have moved when slices are added.
type Cursors interface {
	Cursor(ctx context.Context, ns patra.Namespace) (*patra.Cursor, error)
	EnsureCursor(ctx context.Context, now patra.Instant, ns patra.Namespace, origin patra.Instant, originCode string) (patra.Cursor, error)
	Need(ctx context.Context, cursorID int64) (c patra.Cursor, covered, live patra.Coverage, err error)
}

// Plans keeps plans with their slices. AddSlices fails with patra.ErrPlanMoved when another planner was faster; then
// nothing was inserted.
type Plans interface {
	PlanByKey(ctx context.Context, key string) (*patra.Plan, error)
	StartPlan(ctx context.Context, now patra.Instant, p patra.Plan, snap patra.Snapshot) (patra.Plan, error)
	AddSlices(ctx context.Context, now patra.Instant, planID, planVersion int64, slices []patra.Slice, trigger string, maxAttempts int64) error
	Retry(ctx context.Context, planID int64) (int, error)
}

// Store is what a planner needs of the tables.
type Store interface {
	Triggers
	Cursors
	Plans
}

// Planner makes plans.
type Planner struct {
	Store        Store
	SafetyLag    time.Duration // of a source that names none
	TaskAttempts int64
}

// Request is what somebody asks for.
type Request struct {
	Source   *source.File
	Endpoint string
	Contact  string
	Params   map[string]string // of the source
	Query    string            // in the text form; empty asks for everything
	From, To *patra.Instant
	BaseURL  string          // a mirror or a simulator in place of the source's own address
	Origin   json.RawMessage // which layer each setting is from, for those who ask later
	Force    bool            // plan again although the same plan exists, and read again what is covered
}

// Draft is a decided plan that is not stored yet.
type Draft struct {
	Spec     *source.Spec         `json:"-"`
	Snapshot patra.Snapshot       `json:"-"`
	Expr     expr.Node            `json:"-"`
	Cursor   *patra.Cursor        `json:"cursor,omitempty"`
	Decision patra.WindowDecision `json:"decision"`
	Warnings patra.Problems       `json:"warnings,omitempty"`
	Plan     patra.Plan           `json:"plan"`
	Slices   []patra.Slice        `json:"slices"`
	Existing *patra.Plan          `json:"existing,omitempty"` // the same plan, made earlier
}

// Result is a stored plan.
type Result struct {
	Draft
	Retried int `json:"retried"` // failed tasks of an earlier trigger that were queued again
}

// Draft decides a HARVEST without storing anything.
func (p *Planner) Draft(ctx context.Context, now patra.Instant, req Request) (*Draft, error) {
	spec, err := source.Compile(req.Source, source.Options{Endpoint: req.Endpoint, Operation: patra.Harvest, Contact: req.Contact, Parameters: req.Params})
	if err != nil {
		return nil, err
	}
	if err := spec.Harvestable(); err != nil {
		return nil, err
	}
	snap, err := spec.Snapshot()
	if err != nil {
		return nil, err
	}
	query, err := question(spec, req.Query)
	if err != nil {
		return nil, err
	}
	snap.Origin = req.Origin
	d := &Draft{Spec: spec, Snapshot: snap, Expr: query, Warnings: spec.Warnings()}
	if d.Cursor, err = p.Store.Cursor(ctx, d.namespace()); err != nil {
		return nil, err
	}
	d.Decision = patra.PlanWindow(d.inputs(now, req, spec.SafetyLag(p.SafetyLag)))
	if d.Plan, err = d.plan(req); err != nil {
		return nil, err
	}
	if err := p.findSame(ctx, d, req.Force); err != nil {
		return nil, err
	}
	d.Slices, err = p.slices(ctx, d, req.Force)
	return d, err
}

// question reads a query and makes sure that the source can be asked it, before anything is stored.
func question(spec *source.Spec, text string) (expr.Node, error) {
	if text == "" {
		return expr.All(), nil
	}
	n, err := expr.Parse(text, spec.Query.Fields)
	if err != nil {
		return n, err
	}
	n = expr.Normalise(n)
	return n, spec.CanAsk(n)
}

// Plan decides a HARVEST and stores it: the trigger first, so that a request that cannot be compiled is kept with
// its reason.
func (p *Planner) Plan(ctx context.Context, now patra.Instant, req Request) (*Result, error) {
	id, err := p.accept(ctx, now, req)
	if err != nil {
		return nil, err
	}
	d, err := p.Draft(ctx, now, req)
	if err != nil {
		return nil, p.reject(ctx, id, err)
	}
	d.Plan.InstanceID = id
	if !d.Decision.Window.IsEmpty() {
		c, err := p.Store.EnsureCursor(ctx, now, d.namespace(), d.Decision.Window.From, d.Decision.OriginCode)
		if err != nil {
			return nil, err
		}
		d.Cursor, d.Plan.CursorID = &c, c.ID
	} else if d.Cursor != nil {
		d.Plan.CursorID = d.Cursor.ID
	}
	stored, err := p.Store.StartPlan(ctx, now, d.Plan, d.Snapshot)
	if err != nil {
		return nil, err
	}
	d.Plan = stored
	return p.fill(ctx, now, d, req.Force)
}

// maxReplans bounds how often a planner gives way to faster ones.
const maxReplans = 20

// fill adds the slices of a plan that is not finished, or queues the failed tasks of one that is.
func (p *Planner) fill(ctx context.Context, now patra.Instant, d *Draft, force bool) (*Result, error) {
	res := &Result{Draft: *d}
	if d.Plan.Status == patra.Ready {
		n, err := p.Store.Retry(ctx, d.Plan.ID)
		res.Retried, res.Slices = n, nil
		return res, err
	}
	for try := 0; ; try++ {
		slices, version, err := p.cut(ctx, d, force)
		if err != nil {
			return nil, err
		}
		err = p.Store.AddSlices(ctx, now, d.Plan.ID, version, slices, patra.TriggerManual, p.TaskAttempts)
		if errors.Is(err, patra.ErrPlanMoved) && try < maxReplans {
			continue
		}
		if errors.Is(err, patra.ErrIllegalMove) { // another planner finished this very plan
			slices, err = nil, nil
		}
		res.Slices, res.Plan.Status = slices, patra.Ready
		res.Plan.SliceCount += int64(len(slices))
		return res, err
	}
}

func (p *Planner) accept(ctx context.Context, now patra.Instant, req Request) (int64, error) {
	params, err := json.Marshal(map[string]any{"from": req.From, "to": req.To, "query": req.Query, "params": req.Params, "base_url": req.BaseURL, "force": req.Force})
	if err != nil {
		return 0, err
	}
	return p.Store.AcceptTrigger(ctx, now, patra.Instance{Scheduler: patra.SchedulerManual, JobID: "cli", LogID: rand.Text(), Trigger: patra.TriggerManual,
		TriggeredAt: now, Params: params, Source: req.Source.Code, Endpoint: req.Endpoint, Operation: patra.Harvest})
}

// reject keeps why a trigger came to nothing and gives the reason back.
func (p *Planner) reject(ctx context.Context, id int64, why error) error {
	reason, err := json.Marshal(map[string]string{"error": why.Error()})
	if err == nil {
		err = p.Store.RejectTrigger(ctx, id, reason)
	}
	return errors.Join(why, err)
}

func (d *Draft) namespace() patra.Namespace {
	return patra.HarvestNamespace(d.Spec.Source, d.Spec.Endpoint, d.Spec.Window.Field, d.Expr.Hash(), d.Spec.Parameters)
}

func (d *Draft) inputs(now patra.Instant, req Request, lag time.Duration) patra.WindowInputs {
	w := d.Spec.Window
	in := patra.WindowInputs{Now: now, SafetyLag: lag, Lookback: w.Lookback, UserFrom: req.From, UserTo: req.To, Origin: w.Origin, Earliest: w.Earliest,
		Size: w.Size, Mode: w.Mode, Align: w.Align, Force: req.Force}
	if d.Cursor != nil {
		in.Cursor, in.Began = &d.Cursor.Value, &d.Cursor.Origin
	}
	return in
}

func (d *Draft) plan(req Request) (patra.Plan, error) {
	inputs, err := json.Marshal(d.Decision)
	if err != nil {
		return patra.Plan{}, err
	}
	params, err := json.Marshal(map[string]any{"step": d.Spec.Window.Size, "precision": d.Spec.Window.Precision})
	if err != nil {
		return patra.Plan{}, err
	}
	warnings, err := json.Marshal(append(patra.Problems{}, d.Warnings...))
	if err != nil {
		return patra.Plan{}, err
	}
	plan := patra.Plan{Warnings: warnings, Source: d.Spec.Source, Endpoint: d.Spec.Endpoint, Operation: patra.Harvest, Window: d.Decision.Window, Inputs: inputs,
		ExprProtoHash: d.Expr.Hash(), ExprProto: d.Expr.JSON(), Spec: d.Snapshot.Fingerprint, Strategy: patra.StrategyTime, SliceParams: params,
		BaseURL: req.BaseURL, Priority: patra.Harvest.Priority(), Reason: d.Decision.Reason}
	plan.Key = patra.PlanKey(plan)
	return plan, nil
}

// findSame looks for the plan made by an earlier trigger; under force it takes the next free generation.
func (p *Planner) findSame(ctx context.Context, d *Draft, force bool) (err error) {
	for {
		if d.Existing, err = p.Store.PlanByKey(ctx, d.Plan.Key); err != nil || d.Existing == nil || !force {
			return err
		}
		d.Plan.Generation++
		d.Plan.Key = patra.PlanKey(d.Plan)
	}
}

// slices cuts for a draft; the cursor may not exist yet.
func (p *Planner) slices(ctx context.Context, d *Draft, force bool) ([]patra.Slice, error) {
	if d.Decision.Window.IsEmpty() {
		return nil, nil
	}
	if d.Cursor == nil {
		return Cut(d.Spec, d.Expr, d.Decision.Window, d.Decision.Window.From, nil, nil, force)
	}
	slices, _, err := p.cut(ctx, d, force)
	return slices, err
}

// cut reads the need of the plan's cursor and cuts it.
func (p *Planner) cut(ctx context.Context, d *Draft, force bool) ([]patra.Slice, int64, error) {
	if d.Decision.Window.IsEmpty() {
		return nil, 0, nil
	}
	c, covered, live, err := p.Store.Need(ctx, d.Cursor.ID)
	if err != nil {
		return nil, 0, err
	}
	slices, err := Cut(d.Spec, d.Expr, d.Decision.Window, c.Value, covered, live, force)
	return slices, c.PlanVersion, err
}

// Cut is the slicing rule. Below the watermark the window is read again for late arrivals; above it only what is
// neither covered nor live is read; under force everything is. The pieces are disjoint and lie in the window.
func Cut(spec *source.Spec, proto expr.Node, w patra.Window, watermark patra.Instant, covered, live patra.Coverage, force bool) ([]patra.Slice, error) {
	lookback := patra.Window{From: w.From, To: min(w.To, watermark)}
	ahead := patra.Window{From: max(w.From, watermark), To: w.To}
	if force {
		return cutAll(spec, proto, patra.NewCoverage(w), patra.PurposeReconcile, nil)
	}
	slices, err := cutAll(spec, proto, patra.NewCoverage(lookback), patra.PurposeLookback, nil)
	if err != nil {
		return nil, err
	}
	return cutAll(spec, proto, patra.NewCoverage(ahead).Minus(covered.Union(live)), patra.PurposeNeed, slices)
}

func cutAll(spec *source.Spec, proto expr.Node, parts patra.Coverage, why patra.Purpose, into []patra.Slice) ([]patra.Slice, error) {
	for _, part := range parts {
		for _, w := range part.Cut(spec.Window.Size) {
			bound := expr.Bind(proto, spec.Window.Field, w)
			sl := patra.Slice{Purpose: why, Window: w, Fetch: w.Widen(spec.Window.Overlap, spec.Window.Precision), Expr: bound.JSON(), ExprHash: bound.Hash(),
				Spec: patra.NewTimeSlice(w, spec.Window.Precision, patra.Hints{PageSize: spec.Pagination.PageSize, Order: spec.Window.Order})}
			sl.Signature = sl.Spec.Signature()
			if err := sl.Spec.Validate(); err != nil {
				return nil, fmt.Errorf("slice %s: %w", w, err)
			}
			into = append(into, sl)
		}
	}
	return into, nil
}
