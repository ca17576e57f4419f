package gate

import (
	"sync"
	"sync/atomic"
	"time"

	"patra"
)

const (
	// leaseSpan is how much time the grants of a lease may lie apart, and leaseMost how many they are: what a process
	// that dies takes with it, and what others wait for it.
	leaseSpan = 250 * time.Millisecond
	leaseMost = 16
	// demandOver is the time over which is counted how many grants are asked for.
	demandOver = time.Second
	// frugalFor is how long a process takes no grants ahead after one of them was not used although there was a queue. It
	// bounds what others lose to one lease in this time.
	frugalFor = 10 * time.Second
	// leastStart and headStart are what a caller may need to write down what it is about to do, which takes as long as
	// committing the charge or a little longer. A grant that is missed for this costs an interval; one that lies a little
	// ahead costs nothing while there is a queue.
	leastStart, headStart = 10 * time.Millisecond, 50 * time.Millisecond
	mostLead              = time.Second
	// farthest is how far ahead grants are given while we are slow: the next answers may make us faster, and nobody gives
	// a grant back. askAgain is how long to wait before asking for one again, at least and at most.
	farthest            = 2 * time.Second
	askAgain, askAtMost = 250 * time.Millisecond, 2 * time.Second
)

// permitCache is where the callers of one process get the grants of one key.
type permitCache struct {
	patra.RateLimit
	cost    int
	pace    Headroom
	ahead   bool
	process string // who we are among those who share the rows
	asking  atomic.Int64
	queued  atomic.Bool   // the last grants had to wait for others
	turn    chan struct{} // held by who hands out or refills

	mu     sync.Mutex
	lease  []time.Time   // moments that are paid for, in order
	asked  []time.Time   // when the last grants were handed out
	frugal time.Time     // until when nothing is taken ahead
	lead   time.Duration // how long it takes lately until a charge is committed
	again  time.Time     // before then there is no use in asking
}

func (d *permitCache) patience() time.Duration { return d.pace.Patience() }

// charge takes grants from the state: one for each who asks now, and one more for each who is likely to come while it is
// good. None at all means that it is too early to ask.
func (d *permitCache) charge(now patra.Instant, is patra.RateState) ([]patra.Instant, patra.RateState) {
	is.Limit, is.Burst = milli(d.PerSecond), d.Burst
	rate, burst := d.speed(is)
	from := max(now.Add(d.early()), is.Cooldown)
	d.afterLoan(now, &is)
	if d.Warmup > 0 {
		is.WarmSince = warmSince(is, d.Warmup, from)
	}
	wanted, gap := int(max(1, min(d.asking.Load(), leaseMost))), d.gap()
	if d.isContended(now, &is) {
		gap = 0 // whoever took more than is asked for would take it from others
	}
	var all []patra.Instant
	for {
		at, next := d.grant(is, from, rate, burst)
		last := max(at, next.Arrival-interval(rate)) // a request may be late by what it costs beyond one
		// What was given to others counts, and not what this request costs: a heavy one would never be let through.
		if ahead := max(is.Arrival-from, 0); is.Tempo.Rate > 0 && time.Duration(ahead)*time.Microsecond > farthest {
			if len(all) == 0 {
				d.postpone(time.Duration(from-now)*time.Microsecond, time.Duration(ahead)*time.Microsecond-farthest)
				return nil, is
			}
			break
		}
		if n := len(all); n >= wanted && !d.useful(at-now, at-all[0], n, gap*time.Duration(n-wanted+1)) {
			break
		}
		if is.Latest > 0 && last > is.Latest {
			if len(all) == 0 {
				is.Wanted = last
				return nil, is
			}
			break
		}
		all, is = append(all, at), next
	}
	d.queued.Store(all[0] > from+patra.Instant(d.cost)*interval(rate))
	return all, is
}

// speed is how fast grants follow each other as a row stands, and how many there may be at once.
func (d *permitCache) speed(is patra.RateState) (perSecond float64, burst int) {
	perSecond, burst = d.pace.PerSecond, d.pace.Burst
	if is.Rate() < float64(is.Limit)/1000 {
		burst = 1 // While we are to be slow there are no bursts either: they would be longer than at the usual rate.
	}
	if lower := is.Permitted(); lower < is.Limit { // what we are told or made to permit is used with the same care
		perSecond = min(perSecond, float64(lower)/1000*d.pace.PerSecond/d.PerSecond)
	}
	if is.Tempo.Rate > 0 {
		perSecond = min(perSecond, float64(is.Tempo.Rate)/1000)
	}
	return perSecond, burst
}

