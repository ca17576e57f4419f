package executor

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"math"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"patra"
	"patra/internal/source"
)

// reservations are what a wire holds of the gate. Their moments are times with the reading of a clock that nobody sets, so that
// a corrected wall clock sends nothing early.
type reservations struct {
	mu    sync.Mutex
	given map[patra.Instant]reservation // by the moment that is written down; still to be waited for
}

// reservation is what the gate gave: nothing, the moment of a grant, or one at which to ask for a grant again.
type reservation struct {
	at      time.Time
	granted bool
	ended   int64         // how many cooldowns people had ended before
	delayed time.Duration // by how much the gate's answer came later than usual
}

func newGrants() *reservations { return &reservations{given: map[patra.Instant]reservation{}} }

func (g *reservations) put(name patra.Instant, t reservation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.given[name] = t
}

func (g *reservations) remove(name patra.Instant) reservation {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.given[name]
	delete(g.given, name)
	return t
}

// requestCost is what a request has to pay before it leaves.
type requestCost struct {
	patra.RateLimit
	cost      int
	operation patra.Operation
}

// slotLasts is how long a slot is kept without a sign of life: nobody waits longer than that for one who died.
const slotLasts = 30 * time.Second

func tollOf(spec *source.Spec, l patra.RateLimit) requestCost {
	return requestCost{RateLimit: l, cost: spec.Cost(), operation: spec.Operation}
}

// costOf is what bounds the requests of a spec, from where we are: with a key there may be another rate.
func (w transport) costOf(spec *source.Spec) requestCost {
	return tollOf(spec, spec.Limit(spec.Auth.Rate.PerSecond > 0 && w.credentials.has(spec.Auth), w.address(spec)))
}

// address is where the requests of a spec go.
func (w transport) address(spec *source.Spec) string { return cmp.Or(w.base, spec.Address(w.vars)) }

// gateCharge is a request's way through the gate: under which key and when it was charged, and how long it waits from then.
type gateCharge struct {
	key  string
	at   patra.Instant
	wait time.Duration
}

// reserve charges one request to the gate, or learns when to ask again.
func (w transport) reserve(ctx context.Context, t requestCost) (gateCharge, error) {
	ended := w.gate.CooldownEpoch(t.Key)
	asked := time.Now()
	wait, err := w.gate.Reserve(ctx, t.RateLimit, t.cost)
	later, postponed := errors.AsType[*patra.ThrottledError](err)
	if postponed {
		wait, err = later.Wait, nil
	}
	if err != nil {
		return gateCharge{}, err
	}
	now := time.Now()
	moment := now.Add(wait)
	g := gateCharge{t.Key, patra.InstantOf(now), (wait + time.Microsecond - 1).Truncate(time.Microsecond)}
	if g.wait < 0 { // it took a while to be heard
		g.at, g.wait = g.at.Add(g.wait), 0
	}
	w.grants.put(g.moment(), reservation{moment, !postponed, ended, max(0, now.Sub(asked)-usualReserve)})
	return g, nil
}

// usualReserve is how long a gate may take to answer. Its wait counts from a moment within that time; a process that was stopped
// meanwhile does not know when its turn was, and may be late by as much.
const usualReserve = 50 * time.Millisecond

// moment is when the request may be sent.
func (g gateCharge) moment() patra.Instant { return g.at.Add(g.wait) }

// permit is a request's way out: its grant, waited for, and its slot among those that are on their way. It is also the last
// look at the clock, when a connection is ready to carry the request: making it may have taken longer than the grant is
// good for, and the process may have been stopped since.
type permit struct {
	transport
	requestCost
	at   time.Time     // of the grant
	id   string        // of its slot
	in   bool          // it may have the slot
	seen time.Time     // when the slot was last known to be its own
	paid time.Time     // when it was charged to the quotas
	used bool          // the request was let out
	left patra.Instant // when it was last let out
	err  error         // the gate failed: the request has not left
}

