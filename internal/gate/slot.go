package gate

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"patra"
)

const (
	// slotRest is how long somebody waits before looking for a free slot again. What comes back frees one at any time, and
	// nobody is told.
	slotRest = 50 * time.Millisecond
)

// AcquireSlot takes a slot for a request that is about to leave and charges it to the quotas, or tells how long to wait before
// asking again. The slot is free again after Leave, or when its time is over: a process that died says nothing. What was
// charged stays so. A quota that has no room is a *patra.QuotaError, and then there is no slot either. Where nothing but
// the rate bounds requests, it costs nothing.
func (g *Shared) AcquireSlot(ctx context.Context, l patra.RateLimit, e patra.InFlightRequest) (wait time.Duration, err error) {
	if wait, err = g.occupy(ctx, l, e); err != nil || wait > 0 {
		return wait, err
	}
	if err := g.ledger.charge(ctx, l, e); err != nil {
		_ = g.ReleaseSlot(context.WithoutCancel(ctx), l, e.ID) // else it is free after a while
		return 0, err
	}
	return 0, nil
}

// occupy takes the slot.
func (g *Shared) occupy(ctx context.Context, l patra.RateLimit, e patra.InFlightRequest) (wait time.Duration, err error) {
	if !g.slotted(l) {
		return 0, nil
	}
	err = g.own.UpdateGateState(ctx, l.Key, func(now patra.Instant, _ time.Duration, is patra.RateState) patra.RateState {
		wait = 0
		var ok bool
		if is.Slots, ok = TakeSlot(is.Slots, is.MaxInFlight(l.Concurrency), patra.Slot{ID: e.ID, Until: now.Add(e.Lasts)}, now); !ok {
			wait = slotRest + rand.N(slotRest)
		}
		g.noteAdvertised(l.Key, is)
		return is
	})
	return wait, err
}

// ReleaseSlot frees the slot of a request that is back.
func (g *Shared) ReleaseSlot(ctx context.Context, l patra.RateLimit, id string) error {
	if !g.slotted(l) {
		return nil
	}
	return g.own.UpdateGateState(ctx, l.Key, func(_ patra.Instant, _ time.Duration, is patra.RateState) patra.RateState {
		is.Slots = slices.DeleteFunc(slices.Clone(is.Slots), func(s patra.Slot) bool { return s.ID == id })
		return is
	})
}

// TakeSlot takes one of so many slots, if one is free. Whoever has one already keeps it.
func TakeSlot(taken []patra.Slot, of int, own patra.Slot, now patra.Instant) ([]patra.Slot, bool) {
	taken = slices.DeleteFunc(slices.Clone(taken), func(s patra.Slot) bool { return s.ID == own.ID || s.Until <= now })
	if of > 0 && len(taken) >= of {
		return taken, false
	}
	return append(taken, own), true
}

// slotted reports whether requests of a limit are counted while they are on their way.
func (g *Shared) slotted(l patra.RateLimit) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return l.Concurrency > 0 || g.told[l.Key].concurrency > 0
}
