package gate_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/gate"
)

func drawTempo(t *rapid.T, limit int64, now patra.Instant) patra.Tempo {
	ago := func(name string) patra.Instant {
		return now - patra.Instant(rapid.Int64Range(0, 10_000_000).Draw(t, name))
	}
	return patra.Tempo{Rate: rapid.Int64Range(0, 2*limit).Draw(t, "rate"), Ceiling: rapid.Int64Range(0, 2*limit).Draw(t, "ceiling"), AdaptedAt: ago("adapted"), RefusedAt: ago("refused")}
}

// rateOf is the tempo as a rate.
func rateOf(t patra.Tempo, limit int64) int64 {
	if t.Rate == 0 {
		return limit
	}
	return min(t.Rate, limit)
}

func TestATempoStaysBetweenTheLeastAndThePermittedRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, now := rapid.Int64Range(1, 1_000_000).Draw(t, "limit"), patra.Instant(1<<50)
		was := drawTempo(t, limit, now)
		refused := rapid.Bool().Draw(t, "refused")
		is := gate.Adapt(was, limit, refused, now)
		before, after := rateOf(was, limit), rateOf(is, limit)
		switch {
		case after > limit, after < min(before, limit, 100):
			t.Fatalf("%d of %d", after, limit)
		case refused && after > max(before, min(limit, 100)):
			t.Fatalf("a refusal raised %d to %d", before, after)
		case !refused && after < before:
			t.Fatalf("an answer lowered %d to %d", before, after)
		}
	})
}

func TestARefusalHalvesTheRateAndTheNextOnesAtOnceDoNot(t *testing.T) {
	now := patra.Instant(1 << 50)
	is := gate.Adapt(patra.Tempo{}, 20_000, true, now)
	for range 10 {
		is = gate.Adapt(is, 20_000, true, now.Add(300*time.Millisecond))
	}
	if is.Rate != 10_000 || is.Ceiling != 20_000 {
		t.Errorf("%+v", is)
	}
	if is = gate.Adapt(is, 20_000, true, now.Add(1100*time.Millisecond)); is.Rate != 5_000 || is.Ceiling != 10_000 {
		t.Errorf("%+v", is)
	}
	for n := range 100 {
		is = gate.Adapt(is, 20_000, true, now.Add(time.Duration(n+3)*2*time.Second))
	}
	if is.Rate != 100 {
		t.Errorf("the least rate is %d", is.Rate)
	}
}

// From wherever we are, answers bring us to nine tenths of the last good rate in seconds, and to the limit in the end.
func TestAnswersBringTheTempoBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, now := rapid.Int64Range(100, 100_000).Draw(t, "limit"), patra.Instant(1<<50)
		is := gate.Adapt(drawTempo(t, limit, now-20*patra.Second), limit, true, now)
		knee := min(is.Ceiling, limit) * 9 / 10
		for range 20 { // five seconds
			now = now.Add(250 * time.Millisecond)
			is = gate.Adapt(is, limit, false, now)
		}
		if rateOf(is, limit) < knee*95/100 {
			t.Fatalf("after five seconds it is %d, and %d was good", rateOf(is, limit), knee)
		}
		for range 4 * 150 {
			now = now.Add(250 * time.Millisecond)
			is = gate.Adapt(is, limit, false, now)
		}
		if is.Rate != 0 {
			t.Fatalf("after two and a half minutes it is still %+v of %d", is, limit)
		}
	})
}

func TestAPauseProvesNothing(t *testing.T) {
	now := patra.Instant(1 << 50)
	is := gate.Adapt(patra.Tempo{}, 20_000, true, now)
	if after := gate.Adapt(is, 20_000, false, now+patra.Day); after.Rate != 14_000 {
		t.Errorf("after a day and one answer the rate is %d", after.Rate)
	}
}
