package gatetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"patra"
)

// cooldowns: two processes send and ask for cooldowns, in any order.
func cooldowns(t testing.TB, k Kind) error {
	ctx, enter, l := context.Background(), k.Fresh(t), limit{5, 4}
	gates := []Gate{enter(), enter()}
	dice := rand.New(rand.NewPCG(2, 3))
	var end time.Time
	for range k.Sends {
		p := &process{Gate: gates[dice.IntN(2)], limit: l, to: &provider{}}
		switch dice.IntN(4) {
		case 0:
			wait := time.Duration(dice.IntN(5000)) * time.Millisecond
			if err := p.Cooldown(ctx, "source", wait); err != nil {
				return err
			}
			if until := time.Now().Add(wait); until.After(end) {
				end = until
			}
		case 1:
			pause(time.Duration(dice.IntN(2000)) * time.Millisecond)
		default:
			at, err := p.send("source")
			if err != nil {
				return err
			}
			if at.Before(end) {
				return fmt.Errorf("sent %s before the end of a cooldown", end.Sub(at))
			}
		}
		left, err := gates[dice.IntN(2)].CooldownRemaining(ctx, "source")
		if err != nil {
			return err
		}
		if want := max(0, time.Until(end)); (left - want).Abs() > time.Millisecond {
			return fmt.Errorf("%s of the cooldown remain, and %s should", left, want)
		}
	}
	return nil
}

// crowd: many wait for the end of a cooldown, some of them with grants from before it.
func crowd(t testing.TB, k Kind) error {
	enter, to, l := k.Fresh(t), &provider{}, limit{2, 3}
	g := enter()
	var all sync.WaitGroup
	var errs errorList
	began := time.Now()
	for n := range 30 {
		p := &process{Gate: enter(), limit: l, to: to}
		all.Go(func() {
			pause(time.Duration(n%3) * 2 * time.Second)
			_, err := p.send("source")
			errs.add(err)
		})
	}
	pause(3 * time.Second)
	before := to.count()
	errs.add(g.Cooldown(context.Background(), "source", time.Minute))
	all.Wait()
	for _, at := range to.sent[before:] {
		if at.Time().Before(began.Add(63 * time.Second)) {
			errs.add(fmt.Errorf("sent %s after the begin of a cooldown of a minute", at.Time().Sub(began.Add(3*time.Second))))
		}
	}
	errs.add(l.judge(to.sent))
	return errs.join()
}

// keys: what happens under one key is nobody else's business.
func keys(t testing.TB, k Kind) error {
	ctx, g := context.Background(), k.Fresh(t)()
	if err := g.Cooldown(ctx, "a", time.Hour); err != nil {
		return err
	}
	if err := g.Report(ctx, patra.RateLimit{Key: "a"}, patra.RateFeedback{Status: 429, RetryAfter: time.Hour}); err != nil {
		return err
	}
	for _, key := range []string{"b", "c"} {
		wait, err := g.Reserve(ctx, limit{0.1, 1}.at(key), 1)
		if err != nil || wait > time.Second {
			return fmt.Errorf("%s must wait for %s, %w", key, wait, err)
		}
		if left, err := g.CooldownRemaining(ctx, key); err != nil || left > 0 {
			return fmt.Errorf("%s cools down for %s, %w", key, left, err)
		}
	}
	if wait, err := g.Reserve(ctx, limit{0.1, 1}.at("a"), 1); err != nil || wait < 59*time.Minute {
		return fmt.Errorf("a is granted after %s, %w", wait, err)
	}
	return nil
}

// restart: a process that begins knows what others have charged, and what was asked of them.
func restart(t testing.TB, k Kind) error {
	if k.Memory {
		return nil
	}
	ctx, enter := context.Background(), k.Fresh(t)
	for range 3 {
		if _, err := enter().Reserve(ctx, limit{0.1, 1}.at("source"), 1); err != nil {
			return err
		}
	}
	if wait, err := enter().Reserve(ctx, limit{0.1, 1}.at("source"), 1); err != nil || wait < 30*time.Second {
		return fmt.Errorf("the fourth request is granted after %s, %w", wait, err)
	}
	if err := enter().Cooldown(ctx, "source", time.Hour); err != nil {
		return err
	}
	if left, err := enter().CooldownRemaining(ctx, "source"); err != nil || left < 59*time.Minute {
		return fmt.Errorf("%s of the cooldown are left, %w", left, err)
	}
	return nil
}

// tempo: a provider that refuses us once is asked at half the rate by everybody, quickly at nine tenths of it, and after
// more than a minute as before.
func tempo(t testing.TB, k Kind) error {
	ctx, enter, to, l := context.Background(), k.Fresh(t), &provider{}, limit{20, 5}
	first := &process{Gate: enter(), limit: l, to: to}
	second := &process{Gate: enter(), limit: l, to: to}
	rate := func(n int, answered bool) (float64, error) {
		began := time.Now()
		for range n {
			if _, err := second.send("source"); err != nil {
				return 0, err
			}
			if answered {
				if err := second.Report(ctx, patra.RateLimit{Key: "source"}, patra.RateFeedback{Status: 200}); err != nil {
					return 0, err
				}
			}
		}
		return float64(n) / time.Since(began).Seconds(), nil
	}
	if _, err := first.send("source"); err != nil {
		return err
	}
	for range 5 { // all that were on their way are refused; that is one sign
		if err := first.Report(ctx, patra.RateLimit{Key: "source"}, patra.RateFeedback{Status: 429, RetryAfter: time.Second}); err != nil {
			return err
		}
	}
	if left, err := second.CooldownRemaining(ctx, "source"); err != nil || left < 900*time.Millisecond {
		return fmt.Errorf("after a refusal %s remain, %w", left, err)
	}
	pause(time.Second)
	for _, phase := range []struct {
		n           int
		answered    bool
		least, most float64
	}{{40, false, 9, 10.6}, {100, true, 11, 18.2}, {400, true, 17.5, 19}, {1000, true, 18, 20}, {100, true, 19.5, 20}} {
		got, err := rate(phase.n, phase.answered)
		if err != nil {
			return err
		}
		if got < phase.least || got > phase.most {
			return fmt.Errorf("%d requests came at %.2f a second, not between %v and %v", phase.n, got, phase.least, phase.most)
		}
	}
	return l.judge(to.sent)
}
