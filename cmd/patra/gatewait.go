package main

import (
	"context"
	"fmt"
	"time"

	"patra"
	"patra/internal/store"
)

// gateWait is why and until when the gate of a provider holds requests back.
type gateWait struct {
	Code  string        `json:"code"` // GATE or COOLDOWN
	Until patra.Instant `json:"until"`
	Text  string        `json:"text"`
}

// longQueue is how far ahead requests must be charged before the gate is what a task waits for.
const longQueue = time.Second

// gateOf is what the gate that all processes share holds back at a source; nil is nothing.
func gateOf(ctx context.Context, s *store.Store, source string) (*gateWait, error) {
	keys, clock, err := s.Gates(ctx, source)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		ours := func(at patra.Instant) patra.Instant { return now() + at - clock } // leases and grants go by the database's clock
		switch {
		case k.Cooldown > clock:
			return &gateWait{patra.WaitCooldown, ours(k.Cooldown), fmt.Sprintf("%s asked to be left alone", k.Key)}, nil
		case k.Arrival.Sub(clock) > longQueue:
			return &gateWait{patra.WaitGate, ours(k.Arrival), fmt.Sprintf("All that %s permits is given out (%.3g a second)", k.Key, k.Rate())}, nil
		}
	}
	return nil, nil
}
