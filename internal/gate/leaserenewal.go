package gate

import (
	"context"
	"crypto/rand"
	"time"

	"patra"
)

// What a turn in the ledger came to.
const (
	turned  = iota // the turn was taken there
	granted        // it is lent: the turn is to be taken at the keeper
)

// syncLedger takes the row of the ledger, and either takes the turn there or lends the key, prolongs the loan or finds that
// somebody did. A loan whose keeper failed is called back, and the turn taken here.
func (l *LeasedRows) syncLedger(ctx context.Context, k *leasedKey, need leaseRequest, turn func(patra.Instant, time.Duration, patra.RateState) patra.RateState) (served bool, err error) {
	well, cause := l.probe(ctx, k, need.cause)
	var h clockReading
	var is patra.RateState
	var outcome int
	err = l.ledger.UpdateGateState(ctx, k.key, func(now patra.Instant, took time.Duration, was patra.RateState) patra.RateState {
		read := time.Now()
		h = clockReading{read.Add(-took), read, now}
		is, outcome = was, granted
		failed := need.cause != nil && was.Loan.Name == need.name
		switch {
		case was.Loan.Active() && failed:
			is.Loan.RecalledAt, outcome = now, turned
		case was.Loan.Active():
			is, outcome, cause = l.prolong(ctx, k, h, is, need)
		case well && (was.Loan.RecalledAt == 0 || now >= was.Loan.RecalledAt.Add(l.terms.HoldDown)):
			is, outcome, cause = l.lend(ctx, k.key, h, is)
		default:
			outcome = turned
		}
		if outcome == turned {
			is = turn(now, took+time.Since(read), is) // the keeper may have kept us waiting
		}
		return is
	})
	if err != nil {
		return false, err
	}
	k.applyLedger(h, is, true, l.terms)
	if outcome == turned {
		k.notifyChange(l.notice, false, cause)
	}
	return outcome == turned, nil
}

// prolong makes a loan last longer where it has to. One that is over may be of a time that the keeper has forgotten, for
// good reasons; then it is lent anew.
func (l *LeasedRows) prolong(ctx context.Context, k *leasedKey, h clockReading, is patra.RateState, need leaseRequest) (patra.RateState, int, error) {
	if is.Loan.Until <= h.now {
		there, err := l.find(ctx, at(k.key, is.Loan.Name))
		if err == nil && there.Loan.Name != is.Loan.Name {
			return l.lend(ctx, k.key, h, is)
		}
		if err != nil {
			is.Loan.RecalledAt = h.now
			return is, turned, err
		}
	}
	wait := max(need.until.Sub(h.asked), 0)
	if lasts := is.Loan.Until.Sub(h.now); lasts < l.terms.Span*3/4 || wait > 0 {
		// Somewhat more than is needed: we count a part of it as lost to drift.
		is.Loan.Until = max(is.Loan.Until, h.now.Add(min(wait+wait/(drift-2)+need.spare, maxInterval.Sub(0))))
	}
	if s := k.last(); s.state.Loan.Name == is.Loan.Name { // for whoever looks, and for whoever goes on in the ledger
		moved := s.moved(h)
		is.Limit, is.Burst, is.Arrival, is.WarmSince = moved.Limit, moved.Burst, max(is.Arrival, moved.Arrival), moved.WarmSince
	}
	return is, granted, nil
}

func (k *leasedKey) last() stateReading {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.seen
}

// lend gives the state to the keeper, under a name that nobody ever used, and only then says so in the ledger. So a keeper
// that does not know a loan has lost it. If the ledger is not written after all, the keeper has a state that nobody asks
// for.
func (l *LeasedRows) lend(ctx context.Context, key string, h clockReading, is patra.RateState) (patra.RateState, int, error) {
	ctx, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	loan := patra.StateLease{Epoch: is.Loan.Epoch + 1, Name: rand.Text(), Until: max(is.Loan.Until, h.now.Add(l.terms.Span))}
	err := l.keeper.UpdateGateState(ctx, at(key, loan.Name), func(now patra.Instant, _ time.Duration, _ patra.RateState) patra.RateState {
		there := shifted(is, now-h.now)
		// Until the end of the loan before, others may have granted everything.
		there.Loan = patra.StateLease{Epoch: loan.Epoch, Name: loan.Name, Until: there.Loan.Until}
		return there
	})
	if err != nil {
		if is.Loan.Active() {
			is.Loan.RecalledAt = h.now
		}
		return is, turned, err
	}
	is.Loan = loan
	return is, granted, nil
}

// mostWait is how long the row of the ledger is held for the keeper.
const mostWait = 2 * redisTimeout

func (l *LeasedRows) find(ctx context.Context, key string) (patra.RateState, error) {
	ctx, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	is, _, err := l.keeper.GateState(ctx, key)
	return is, err
}

// probe looks whether the keeper is well enough to be lent something, before anybody's row is held for it. It does so now
// and then, and not soon after a loan was called back.
func (l *LeasedRows) probe(ctx context.Context, k *leasedKey, failed error) (well bool, cause error) {
	k.mu.Lock()
	v, again := k.is, k.probed.IsZero() || elapsed(k.probed) >= l.terms.Probe
	if failed != nil || v.loan.Active() || !again || time.Now().Before(v.lendable) {
		k.mu.Unlock()
		return false, failed
	}
	k.probed = time.Now()
	k.mu.Unlock()
	_, err := l.find(ctx, "probe")
	return err == nil, err
}
