package simtest

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"

	"patra"
	"patra/internal/relay"
)

// arrived is an event as the sink has it.
type arrived struct {
	id, subject string
	rev         int64
}

// sink is where events go: it keeps them in memory, refuses to answer now and then, and is away for whole sessions.
type sink struct {
	mu    sync.Mutex
	dice  *rand.Rand
	fault float64
	got   []arrived
	fails int64
}

func (s *sink) weather(d *rand.Rand, calm bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dice, s.fault = d, 0
	switch r := d.IntN(20); {
	case calm:
	case r == 0:
		s.fault = 1
	case r < 6:
		s.fault = 0.2
	}
}

var errSink = errors.New("the sink does not answer")

// take keeps an event, or fails: without it, or after it has it.
func (s *sink) take(e patra.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fails, kept := s.dice.Float64() < s.fault, s.fault < 1 && s.dice.IntN(2) == 0
	if !fails || kept {
		var data struct {
			Rev int64 `json:"rev"`
		}
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return err
		}
		s.got = append(s.got, arrived{e.ID, e.Subject, data.Rev})
	}
	if fails {
		s.fails++
		return errSink
	}
	return nil
}

// outlet is the way of one process to the sink.
type outlet struct {
	*sink
	p *process
}

// Publish implements relay.Publisher.
func (o outlet) Publish(_ context.Context, events []patra.Event) []error {
	errs := make([]error, len(events))
	for i, e := range events {
		errs[i] = act(o.p, func() error { return o.take(e) })
	}
	return errs
}

// Close implements relay.Publisher.
func (o outlet) Close() error { return nil }

var _ relay.Publisher = outlet{}
