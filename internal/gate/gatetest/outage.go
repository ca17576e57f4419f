package gatetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"patra"
	"patra/internal/sim"
)

// hidden: four processes share a provider that bears three fifths of what it says.
func hidden(t testing.TB, k Kind) error {
	f, err := Hidden{
		Limit:    patra.RateLimit{Key: "source", PerSecond: 5, Burst: 3},
		Capacity: &sim.Capacity{Steps: []sim.Step{{PerSecond: 3}}, Burst: 3}, Processes: 4, Workers: 2, Latency: 400 * time.Millisecond,
		WarmUp: 4 * time.Minute, Over: 4*time.Minute + time.Duration(k.Sends)*time.Second/2,
	}.Play(k.Fresh(t))
	if err != nil {
		return err
	}
	t.Log(f)
	if f.Used < 0.85 || f.Share() >= 0.01 {
		return fmt.Errorf("%s: 85 %% should be used, and less than 1 %% refused", f)
	}
	return nil
}

// outages: a provider is down for ten minutes, in one of two ways.
func outages(t testing.TB, k Kind) error {
	var errs []error
	for _, o := range []Outage{{Status: 503, Wait: 30 * time.Second}, {Status: sim.HangUp}} {
		o.Limit, o.Processes, o.Workers = patra.RateLimit{Key: "source", PerSecond: 4, Burst: 4}, 4, 2
		errs = append(errs, o.Play(t, k.Fresh(t)))
	}
	return errors.Join(errs...)
}

// Outage is a time in which a provider does not work.
type Outage struct {
	Limit              patra.RateLimit
	Status             int
	Wait               time.Duration // what it says as Retry-After
	Processes, Workers int
}

const (
	outageAfter = time.Minute
	outageFor   = 10 * time.Minute
	backWithin  = time.Minute // of the end, or of the last cooldown
	outageCheck = 30 * time.Second
)

// Play tells what is wrong about how a gate bears an outage: too many requests during it, a crowd after it, or too long a
// way back.
func (o Outage) Play(t testing.TB, enter func() Gate) error {
	end := outageAfter + outageFor
	h := Hidden{
		Limit: o.Limit,
		Capacity: &sim.Capacity{
			Steps: []sim.Step{{PerSecond: 2 * o.Limit.PerSecond}, {After: outageAfter, Down: o.Status}, {After: end, PerSecond: 2 * o.Limit.PerSecond}},
			Burst: 100, Wait: o.Wait,
		},
		Processes: o.Processes, Workers: o.Workers, Latency: 200 * time.Millisecond, Over: end + o.Wait + backWithin + outageCheck,
	}
	f, err := h.Play(enter)
	if err != nil {
		return err
	}
	at := func(after time.Duration) patra.Instant { return patra.InstantOf(h.Capacity.Began.Add(after)) }
	back := at(end + o.Wait + backWithin)
	var since []patra.Instant
	last := 0
	for _, sent := range f.Sent {
		if sent >= at(end) {
			since = append(since, sent)
		}
		if sent >= back && sent < back.Add(outageCheck) {
			last++
		}
	}
	var first time.Duration // until four fifths of the rate are back for ten seconds
	for n := range since {
		if m := n + int(8*o.Limit.PerSecond) - 1; m < len(since) && since[m] < since[n].Add(10*time.Second) {
			first = time.Duration(since[n]-at(end)) * time.Microsecond
			break
		}
	}
	full := o.Limit.PerSecond * outageCheck.Seconds()
	t.Logf("status %d, Retry-After %s: %d requests in an outage of %s; 80 %% of the rate %s after it; a minute later %.0f %%",
		o.Status, o.Wait, f.Down, outageFor, first.Round(time.Second), 100*float64(last)/full)
	var errs errorList
	if most := int(5*o.Limit.PerSecond) + 90; f.Down > most {
		errs.add(fmt.Errorf("%d requests were sent in an outage, and %d would do", f.Down, most))
	}
	if float64(last) < 0.8*full {
		errs.add(fmt.Errorf("%s after an outage only %d of %.0f requests were sent", o.Wait+backWithin, last, full))
	}
	errs.add(limit{o.Limit.PerSecond, o.Limit.Burst}.judge(since))
	// While we come back there are no bursts: in no second are there more than the rate and one.
	early := 0
	for early < len(since) && since[early] < since[0].Add(20*time.Second) {
		early++
	}
	if early > 0 {
		errs.add(Judge(since[:early], o.Limit.PerSecond, 1))
	}
	return errs.join()
}
