package executor

import (
	"context"
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
	given map[patra.Instant]time.Time // by the moment that is written down; still to be waited for
	ready []time.Time                 // waited for, and not used
}

func newGrants() *grants { return &grants{given: map[patra.Instant]time.Time{}} }

func (g *grants) keep(name patra.Instant, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.given[name] = at
}

func (g *grants) take(name patra.Instant) (at time.Time, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok = g.given[name]
	delete(g.given, name)
	return at, ok
}

func (g *grants) hold(at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ready = append(g.ready, at)
}

func (g *grants) use() (at time.Time, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.ready) == 0 {
		return at, false
	}
	at, g.ready = g.ready[0], g.ready[1:]
	return at, true
}

// grant is a request's way through the gate: under which key and when it was charged, and how long it waits from then.
type grant struct {
	key  string
	at   patra.Instant
	wait time.Duration
}

// reserve charges one request to the gate.
func (w wire) reserve(ctx context.Context, l source.Limit) (grant, error) {
	wait, err := w.gate.Reserve(ctx, l.Key, l.PerSecond, l.Burst)
	if err != nil {
		return grant{}, err
	}
	now := time.Now()
	moment := now.Add(wait)
	g := grant{l.Key, patra.InstantOf(now), (wait + time.Microsecond - 1).Truncate(time.Microsecond)}
	if g.wait < 0 { // it took a while to be heard
		g.at, g.wait = g.at.Add(g.wait), 0
	}
	w.grants.keep(g.moment(), moment)
	return g, nil
}

// moment is when the request may be sent.
func (g grant) moment() patra.Instant { return g.at.Add(g.wait) }

// await waits until a grant, and leaves it ready for send. If a cooldown began meanwhile, the grant is void and a new one
// is asked for: all who waited would otherwise come at its very end. If we are late, it is void too: we would come too
// close to those who are in time.
func (w wire) await(ctx context.Context, l source.Limit, granted patra.Instant) error {
	at, ok := w.grants.take(granted)
	for voided := 0; ; {
		if ok {
			left, err := w.waitFor(ctx, l, at)
			if err != nil {
				return err
			}
			if left == 0 {
				if lateness(at) <= w.patience(l, voided) {
					w.grants.hold(at)
					return nil
				}
				voided++
			}
		}
		g, err := w.reserve(ctx, l)
		if err != nil {
			return err
		}
		at, ok = w.grants.take(g.moment())
	}
}

// lookBefore is how long before its turn a request looks for a cooldown, so that the look does not make it late. Whatever
// is on its way to a provider cannot be called back for longer than that.
const lookBefore = 20 * time.Millisecond

// waitFor waits for a moment, and tells what is left of a cooldown shortly before it.
func (w wire) waitFor(ctx context.Context, l source.Limit, at time.Time) (left time.Duration, err error) {
	if err := w.sleep(ctx, time.Until(at)-lookBefore); err != nil {
		return 0, err
	}
	if left, err = w.gate.Remaining(ctx, l.Key); err != nil || left > 0 {
		return left, err
	}
	return 0, w.sleep(ctx, time.Until(at))
}

// patience is how late a grant may be used. A machine that cannot be as punctual as that gets more of it after each
// grant that it missed: one that never sends would keep to every limit.
func (w wire) patience(l source.Limit, voided int) time.Duration {
	const step = 2 * time.Millisecond
	p := w.gate.Patience(l.PerSecond, l.Burst)
	if voided == 0 {
		return p
	}
	return max(p, step<<min(voided, 9))
}

// lateness is how long ago a moment was, by the clock that nobody sets or by that on the wall: the first one stands still
// while a machine sleeps.
func lateness(at time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(at), now.Round(0).Sub(at.Round(0)))
}

// door is the last look at the clock, when a connection is ready to carry the request. Making it may have taken longer
// than the grant is good for, and the process may have been stopped since.
type door struct {
	wire
	ctx  context.Context
	l    source.Limit
	at   time.Time
	used bool
	left patra.Instant // when the request was last let out
	err  error         // the gate failed: the request has not left
}

// door takes the grant that is ready. Without one nothing leaves.
func (w wire) door(ctx context.Context, l source.Limit) (*door, error) {
	d := &door{wire: w, ctx: ctx, l: l}
	at, ok := w.grants.use()
	if ok && lateness(at) <= w.patience(l, 0) {
		d.at = at
		return d, nil
	}
	return d, d.renew()
}

// renew gets a grant for now.
func (d *door) renew() error {
	if err := d.await(d.ctx, d.l, 0); err != nil {
		return err
	}
	d.at, _ = d.grants.use()
	return nil
}

// guard makes a request pass the door. The transport may carry it a second time, if a connection breaks before it was
// used: that is a request of its own.
func (d *door) guard(req *http.Request) *http.Request {
	return req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if d.err == nil && (d.used || lateness(d.at) > d.patience(d.l, 0)) {
			d.err = d.renew()
		}
		d.used, d.left = true, patra.InstantOf(time.Now())
		if d.err != nil {
			_ = c.Conn.Close() // nothing can be written to it, and nothing more is there to be said
		}
	}}))
}
