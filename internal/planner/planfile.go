package planner

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// fileVersion is the shape of File; a program refuses one that it does not know.
const fileVersion = 1

// File is a plan that was shown to somebody and not stored: what it would do, and what it was decided by. Whoever
// approves it approves exactly these slices.
type File struct {
	V        int                  `json:"v"`
	Made     patra.Instant        `json:"made"`
	Plan     patra.Plan           `json:"plan"`
	Decision patra.WindowDecision `json:"decision"`
	Cursor   *patra.Cursor        `json:"cursor,omitempty"`
	Params   map[string]string    `json:"params,omitempty"` // of the source
	Price    patra.CostEstimate   `json:"price"`
	Slices   []patra.Slice        `json:"slices"`
	Sum      string               `json:"sha256"` // of all the rest, so that what is applied is what was shown
}

// sum is the hash of a file without itself.
func (f File) sum() string {
	f.Sum = ""
	return patra.Hash(f)
}

// NewFile is a draft with all its slices.
func NewFile(now patra.Instant, d *Draft, price patra.CostEstimate, slices []patra.Slice) File {
	f := File{V: fileVersion, Made: now, Plan: d.Plan, Decision: d.Decision, Cursor: d.Cursor, Params: d.Spec.Parameters, Price: price, Slices: slices}
	f.Sum = f.sum()
	return f
}

// Request is what the file was made from, with the source as it is now.
func (f File) Request(src *source.File, contact string) Request {
	d := f.Decision
	return Request{Source: src, Endpoint: f.Plan.Endpoint, Operation: f.Plan.Operation, Campaign: f.Plan.Campaign, Contact: contact, Params: f.Params, From: d.UserFrom, To: d.UserTo,
		ByID: d.ByID, BaseURL: f.Plan.BaseURL, Force: d.Force, Priority: f.Plan.Priority, expr: f.Plan.ExprProto}
}

// Apply stores exactly the slices of a file, or says what has changed since it was made. The request must be the one that
// the file was made from.
func (p *Planner) Apply(ctx context.Context, now patra.Instant, f File, req Request) (res *Result, err error) {
	ctx, span := p.triggered(ctx, req)
	defer func() { finish(span, res, err) }()
	id, err := p.accept(ctx, now, req)
	if err != nil {
		return nil, err
	}
	compiling, compile := p.span(ctx, SpanCompile)
	d, err := p.compareFile(compiling, f, req)
	fail(compile, err)
	compile.End()
	if err != nil {
		return nil, p.reject(ctx, id, err)
	}
	d.Plan.InstanceID = id
	if err := p.store(ctx, now, d); err != nil {
		return nil, err
	}
	res = &Result{Draft: *d}
	if d.Plan.Status != patra.Draft {
		return nil, changed("plan", fmt.Sprintf("plan %d with the same key was made meanwhile", d.Plan.ID))
	}
	err = p.insert(compiling, now, f, res)
	if err != nil && res.Added == 0 { // it must not be cut later in a way that nobody has seen
		end := p.Store.EndSlicing(context.WithoutCancel(ctx), d.Plan.ID, patra.SlicingEnd{Status: patra.Failed, Reason: "NOT_APPLIED"})
		if !errors.Is(end, patra.ErrIllegalMove) {
			err = errors.Join(err, end)
		}
	}
	return res, err
}

// insert stores the slices of a file if they are still what is needed.
func (p *Planner) insert(ctx context.Context, now patra.Instant, f File, res *Result) error {
	j, err := p.job(res.Spec, res.Expr, res.Plan)
	if err != nil {
		return err
	}
	version, parts, err := p.need(ctx, j, res.Cursor)
	if err != nil {
		return err
	}
	if err := stillNeeded(f.Slices, parts); err != nil {
		return p.failPlan(ctx, j, err)
	}
	c := &sliceBatch{planner: p, ctx: ctx, now: now, job: j, room: unlimited, version: version, res: res, trail: p.trail(0)}
	for group := range together(f.Slices) {
		if !c.take(group, nil) {
			return c.err
		}
	}
	if err := c.flush(); err != nil {
		return err
	}
	res.SlicingStats.Price = f.Price
	res.Plan.Status = patra.Ready
	return p.Store.EndSlicing(ctx, res.Plan.ID, patra.SlicingEnd{Status: patra.Ready, Reason: f.Plan.Reason, Records: c.records, Requests: c.requests})
}

// failPlan ends a plan whose slices are not what is needed any more, and keeps why.
func (p *Planner) failPlan(ctx context.Context, j *job, why error) error {
	problems, ok := errors.AsType[patra.Problems](why)
	if !ok {
		return why
	}
	err := p.Store.EndSlicing(ctx, j.plan.ID, patra.SlicingEnd{Status: patra.Failed, Reason: problems[0].Code, Warnings: problems})
	if errors.Is(err, patra.ErrIllegalMove) { // another planner has come to the same end
		err = nil
	}
	return errors.Join(why, err)
}

// together gives slices as they were made: the parts of a window with each other, all others alone.
func together(all []patra.Slice) iter.Seq[[]patra.Slice] {
	return func(yield func([]patra.Slice) bool) {
		for from := 0; from < len(all); {
			to := from + 1
			for to < len(all) && all[from].IsPart() && all[to].IsPart() && all[to].Window == all[from].Window {
				to++
			}
			if !yield(all[from:to]) {
				return
			}
			from = to
		}
	}
}

