package patra_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

func TestALimitFallsStepByStepAndRises(t *testing.T) {
	at := patra.Date(2026, 6, 1)
	l := patra.Limit{}.Down(at, 4)
	if l.Now(at) != 3 {
		t.Fatalf("first step: %+v", l)
	}
	l = l.Down(at, 4).Down(at, 4).Down(at, 4)
	if l.Now(at) != 1 || l.Of != 4 {
		t.Fatalf("one task always runs: %+v", l)
	}
	for i, want := range []int64{1, 2, 3, 0} {
		when := at.Add(time.Duration(i) * patra.LimitQuiet)
		if got := l.Now(when); got != want {
			t.Errorf("after %s: %d, want %d", when.Sub(at), got, want)
		}
	}
}

// However steps and quiet come: at least one task may run, never more than without a limit, and rising at once or in small
// steps ends at the same place.
func TestALimitStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.Int64Range(2, 16).Draw(t, "of")
		now := patra.Date(2026, 6, 1)
		var often, seldom patra.Limit
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, 500).Draw(t, "seconds")) * time.Second)
			often = often.Up(now)
			if rapid.Bool().Draw(t, "down") {
				often, seldom = often.Down(now, of), seldom.Down(now, of)
			}
			if a, b := often.Now(now), seldom.Now(now); a != b || a < 0 || a >= of {
				t.Fatalf("of %d: %d and %d", of, a, b)
			}
		}
	})
}

func TestFiveRefusalsInFiveMinutesAreTooMany(t *testing.T) {
	at := patra.Date(2026, 6, 1)
	var before []patra.Instant
	for i := range 20 { // one a minute and a quarter is not
		var enough bool
		if before, enough = patra.CountRefusal(before, at.Add(time.Duration(i)*76*time.Second)); enough {
			t.Fatalf("enough after %d", i+1)
		}
	}
	before = nil
	for i := range 5 {
		var enough bool
		if before, enough = patra.CountRefusal(before, at.Add(time.Duration(i)*time.Minute)); enough != (i == 4) {
			t.Fatalf("refusal %d: %v", i+1, enough)
		}
	}
	if len(before) != 0 {
		t.Error("what led to a step counts for the next one too")
	}
}
