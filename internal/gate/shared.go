package gate

import (
	"context"
	"crypto/rand"
	"math"
	"sync"
	"time"

	"patra"
)

// Shared is a gate whose state is kept in rows, so that all processes with the same rows have one gate. It is safe for
// concurrent use.
type Shared struct {
	rows    Rows
	own     Rows         // the rows that are never lent: slots are counted there
	ledger  *quotaLedger // of quotas; nil is none
	ahead   bool         // grants may be taken before somebody asks for them
	process string       // who we are among those who share the rows

	mu    sync.Mutex
	desks map[waitQueue]*permitCache
	heard map[string]*answers         // what came back since it was last written down
	told  map[string]advertisedLimits // what providers say about their limits, as far as we know
	ended map[string]int64            // how often a person ended a cooldown, as far as we know
}

// waitQueue is where requests of one cost queue at one limit.
type waitQueue struct {
	patra.RateLimit
	cost int
}

// NewShared makes the gate of one process over rows that others use too.
func NewShared(rows Rows, opts ...Option) *Shared { return newShared(rows, true, opts...) }

func newShared(rows Rows, ahead bool, opts ...Option) *Shared {
	g := &Shared{rows: rows, own: rows, ahead: ahead, process: rand.Text(), desks: map[waitQueue]*permitCache{}, heard: map[string]*answers{}, told: map[string]advertisedLimits{}, ended: map[string]int64{}}
	if l, ok := rows.(*LeasedRows); ok {
		g.own = l.ledger
	}
	for _, o := range opts {
		o(g)
	}
	return g
}

// MaxLateness is how much later than its moment a grant may be used.
func (g *Shared) MaxLateness(l patra.RateLimit) time.Duration { return PaceOf(l).Patience() }

// Reserve charges one request to the limit and tells how long to wait before it may be sent. If it took long to be heard,
// the moment may have passed already; then the wait is negative. A patra.ThrottledError charges nothing.
func (g *Shared) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	d := g.desk(waitQueue{l, max(cost, 1)})
	d.asking.Add(1)
	defer d.asking.Add(-1)
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	defer func() { <-d.turn }()
	at, ok := d.acquire(time.Now())
	if !ok {
		if wait := d.notYet(); wait > 0 {
			return 0, &patra.ThrottledError{Wait: wait}
		}
		var err error
		if at, err = g.refill(ctx, d); err != nil {
			return 0, err
		}
	}
	return time.Until(at), nil
}

// tries bounds how often grants are thrown away because the rows answered so slowly that they are old already.
const tries = 3

// refill takes grants for those who ask, and some more if they will be asked for soon. It gives the first of them.
func (g *Shared) refill(ctx context.Context, d *permitCache) (time.Time, error) {
	for try := 1; ; try++ {
		var lease []time.Time
		var took time.Duration
		var read time.Time
		var ended int64
		err := g.rows.UpdateGateState(ctx, d.Key, func(now patra.Instant, reading time.Duration, was patra.RateState) patra.RateState {
			read, took, ended = time.Now(), reading, was.Ended
			var at []patra.Instant
			at, was = d.charge(now, was)
			lease = lease[:0]
			for _, m := range at {
				lease = append(lease, read.Add(time.Duration(m-now)*time.Microsecond))
			}
			g.noteTempo(d.Key, was.Tempo)
			g.noteAdvertised(d.Key, was)
			return was
		})
		if err != nil {
			return time.Time{}, err
		}
		done := time.Now()
		d.committed(done.Sub(read))
		if g.noteEnded(d.Key, ended) {
			g.discardPermits(d.Key)
		}
		if len(lease) == 0 {
			return time.Time{}, &patra.ThrottledError{Wait: d.notYet()}
		}
		// What nobody knows exactly enough is nobody's: the moment lies somewhere within the reading of the clock.
		if try == tries || took <= d.pace.Slack/8 && done.Sub(lease[0]) <= d.patience()/2 {
			d.put(lease[1:], done)
			if g.CooldownEpoch(d.Key) > ended { // whoever gave them did not know
				d.clear()
				return time.Time{}, &patra.ThrottledError{Wait: askAgain}
			}
			return lease[0], nil
		}
	}
}

// CooldownRemaining tells how much of a cooldown is left, for one who had a grant before it began.
func (g *Shared) CooldownRemaining(ctx context.Context, key string) (time.Duration, error) {
	is, now, err := g.rows.GateState(ctx, key)
	if err != nil {
		return 0, err
	}
	left := max(time.Duration(is.Cooldown-now)*time.Microsecond, 0)
	if g.noteEnded(key, is.Ended) || left > 0 {
		g.discardPermits(key)
	}
	return left, nil
}

// CooldownEpoch is how often a person ended a cooldown of a key, as far as Remaining and Reserve were told. Whoever sees after
// Remaining that this is more than it was before Reserve has a grant that is void.
func (g *Shared) CooldownEpoch(key string) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended[key]
}

