package planner

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"maps"
	"strings"
	"time"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// Draft is a decided plan that is not stored yet. Its slices are not part of it: there may be very many.
type Draft struct {
	Spec     *source.Spec         `json:"-"`
	Snapshot patra.Snapshot       `json:"-"`
	Expr     query.Node           `json:"-"`
	Cursor   *patra.Cursor        `json:"cursor,omitempty"`
	Decision patra.WindowDecision `json:"decision"`
	Warnings patra.Problems       `json:"warnings,omitempty"`
	Plan     patra.Plan           `json:"plan"`
	Existing *patra.Plan          `json:"existing,omitempty"` // the same plan, made earlier
	Bounds   *patra.FoundBounds   `json:"bounds,omitempty"`   // of a source that leaves them to be found out

	shown patra.ShownIDs // by the answers that bounds were found out by
}

// sliceParams is how a plan is cut. It is stored with the plan, so that whoever goes on with it cuts in the same way.
type sliceParams struct {
	Step      patra.Period          `json:"step"`
	MinStep   patra.Period          `json:"min_step"`
	MaxSpan   patra.Period          `json:"max_span"`
	Precision patra.Unit            `json:"precision,omitempty"`
	Target    int64                 `json:"target"`
	MaxPages  int64                 `json:"max_pages"`
	Newest    bool                  `json:"newest_first,omitempty"`
	Force     bool                  `json:"force,omitempty"`
	Purpose   patra.Purpose         `json:"purpose,omitempty"` // under force
	Fill      bool                  `json:"fill,omitempty"`
	Disputed  bool                  `json:"disputed,omitempty"` // of a fill: what is in dispute too
	Read      bool                  `json:"read,omitempty"`     // of a fill: what was read without a proof too
	Trigger   string                `json:"trigger,omitempty"`
	IDsOf     string                `json:"ids_of,omitempty"`  // of an update by id: where the ids are from
	Buckets   int64                 `json:"buckets,omitempty"` // and how many slices they are dealt into
	Pick      *patra.RecordSelector `json:"pick,omitempty"`    // which of them, where it is not all
	Known     int64                 `json:"known,omitempty"`   // how many that were
}

// Draft decides a plan without storing anything.
func (p *Planner) Draft(ctx context.Context, now patra.Instant, req Request) (*Draft, error) {
	if req.Operation == "" {
		req.Operation = patra.Harvest
	}
	req, warnings, err := p.certified(ctx, req)
	if err != nil {
		return nil, err
	}
	d, err := p.compile(req)
	if err != nil {
		return nil, err
	}
	d.Warnings = append(warnings, d.Warnings...)
	if d.Cursor, err = p.Store.Cursor(ctx, d.namespace()); err != nil {
		return nil, err
	}
	if err := d.fills(req.Fill); err != nil {
		return nil, err
	}
	in, err := p.inputs(ctx, now, d, req)
	if err != nil {
		return nil, err
	}
	d.Decision = patra.PlanWindow(in)
	if err := p.settleBounds(ctx, now, d, req); err != nil {
		return nil, err
	}
	if err := p.describe(ctx, d, req); err != nil {
		return nil, err
	}
	return d, p.findSame(ctx, d, req)
}

// compile freezes the source and the question.
func (p *Planner) compile(req Request) (*Draft, error) {
	if req.ByID && req.Endpoint == "" {
		req.Endpoint = req.Source.ByID()
	}
	spec, err := source.Compile(req.Source, req.options())
	if err != nil {
		return nil, err
	}
	if err := spec.RequireHTTPS(req.BaseURL, p.Config.Insecure); err != nil {
		return nil, err
	}
	if err := possible(spec, req); err != nil {
		return nil, err
	}
	lacking, err := spec.Access(p.have())
	if err == nil {
		err = spec.CheckSecretTarget(cmp.Or(req.BaseURL, spec.Address(source.Vars{})), p.have())
	}
	if err != nil {
		return nil, err
	}
	snap, err := spec.Snapshot()
	if err != nil {
		return nil, err
	}
	query, err := question(spec, req)
	if err != nil {
		return nil, err
	}
	snap.Origin = req.Origin
	d := &Draft{Spec: spec, Snapshot: snap, Expr: query, Warnings: append(spec.Warnings(), lacking...)}
	d.Plan.Operation, d.Plan.Campaign = req.Operation, campaign(req)
	return d, nil
}

