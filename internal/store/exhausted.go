package store

import (
	"context"

	"patra"
)

// QuotaExhausted makes work wait for a quota that is used up, until it begins anew. Nobody has to end it. Of those who find it
// used up, the first is told of as a healing.
func (s *Store) QuotaExhausted(ctx context.Context, at patra.WorkScope, e patra.QuotaError) (change patra.ControlChange, err error) {
	err = s.write(ctx, "wait for the quota", func(t *tx) error {
		m, err := t.updateControl(e.Target(at), patra.KindQuota, func(c *patra.Control, now patra.Instant) {
			if c.State == patra.UsedUp && c.Until >= e.Again {
				return
			}
			c.State, c.Until, c.Reason, c.Actor = patra.UsedUp, e.Again, e.Error(), "executor"
			c.Detail.Quota, c.Detail.Since = &e, now
		})
		if change = m.change(); err != nil || !m.changed() {
			return err
		}
		change.Healing, err = t.writeHealing(at, m, patra.HealQuota, e.Window, map[string]any{"key": e.Key, "used": e.Used, "usable": e.Usable, "limit": e.Limit, "hard": e.Hard, "until": e.Again, "text": e.Error()})
		return err
	})
	return change, err
}
