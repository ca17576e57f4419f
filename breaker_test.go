package patra_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

var breakerRule = patra.BreakerRule{Failures: 3, Shortest: time.Minute, Longest: 2 * time.Minute}

func TestABreakerOpensAfterFailuresInARow(t *testing.T) {
	b := patra.Breaker{State: patra.Closed}
	at := patra.Date(2026, 6, 1)
	b = b.RecordFailure(breakerRule, at, patra.EndpointFailure{}).RecordFailure(breakerRule, at, patra.EndpointFailure{}).RecordSuccess(0)
	b = b.RecordFailure(breakerRule, at, patra.EndpointFailure{}).RecordFailure(breakerRule, at, patra.EndpointFailure{})
	if b.State != patra.Closed || b.Failures != 2 {
		t.Fatalf("an answer between was not heard: %+v", b)
	}
	b = b.RecordFailure(breakerRule, at, patra.EndpointFailure{Dice: 0.5})
	if b.State != patra.Open || b.Until != at.Add(90*time.Second) {
		t.Errorf("the third in a row: %+v", b)
	}
}

// Chance opens no breaker, an endpoint that is gone does: by its share of the last requests, by silence where requests are few, and at
// once where no server accepts a connection.
func TestABreakerTellsChanceFromAnOutage(t *testing.T) {
	rule := patra.BreakerRule{Shortest: time.Minute, Longest: 2 * time.Minute}
	at, dice := patra.Date(2026, 6, 1), rand.New(rand.NewPCG(1, 2))
	b, answered := patra.Breaker{State: patra.Closed}, int64(0)
	for n := range 100_000 {
		if at += patra.Second / 5; dice.IntN(5) > 0 {
			answered++
			b = b.RecordSuccess(0)
			continue
		}
		if b = b.RecordFailure(rule, at, patra.EndpointFailure{Answered: answered}); b.State != patra.Closed {
			t.Fatalf("one in five failed, and after %d requests it is %+v", n, b)
		}
		answered = 0
	}
	until := func(every time.Duration, f patra.EndpointFailure, answers int) (failures int) {
		b, at := patra.Breaker{State: patra.Closed}, at
		for ; b.State == patra.Closed && failures < 1000; failures++ {
			f.Answered = 0
			if at = at.Add(every); answers > 0 && failures%answers == 0 {
				f.Answered, b = 1, b.RecordSuccess(0)
			}
			b = b.RecordFailure(rule, at, f)
		}
		return failures
	}
	for _, c := range []struct {
		name string
		got  int
		want int
	}{
		{"all fail, fast", until(50*time.Millisecond, patra.EndpointFailure{}, 0), 20},
		{"all fail, slowly", until(3*time.Second, patra.EndpointFailure{}, 0), 8},
		{"no server accepts a connection", until(time.Millisecond, patra.EndpointFailure{Unreached: true}, 0), 3},
		{"six of seven fail", until(time.Second, patra.EndpointFailure{}, 6), 17},
		{"three of four fail", until(time.Second, patra.EndpointFailure{}, 3), 1000},
	} {
		if c.got != c.want {
			t.Errorf("%s: it opens after %d failures, want %d", c.name, c.got, c.want)
		}
	}
}

// What failed long ago says nothing today.
func TestABreakerForgets(t *testing.T) {
	rule := patra.BreakerRule{Shortest: time.Minute, Longest: time.Minute}
	at, b := patra.Date(2026, 6, 1), patra.Breaker{State: patra.Closed}
	for range 16 {
		b = b.RecordFailure(rule, at, patra.EndpointFailure{})
	}
	b = b.RecordSuccess(0)
	for range 7 {
		if b = b.RecordFailure(rule, at+patra.Day, patra.EndpointFailure{}); b.State != patra.Closed {
			t.Fatalf("%+v", b)
		}
	}
}

func TestATryThatFailsDoublesTheWait(t *testing.T) {
	at := patra.Date(2026, 6, 1)
	b := patra.Breaker{State: patra.Closed}
	for range 3 {
		b = b.RecordFailure(breakerRule, at, patra.EndpointFailure{})
	}
	var waits []time.Duration
	var patient []bool
	for version := range int64(8) {
		waits = append(waits, b.Until.Sub(at))
		at = b.Until
		var may bool
		if b, may = b.StartProbe(at, patra.BreakerProbe{}); !may {
			t.Fatal("nobody may try when the time is over")
		}
		b.Version = version + 10
		patient = append(patient, b.WillBackOffLonger(breakerRule))
		b = b.RecordFailure(breakerRule, at, patra.EndpointFailure{Probe: b.Version})
	}
	want := []time.Duration{1, 2, 4, 8, 15, 15, 15, 15}
	for i, w := range want {
		if waits[i] != w*time.Minute {
			t.Errorf("wait %d is %s, want %s", i+1, waits[i], w*time.Minute)
		}
		if patient[i] != (i < 3) {
			t.Errorf("try %d: patient is %v", i+1, patient[i])
		}
	}
}

