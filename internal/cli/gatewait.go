package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"patra"
	"patra/internal/source"
	"patra/internal/store"
)

// gateWait is why and until when the gate of a provider holds requests back.
type gateWait struct {
	Code  string        `json:"code"` // COOLDOWN, QUOTA, CONCURRENCY or GATE
	Key   string        `json:"key"`
	Until patra.Instant `json:"until,omitzero"` // 0: nobody can say
	Text  string        `json:"text"`           // a whole sentence
	view  gateView
}

// longQueue is how far ahead requests must be charged before the gate is what a task waits for.
const longQueue = time.Second

// gateOf is what the gate that all processes share holds back of a task; nil is nothing. A task asks under the keys of
// its own snapshot, at the address that it was planned for.
func (a *app) gateOf(ctx context.Context, s *store.Store, task patra.Task) (*gateWait, error) {
	sharers, err := a.sharersOf(ctx, s, task)
	if err != nil {
		return nil, err
	}
	return a.gateHolds(ctx, s, sharers)
}

// gateHolds is what the gate holds back of requests to some endpoints; nil is nothing.
func (a *app) gateHolds(ctx context.Context, s *store.Store, sharers []source.RateKeyMember) (*gateWait, error) {
	ring := gateKeyIndex{}
	for _, x := range sharers {
		ring.add(x)
	}
	states, clock, err := s.AllGates(ctx)
	if err != nil {
		return nil, err
	}
	queues, err := s.Queues(ctx)
	if err != nil {
		return nil, err
	}
	quotas, err := s.Quotas(ctx)
	if err != nil {
		return nil, err
	}
	var found []gateWait
	for _, k := range states {
		if ring[k.Key] == nil {
			continue
		}
		v := viewOf(ring[k.Key], k.RateState, true, clock, now())
		v.count(queues, quotas, now())
		if v.CooldownUntil != 0 {
			if v.Changes, err = s.GateChanges(ctx, k.Key, 5); err != nil {
				return nil, err
			}
			v.CooldownBy = cooldownBy(v.Changes, v.cooldown)
		}
		if w, ok := v.blockReason(now()); ok {
			found = append(found, w)
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	worst := slices.MaxFunc(found, func(x, y gateWait) int { return gateRank[x.Code] - gateRank[y.Code] })
	return &worst, nil
}

// gateRank: what lasts longest is said first.
var gateRank = map[string]int{patra.WaitGate: 1, patra.WaitConcurrency: 2, patra.WaitCooldown: 3, patra.WaitQuota: 4}

// sharersOf are the endpoints that a task asks, as it was planned.
func (a *app) sharersOf(ctx context.Context, s *store.Store, task patra.Task) ([]source.RateKeyMember, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	plans, err := s.Plans(ctx, store.Filter{Plan: task.PlanID, Limit: 1})
	if err != nil || len(plans) == 0 {
		return nil, err
	}
	body, err := s.Snapshot(ctx, plans[0].Spec)
	if err != nil {
		return nil, err
	}
	spec, err := source.FromSnapshot(plans[0].Spec, body)
	if err != nil {
		return nil, err
	}
	return spec.Sharers(a.have, plans[0].BaseURL, source.Vars{Contact: cfg.Contact, Version: a.version}), nil
}

// blockReason says why a key lets nobody through now.
func (v gateView) blockReason(now patra.Instant) (w gateWait, yes bool) {
	w = gateWait{Key: v.Key, view: v}
	say := func(code string, until patra.Instant, format string, args ...any) (gateWait, bool) {
		w.Code, w.Until, w.Text = code, until, fmt.Sprintf(format, args...)
		return w, true
	}
	for _, q := range v.Quotas {
		if q.usedUp() {
			return say(patra.WaitQuota, q.Again, "%s: %s", v.Key, q.text())
		}
	}
	switch {
	case v.CooldownUntil != 0 && v.CooldownBy != nil:
		return say(patra.WaitCooldown, v.CooldownUntil, "Nobody sends to %s until %s: %s said so%s.", v.Key, seconds(v.CooldownUntil), v.CooldownBy.Actor, throttleText(v.CooldownBy.Reason))
	case v.CooldownUntil != 0:
		return say(patra.WaitCooldown, v.CooldownUntil, "%s asked to be left alone until %s.", v.Key, seconds(v.CooldownUntil))
	case v.Concurrency > 0 && v.OnTheWay >= v.Concurrency:
		return say(patra.WaitConcurrency, 0, "%d of %d requests are on their way to %s; the next one leaves when one of them is back.", v.OnTheWay, v.Concurrency, v.Key)
	case v.Ahead > longQueue.Seconds():
		wait := time.Duration(v.Ahead * float64(time.Second))
		return say(patra.WaitGate, now.Add(wait), "All that %s permits is given out (%s a second); about %s under this key, and the next turn comes in about %s, at %s.",
			v.Key, rateText(v.PerSecond), counted(v.Tasks.Waiting+v.Tasks.Running, "waits", "wait"), roughDuration(wait), clockTime(now.Add(wait)))
	}
	return gateWait{}, false
}
