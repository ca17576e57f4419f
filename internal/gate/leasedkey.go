package gate

import (
	"sync"
	"time"

	"patra"
)

// leasedKey is what this process knows of a key that may be lent.
type leasedKey struct {
	key  string
	turn chan struct{} // held by who takes a turn

	mu   sync.Mutex
	is   ledgerView
	seen stateReading // what the keeper was last left with
	// Whether the last word was that it is lent, and whether there was one.
	lent, said bool
	probed     time.Time // when it was last looked whether the keeper is well
}

// ledgerView is what the ledger said, in our own time.
type ledgerView struct {
	known    bool
	loan     patra.StateLease
	asked    time.Time // when the ledger was last asked
	ends     time.Time // no grant of the keeper may lie after it
	lendable time.Time // from when it may be lent again
	cooldown time.Time
	ended    int64 // how often a person ended one
	set      int64
	told     int64
	slots    int
	fresh    int // counts what the ledger said otherwise than before, and the keeper may not know
	taken    int // as much of it as the keeper knows
}

// clockReading is when the ledger's clock was read: it said now at some moment between asked and read.
type clockReading struct {
	asked, read time.Time
	now         patra.Instant
}

// drift is how much faster our clock may go than that of the ledger: a hundredth.
const drift = 100

// applyLedger notes what the ledger says. What is read without a lock may be older than what we know.
func (k *leasedKey) applyLedger(h clockReading, is patra.RateState, locked bool, terms LeaseTerms) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v := &k.is
	if v.known && !locked && (is.Loan.Epoch < v.loan.Epoch || is.Ended < v.ended) {
		return
	}
	if is.Ended > v.ended {
		v.ended, v.cooldown = is.Ended, time.Time{}
	}
	left := is.Loan.Until.Sub(h.now)
	ends := h.asked.Add(left - max(left, 0)/drift)
	if v.loan.Name == is.Loan.Name {
		if v.loan.RecalledAt > 0 && is.Loan.RecalledAt == 0 {
			return
		}
		if v.ends.After(ends) { // a loan only becomes longer
			ends = v.ends
		}
	}
	if !v.known || v.told != is.Told || v.slots != is.ToldConcurrency || v.loan.Name != is.Loan.Name {
		v.fresh++
	}
	v.known, v.loan, v.asked, v.ends = true, is.Loan, h.asked, ends
	v.told, v.slots, v.set = is.Told, is.ToldConcurrency, is.Set
	if until := h.read.Add(is.Cooldown.Sub(h.now)); is.Cooldown > h.now && until.After(v.cooldown) {
		v.cooldown = until
	}
	v.lendable = time.Time{}
	if is.Loan.RecalledAt > 0 {
		v.lendable = h.read.Add(is.Loan.RecalledAt.Add(terms.HoldDown).Sub(h.now))
	}
}

func (k *leasedKey) view() ledgerView {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.is
}

// noteCached notes what the keeper was left with, and that it knows what the ledger said until then.
func (k *leasedKey) noteCached(s stateReading, v ledgerView) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen, k.is.taken = s, max(k.is.taken, v.fresh)
}

// notifyChange says whether the key is lent, if that is news. Lending for the first time is none.
func (k *leasedKey) notifyChange(notice func(BackendChange), lent bool, cause error) {
	k.mu.Lock()
	news := k.said && lent != k.lent || !k.said && !lent
	k.lent, k.said = lent, true
	k.mu.Unlock()
	if news {
		notice(BackendChange{k.key, lent, cause})
	}
}

// left is how long a loan lasts: by the clock that nobody sets, and by the one on the wall, as the first one stands still
// while a machine sleeps.
func (v ledgerView) left(now time.Time) time.Duration {
	return min(v.ends.Sub(now), v.ends.Round(0).Sub(now.Round(0)))
}

// elapsed is how long ago a moment was, by either clock.
func elapsed(at time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(at), now.Round(0).Sub(at.Round(0)))
}

// good reports whether a turn may be taken at the keeper: the loan lasts, and up to the moment that is needed.
func (v ledgerView) good(until time.Time, terms LeaseTerms) bool {
	return v.loan.Active() && v.left(time.Now()) > terms.Span/2 && !until.After(v.ends)
}

// news puts what the ledger said into the state of the keeper: a later cooldown, and what a person or the provider set.
func (v ledgerView) news(is patra.RateState, now patra.Instant, took time.Duration, read time.Time) patra.RateState {
	if left := v.cooldown.Sub(read) + took; !v.cooldown.IsZero() && left > 0 {
		is.Cooldown = max(is.Cooldown, now.Add(left))
	}
	is.Set = v.set
	if v.fresh > v.taken {
		is.Told, is.ToldConcurrency = v.told, v.slots
	}
	return is
}

// stateReading is a state with when it was seen: by the clock of who keeps it, and by ours, at or after that.
type stateReading struct {
	state patra.RateState
	now   patra.Instant
	read  time.Time
}

// moved is the state by another clock, which was read later. Its moments may come out later than they are, never earlier.
func (s stateReading) moved(h clockReading) patra.RateState {
	return shifted(s.state, h.now-s.now-patra.Instant(max(h.asked.Sub(s.read), 0)/time.Microsecond))
}

// shifted moves all moments of a state. Slots stay in the ledger.
func shifted(is patra.RateState, by patra.Instant) patra.RateState {
	for _, at := range []*patra.Instant{&is.Arrival, &is.Cooldown, &is.Tempo.AdaptedAt, &is.Tempo.RefusedAt, &is.Tempo.Trial.Until, &is.Tempo.Trial.Limit, &is.WarmSince, &is.ByNew, &is.Loan.Until, &is.Early.From, &is.Early.Until} {
		if *at > 0 {
			*at += by
		}
	}
	is.Slots = nil
	return is
}
