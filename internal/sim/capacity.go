package sim

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Capacity is what a provider really bears, whatever its documentation says: a token bucket whose rate changes with time.
// What is beyond it is refused with a 429 and costs nothing. It keeps no time of its own, so it works in simulated time
// too. Safe for concurrent use.
type Capacity struct {
	Began time.Time
	Steps []Step        // in order of time; the first one begins with 0
	Burst float64       // requests that may come at once; less than 1 is 1
	Wait  time.Duration // what refusals say as Retry-After, in whole seconds; 0 is nothing

	mu    sync.Mutex
	full  bool // the bucket was filled for the first time
	level float64
	at    time.Time
	seen  Answers
}

// Step is how the provider is from some time on.
type Step struct {
	After     time.Duration // since the beginning
	PerSecond float64
	Down      int // what it answers instead of working, such as 503; HangUp is no answer at all; 0: it works
}

// HangUp is the status of a connection that ends without an answer.
const HangUp = -1

// Answers count what a provider answered.
type Answers struct{ Given, Refused, Down int }

// step is how the provider is now, and until when.
func (c *Capacity) step(now time.Time) (is Step, until time.Time) {
	for _, s := range c.Steps {
		begins := c.Began.Add(s.After)
		if begins.After(now) {
			return is, begins
		}
		is = s
	}
	return is, time.Time{}
}

// Offered is how many requests it could have answered in a stretch of time.
func (c *Capacity) Offered(from, to time.Time) float64 {
	sum := 0.0
	for from.Before(to) {
		is, until := c.step(from)
		if until.IsZero() || until.After(to) {
			until = to
		}
		if is.Down == 0 {
			sum += is.PerSecond * until.Sub(from).Seconds()
		}
		from = until
	}
	return sum
}

// Ask is a request: its status, and how long the provider wants to be left alone.
func (c *Capacity) Ask(now time.Time) (status int, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := max(c.Burst, 1)
	if !c.full {
		c.full, c.level, c.at = true, most, now
	}
	if now.After(c.at) {
		c.level, c.at = min(most, c.level+c.Offered(c.at, now)), now
	}
	is, _ := c.step(now)
	switch {
	case is.Down != 0:
		c.seen.Down++
		return is.Down, c.Wait
	case c.level < 1:
		c.seen.Refused++
		return http.StatusTooManyRequests, c.Wait
	}
	c.level--
	c.seen.Given++
	return http.StatusOK, 0
}

// Seen is what was answered so far.
func (c *Capacity) Seen() Answers {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

// Limit puts the capacity in front of a handler.
func (c *Capacity) Limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, wait := c.Ask(time.Now())
		if status == http.StatusOK {
			next.ServeHTTP(w, r)
			return
		}
		if status == HangUp {
			panic(http.ErrAbortHandler)
		}
		if wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
		}
		w.WriteHeader(status)
	})
}

// Shifting is a capacity that changes every ten to twenty minutes, up or down by a factor of at most three, between least
// and most. The same seed gives the same steps.
func Shifting(seed uint64, least, most float64, over time.Duration) []Step {
	d := newDice(seed, 0xcafe)
	rate := most / 2
	var all []Step
	for at := time.Duration(0); at < over; at += time.Duration(600+d.n(600)) * time.Second {
		all = append(all, Step{After: at, PerSecond: rate})
		factor := 1 + float64(d.n(2001))/1000
		if up := d.percent(50); up && rate < most || rate <= least {
			rate = min(rate*factor, most)
		} else {
			rate = max(rate/factor, least)
		}
	}
	return all
}
