package simtest

import (
	"context"
	"encoding/json"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/store"
)

// doors is the store as one process sees it: every way in goes through the process's fate.
type doors struct {
	*store.Store
	p *process
}

// Claim implements executor.Store, as does all that follows.
func (d doors) Claim(ctx context.Context, req patra.ClaimRequest) (*patra.Claim, error) {
	return call(d.p, func() (*patra.Claim, error) {
		d.p.w.wrong.beforeClaim(d.p.w)
		c, err := d.Store.Claim(ctx, req)
		if err == nil && c != nil {
			d.p.w.leases.taken(c, time.Now())
		}
		return c, err
	})
}

func (d doors) Heartbeat(ctx context.Context, l patra.Lease) error {
	return act(d.p, func() error {
		err := d.Store.Heartbeat(ctx, l)
		if err == nil {
			d.p.w.leases.renewed(l, time.Now())
		}
		return err
	})
}

func (d doors) Finish(ctx context.Context, c *patra.Claim, now patra.Instant, end patra.RunResult) error {
	return act(d.p, func() error {
		d.p.w.wrong.beforeWrite(d.p.w, c)
		err := d.Store.Finish(ctx, c, now, end)
		if err == nil {
			d.p.w.leases.over(c)
			d.p.w.wrong.finished(d.p.w, c, end)
			d.p.w.judge.written()
		}
		return err
	})
}

func (d doors) FailExhausted(ctx context.Context) (int, error) {
	return call(d.p, func() (int, error) { return d.Store.FailExhausted(ctx) })
}

func (d doors) OpenPage(ctx context.Context, c *patra.Claim, now patra.Instant, open patra.PageOpen) (patra.OpenPage, error) {
	return call(d.p, func() (patra.OpenPage, error) {
		d.p.w.wrong.beforeWrite(d.p.w, c)
		page, err := d.Store.OpenPage(ctx, c, now, open)
		if err == nil {
			d.p.w.leases.renewed(c.Lease, time.Now())
		}
		return page, err
	})
}

// committed is what CommitPage gives.
type committed struct {
	counts patra.Counts
	next   *patra.OpenPage
}

func (d doors) CommitPage(ctx context.Context, c *patra.Claim, now patra.Instant, recordType string, page patra.OpenPage, res patra.PageResult, next *patra.PageOpen) (patra.Counts, *patra.OpenPage, error) {
	got, err := call(d.p, func() (committed, error) {
		d.p.w.wrong.beforeWrite(d.p.w, c)
		res = d.p.w.wrong.page(c, res)
		counts, opened, err := d.Store.CommitPage(ctx, c, now, recordType, page, res, next)
		if err == nil {
			d.p.w.leases.renewed(c.Lease, time.Now())
			d.p.w.wrong.committed(d.p.w, c, page, res)
			d.p.w.judge.written()
		}
		return committed{counts, opened}, err
	})
	return got.counts, got.next, err
}

func (d doors) FailPage(ctx context.Context, c *patra.Claim, now patra.Instant, page patra.OpenPage, fail patra.PageFailure, next *patra.PageOpen) (*patra.OpenPage, error) {
	return call(d.p, func() (*patra.OpenPage, error) { return d.Store.FailPage(ctx, c, now, page, fail, next) })
}

func (d doors) Items(ctx context.Context, c *patra.Claim, scanNo, after int64, limit int) ([]patra.DetailID, error) {
	return call(d.p, func() ([]patra.DetailID, error) { return d.Store.Items(ctx, c, scanNo, after, limit) })
}

func (d doors) SeedItems(ctx context.Context, c *patra.Claim, now patra.Instant, r patra.SliceRange) (int64, error) {
	return call(d.p, func() (int64, error) { return d.Store.SeedItems(ctx, c, now, r) })
}

func (d doors) Walked(ctx context.Context, c *patra.Claim, scanNo int64) (patra.ScanProgress, error) {
	return call(d.p, func() (patra.ScanProgress, error) { return d.Store.Walked(ctx, c, scanNo) })
}