// Whatever comes in whatever order: between two moments in which the breaker is closed, at most one request goes out for
// each cooldown, and nobody is asked while it is open.
func TestOnlyOneTriesAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := patra.Breaker{State: patra.Closed, Version: 1}
		now := patra.Date(2026, 6, 1)
		rule := patra.BreakerRule{Failures: rapid.Int64Range(1, 5).Draw(t, "failures"), Shortest: time.Minute, Longest: 3 * time.Minute}
		probe, probed, prober := int64(0), patra.Instant(0), patra.BreakerProbe{}
		store := func(next patra.Breaker) {
			if next != b {
				if err := patra.BreakerMoves.Check(b.State, next.State); err != nil {
					t.Fatal(err)
				}
				next.Version++
			}
			b = next
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, 400).Draw(t, "seconds")) * time.Second)
			switch rapid.SampledFrom([]string{"ask", "fail", "answer", "straggler fails", "straggler answers"}).Draw(t, "what") {
			case "ask":
				was := b.State
				by := patra.BreakerProbe{Task: rapid.Int64Range(0, 2).Draw(t, "task"), Fence: rapid.Int64Range(1, 3).Draw(t, "fence")}
				heir := by.Task != 0 && by.Task == prober.Task && by.Fence > prober.Fence
				next, may := b.StartProbe(now, by)
				if was == patra.HalfOpen && heir && !may {
					t.Fatal("whoever took over the task of the one that tried has to wait")
				}
				store(next)
				if may && was == patra.Open && now < next.Until.Add(-patra.ProbeTime) {
					t.Fatal("somebody tried too early")
				}
				if may && b.State == patra.HalfOpen {
					if was == patra.HalfOpen && !heir && now < probed.Add(patra.ProbeTime) {
						t.Fatal("two try at a time")
					}
					probe, probed, prober = b.Version, now, by
				}
			case "fail":
				was := b
				store(b.RecordFailure(rule, now, patra.EndpointFailure{Probe: probe, Dice: rapid.Float64Range(0, 1).Draw(t, "dice")}))
				if was.State == patra.HalfOpen && probe == was.Version && (b.State != patra.Open || b.Until < now.Add(rule.Shortest)) {
					t.Fatalf("a try failed: %+v", b)
				}
				if b.Until > now.Add(max(patra.BreakerCap, rule.Longest)) {
					t.Fatalf("it waits for ever: %+v", b)
				}
			case "answer":
				was := b
				store(b.RecordSuccess(probe))
				if was.State == patra.HalfOpen && probe == was.Version && b.State != patra.Closed {
					t.Fatalf("a try was answered: %+v", b)
				}
			case "straggler fails":
				if was := b; was.State != patra.Closed {
					if store(b.RecordFailure(rule, now, patra.EndpointFailure{})); b != was {
						t.Fatal("one that was sent before counts")
					}
				}
			case "straggler answers":
				if was := b; was.State != patra.Closed {
					if store(b.RecordSuccess(0)); b != was {
						t.Fatal("one that was sent before counts")
					}
				}
			}
		}
	})
}

func TestWhichFailuresCount(t *testing.T) {
	for _, c := range []struct {
		fault patra.Fault
		want  bool
	}{
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeNetwork}, true},
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeTimeout}, true},
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeHTTP, Status: 503}, true},
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeBadBody}, true},
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeRateLimited, Status: 429}, false},
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeTokenExpired}, false},
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeInternal}, false},
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeBadBody, Path: "$.items"}, false},
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeUnreadable}, false},
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeTooDeep}, false},
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeHTTP, Status: 302}, false},
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeTooLarge}, false},
		{patra.Fault{Level: patra.LevelRetry, Code: patra.CodeLoop}, false},
		{patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Status: 404}, false},
		{patra.Fault{Level: patra.LevelFatal, Code: patra.CodeHTTP, Status: 401}, false},
	} {
		if got := c.fault.Counts(); got != c.want {
			t.Errorf("%+v counts: %v", c.fault, got)
		}
	}
}

// A breaker that has waited as long as it ever will is not patient any more, however often it opens after that.
func TestPatienceEndsOnce(t *testing.T) {
	for _, shortest := range []time.Duration{time.Second, 7 * time.Second, 30 * time.Second, 45 * time.Second, time.Hour} {
		rule, patient := patra.BreakerRule{Failures: 3, Shortest: shortest, Longest: 2 * shortest}, true
		for trips := range int64(100) {
			is := patra.Breaker{Trips: trips}.WillBackOffLonger(rule)
			if is && !patient {
				t.Errorf("%v: patient again after %d trips", shortest, trips)
			}
			patient = is
		}
		if patient {
			t.Errorf("%v: patient for ever", shortest)
		}
	}
}
