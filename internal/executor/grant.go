package executor

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"patra"
	"patra/internal/source"
)

// grants are what a wire holds of the gate. Their moments are times with the reading of a clock that nobody sets, so that
// a corrected wall clock sends nothing early.
type grants struct {
	mu    sync.Mutex
	given map[patra.Instant]turn // by the moment that is written down; still to be waited for
}

// turn is what the gate gave: nothing, the moment of a grant, or one at which to ask for a grant again.
type turn struct {
	at      time.Time
	granted bool
	ended   int64 // how many cooldowns people had ended before
}

func newGrants() *grants { return &grants{given: map[patra.Instant]turn{}} }

func (g *grants) keep(name patra.Instant, t turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.given[name] = t
}

func (g *grants) take(name patra.Instant) turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.given[name]
	delete(g.given, name)
	return t
}

// toll is what a request has to pay before it leaves.
type toll struct {
	patra.RateLimit
	cost      int
	operation patra.Operation
}

// slotLasts is how long a slot is kept without a sign of life: nobody waits longer than that for one who died.
const slotLasts = 30 * time.Second

func tollOf(spec *source.Spec, l patra.RateLimit) toll {
	return toll{RateLimit: l, cost: spec.Cost(), operation: spec.Operation}
}

// toll is what bounds the requests of a spec, from where we are: with a key there may be another rate.
func (w wire) toll(spec *source.Spec) toll {
	return tollOf(spec, spec.Limit(spec.Auth.Rate.PerSecond > 0 && w.credentials.has(spec.Auth), w.address(spec)))
}

// address is where the requests of a spec go.
func (w wire) address(spec *source.Spec) string { return cmp.Or(w.base, spec.Address(w.vars)) }

// grant is a request's way through the gate: under which key and when it was charged, and how long it waits from then.
type grant struct {
	key  string
	at   patra.Instant
	wait time.Duration
}

// reserve charges one request to the gate, or learns when to ask again.
func (w wire) reserve(ctx context.Context, t toll) (grant, error) {
	ended := w.gate.Ended(t.Key)
	wait, err := w.gate.Reserve(ctx, t.RateLimit, t.cost)
	later, postponed := errors.AsType[*patra.NotYet](err)
	if postponed {
		wait, err = later.Wait, nil
	}
	if err != nil {
		return grant{}, err
	}
	now := time.Now()
	moment := now.Add(wait)
	g := grant{t.Key, patra.InstantOf(now), (wait + time.Microsecond - 1).Truncate(time.Microsecond)}
	if g.wait < 0 { // it took a while to be heard
		g.at, g.wait = g.at.Add(g.wait), 0
	}
	w.grants.keep(g.moment(), turn{moment, !postponed, ended})
	return g, nil
}

// moment is when the request may be sent.
func (g grant) moment() patra.Instant { return g.at.Add(g.wait) }

// pass is a request's way out: its grant, waited for, and its slot among those that are on their way. It is also the last
// look at the clock, when a connection is ready to carry the request: making it may have taken longer than the grant is
// good for, and the process may have been stopped since.
type pass struct {
	wire
	toll
	at   time.Time     // of the grant
	id   string        // of its slot
	in   bool          // it may have the slot
	seen time.Time     // when the slot was last known to be its own
	paid time.Time     // when it was charged to the quotas
	used bool          // the request was let out
	left patra.Instant // when it was last let out
	err  error         // the gate failed: the request has not left
}

// await waits until a grant, and gives the pass for one request. Whoever has it must return it.
func (w wire) await(ctx context.Context, t toll, granted patra.Instant) (*pass, error) {
	p := &pass{wire: w, toll: t, id: rand.Text()}
	if err := p.wait(ctx, w.grants.take(granted)); err != nil {
		p.giveBack()
		return nil, err
	}
	return p, nil
}

// wait waits for a grant that can be used. If a cooldown began meanwhile, the grant is void and a new one is asked for: all
// who waited would otherwise come at its very end. If we are late, it is void too: we would come too close to those who
// are in time.
func (p *pass) wait(ctx context.Context, t turn) error {
	for voided := 0; ; {
		if t.granted {
			void, err := p.waitFor(ctx, t)
			if err != nil {
				return err
			}
			if !void {
				if lateness(t.at) <= p.patience(voided) {
					p.at = t.at
					return nil
				}
				voided++
			}
		} else if err := p.sleep(ctx, time.Until(t.at)); err != nil {
			return err
		}
		g, err := p.reserve(ctx, p.toll)
		if err != nil {
			return err
		}
		t = p.grants.take(g.moment())
	}
}

// lookBefore is how long before its turn a request looks for a cooldown, so that the look does not make it late. Whatever
// is on its way to a provider cannot be called back for longer than that.
const lookBefore = 20 * time.Millisecond

