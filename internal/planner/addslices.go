package planner

import (
	"context"
	"errors"
	"fmt"

	"patra"
)

const (
	maxReplans = 20   // how often a planner gives way to faster ones
	chunkSize  = 2000 // slices that are stored together: enough to be quick, and little to do again
)

// addSlices adds the slices of a plan that is not finished. What does not fit into the queue now is left for later: the plan
// is PARTIAL until then. When somebody asks for a plan again, its failed tasks are queued again too; a server that looks
// after plans does no such thing, or a task that cannot succeed would be tried for ever.
func (p *Planner) addSlices(ctx context.Context, now patra.Instant, d *Draft, retry bool) (*Result, error) {
	res := &Result{Draft: *d}
	if err := ended(d.Plan); err != nil {
		return res, err
	}
	if retry && d.Plan.Status != patra.Draft {
		n, err := p.Store.Retry(ctx, d.Plan.ID)
		if res.Retried = n; err != nil {
			return res, err
		}
	}
	for try := 0; res.Plan.Status != patra.Ready; try++ {
		err := p.storeSlices(ctx, now, res)
		moved := errors.Is(err, patra.ErrPlanMoved) || errors.Is(err, patra.ErrIllegalMove)
		if err == nil || !moved || try == maxReplans {
			return res, err
		}
		// Another planner was at the cursor, or at this very plan.
		stored, err := p.Store.Plan(ctx, res.Plan.ID)
		if err != nil {
			return res, err
		}
		if res.Plan = stored; ended(stored) != nil {
			return res, ended(stored)
		}
	}
	return res, nil
}

// ended says that a plan is over, if it is.
func ended(plan patra.Plan) error {
	if plan.Status != patra.Failed && plan.Status != patra.Cancelled {
		return nil
	}
	text, hint := fmt.Sprintf("plan %d for this window is %s", plan.ID, plan.Status), "The same command makes a new one"
	if plan.Status == patra.Cancelled {
		hint = fmt.Sprintf("The command patra retry plan:%d goes on with it; a request with {force} makes a new one", plan.ID)
	}
	if plan.Reason != "" && plan.Reason != string(plan.Status) {
		text += " (" + plan.Reason + ")"
	}
	return patra.Problems{{Code: "PLAN_ENDED", Path: "plan", Text: text, Hint: hint}}
}

// storeSlices cuts what is needed now and stores it chunk by chunk, until all of it is there or the queue is full.
func (p *Planner) storeSlices(ctx context.Context, now patra.Instant, res *Result) error {
	j, err := p.job(res.Spec, res.Expr, res.Plan)
	if err != nil {
		return err
	}
	j.judge.shown = res.shown
	version, parts, err := p.need(ctx, j, res.Cursor)
	if err != nil {
		return err
	}
	room, err := p.room(ctx, now, j)
	if err != nil {
		return err
	}
	full := ""
	if len(parts) > 0 {
		full = room.full()
	}
	if full != "" { // nothing is counted that cannot be planned
		parts = nil
	}
	c := &sliceBatch{full: full, planner: p, ctx: ctx, now: now, job: j, room: room, version: version, res: res, trail: p.trail(res.Plan.SliceCount)}
	j.groups(ctx, parts, c.take)
	if c.err == nil {
		c.err = c.flush()
	}
	res.SlicingStats.add(j.tally)
	if c.err != nil {
		return c.err
	}
	end := patra.SlicingEnd{Status: patra.Ready, Reason: res.Decision.Reason, Records: c.records, Requests: c.requests, Warnings: j.tally.Warnings}
	if c.full != "" {
		end.Status, end.Reason = patra.Partial, c.full
	}
	if err := p.Store.EndSlicing(ctx, res.Plan.ID, end); err != nil {
		return err
	}
	res.Plan.Status, res.Plan.Reason = end.Status, end.Reason
	return nil
}

func (t *SlicingStats) add(o SlicingStats) {
	t.Price.Slices += o.Price.Slices
	t.Price.Records += o.Price.Records
	t.Price.Requests += o.Price.Requests
	t.Probes += o.Probes
	t.Warnings = append(t.Warnings, o.Warnings...)
}

// sliceBatch collects slices until they are worth a transaction.
type sliceBatch struct {
	planner *Planner
	ctx     context.Context
	now     patra.Instant
	job     *job
	room    queueCapacity
	version int64
	res     *Result

	slices            []patra.Slice
	records, requests int64
	full              string // why no more fits
	err               error
	trail             sliceTracer
}

// take adds slices that belong together. It never parts them: a window that is cut by ids is there as a whole or not at
// all.
func (c *sliceBatch) take(group []patra.Slice, err error) bool {
	if err != nil {
		c.err = err
		return false
	}
	if c.full = c.room.take(c.job, group); c.full != "" {
		return false
	}
	c.slices = append(c.slices, group...)
	c.trail.add(c.ctx, c.job.plan, group)
	for _, sl := range group {
		c.records += sl.Estimate.Records
		c.requests += c.job.tariff.Requests(sl.Estimate.Records)
	}
	if len(c.slices) >= chunkSize {
		c.err = c.flush()
	}
	return c.err == nil
}

// flush stores the chunk.
func (c *sliceBatch) flush() error {
	if len(c.slices) == 0 {
		return nil
	}
	if err := c.planner.Store.AddSlices(c.ctx, c.now, c.job.plan.ID, c.version, c.slices, c.job.Trigger, c.planner.Config.TaskAttempts); err != nil {
		return err
	}
	if c.job.plan.CursorID == 0 {
		c.version += int64(len(c.slices))
	} else {
		c.version++
	}
	c.res.Added += int64(len(c.slices))
	c.res.Plan.SliceCount += int64(len(c.slices))
	c.slices = c.slices[:0]
	c.planner.publish(c.job.tally)
	return nil
}
