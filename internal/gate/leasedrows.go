package gate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"patra"
)

// LeasedRows are rows of a ledger that are lent, key by key and for a few seconds at a time, to a keeper who is faster and may
// lose its memory at any time. The ledger is what counts: it says how long the keeper may give grants, and gives none
// before that moment is over. See docs/gate.md for why the promise holds then. It is safe for concurrent use.
type LeasedRows struct {
	ledger Rows
	keeper Rows
	terms  LeaseTerms
	notice func(BackendChange)

	mu   sync.Mutex
	keys map[string]*leasedKey
}

// LeaseTerms are the times of lending.
type LeaseTerms struct {
	Span     time.Duration // how long a loan lasts if nobody prolongs it: what is lost when the keeper fails
	HoldDown time.Duration // after a loan was called back nothing is lent for so long
	Probe    time.Duration // how often it is looked whether the keeper is well again
}

// DefaultLeaseTerms are those for a harvest.
func DefaultLeaseTerms() LeaseTerms {
	return LeaseTerms{Span: 4 * time.Second, HoldDown: time.Minute, Probe: 5 * time.Second}
}

// BackendChange is that grants of a key now come from the ledger, or from the keeper again.
type BackendChange struct {
	Key  string
	Lent bool
	Err  error // why not
}

// NewLent lends rows of the ledger to a keeper. notice is told of changes, and may be nil.
func NewLent(ledger, keeper Rows, terms LeaseTerms, notice func(BackendChange)) *LeasedRows {
	if notice == nil {
		notice = func(BackendChange) {}
	}
	return &LeasedRows{ledger: ledger, keeper: keeper, terms: terms, notice: notice, keys: map[string]*leasedKey{}}
}

func (l *LeasedRows) key(key string) *leasedKey {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.keys[key]
	if !ok {
		k = &leasedKey{key: key, turn: make(chan struct{}, 1)}
		l.keys[key] = k
	}
	return k
}

// GateState implements Rows. It asks the ledger, where every cooldown is, whoever wrote it down; and what it reads there
// counts for the next turn.
func (l *LeasedRows) GateState(ctx context.Context, key string) (patra.RateState, patra.Instant, error) {
	asked := time.Now()
	is, now, err := l.ledger.GateState(ctx, key)
	if err == nil {
		l.key(key).applyLedger(clockReading{asked, time.Now(), now}, is, false, l.terms)
	}
	return is, now, err
}

// rounds bounds how often a turn goes between the keeper and the ledger. Prolonging and calling back is enough once,
// unless others are always faster.
const rounds = 16

// errForgotten: the keeper answers, and knows nothing of the loan.
var errForgotten = errors.New("the state that was lent is not there any more")

// UpdateGateState implements Rows: at the keeper while the key is lent, else in the ledger.
func (l *LeasedRows) UpdateGateState(ctx context.Context, key string, turn func(patra.Instant, time.Duration, patra.RateState) patra.RateState) error {
	k := l.key(key)
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-k.turn }()
	need := leaseRequest{spare: l.terms.Span}
	for range rounds {
		if err := l.refresh(ctx, k); err != nil {
			return err
		}
		v := k.view()
		if need.cause == nil && v.good(need.until, l.terms) {
			until, err := l.updateCached(ctx, k, v, turn)
			if ctx.Err() != nil && err != nil {
				return context.Cause(ctx) // which is not the keeper's fault
			}
			if own, ok := errors.AsType[*ledgerError](err); ok {
				return own.error
			}
			if err == nil && until.IsZero() {
				k.notifyChange(l.notice, true, nil)
				return nil
			}
			if !need.until.IsZero() { // others were granted what we made room for
				need.spare *= 2
			}
			need.until, need.cause, need.name = until, err, v.loan.Name
			continue
		}
		served, err := l.syncLedger(ctx, k, need, turn)
		if err != nil || served {
			return err
		}
		need.cause = nil
	}
	return fmt.Errorf("the gate of %s: it is neither lent nor called back", key)
}

// leaseRequest is why the ledger has to be written: somebody needs a later moment than the loan permits, or the keeper failed.
type leaseRequest struct {
	until time.Time
	spare time.Duration // how much longer than that a loan is to last
	cause error
	name  string // of the loan that failed
}

