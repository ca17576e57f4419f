package gatetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"patra"
)

// told: what a provider says in an answer to one process makes all of them slower, and its next word counts.
func told(t testing.TB, k Kind) error {
	ctx, enter, to, l := context.Background(), k.Fresh(t), &provider{}, limit{20, 5}
	first := &process{Gate: enter(), limit: l, to: to}
	second := &process{Gate: enter(), limit: l, to: to}
	says := func(n int, least, most float64, answer patra.AdvertisedLimit) error {
		if err := first.Report(ctx, l.at("source"), patra.RateFeedback{Status: 200, Told: answer}); err != nil {
			return err
		}
		if _, err := second.send("source"); err != nil {
			return err
		}
		pause(10 * time.Second / time.Duration(l.perSecond)) // what was saved up is used first
		began := time.Now()
		for range n {
			if _, err := second.send("source"); err != nil {
				return err
			}
		}
		if got := float64(n) / time.Since(began).Seconds(); got < least || got > most {
			return fmt.Errorf("told %v, requests came at %.2f a second, not between %v and %v", answer, got, least, most)
		}
		return nil
	}
	if _, err := first.send("source"); err != nil {
		return err
	}
	return errors.Join(
		says(60, 19, 24, patra.AdvertisedLimit{}), says(40, 4.5, 5.4, patra.AdvertisedLimit{PerSecond: 5}), says(40, 4.5, 5.4, patra.AdvertisedLimit{}),
		says(60, 8.5, 10.8, patra.AdvertisedLimit{PerSecond: 10}), says(100, 19, 22, patra.AdvertisedLimit{PerSecond: 50}),
		l.judge(to.sent), toldSlots(enter(), enter()))
}

// toldSlots: one process is told that two requests may be on their way, and the other keeps to it from its next grant on.
func toldSlots(first, second Gate) error {
	ctx, l := context.Background(), limit{100, 10}.at("slots")
	if err := first.Report(ctx, l, patra.RateFeedback{Status: 200, Told: patra.AdvertisedLimit{Concurrency: 2}}); err != nil {
		return err
	}
	if _, err := second.Reserve(ctx, l, 1); err != nil {
		return err
	}
	for n, free := range []bool{true, true, false} {
		wait, err := second.AcquireSlot(ctx, l, patra.InFlightRequest{ID: string(rune('a' + n)), Cost: 1, Lasts: time.Minute})
		if err != nil || free != (wait == 0) {
			return fmt.Errorf("of two slots, request %d waits for %s, %w", n+1, wait, err)
		}
	}
	return nil
}

// warm: after a pause the rate climbs to what is permitted, and there are no bursts meanwhile.
func warm(t testing.TB, k Kind) error {
	ctx, enter, to, l := context.Background(), k.Fresh(t), &provider{}, limit{10, 5}
	const warmup = 20 * time.Second
	all := []*process{{Gate: enter(), limit: l, to: to, warmup: warmup}, {Gate: enter(), limit: l, to: to, warmup: warmup}}
	var errs errorList
	// phase sends as fast as it can for some seconds, and looks at how much that was.
	phase := func(name string, burst int, seconds, least, most float64) {
		before, began := to.count(), time.Now()
		for n := 0; time.Since(began).Seconds() < seconds; n++ {
			if _, err := all[n%2].send("source"); err != nil {
				errs.add(err)
				return
			}
		}
		if got := float64(to.count() - before); got < least || got > most {
			errs.add(fmt.Errorf("%s: %.0f requests in %v s, not between %v and %v", name, got, seconds, least, most))
		}
		if err := (limit{l.perSecond, burst}).judge(to.sent[before:]); err != nil {
			errs.add(fmt.Errorf("%s: %w", name, err))
		}
	}
	// From 1 to 10 a second in 20 seconds: 3 requests in the first two, and 97 in the next 17.
	phase("never used", 1, 2, 3, 6)
	phase("warming up", 1, 17, 90, 99)
	phase("warm", l.burst, 10, 95, 105)
	pause(warmup / 2)
	phase("a short pause", l.burst, 2, 20, 25)
	pause(warmup + 5*time.Second)
	phase("a long pause", 1, 2, 3, 6)
	phase("warming up again", 1, 17, 90, 99)
	pause(5 * time.Second)
	errs.add(all[0].Cooldown(ctx, "source", 10*time.Second))
	pause(10 * time.Second)
	phase("a short cooldown", l.burst, 2, 19, 25)
	errs.add(all[0].Cooldown(ctx, "source", 5*time.Minute))
	pause(5 * time.Minute)
	phase("a long cooldown", 1, 2, 3, 6)
	errs.add(l.judge(to.sent))
	errs.add(warmAfterCooldown(enter()))
	return errs.join()
}

// warmAfterCooldown: a cooldown of a minute or more is a pause, also where the warm-up is longer than that.
func warmAfterCooldown(g Gate) error {
	p := &process{Gate: g, limit: limit{0.5, 1}, to: &provider{}, warmup: 2 * time.Minute}
	count := func(span time.Duration) (n int, err error) {
		for began := time.Now(); time.Since(began) < span && err == nil; n++ {
			_, err = p.send("cold")
		}
		return n, err
	}
	for _, c := range []struct{ cooldown, least, most int }{{0, 1, 100}, {30, 10, 11}, {70, 2, 4}} {
		if err := g.Cooldown(context.Background(), "cold", time.Duration(c.cooldown)*time.Second); err != nil {
			return err
		}
		pause(time.Duration(c.cooldown) * time.Second)
		span := 20 * time.Second
		if c.cooldown == 0 {
			span = 3 * time.Minute
		}
		if n, err := count(span); err != nil || n < c.least || n > c.most {
			return fmt.Errorf("after a cooldown of %d s there were %d requests in %s, %w", c.cooldown, n, span, err)
		}
	}
	return nil
}