// acquirePermit waits until a grant, and gives the pass for one request. Whoever has it must return it.
func (w transport) acquirePermit(ctx context.Context, t requestCost, granted patra.Instant) (*permit, error) {
	p := &permit{transport: w, requestCost: t, id: rand.Text()}
	if err := p.wait(ctx, w.grants.remove(granted)); err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

// wait waits for a grant that can be used. If a cooldown began meanwhile, the grant is void and a new one is asked for: all
// who waited would otherwise come at its very end. If we are late, it is void too: we would come too close to those who
// are in time.
func (p *permit) wait(ctx context.Context, t reservation) error {
	for voided := 0; ; {
		if t.granted {
			void, err := p.waitFor(ctx, t)
			if err != nil {
				return err
			}
			if !void {
				if lateness(t.at)+t.delayed <= p.patience(voided) {
					p.at = t.at
					return nil
				}
				voided++
			}
		} else if err := p.sleep(ctx, time.Until(t.at)); err != nil {
			return err
		}
		g, err := p.reserve(ctx, p.longerTurn(voided))
		if err != nil {
			return err
		}
		t = p.grants.remove(g.moment())
	}
}

// lookBefore is how long before its turn a request looks for a cooldown, so that the look does not make it late. Whatever
// is on its way to a provider cannot be called back for longer than that.
const lookBefore = 20 * time.Millisecond

// enterBefore is how long before its turn a request takes its slot and pays the quotas, which waits for others who write
// to the store.
const enterBefore = 3 * lookBefore

// waitFor waits for the moment of a grant, and tells whether it is void: because there is a cooldown shortly before it, or
// because a person has ended one since.
func (p *permit) waitFor(ctx context.Context, t reservation) (void bool, err error) {
	if void, err = p.waitOut(ctx, t); err != nil || void {
		return void, err
	}
	if err := p.sleep(ctx, time.Until(t.at)-enterBefore); err != nil {
		return false, err
	}
	if err := p.enter(ctx); err != nil {
		return false, err
	}
	if err := p.sleep(ctx, time.Until(t.at)-lookBefore); err != nil {
		return false, err
	}
	if left, void, err := p.checkCooldown(ctx, t); err != nil || void || left > 0 {
		return true, err
	}
	return false, p.sleep(ctx, time.Until(t.at))
}

// checkCooldown tells how much of a cooldown is left, and whether a person has ended one since a grant was given: then others are
// let through already, and the grant is nobody's.
func (p *permit) checkCooldown(ctx context.Context, t reservation) (left time.Duration, void bool, err error) {
	left, err = p.gate.CooldownRemaining(ctx, p.Key)
	return left, p.gate.CooldownEpoch(p.Key) != t.ended, err
}

const (
	// lookEvery is how often whoever waits in a cooldown looks whether it was ended. Only a person does that.
	lookEvery = time.Second
	// longWait is when that is worth it: a cooldown that is nearly over is not ended by anybody.
	longWait = 2 * time.Second
)

// waitOut waits in a cooldown until a moment is near, and tells whether the cooldown was ended before its time.
func (p *permit) waitOut(ctx context.Context, t reservation) (void bool, err error) {
	for time.Until(t.at) > longWait {
		left, void, err := p.checkCooldown(ctx, t)
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
func (p *permit) enter(ctx context.Context) error {
	for rest := time.Duration(0); ; {
		asked, cost := time.Now(), p.cost
		if p.in && (p.Quota.IsZero() || lateness(p.paid) <= patra.QuotaGrace/2) {
			cost = 0
		}
		if p.in && cost == 0 && lateness(p.seen) <= slotLasts/3 {
			return nil
		}
		wait, err := p.gate.AcquireSlot(ctx, p.RateLimit, patra.InFlightRequest{ID: p.id, Cost: cost, Operation: p.operation, Lasts: slotLasts})
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

// renewSlot keeps the slot while a request is on its way, until stop is called. It is paid for already.
func (p *permit) renewSlot(ctx context.Context) (stop func()) {
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
				_, _ = p.gate.AcquireSlot(ctx, p.RateLimit, patra.InFlightRequest{ID: p.id, Operation: p.operation, Lasts: slotLasts})
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// release frees the slot. If that cannot be written down, it is free after a while.
func (p *permit) release() {
	if !p.in {
		return
	}
	_ = p.gate.ReleaseSlot(context.Background(), p.RateLimit, p.id)
	p.in = false
}

// longerTurn is what a request pays after so many missed grants: being later than the gate provides for takes the turns
// that it may then be late by, so that it still comes too close to none.
func (p *permit) longerTurn(voided int) requestCost {
	t := p.requestCost
	if more := p.patience(voided) - p.patience(0); more > 0 {
		t.cost += int(math.Ceil(more.Seconds() * t.PerSecond))
	}
	return t
}

// patience is how late a grant may be used. A machine that cannot be as punctual as that gets more of it after each
// grant that it missed, and pays for it: one that never sends would keep to every limit.
func (p *permit) patience(voided int) time.Duration {
	const step = 2 * time.Millisecond
	usual := p.gate.MaxLateness(p.RateLimit)
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

// checkLateness sees to it that the grant can still be used.
func (p *permit) checkLateness(ctx context.Context) error {
	if lateness(p.at) <= p.patience(0) {
		return nil
	}
	return p.wait(ctx, reservation{})
}

// again pays for the same request once more: the transport carries it a second time, if a connection breaks before it was
// used, and that is a request of its own.
func (p *permit) again(ctx context.Context) error {
	p.release()
	return p.wait(ctx, reservation{})
}

// guard makes a request pass the door.
func (p *permit) guard(ctx context.Context, req *http.Request) *http.Request {
	return req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		switch {
		case p.err != nil:
		case p.used:
			p.err = p.again(ctx)
		default:
			p.err = p.checkLateness(ctx)
		}
		p.used, p.left = true, patra.InstantOf(time.Now())
		if p.err != nil {
			_ = c.Conn.Close() // nothing can be written to it, and nothing more is there to be said
		}
	}}))
}