func (d doors) OpenRequest(ctx context.Context, now patra.Instant, open patra.RequestOpen) (int64, error) {
	return call(d.p, func() (int64, error) { return d.Store.OpenRequest(ctx, now, open) })
}

func (d doors) CloseRequest(ctx context.Context, id int64, x patra.Exchange) error {
	return act(d.p, func() error { return d.Store.CloseRequest(ctx, id, x) })
}

func (d doors) RecordHealing(ctx context.Context, h patra.Healing) error {
	return act(d.p, func() error { return d.Store.RecordHealing(ctx, h) })
}

func (d doors) Snapshot(ctx context.Context, fingerprint string) (json.RawMessage, error) {
	return call(d.p, func() (json.RawMessage, error) { return d.Store.Snapshot(ctx, fingerprint) })
}

// Admit implements executor.Controls, as does all that follows.
func (d doors) Admit(ctx context.Context, at patra.WorkScope) (patra.Admission, error) {
	return call(d.p, func() (patra.Admission, error) { return d.Store.Admit(ctx, at) })
}

func (d doors) RecordFailure(ctx context.Context, at patra.WorkScope, rule patra.BreakerRule, f patra.EndpointFailure, fault patra.Fault) (patra.ControlChange, error) {
	return call(d.p, func() (patra.ControlChange, error) { return d.Store.RecordFailure(ctx, at, rule, f, fault) })
}

func (d doors) RecordSuccess(ctx context.Context, at patra.WorkScope, probe int64) (patra.ControlChange, error) {
	return call(d.p, func() (patra.ControlChange, error) { return d.Store.RecordSuccess(ctx, at, probe) })
}

func (d doors) AbandonProbe(ctx context.Context, at patra.WorkScope, probe int64) (patra.ControlChange, error) {
	return call(d.p, func() (patra.ControlChange, error) { return d.Store.AbandonProbe(ctx, at, probe) })
}

func (d doors) Halt(ctx context.Context, at patra.WorkScope, fault patra.Fault) (patra.ControlChange, error) {
	return call(d.p, func() (patra.ControlChange, error) { return d.Store.Halt(ctx, at, fault) })
}

func (d doors) RecordSliceFailure(ctx context.Context, at patra.WorkScope, window string, fault patra.Fault) (patra.ControlChange, error) {
	return call(d.p, func() (patra.ControlChange, error) { return d.Store.RecordSliceFailure(ctx, at, window, fault) })
}

func (d doors) RecordSliceSuccess(ctx context.Context, at patra.WorkScope) (patra.ControlChange, error) {
	return call(d.p, func() (patra.ControlChange, error) { return d.Store.RecordSliceSuccess(ctx, at) })
}

func (d doors) QuotaExhausted(ctx context.Context, at patra.WorkScope, e patra.QuotaError) (patra.ControlChange, error) {
	return call(d.p, func() (patra.ControlChange, error) { return d.Store.QuotaExhausted(ctx, at, e) })
}

// AcceptTrigger implements planner.Store, as does all that follows. What only reads is not worth a fate of its own.
func (d doors) AcceptTrigger(ctx context.Context, now patra.Instant, in patra.Trigger) (int64, error) {
	return call(d.p, func() (int64, error) { return d.Store.AcceptTrigger(ctx, now, in) })
}

func (d doors) EnsureCursor(ctx context.Context, now patra.Instant, c patra.Cursor) (patra.Cursor, error) {
	return call(d.p, func() (patra.Cursor, error) { return d.Store.EnsureCursor(ctx, now, c) })
}

// needed is what Need gives.
type needed struct {
	cursor        patra.Cursor
	covered, live patra.Coverage
}

func (d doors) Need(ctx context.Context, cursorID int64) (patra.Cursor, patra.Coverage, patra.Coverage, error) {
	n, err := call(d.p, func() (needed, error) {
		c, covered, live, err := d.Store.Need(ctx, cursorID)
		covered, live = d.p.w.wrong.need(d.p.w, cursorID, covered, live)
		return needed{c, covered, live}, err
	})
	return n.cursor, n.covered, n.live, err
}