// have asks for secrets where there are any.
func (p *Planner) have() func(string) (bool, error) {
	if p.Secrets == nil {
		return nil
	}
	return p.Secrets.Have
}

// question reads a query and makes sure that the source can be asked it, before anything is stored.
func question(spec *source.Spec, req Request) (n query.Node, err error) {
	switch {
	case req.expr != nil:
		n, err = query.ParseJSON(req.expr)
	case req.Query != "":
		n, err = query.Parse(req.Query, spec.Query.Fields)
	default:
		return query.All(), nil
	}
	if err != nil {
		return n, err
	}
	n = query.Normalise(n)
	return n, spec.CheckQuery(n)
}

// possible says why a source cannot be asked in this way, if it cannot.
func possible(spec *source.Spec, req Request) error {
	switch {
	case req.ByID && req.Operation != patra.Update:
		return patra.Problems{{Code: "CONFLICT", Path: "by-id", Text: "only an UPDATE fetches known records by their ids"}}
	case req.IDsOf != "" && !req.ByID:
		return patra.Problems{{Code: "CONFLICT", Path: "ids-of", Text: "ids of another source are for an UPDATE by id"}}
	case req.Pick != nil && (!req.ByID || req.IDsOf != ""):
		return patra.Problems{{Code: "CONFLICT", Path: "by-id", Text: "a choice of known records is for an UPDATE by id of the source itself"}}
	case req.ByID:
		return spec.Fetchable()
	}
	return spec.Harvestable()
}

// campaign is the name under which later plans go on with the same work.
func campaign(req Request) string {
	switch {
	case req.Operation == patra.Harvest || req.Operation == "":
		return ""
	case req.Campaign == "" && req.Pick != nil:
		return req.Pick.Campaign()
	case req.Campaign == "" && req.ByID:
		return "ids" + strings.TrimSuffix("-of-"+req.IDsOf, "-of-")
	case req.Campaign == "":
		return patra.DefaultCampaign
	}
	return req.Campaign
}

func (d *Draft) namespace() patra.Namespace {
	s := d.Spec
	switch d.Plan.Operation {
	case patra.Backfill:
		return patra.BackfillNamespace(s.Source, s.Endpoint, s.Window.Field, d.Expr.Hash(), d.Plan.Campaign, s.Parameters)
	case patra.Update:
		return patra.UpdateNamespace(s.Source, s.Endpoint, d.Expr.Hash(), d.Plan.Campaign, s.Parameters)
	}
	return d.forward()
}

// forward is the namespace of the harvest of the same question.
func (d *Draft) forward() patra.Namespace {
	s := d.Spec
	return patra.HarvestNamespace(s.Source, s.Endpoint, s.Window.Field, d.Expr.Hash(), s.Parameters)
}

// inputs are all that the window depends on.
func (p *Planner) inputs(ctx context.Context, now patra.Instant, d *Draft, req Request) (patra.WindowInputs, error) {
	w := d.Spec.Window
	in := patra.WindowInputs{Operation: req.Operation, Now: now, SafetyLag: d.Spec.SafetyLag(p.Config.SafetyLag), Lookback: w.Lookback, UserFrom: req.From, UserTo: req.To,
		Origin: w.Origin, Earliest: w.Earliest, Size: w.Size, Mode: w.Mode, Align: w.Align, Force: req.Force, Fill: req.Fill != nil, ByID: req.ByID}
	if req.First != nil {
		in.Origin = req.First
	}
	if req.ByID { // the window is for pacing only: a day is a day for everybody
		in.Size, in.Mode, in.Align = patra.Period{Days: 1}, patra.ModeCalendar, patra.UnitDay
	}
	if d.Cursor != nil {
		in.Cursor, in.Began = &d.Cursor.Value, &d.Cursor.Origin
	}
	if req.Operation == patra.Backfill {
		ahead, err := p.Store.Cursor(ctx, d.forward())
		if err != nil {
			return in, err
		}
		if ahead != nil {
			in.Forward, in.ForwardAt = &ahead.Value, &ahead.Origin
		}
	}
	return p.adapted(ctx, d, in)
}

