package store

import (
	"context"
	"slices"

	"patra"
)

// unparkBroken lets tasks go on that were given back because of something that is over.
var unparkBroken = stmt{"unpark_broken", `UPDATE ing_task SET scheduled_at = {now}, wait_code = NULL
	WHERE provenance_code = ? AND endpoint_name = ? AND status_code = 'QUEUED' AND wait_code = 'BREAKER' AND ` + tasksOfRepository}

func setBreaker(c *patra.Control, b patra.Breaker) {
	c.State, c.Failures, c.Detail.Trips, c.Until = b.State, b.Failures, b.Trips, b.Until
	c.Detail.Prober, c.Detail.Recent = b.Prober, b.Recent
	if b.State == patra.Closed {
		c.Until = 0
		if b.Failures == 0 {
			c.Reason, c.Detail.Fault = "", nil
		}
	}
}

// try lets one of all who ask find out whether an endpoint answers again.
func (s *Store) try(ctx context.Context, at patra.WorkScope) (hold patra.Admission, err error) {
	err = s.write(ctx, "try breaker", func(t *tx) error {
		hold = patra.Admission{}
		may := false
		m, err := t.updateControl(at.EndpointTarget(), patra.KindBreaker, func(c *patra.Control, now patra.Instant) {
			var b patra.Breaker
			b, may = c.Breaker().StartProbe(now, at.Prober())
			setBreaker(c, b)
		})
		switch {
		case err != nil:
			return err
		case !may:
			hold = patra.Admit([]patra.Control{m.is}, m.now)
			return nil
		case !m.changed(): // somebody has closed it meanwhile
			return nil
		}
		hold = patra.Admission{Probe: m.is.Version, Control: &m.is}
		_, err = t.writeHealing(at, m, patra.HealHalfOpen, patra.WaitBreaker, map[string]any{"trips": m.is.Detail.Trips})
		return err
	}, func(t *tx) (bool, error) {
		all, _, _, err := t.controlsOf(at)
		return slices.ContainsFunc(all, func(c patra.Control) bool {
			return hold.Probe != 0 && c.Kind == patra.KindBreaker && c.Version == hold.Probe && c.Detail.Prober == at.Prober()
		}), err
	})
	return hold, err
}

// RecordFailure tells the breaker of an endpoint that a request failed.
func (s *Store) RecordFailure(ctx context.Context, at patra.WorkScope, rule patra.BreakerRule, f patra.EndpointFailure, fault patra.Fault) (change patra.ControlChange, err error) {
	err = s.write(ctx, "count failure", func(t *tx) error {
		m, err := t.updateControl(at.EndpointTarget(), patra.KindBreaker, func(c *patra.Control, now patra.Instant) {
			b := c.Breaker().RecordFailure(rule, now, f)
			if b != c.Breaker() {
				setBreaker(c, b)
				c.Reason, c.Detail.Fault, c.Actor = fault.Error(), &fault, "executor"
			}
		})
		if change = m.change(); err != nil || !m.changed() || m.is.State != patra.Open {
			return err
		}
		change.Healing, err = t.writeHealing(at, m, patra.HealOpen, fault.Code,
			map[string]any{"failures": m.is.Failures, "recent": m.is.Detail.Recent.Failures(), "of_recent": m.is.Detail.Recent.Seen, "trips": m.is.Detail.Trips, "until": m.is.Until, "text": fault.Text, "status": fault.Status})
		return err
	})
	return change, err
}

// RecordSuccess tells the breaker of an endpoint that a request was answered. If it was the one that tried, everybody may ask
// again, and what waited for it is due.
func (s *Store) RecordSuccess(ctx context.Context, at patra.WorkScope, probe int64) (change patra.ControlChange, err error) {
	err = s.write(ctx, "count answer", func(t *tx) error {
		m, err := t.updateControl(at.EndpointTarget(), patra.KindBreaker, func(c *patra.Control, _ patra.Instant) {
			setBreaker(c, c.Breaker().RecordSuccess(probe))
		})
		if change = m.change(); err != nil || !m.changed() || m.was.State == patra.Closed {
			return err
		}
		if _, err := t.exec(unparkBroken, append([]any{at.Source, at.Endpoint}, repositoryArgs(at)...)...); err != nil {
			return err
		}
		change.Healing, err = t.writeHealing(at, m, patra.HealClose, patra.WaitBreaker, map[string]any{"open_seconds": m.now.Sub(m.was.Detail.Since).Seconds(), "trips": m.was.Detail.Trips})
		return err
	})
	return change, err
}

// AbandonProbe tells the breaker of an endpoint that the one that was to try has not: another may, and nobody waits for it.
func (s *Store) AbandonProbe(ctx context.Context, at patra.WorkScope, probe int64) (change patra.ControlChange, err error) {
	err = s.write(ctx, "give a try back", func(t *tx) error {
		m, err := t.updateControl(at.EndpointTarget(), patra.KindBreaker, func(c *patra.Control, now patra.Instant) {
			setBreaker(c, c.Breaker().AbandonProbe(now, probe))
		})
		change = m.change()
		return err
	})
	return change, err
}

// RecordSliceFailure counts a slice that failed by a strange answer, and halts its endpoint when enough of different windows have
// failed in the same way.
func (s *Store) RecordSliceFailure(ctx context.Context, at patra.WorkScope, window string, fault patra.Fault) (change patra.ControlChange, err error) {
	err = s.write(ctx, "count failed slice", func(t *tx) error {
		m, err := t.updateControl(at.EndpointTarget(), patra.KindHalt, func(c *patra.Control, _ patra.Instant) {
			*c = c.RecordSliceFailure(patra.FailedSlice{Plan: at.PlanID, Slice: at.SliceID, Window: window}, fault)
		})
		if change = m.change(); err != nil || m.is.State != patra.Halted || m.was.State == patra.Halted {
			return err
		}
		change.Healing, err = t.writeHealing(at, m, patra.HealHalt, fault.Code, fault)
		return err
	})
	return change, err
}

// RecordSliceSuccess forgets the slices of an endpoint that failed before one succeeded.
func (s *Store) RecordSliceSuccess(ctx context.Context, at patra.WorkScope) (change patra.ControlChange, err error) {
	err = s.write(ctx, "count slice", func(t *tx) error {
		m, err := t.updateControl(at.EndpointTarget(), patra.KindHalt, func(c *patra.Control, _ patra.Instant) { *c = c.RecordSliceSuccess() })
		change = m.change()
		return err
	})
	return change, err
}

// Halt stops an endpoint until a person lets it go on. The fault that came first is kept.
func (s *Store) Halt(ctx context.Context, at patra.WorkScope, fault patra.Fault) (change patra.ControlChange, err error) {
	err = s.write(ctx, "halt", func(t *tx) error {
		m, err := t.updateControl(at.EndpointTarget(), patra.KindHalt, func(c *patra.Control, _ patra.Instant) {
			if c.State != patra.Halted {
				c.State, c.Reason, c.Actor, c.Detail.Fault = patra.Halted, fault.Error(), "executor", &fault
				c.Detail.Failed, c.Failures = nil, 0
			}
		})
		if change = m.change(); err != nil || !m.changed() {
			return err
		}
		change.Healing, err = t.writeHealing(at, m, patra.HealHalt, fault.Code, fault)
		return err
	})
	return change, err
}