// ledgerError is a failure of the ledger, after which nothing may be sent.
type ledgerError struct{ error }

// refresh reads the ledger if that is some time ago.
func (l *LeasedRows) refresh(ctx context.Context, k *leasedKey) error {
	if v := k.view(); v.known && (!v.loan.Active() || elapsed(v.asked) < l.terms.Span/2) {
		return nil
	}
	_, _, err := l.GateState(ctx, k.key)
	return err
}

// updateCached takes a turn at the keeper. If the loan does not last for the moment that is needed, nothing is changed, and the
// moment is told. What others must know when the keeper is gone is in the ledger before anybody goes on.
func (l *LeasedRows) updateCached(ctx context.Context, k *leasedKey, v ledgerView, turn func(patra.Instant, time.Duration, patra.RateState) patra.RateState) (until time.Time, err error) {
	var s stateReading
	var before patra.RateState
	forgotten := false
	err = l.keeper.UpdateGateState(ctx, at(k.key, v.loan.Name), func(now patra.Instant, took time.Duration, was patra.RateState) patra.RateState {
		until, s = time.Time{}, stateReading{}
		if forgotten = was.Loan.Name != v.loan.Name; forgotten {
			return was
		}
		read := time.Now()
		before = v.news(was, now, took, read)
		is := before
		is.Latest = now.Add(v.left(read))
		is = turn(now, took, is)
		if is.Wanted > 0 {
			until = read.Add(is.Wanted.Sub(now))
			return was
		}
		is.RateBounds = patra.RateBounds{}
		if !reflect.DeepEqual(is, was) {
			is.Loan.Turn++
		}
		s = stateReading{is, now, read}
		return is
	})
	switch {
	case err != nil:
		return time.Time{}, err
	case forgotten:
		return time.Time{}, errForgotten
	case !until.IsZero():
		return until, nil
	}
	k.noteCached(s, v)
	if grave(before, s.state) {
		if err := l.report(ctx, k.key, before, s); err != nil {
			return time.Time{}, &ledgerError{err}
		}
	}
	return time.Time{}, nil
}

// grave reports whether a turn changed what must not be lost with the keeper.
func grave(before, is patra.RateState) bool {
	before.Tempo.Trial, is.Tempo.Trial = patra.RateTrial{}, patra.RateTrial{} // it goes along with what it changes
	return is.Cooldown > before.Cooldown || is.Tempo != before.Tempo || is.Told != before.Told || is.ToldConcurrency != before.ToldConcurrency || is.Set != before.Set
}

// report writes what a turn at the keeper changed into the ledger. If somebody called the loan back meanwhile, the
// ledger knows better how fast we are, unless we know of a refusal.
func (l *LeasedRows) report(ctx context.Context, key string, before patra.RateState, s stateReading) error {
	return l.ledger.UpdateGateState(ctx, key, func(now patra.Instant, took time.Duration, was patra.RateState) patra.RateState {
		is := s.moved(clockReading{time.Now().Add(-took), time.Now(), now})
		if s.state.Cooldown > before.Cooldown {
			was.Cooldown = max(was.Cooldown, is.Cooldown)
		}
		runs := was.Loan.Name == is.Loan.Name && was.Loan.Active()
		switch {
		case runs && is.Loan.Turn > was.Loan.Turn:
			was.Loan.Turn = is.Loan.Turn
			was.Tempo, was.Told, was.ToldConcurrency, was.Set = is.Tempo, is.Told, is.ToldConcurrency, is.Set
			was.Limit, was.Burst = is.Limit, is.Burst
		case !runs && (is.Told != before.Told || is.ToldConcurrency != before.ToldConcurrency):
			was.Told, was.ToldConcurrency = is.Told, is.ToldConcurrency
			fallthrough
		default:
			if slow := is.Tempo.Rate; s.state.Tempo.RefusedAt != before.Tempo.RefusedAt && slow > 0 && (was.Tempo.Rate == 0 || slow < was.Tempo.Rate) {
				was.Tempo = is.Tempo
			}
		}
		return was
	})
}

// at is where the keeper has a loan. The name is of this loan alone, so neither another store nor a late write of a loan
// that failed can touch it.
func at(key, loan string) string { return key + ":" + loan }