// waitFor waits for the moment of a grant, and tells whether it is void: because there is a cooldown shortly before it, or
// because a person has ended one since.
func (p *pass) waitFor(ctx context.Context, t turn) (void bool, err error) {
	if void, err = p.waitOut(ctx, t); err != nil || void {
		return void, err
	}
	if err := p.sleep(ctx, time.Until(t.at)-lookBefore); err != nil {
		return false, err
	}
	if err := p.enter(ctx); err != nil {
		return false, err
	}
	if left, void, err := p.look(ctx, t); err != nil || void || left > 0 {
		return true, err
	}
	return false, p.sleep(ctx, time.Until(t.at))
}

// look tells how much of a cooldown is left, and whether a person has ended one since a grant was given: then others are
// let through already, and the grant is nobody's.
func (p *pass) look(ctx context.Context, t turn) (left time.Duration, void bool, err error) {
	left, err = p.gate.Remaining(ctx, p.Key)
	return left, p.gate.Ended(p.Key) != t.ended, err
}

const (
	// lookEvery is how often whoever waits in a cooldown looks whether it was ended. Only a person does that.
	lookEvery = time.Second
	// longWait is when that is worth it: a cooldown that is nearly over is not ended by anybody.
	longWait = 2 * time.Second
)

// waitOut waits in a cooldown until a moment is near, and tells whether the cooldown was ended before its time.
func (p *pass) waitOut(ctx context.Context, t turn) (void bool, err error) {
	for time.Until(t.at) > longWait {
		left, void, err := p.look(ctx, t)
		if err != nil || void || left == 0 {
			return void, err
		}
		if err := p.sleep(ctx, lookEvery); err != nil {
			return false, err
		}
	}
	return false, nil
}

// enter gets the slot and pays the quotas, once for each request. Whoever waits long for it is late, and takes another
// grant: a provider that answers so slowly leaves some of its rate unused anyway. After a long wait, for a cooldown perhaps,
// the slot may be somebody else's, and what was paid may have been for yesterday.
func (p *pass) enter(ctx context.Context) error {
	for rest := time.Duration(0); ; {
		asked, cost := time.Now(), p.cost
		if p.in && (p.Quota.IsZero() || lateness(p.paid) <= patra.QuotaGrace/2) {
			cost = 0
		}
		if p.in && cost == 0 && lateness(p.seen) <= slotLasts/3 {
			return nil
		}
		wait, err := p.gate.Enter(ctx, p.RateLimit, patra.Entry{ID: p.id, Cost: cost, Operation: p.operation, Lasts: slotLasts})
		if err != nil {
			return err
		}
		if wait == 0 {
			p.in, p.seen = true, asked
			if cost > 0 {
				p.paid = asked
			}
			return nil
		}
		rest = min(max(2*rest, wait), slotRest)
		if err := p.sleep(ctx, rest); err != nil {
			return err
		}
	}
}

// slotRest is the longest time between two looks for a slot.
const slotRest = 500 * time.Millisecond

// stay keeps the slot while a request is on its way, until stop is called. It is paid for already.
func (p *pass) stay(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(slotLasts / 3):
				// A sign that is lost is followed by another one; and the answer is worth more than the slot.
				_, _ = p.gate.Enter(ctx, p.RateLimit, patra.Entry{ID: p.id, Operation: p.operation, Lasts: slotLasts})
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// giveBack frees the slot. If that cannot be written down, it is free after a while.
func (p *pass) giveBack() {
	if !p.in {
		return
	}
	_ = p.gate.Leave(context.Background(), p.RateLimit, p.id)
	p.in = false
}

// patience is how late a grant may be used. A machine that cannot be as punctual as that gets more of it after each
// grant that it missed: one that never sends would keep to every limit.
func (p *pass) patience(voided int) time.Duration {
	const step = 2 * time.Millisecond
	usual := p.gate.Patience(p.RateLimit)
	if voided == 0 {
		return usual
	}
	return max(usual, step<<min(voided, 9))
}

// lateness is how long ago a moment was, by the clock that nobody sets or by that on the wall: the first one stands still
// while a machine sleeps.
func lateness(at time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(at), now.Round(0).Sub(at.Round(0)))
}

// inTime sees to it that the grant can still be used.
func (p *pass) inTime(ctx context.Context) error {
	if lateness(p.at) <= p.patience(0) {
		return nil
	}
	return p.wait(ctx, turn{})
}

// again pays for the same request once more: the transport carries it a second time, if a connection breaks before it was
// used, and that is a request of its own.
func (p *pass) again(ctx context.Context) error {
	p.giveBack()
	return p.wait(ctx, turn{})
}

// guard makes a request pass the door.
func (p *pass) guard(ctx context.Context, req *http.Request) *http.Request {
	return req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		switch {
		case p.err != nil:
		case p.used:
			p.err = p.again(ctx)
		default:
			p.err = p.inTime(ctx)
		}
		p.used, p.left = true, patra.InstantOf(time.Now())
		if p.err != nil {
			_ = c.Conn.Close() // nothing can be written to it, and nothing more is there to be said
		}
	}}))
}
