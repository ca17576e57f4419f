package main

import (
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

func TestTheGateSaysWhyItHoldsBack(t *testing.T) {
	s, err := store.Open(t.Context(), "sqlite::memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	set := func(key string, arrival, cooldown time.Duration) {
		t.Helper()
		err := s.TurnGate(t.Context(), key, func(now patra.Instant, _ time.Duration, is patra.RateState) patra.RateState {
			is.Limit, is.Burst, is.Arrival, is.Cooldown = 3000, 3, now.Add(arrival), now.Add(cooldown)
			is.Tempo.Rate = 1500
			return is
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	expect := func(code, text string) {
		t.Helper()
		w, err := gateOf(t.Context(), s, "pubmed")
		if err != nil || (w == nil) != (code == "") {
			t.Fatalf("%+v, %v", w, err)
		}
		if w != nil && (w.Code != code || !strings.Contains(w.Text, text) || w.Until.Sub(now()) > time.Minute || w.Until < now()) {
			t.Errorf("%+v at %s", w, now())
		}
	}
	expect("", "")
	set("pubmed", 0, 0)
	set("pubmed-central", time.Minute, time.Minute)
	expect("", "")
	set("pubmed", 30*time.Second, 0)
	expect(patra.WaitGate, "All that pubmed permits is given out (1.5 a second)")
	set("pubmed", 0, 50*time.Second)
	expect(patra.WaitCooldown, "pubmed asked to be left alone")
	set("pubmed", 0, 0)
	set("pubmed#ncbi", 0, 50*time.Second)
	expect(patra.WaitCooldown, "pubmed#ncbi")
}