// lateDays is how far back late arrivals are looked at.
const lateDays = 7

// adapted moves the safety lag with the late arrivals of the last days.
func (p *Planner) adapted(ctx context.Context, d *Draft, in patra.WindowInputs) (patra.WindowInputs, error) {
	if d.Cursor == nil || in.Operation != patra.Harvest {
		return in, nil
	}
	last, err := p.Store.LastLag(ctx, d.Cursor.ID)
	if err != nil || last == nil {
		return in, err
	}
	late, err := p.Store.Lateness(ctx, d.Cursor.ID, in.Now.Add(-lateDays*24*time.Hour))
	if err != nil {
		return in, err
	}
	in.LagConfigured = in.SafetyLag.Seconds()
	in.SafetyLag = patra.AdaptLag(*last, in.SafetyLag, late)
	in.LateRate = late.Rate()
	return in, nil
}

// describe writes the plan down.
func (p *Planner) describe(ctx context.Context, d *Draft, req Request) error {
	s := d.Spec
	known, buckets, err := p.buckets(ctx, d.Decision.Now, s, req)
	if err != nil {
		return err
	}
	if req.Pick != nil && known == 0 && d.Decision.Reason == "" {
		d.Decision.Reason = patra.ReasonNobody
	}
	params := sliceParams{Step: s.Window.Size, MinStep: s.MinStep(p.Config.MinStep), MaxSpan: s.MaxSpan(), Precision: s.Window.Precision,
		Target: p.Config.Target, MaxPages: p.Config.MaxPages, Newest: req.Newest, Force: req.Force, Purpose: req.Purpose, Trigger: cmp.Or(req.By.Type, patra.TriggerManual), IDsOf: req.IDsOf, Buckets: buckets, Pick: req.Pick, Known: known}
	if req.Fill != nil {
		params.Fill, params.Disputed, params.Read = true, req.Fill.Disputed, req.Fill.Read
	}
	plan := patra.Plan{Source: s.Source, Endpoint: s.Endpoint, Operation: req.Operation, Campaign: campaign(req), Window: d.Decision.Window,
		ExprProtoHash: d.Expr.Hash(), ExprProto: d.Expr.JSON(), Spec: d.Snapshot.Fingerprint, Strategy: d.Spec.Strategy(),
		BaseURL: req.BaseURL, Priority: req.Priority, Reason: d.Decision.Reason, Repository: s.Repository()}
	if plan.Priority == 0 {
		plan.Priority = req.Operation.Priority()
	}
	if req.ByID {
		plan.Strategy = patra.StrategyIDRange
	}
	for _, part := range []struct {
		into *json.RawMessage
		from any
	}{{&plan.Inputs, d.Decision}, {&plan.SliceParams, params}, {&plan.Warnings, append(patra.Problems{}, d.Warnings...)}} {
		b, err := json.Marshal(part.from)
		if err != nil {
			return err
		}
		*part.into = b
	}
	plan.Key = patra.PlanKey(plan)
	d.Plan = plan
	return nil
}

