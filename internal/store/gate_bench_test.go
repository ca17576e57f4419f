package store_test

import (
	"testing"
	"time"

	"patra"
	"patra/internal/store/storetest"
)

// BenchmarkTurnGate is the price of one charge.
func BenchmarkTurnGate(b *testing.B) {
	for _, e := range storetest.Engines() {
		b.Run(e.Name, func(b *testing.B) {
			s := e.Open(b)
			for b.Loop() {
				if err := s.UpdateGateState(b.Context(), "a", func(now patra.Instant, _ time.Duration, is patra.RateState) patra.RateState {
					is.Arrival = now
					return is
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