// noteEnded remembers how often a person ended a cooldown, and reports whether that is news: grants that were taken before
// are nobody's then.
func (g *Shared) noteEnded(key string, n int64) (news bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	news = n > g.ended[key]
	g.ended[key] = max(n, g.ended[key])
	return news
}

// Cooldown keeps everybody from sending for a while. It only ever extends.
func (g *Shared) Cooldown(ctx context.Context, key string, wait time.Duration) error {
	defer g.discardPermits(key)
	return g.rows.UpdateGateState(ctx, key, func(now patra.Instant, _ time.Duration, was patra.RateState) patra.RateState {
		was.Cooldown = max(was.Cooldown, now.Add(wait))
		return was
	})
}

// countEvery is how often an answer is counted while we are below the limit. Otherwise answers cost nothing.
const countEvery = 250 * time.Millisecond

// signOf is what a status says, and what the provider asked for with it; ok is false if it says nothing.
func signOf(status int, retryAfter time.Duration) (s Feedback, ok bool) {
	switch {
	case status == 200:
		return Answered, true
	case status == 429:
		return Refused, true
	case retryAfter > 0 && status >= 500:
		return Unavailable, true
	case status == 0, status >= 500:
		return Failed, true
	}
	return Answered, false
}

// Report tells how the provider answered, and how long it wants to be left alone. A refusal slows everybody down, and
// answers after it bring the tempo back. An ordinary answer costs nothing.
func (g *Shared) Report(ctx context.Context, l patra.RateLimit, a patra.RateFeedback) error {
	if err := g.ledger.applyReport(ctx, l, a.Told.Quota); err != nil {
		return err
	}
	sign, ok := signOf(a.Status, a.RetryAfter)
	answered := 0
	if ok {
		answered, ok = g.count(l.Key, sign, a.Took)
	}
	said, news := g.refreshState(l, a.Told)
	if !ok && a.RetryAfter <= 0 && !news {
		return nil
	}
	slower := news || a.RetryAfter > 0
	err := g.rows.UpdateGateState(ctx, l.Key, func(now patra.Instant, _ time.Duration, was patra.RateState) patra.RateState {
		if news {
			was.Told, was.ToldConcurrency = said.rate, said.concurrency
			g.noteAdvertised(l.Key, was)
		}
		if ok && was.Limit > 0 {
			rate := was.Rate()
			for range answered {
				was.Tempo.Trial = noted(was.Tempo.Trial, Answered, now)
			}
			was.Tempo = Adapt(was.Tempo, was.Permitted(), sign, now.Add(-a.Took), now)
			slower = slower || was.Rate() < rate
		}
		if a.RetryAfter > 0 {
			was.Cooldown = max(was.Cooldown, now.Add(a.RetryAfter))
		}
		g.noteTempo(l.Key, was.Tempo)
		return was
	})
	if slower || err != nil {
		g.discardPermits(l.Key)
	}
	return err
}

// answers are those under a key that nobody has written down.
type answers struct {
	n       int
	counted time.Time // when the last ones were
	slow    bool      // the key is below its limit
	refused patra.Instant
	since   time.Time // when we heard of the last refusal; what left before it says nothing
}

// count keeps an answer until it is worth a write, and gives those that were kept when it is.
func (g *Shared) count(key string, s Feedback, took time.Duration) (kept int, now bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.answersOf(key)
	if s == Answered && (!k.slow || time.Since(k.counted) < countEvery) {
		if time.Since(k.since) > took {
			k.n = min(k.n+1, trialWindow)
		}
		return 0, false
	}
	kept, k.n, k.counted = k.n, 0, time.Now()
	return kept, true
}

func (g *Shared) answersOf(key string) *answers {
	if g.heard[key] == nil {
		g.heard[key] = &answers{}
	}
	return g.heard[key]
}

func (g *Shared) noteTempo(key string, t patra.AdaptiveRate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.answersOf(key)
	if t.RefusedAt != k.refused {
		k.n, k.refused, k.since = 0, t.RefusedAt, time.Now()
	}
	if k.slow != (t.Rate > 0) {
		k.slow, k.counted = t.Rate > 0, time.Time{}
	}
}

func (g *Shared) desk(l waitQueue) *permitCache {
	g.mu.Lock()
	defer g.mu.Unlock()
	d, ok := g.desks[l]
	if !ok {
		d = &permitCache{RateLimit: l.RateLimit, cost: l.cost, pace: PaceOf(l.RateLimit), ahead: g.ahead, process: g.process, turn: make(chan struct{}, 1)}
		g.desks[l] = d
	}
	return d
}

// discardPermits throws away the grants that were taken before a cooldown.
func (g *Shared) discardPermits(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for l, d := range g.desks {
		if l.Key == key {
			d.clear()
		}
	}
}

// milli is a rate as rows keep it.
func milli(perSecond float64) int64 {
	return int64(max(1, min(math.Round(perSecond*1000), 1e12)))
}