// buckets is how many slices the known ids are dealt into.
func (p *Planner) buckets(ctx context.Context, now patra.Instant, spec *source.Spec, req Request) (known, buckets int64, err error) {
	switch {
	case !req.ByID:
		return 0, 0, nil
	case req.Pick == nil:
		known, err = p.known(ctx, spec, req.IDsOf)
		return known, max((known+p.Config.Target-1)/p.Config.Target, 1), err
	}
	if known, err = p.known(ctx, spec, ""); err != nil {
		return 0, 0, err
	}
	*req.Pick = req.Pick.Resolve(now, known)
	req.Pick.Repository = spec.Repository()
	if req.Pick.By == patra.PickMapping {
		if req.Pick.Specs, err = p.otherMappings(ctx, spec); err != nil {
			return 0, 0, err
		}
	}
	known, err = p.Store.CountCandidates(ctx, spec.Source, spec.RecordType, *req.Pick)
	return known, (known + p.Config.Target - 1) / p.Config.Target, err
}

// otherMappings are the specs by which records were read, and whose mapping is not the present one.
func (p *Planner) otherMappings(ctx context.Context, spec *source.Spec) (others []string, err error) {
	all, err := p.Store.SpecsOf(ctx, spec.Source)
	if err != nil {
		return nil, err
	}
	now := spec.Records().Mapping
	for _, fingerprint := range all {
		body, err := p.Store.Snapshot(ctx, fingerprint)
		if err != nil {
			return nil, err
		}
		then, err := source.FromSnapshot(fingerprint, body)
		if err != nil {
			return nil, err
		}
		if !maps.Equal(then.Records().Mapping, now) {
			others = append(others, fingerprint)
		}
	}
	return others, nil
}

// known is how many ids an update by id has to go by.
func (p *Planner) known(ctx context.Context, spec *source.Spec, idsOf string) (int64, error) {
	from, _ := patra.KnownIDs(cmp.Or(idsOf, patra.OwnIDs), spec.Source)
	if repository := spec.Repository(); repository != "" && idsOf == "" {
		return p.Store.CountKnown(ctx, from, repository)
	}
	return p.Store.CountRecords(ctx, from)
}

// findSame looks for the plan made by an earlier trigger. Under force it takes the next free generation, and so does an
// update by id whose predecessor is done: there may be more records by now. One that is not done is gone on with,
// whenever it was begun.
func (p *Planner) findSame(ctx context.Context, d *Draft, req Request) (err error) {
	if req.ByID && !req.Force {
		open, err := p.Store.LastUpdateByID(ctx, d.Plan)
		if err != nil {
			return err
		}
		if open != nil && open.Status != patra.Failed {
			if done, err := p.done(ctx, *open); err != nil || !done {
				d.Plan, d.Existing = *open, open
				return err
			}
		}
	}
	for {
		if d.Existing, err = p.Store.PlanByKey(ctx, d.Plan.Key); err != nil || d.Existing == nil {
			return err
		}
		// What is missing is another stretch each time, and a plan that failed is over: to ask again is to plan again.
		again := req.Force || req.Fill != nil || d.Existing.Status == patra.Failed
		if req.ByID && !again {
			if again, err = p.done(ctx, *d.Existing); err != nil {
				return err
			}
		}
		if !again {
			return nil
		}
		d.Plan.Generation++
		d.Plan.Key = patra.PlanKey(d.Plan)
	}
}

// done reports whether a plan is cut to its end and nothing of it is open or failed.
func (p *Planner) done(ctx context.Context, plan patra.Plan) (bool, error) {
	states, err := p.Store.PlanStates(ctx, plan.ID)
	return plan.Status == patra.Ready && states[patra.Succeeded] == int(plan.SliceCount), err
}

// Slices cuts a draft as it would be cut now, one slice after the other, and stores nothing.
func (p *Planner) Slices(ctx context.Context, d *Draft) (iter.Seq2[patra.Slice, error], *SlicingStats, error) {
	j, err := p.job(d.Spec, d.Expr, d.Plan)
	if err != nil {
		return nil, nil, err
	}
	_, parts, err := p.need(ctx, j, d.Cursor)
	if err != nil {
		return nil, nil, err
	}
	return j.cut(ctx, parts), &j.tally, nil
}
