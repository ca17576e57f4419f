package gate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/gate/gatetest"
)

// What an answer says is not lost where a person has just called the loan back and the one who got it has not heard of
// that; and it makes nobody faster.
func TestWhatAnAnswerSaysIsKnownWhenTheLoanWasCalledBack(t *testing.T) {
	gatetest.RedisURL(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 10, 1)
		a := s.enter()
		for range 3 {
			if !a.send(nil) {
				t.Fatal("nothing was sent")
			}
		}
		if err := a.Report(t.Context(), s.limit, patra.RateFeedback{Status: 429}); err != nil { // 5 a second
			t.Fatal(err)
		}
		if !s.loan().Active() {
			t.Fatal("nothing is lent")
		}
		if _, _, _, err := s.ledger.UpdateGate(t.Context(), "source", patra.GateUpdate{PerSecond: 9}, "", "me"); err != nil {
			t.Fatal(err)
		}
		if err := s.ledger.UpdateGateState(t.Context(), "source", func(_ patra.Instant, _ time.Duration, is patra.RateState) patra.RateState {
			is.Tempo.Rate = 2000 // others were refused meanwhile
			return is
		}); err != nil {
			t.Fatal(err)
		}
		if err := a.Report(t.Context(), s.limit, patra.RateFeedback{Status: 404, Told: patra.AdvertisedLimit{PerSecond: 1, Concurrency: 2}}); err != nil {
			t.Fatal(err)
		}
		is, _, err := s.ledger.GateState(t.Context(), "source")
		if err != nil || is.Told != 1000 || is.ToldConcurrency != 2 || is.Tempo.Rate != 2000 || is.Set != 9000 {
			t.Errorf("the store knows %+v, %v", is, err)
		}
	})
}

// What a person wants to be forgotten does not come back with the answer of one who has not heard of it yet.
func TestWhatIsForgottenStaysForgotten(t *testing.T) {
	gatetest.RedisURL(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 10, 1)
		a := s.enter()
		if !a.send(nil) {
			t.Fatal("nothing was sent")
		}
		if err := a.Report(t.Context(), s.limit, patra.RateFeedback{Status: 429}); err != nil {
			t.Fatal(err)
		}
		nap(time.Second)
		if !a.send(nil) || !s.loan().Active() {
			t.Fatal("nothing is lent")
		}
		if _, _, _, err := s.ledger.UpdateGate(t.Context(), "source", patra.GateUpdate{Forget: true}, "", "me"); err != nil {
			t.Fatal(err)
		}
		if err := a.Report(t.Context(), s.limit, patra.RateFeedback{Status: 200}); err != nil {
			t.Fatal(err)
		}
		if is, _, err := s.ledger.GateState(t.Context(), "source"); err != nil || is.Tempo.Rate != 0 {
			t.Errorf("the store knows %+v, %v", is.Tempo, err)
		}
	})
}
