package patra

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// sent is a request that left some time after the beginning of a test, in milliseconds, and was back 10 ms later.
func sent(ms int64, status int) SentRequest {
	at := Instant(1<<50) + Instant(ms)*1000
	return SentRequest{Kind: RequestPage, Cost: 1, Waited: time.Millisecond, AcquiredAt: at.Add(-time.Millisecond), SentAt: at, FinishedAt: at.Add(10 * time.Millisecond), Status: status, Bytes: 100, Outcome: OutcomeOK}
}

func mannersOf(all ...SentRequest) RequestStats {
	slices.SortStableFunc(all, func(x, y SentRequest) int { return int(x.AcquiredAt - y.AcquiredAt) })
	c := NewRequestStats(200 * time.Millisecond)
	for _, r := range all {
		c.Add(r)
	}
	return c.Manners()
}

func TestEachRequestIsCountedOnce(t *testing.T) {
	probe, lost, open, unsent := sent(400, 200), sent(500, 0), sent(600, 0), sent(700, 0)
	probe.Kind = RequestProbe
	lost.Outcome, lost.Status = OutcomeNetError, 0
	open.SentAt, open.FinishedAt = 0, 0 // nobody knows
	unsent.SentAt = 0                   // it was called off before it left
	probe.Waited = time.Hour            // so it was told, but somebody let it through
	m := mannersOf(sent(0, 200), sent(100, 429), sent(200, 503), sent(300, 404), probe, lost, open, unsent)
	if m.Requests != 6 || m.Answered != 2 || m.TooMany != 1 || m.Unavailable != 1 || m.Errors != 2 || m.Open != 1 || m.Bytes != 600 {
		t.Errorf("%+v", m)
	}
	if m.Kinds[RequestPage] != 5 || m.Kinds[RequestProbe] != 1 || m.Waited != 6*time.Millisecond || m.MeanWait() != time.Millisecond || m.RefusedShare() != 2.0/6 {
		t.Errorf("%+v", m)
	}
	if m.PeakSecond != 6 || m.PeakMinute != 6 {
		t.Errorf("%d in a second, %d in a minute", m.PeakSecond, m.PeakMinute)
	}
}

// A cooldown begins with the answer that asks for it. Whoever leaves within the grace could not be called back, and
// whoever leaves after its end is free.
func TestWhoeverLeavesInsideACooldownIsSeen(t *testing.T) {
	refused := sent(0, 429) // back after 10 ms
	refused.RetryAfter = 2 * time.Second
	for _, c := range []struct {
		ms               int64
		broken, onTheWay int64
	}{{5, 0, 0}, {10, 0, 0}, {11, 0, 1}, {210, 0, 1}, {211, 1, 0}, {2009, 1, 0}, {2010, 0, 0}, {5000, 0, 0}} {
		other := sent(c.ms, 200)
		m := mannersOf(refused, other)
		if m.Broken != c.broken || m.OnTheWay != c.onTheWay || m.Cooldowns != 1 || (m.BrokenAt == other.SentAt) != (c.broken == 1) {
			t.Errorf("one that leaves after %d ms: %+v", c.ms, m)
		}
		// One that asked the gate long before, and waited, is seen all the same.
		other.AcquiredAt -= 60 * Second
		if m := mannersOf(refused, other); m.Broken != c.broken || m.OnTheWay != c.onTheWay {
			t.Errorf("one that leaves after %d ms and waited for a minute: %+v", c.ms, m)
		}
	}
}

// However many cooldowns overlap, looking at the first of those that are left is as good as looking at all.
func TestOverlappingCooldowns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []SentRequest
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			r := sent(rapid.Int64Range(0, 3000).Draw(t, "ms"), 429)
			r.RetryAfter = time.Duration(rapid.Int64Range(0, 1500).Draw(t, "wait")) * time.Millisecond
			r.FinishedAt = r.SentAt.Add(time.Duration(rapid.Int64Range(1, 300).Draw(t, "took")) * time.Millisecond)
			all = append(all, r)
		}
		var broken, onTheWay int64
		for _, r := range all {
			first, inside := Instant(0), false
			for _, c := range all {
				if c.RetryAfter > 0 && r.SentAt > c.FinishedAt && r.SentAt < c.FinishedAt.Add(c.RetryAfter) && (!inside || c.FinishedAt < first) {
					first, inside = c.FinishedAt, true
				}
			}
			switch {
			case inside && r.SentAt > first.Add(200*time.Millisecond):
				broken++
			case inside:
				onTheWay++
			}
		}
		if m := mannersOf(all...); m.Broken != broken || m.OnTheWay != onTheWay {
			t.Fatalf("%d and %d, by looking at all of them %d and %d", m.Broken, m.OnTheWay, broken, onTheWay)
		}
	})
}

// The time that nineteen of twenty did not pass is at most an eighth too long, and never too short.
func TestWaitsAreCountedInSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w waitHistogram
		var all []time.Duration
		for _, us := range rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 200).Draw(t, "us") {
			d := time.Duration(us) * time.Microsecond
			w.add(d)
			all = append(all, d)
		}
		slices.Sort(all)
		right := all[(len(all)*95+99)/100-1]
		if got := w.atMost(0.95); got < right || got > right+right/8 {
			t.Fatalf("%s, and it is %s", got, right)
		}
	})
	if d := (&waitHistogram{}).atMost(0.95); d != 0 {
		t.Errorf("of no waits at all it is %s", d)
	}
}

// What is kept does not grow with what was counted.
func TestConductIsFlat(t *testing.T) {
	c := NewRequestStats(0)
	for n := range int64(1_000_000) {
		r := sent(n*100, 200)
		if n%1000 == 0 {
			r.Status, r.RetryAfter = 429, 5*time.Second
		}
		c.Add(r)
		if len(c.order.waiting) > 20 || cap(c.minute.recent) > 5000 || len(c.rests) > 20 {
			t.Fatalf("after %d: %d wait, %d are of the last minute, %d cooldowns", n, len(c.order.waiting), cap(c.minute.recent), len(c.rests))
		}
	}
	if m := c.Manners(); m.Requests != 1_000_000 || m.PeakSecond != 10 || m.PeakMinute != 600 {
		t.Errorf("%+v", m)
	}
}
