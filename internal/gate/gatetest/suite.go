// Package gatetest is the conformance suite of the gate: one set of promises, checked on every gate.
//
// A case plays several processes that share one gate, in simulated time, and looks at what the provider would have seen.
// It returns what is wrong instead of failing a test, so that wrong gates can be shown to be caught.
package gatetest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"patra"
)

// Gate is what is tested.
type Gate interface {
	Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error)
	MaxLateness(l patra.RateLimit) time.Duration
	CooldownRemaining(ctx context.Context, key string) (time.Duration, error)
	Cooldown(ctx context.Context, key string, wait time.Duration) error
	AcquireSlot(ctx context.Context, l patra.RateLimit, e patra.InFlightRequest) (wait time.Duration, err error)
	ReleaseSlot(ctx context.Context, l patra.RateLimit, id string) error
	Report(ctx context.Context, l patra.RateLimit, a patra.RateFeedback) error
}

// Kind is a kind of gate. Fresh makes one without history; each call of what it returns is one more process at that gate.
type Kind struct {
	Fresh  func(t testing.TB) (enter func() Gate)
	Sends  int  // how many requests are looked at; a gate that writes to a disk may do with fewer
	Memory bool // what happened is forgotten with the process
}

// Case is one promise.
type Case struct {
	Name  string
	Check func(t testing.TB, k Kind) error
}

// Cases are all promises.
func Cases() []Case {
	var all []Case
	for _, l := range limits {
		all = append(all, Case{"in no stretch of time come more than " + l.String() + " permits, however late they are", l.kept})
	}
	return append(all,
		Case{"no time is lost while there is work", unused},
		Case{"nobody is granted a moment inside a cooldown, and it only extends", cooldowns},
		Case{"a cooldown does not end in a crowd", crowd},
		Case{"keys do not share a limit", keys},
		Case{"what was charged is remembered by the next process", restart},
		Case{"a request that costs more takes more of the rate", costs},
		Case{"no more requests are on their way than there are slots, and a dead one frees its own", slots},
		Case{"everybody gets the same share", shares},
		Case{"a refusal slows everybody down, and answers bring the tempo back", tempo},
		Case{"a provider that bears less than it says is asked for no more than that", hidden},
		Case{"an outage ends without a crowd", outages},
		Case{"what a provider says about its limits holds for everybody, and its last word counts", told},
		Case{"after a pause the rate climbs slowly where a source says so", warm},
	)
}

// Run checks every promise on one kind of gate.
func Run(t *testing.T, k Kind) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { Check(t, c, k) })
	}
}

// Check checks one promise, in simulated time.
func Check(t *testing.T, c Case, k Kind) {
	synctest.Test(t, func(t *testing.T) {
		if err := c.Check(t, k); err != nil {
			t.Error(err)
		}
	})
}
