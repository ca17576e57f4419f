package gatetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"patra"
	"patra/internal/sim"
)

// Hidden is a harvest from a provider that bears less than it says.
type Hidden struct {
	Limit     patra.RateLimit
	Capacity  *sim.Capacity
	Processes int           // 0 is 1
	Workers   int           // of each process
	Latency   time.Duration // of answers, on average
	WarmUp    time.Duration // what is not looked at
	Over      time.Duration // all of it
}

// Figures are what came of it after the warm-up.
type Figures struct {
	sim.Answers
	Used float64         // the part of what the provider could have answered
	Sent []patra.Instant // all that left, with the warm-up
}

// Share is the part of all requests that was refused.
func (f Figures) Share() float64 {
	return float64(f.Refused) / float64(max(f.Given+f.Refused+f.Down, 1))
}

// String says the figures in words.
func (f Figures) String() string {
	return fmt.Sprintf("%d requests: %.1f %% of the capacity used, %.2f %% refused", f.Given+f.Refused+f.Down, 100*f.Used, 100*f.Share())
}

// Play plays it, in simulated time.
func (h Hidden) Play(enter func() Gate) (Figures, error) {
	var all sync.WaitGroup
	var errs errorList
	to, began := &provider{}, time.Now()
	h.Capacity.Began = began
	for n := range max(h.Processes, 1) {
		g := enter()
		for m := range h.Workers {
			p := &process{Gate: g, limit: limit{h.Limit.PerSecond, h.Limit.Burst}, to: to}
			all.Go(func() { errs.add(h.work(p, began, rand.New(rand.NewPCG(uint64(n), uint64(m))))) })
		}
	}
	pause(h.WarmUp)
	before, from := h.Capacity.Seen(), time.Now()
	pause(h.Over - h.WarmUp)
	after, offered := h.Capacity.Seen(), h.Capacity.Offered(from, time.Now())
	all.Wait()
	f := Figures{Sent: to.sent, Answers: sim.Answers{Given: after.Given - before.Given, Refused: after.Refused - before.Refused, Down: after.Down - before.Down}}
	f.Used = float64(f.Given) / offered
	return f, errs.join()
}

// work sends as long as there is time. Like every worker it makes all others wait a little after a refusal.
func (h Hidden) work(p *process, began time.Time, dice *rand.Rand) error {
	ctx, l := context.Background(), p.at(h.Limit.Key)
	for time.Since(began) < h.Over {
		if _, err := p.send(l.Key); err != nil {
			return err
		}
		left := time.Now()
		pause(time.Duration(dice.IntN(5)) * time.Millisecond) // some ways are longer
		status, wait := h.Capacity.Ask(time.Now())
		pause(h.Latency/2 + time.Duration(dice.Int64N(int64(h.Latency)+1)))
		if err := p.Report(ctx, l, patra.RateFeedback{Status: max(status, 0), RetryAfter: wait, Took: time.Since(left)}); err != nil {
			return err
		}
		if status == 429 {
			if err := p.Cooldown(ctx, l.Key, max(wait, 500*time.Millisecond)); err != nil {
				return err
			}
		}
	}
	return nil
}