// grant is the next grant, and the state after it. During a warm-up it costs more, and there are no bursts.
func (d *permitCache) grant(is patra.RateState, from patra.Instant, rate float64, burst int) (at patra.Instant, next patra.RateState) {
	first := max(is.Arrival, from)
	if !cold(first, is.WarmSince, d.Warmup) {
		var t Turns
		at, t = Turns{is.Arrival, is.Early}.Take(from, rate, burst, d.cost)
		is.Arrival, is.Early = t.Next, t.Early
		return at, is
	}
	paid := func(cost int) patra.Instant {
		permitted := min(d.pace.PerSecond, float64(is.Permitted())/1000)
		return max(first+patra.Instant(cost)*interval(rate), Warm(first, is.WarmSince, d.Warmup, permitted, cost))
	}
	is.Arrival = paid(d.cost)
	return paid(d.cost - 1), is
}

// afterLoan begins where somebody else ended who may have used up everything: with nothing. If that one is still at it,
// nothing more is lent: two who grant at the same time would grant twice as much.
func (d *permitCache) afterLoan(now patra.Instant, is *patra.RateState) {
	if is.Loan.Until > 0 {
		after := is.Loan.Until + patra.Instant(d.pace.Burst)*interval(d.pace.PerSecond)
		if after > is.Arrival {
			is.Arrival, is.Early = after, patra.EarlyTurns{}
		}
	}
	if is.Latest == 0 && is.Loan.Active() {
		is.Loan.RecalledAt = now
	}
}

// crowd is how long after another process charged grants are still not taken ahead.
const crowd = 5 * time.Second

// isContended reports whether other processes ask under the same key, and writes down that we do.
func (d *permitCache) isContended(now patra.Instant, is *patra.RateState) bool {
	if !d.ahead {
		return false
	}
	if is.By != d.process {
		if is.By != "" {
			is.ByNew = now
		}
		is.By = d.process
	}
	return is.ByNew > 0 && now < is.ByNew.Add(crowd)
}

// useful reports whether a grant that nobody has asked for is likely to be used: whoever comes for it after so much time
// must not come too late.
func (d *permitCache) useful(in, span patra.Instant, n int, comes time.Duration) bool {
	lasts := time.Duration(in)*time.Microsecond + d.patience()/2
	return n < leaseMost && comes > 0 && comes <= min(lasts, leaseSpan) && time.Duration(span)*time.Microsecond <= leaseSpan
}

// gap is the time between two who ask, going by the last second; 0 if nothing is to be taken ahead.
func (d *permitCache) gap() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if !d.ahead || now.Before(d.frugal) {
		return 0
	}
	n := 0
	for _, at := range d.asked {
		if now.Sub(at) <= demandOver {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return demandOver / time.Duration(n)
}

// early is how far ahead of now a grant must lie so that it is not too late when it is committed and the request is
// prepared. Where there is patience enough it is nothing.
func (d *permitCache) early() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	ahead := time.Duration(0)
	if d.patience() < headStart {
		every := time.Duration(interval(d.pace.PerSecond)) * time.Microsecond
		ahead = min(max(4*d.lead, leastStart), headStart, every)
	}
	if d.lead <= d.patience()/4 {
		return ahead
	}
	return max(ahead, min(d.lead*3/2, mostLead))
}

// postpone says when to ask again: when a grant is near, but soon enough to notice that we have become faster, or that a
// person has ended the cooldown.
func (d *permitCache) postpone(cooldown, far time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.again = time.Now().Add(min(cooldown+max(far, askAgain), askAtMost))
}

// notYet is how long there is no use in asking.
func (d *permitCache) notYet() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Until(d.again)
}

func (d *permitCache) committed(took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lead = max(took, d.lead*3/4)
}

// acquire hands out a grant of the lease that can still be used in time.
func (d *permitCache) acquire(now time.Time) (time.Time, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.lease) > 0 {
		at := d.lease[0]
		d.lease = d.lease[1:]
		if now.Sub(at) <= d.patience()/2 {
			d.noteAsked(now)
			return at, true
		}
		if d.queued.Load() {
			d.frugal = now.Add(frugalFor)
		}
	}
	return time.Time{}, false
}

func (d *permitCache) noteAsked(now time.Time) {
	d.asked = append(d.asked, now)
	if most := leaseMost * int(demandOver/leaseSpan); len(d.asked) > most {
		d.asked = d.asked[len(d.asked)-most:]
	}
}

// put keeps the rest of a lease whose first grant was handed out.
func (d *permitCache) put(rest []time.Time, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lease = rest
	d.noteAsked(now)
}

func (d *permitCache) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lease = nil
}
