package store

import (
	"context"

	"patra"
)

func setLimit(c *patra.Control, l patra.Limit) {
	c.State, c.Until, c.Detail.Limit, c.Detail.Of = patra.Free, l.Until, l.At, l.Of
	if l.At > 0 {
		c.State = patra.Limited
	} else {
		c.Until, c.Reason = 0, ""
	}
}

// RecordThrottle counts a request to slow down. When there were too many, one task fewer of the partition runs; of is how many
// would run without a limit.
func (s *Store) RecordThrottle(ctx context.Context, at patra.WorkScope, of int64) (patra.ControlChange, error) {
	return s.shift(ctx, at, patra.DownRefused, func(c *patra.Control, now patra.Instant) {
		kept, enough := patra.CountRefusal(c.Detail.Refused, now)
		if c.Detail.Refused = kept; enough {
			down(c, now, of, patra.DownRefused)
		}
	})
}

// LowerConcurrency lets one task fewer of a partition run, for a reason that the caller has measured.
func (s *Store) LowerConcurrency(ctx context.Context, at patra.WorkScope, of int64, reason string) (patra.ControlChange, error) {
	return s.shift(ctx, at, reason, func(c *patra.Control, now patra.Instant) { down(c, now, of, reason) })
}

// RaiseConcurrency takes back as many steps as there was quiet time for.
func (s *Store) RaiseConcurrency(ctx context.Context, at patra.WorkScope) (patra.ControlChange, error) {
	return s.shift(ctx, at, "QUIET", func(c *patra.Control, now patra.Instant) {
		if c.State == patra.Limited {
			setLimit(c, c.Limit().Up(now))
		}
	})
}

func down(c *patra.Control, now patra.Instant, of int64, reason string) {
	if of <= 1 {
		return
	}
	setLimit(c, c.Limit().Down(now, of))
	c.Reason, c.Actor = reason, "executor"
}

func (s *Store) shift(ctx context.Context, at patra.WorkScope, reason string, change func(*patra.Control, patra.Instant)) (ch patra.ControlChange, err error) {
	err = s.write(ctx, "move limit", func(t *tx) error {
		m, err := t.updateControl(at.PartitionTarget(), patra.KindLimit, change)
		if ch = m.change(); err != nil || !m.changed() {
			return err
		}
		was, is := m.was.Limit(), m.is.Limit()
		if was.At == is.At {
			return nil
		}
		action := patra.HealDownshift
		if is.At == 0 || (was.At != 0 && is.At > was.At) {
			action = patra.HealUpshift
		}
		ch.Healing, err = t.writeHealing(at, m, action, reason, map[string]any{"from": was.At, "to": is.At, "of": max(was.Of, is.Of), "until": m.is.Until})
		return err
	})
	return ch, err
}