// compareFile compiles the request again and compares it with the file.
func (p *Planner) compareFile(ctx context.Context, f File, req Request) (*Draft, error) {
	if f.V != fileVersion {
		return nil, changed("v", fmt.Sprintf("the file has version %d; this program knows %d", f.V, fileVersion))
	}
	if f.Sum != f.sum() {
		return nil, changed("sha256", "the file was edited: it is not what was shown")
	}
	req, _, err := p.certified(ctx, req)
	if err != nil {
		return nil, err
	}
	d, err := p.compile(req)
	if err != nil {
		return nil, err
	}
	var found patra.Problems
	add := func(path, text string) { found = append(found, changed(path, text)...) }
	if d.Snapshot.Fingerprint != f.Plan.Spec {
		add("spec", fmt.Sprintf("the source %s has changed: its fingerprint was %.8s and is %.8s", f.Plan.Source, f.Plan.Spec, d.Snapshot.Fingerprint))
	}
	if d.Expr.Hash() != f.Plan.ExprProtoHash {
		add("query", "the query is another one")
	}
	d.Plan, d.Decision, d.Cursor = f.Plan, f.Decision, f.Cursor
	d.Plan.ID, d.Plan.CursorID = 0, 0
	cursor, err := p.Store.Cursor(ctx, d.namespace())
	if err != nil {
		return nil, err
	}
	if (cursor == nil) != (f.Cursor == nil) {
		add("cursor", "there was no watermark when the file was made, and there is one now")
	} else if cursor != nil && cursor.Value != f.Cursor.Value {
		add("cursor", fmt.Sprintf("the watermark was %s and is %s", f.Cursor.Value, cursor.Value))
	}
	for {
		same, err := p.Store.PlanByKey(ctx, d.Plan.Key)
		if err != nil {
			return nil, err
		}
		if same == nil {
			break
		}
		if same.Status != patra.Failed {
			add("plan", fmt.Sprintf("it is stored already, as plan %d", same.ID))
			break
		}
		d.Plan.Generation++ // an attempt that came to nothing is in nobody's way
		d.Plan.Key = patra.PlanKey(d.Plan)
	}
	if len(found) > 0 {
		return nil, found
	}
	j, err := p.job(d.Spec, d.Expr, d.Plan)
	if err != nil {
		return nil, err
	}
	if err := j.genuine(f.Slices); err != nil {
		return nil, err
	}
	_, parts, err := p.need(ctx, j, cursor)
	if err != nil {
		return nil, err
	}
	return d, stillNeeded(f.Slices, parts)
}

// genuine makes sure that the slices of a file ask for what they answer for: a file can be edited.
func (j *job) genuine(all []patra.Slice) error {
	for i, sl := range all {
		p := needPart{sl.Window, sl.Purpose}
		if sl.Estimate == nil {
			return changed("slices", fmt.Sprintf("slice %s of the file has no estimate", sl.Window))
		}
		want := j.slice(p, sl.Spec.Strategy, sl.Window, *sl.Estimate)
		switch {
		case sl.IsPart() && j.spec.Window.Split != nil:
			space := j.spec.Window.Split.Range()
			want = j.partSlices(p, space, []idPart{{sl.Spec.Range.IDRange, *sl.Estimate}})[0]
		case j.plan.Strategy == patra.StrategyIDRange || j.plan.Strategy == patra.StrategyLandmark:
			want.Expr, want.ExprHash, want.Fetch = j.expr.JSON(), j.expr.Hash(), sl.Fetch
			want.Spec.Window, want.Spec.Range, want.Spec.Cursor = sl.Spec.Window, sl.Spec.Range, sl.Spec.Cursor
		}
		asked, err := query.ParseJSON(sl.Expr)
		same := err == nil && sl.Fetch == want.Fetch && asked.Hash() == want.ExprHash && sl.ExprHash == want.ExprHash && sl.Spec.Signature() == want.Spec.Signature()
		if err := sl.Check(); err != nil || !same {
			return changed("slices", fmt.Sprintf("slice %s of the file is not as it was made", sl.Window))
		}
		all[i].Expr = want.Expr
	}
	return nil
}

// stillNeeded compares what a file would read with what is to be read now.
func stillNeeded(slices []patra.Slice, parts []needPart) error {
	var planned, needed []patra.Window
	for _, sl := range slices {
		planned = append(planned, sl.Window)
	}
	for _, p := range parts {
		needed = append(needed, p.Window)
	}
	was, is := patra.NewCoverage(planned...), patra.NewCoverage(needed...)
	var found patra.Problems
	for _, w := range was.Minus(is) {
		found = append(found, changed("slices", fmt.Sprintf("%s is covered or under way meanwhile", w))...)
	}
	for _, w := range is.Minus(was) {
		found = append(found, changed("slices", fmt.Sprintf("%s is needed too by now", w))...)
	}
	return found.Err()
}

func changed(path, text string) patra.Problems {
	return patra.Problems{{Code: "CHANGED", Path: path, Text: text, Hint: "make the plan again with {dry_run} and {out}, and look at it"}}
}