func (d doors) CoverageIn(ctx context.Context, cursorID int64, states ...patra.Completeness) (patra.Coverage, error) {
	return call(d.p, func() (patra.Coverage, error) {
		c, err := d.Store.CoverageIn(ctx, cursorID, states...)
		return d.p.w.wrong.disputed(c), err
	})
}

func (d doors) StartPlan(ctx context.Context, now patra.Instant, p patra.Plan, snap patra.Snapshot) (patra.Plan, error) {
	return call(d.p, func() (patra.Plan, error) { return d.Store.StartPlan(ctx, now, p, snap) })
}

func (d doors) AddSlices(ctx context.Context, now patra.Instant, planID, planVersion int64, slices []patra.Slice, trigger string, maxAttempts int64) error {
	return act(d.p, func() error {
		return d.Store.AddSlices(ctx, now, planID, planVersion, d.p.w.wrong.slices(slices), trigger, maxAttempts)
	})
}

func (d doors) EndSlicing(ctx context.Context, planID int64, end patra.SlicingEnd) error {
	return act(d.p, func() error { return d.Store.EndSlicing(ctx, planID, end) })
}

func (d doors) Split(ctx context.Context, now patra.Instant, parent patra.Slice, children []patra.Slice, trigger string, maxAttempts int64) error {
	return act(d.p, func() error {
		err := d.Store.Split(ctx, now, parent, children, trigger, maxAttempts)
		if err == nil {
			d.p.w.note("split", nil)
			d.p.w.wrong.split(d.p.w, parent)
		}
		return err
	})
}

// AcquireLease implements relay.Store, as does all that follows.
func (d doors) AcquireLease(ctx context.Context, name, owner string, lease time.Duration) (patra.LeaderLease, bool, error) {
	type taken struct {
		role patra.LeaderLease
		ok   bool
	}
	t, err := call(d.p, func() (taken, error) {
		r, ok, err := d.Store.AcquireLease(ctx, name, owner, lease)
		return taken{r, ok}, err
	})
	return t.role, t.ok, err
}

func (d doors) RenewLease(ctx context.Context, r patra.LeaderLease) error {
	return act(d.p, func() error { return d.Store.RenewLease(ctx, r) })
}

func (d doors) ReleaseLease(ctx context.Context, r patra.LeaderLease) error {
	return act(d.p, func() error { return d.Store.ReleaseLease(ctx, r) })
}

func (d doors) EventsAfter(ctx context.Context, position int64, limit, size int) ([]patra.Event, error) {
	return call(d.p, func() ([]patra.Event, error) {
		all, err := d.Store.EventsAfter(ctx, position, limit, size)
		return d.p.w.wrong.events(all), err
	})
}

func (d doors) MarkSent(ctx context.Context, r *patra.LeaderLease, sink string, sent patra.DeliveryResult) error {
	return act(d.p, func() error { return d.Store.MarkSent(ctx, r, sink, sent) })
}

// turnstile is the gate as one process sees it.
type turnstile struct {
	executor.Gate
	p *process
}

func (g turnstile) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	return call(g.p, func() (time.Duration, error) { return g.Gate.Reserve(ctx, l, cost) })
}

func (g turnstile) CooldownRemaining(ctx context.Context, key string) (time.Duration, error) {
	return call(g.p, func() (time.Duration, error) { return g.Gate.CooldownRemaining(ctx, key) })
}

func (g turnstile) Cooldown(ctx context.Context, key string, wait time.Duration) error {
	return act(g.p, func() error { return g.Gate.Cooldown(ctx, key, wait) })
}

func (g turnstile) AcquireSlot(ctx context.Context, l patra.RateLimit, e patra.InFlightRequest) (time.Duration, error) {
	return call(g.p, func() (time.Duration, error) { return g.Gate.AcquireSlot(ctx, l, e) })
}

func (g turnstile) ReleaseSlot(ctx context.Context, l patra.RateLimit, id string) error {
	return act(g.p, func() error { return g.Gate.ReleaseSlot(ctx, l, id) })
}

func (g turnstile) Report(ctx context.Context, l patra.RateLimit, a patra.RateFeedback) error {
	return act(g.p, func() error { return g.Gate.Report(ctx, l, a) })
}
