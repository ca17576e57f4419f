// Package relaytest is the conformance suite of publishers: one set of promises, checked with every kind of sink.
//
// The sinks are real: a server in the process, a broker in the process, a folder. Nothing here pretends to be one.
package relaytest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"patra"
	"patra/internal/relay"
)

// Sink is a sink that a test can look into.
type Sink interface {
	// Open makes a way to the sink. It may fail while the sink is away.
	Open() (relay.Publisher, error)
	// Arrived is what the sink has, in its order, as the documents that it got.
	Arrived(t testing.TB) [][]byte
	// Down makes the sink go away, and Up makes it come back with what it had.
	Down(t testing.TB)
	Up(t testing.TB)
	// Unwanted is an event that the sink refuses; ok is false where there is none.
	Unwanted() (e patra.Event, ok bool)
}

// Event makes an event of a record.
func Event(record string, rev int) patra.Event {
	subject := "demo/work/" + record
	data, _ := json.Marshal(map[string]any{"id": record, "rev": rev, "text": "<a> & \u2028 \"b\"\n"})
	return patra.Event{Seq: int64(rev), Key: patra.HashBytes([]byte(subject)), Origin: "demo", ID: patra.Hash([]any{record, rev}), Source: "patra/test", Type: patra.EventUpserted,
		Subject: subject, Time: patra.Date(2026, time.November, 15), Data: data}
}

// Seen is an event as a reader finds it.
type Seen struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
	Data    struct {
		ID  string `json:"id"`
		Rev int    `json:"rev"`
	} `json:"data"`
}

// Read reads what arrived.
func Read(t testing.TB, s Sink) (all []Seen) {
	t.Helper()
	for _, raw := range s.Arrived(t) {
		var e Seen
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		all = append(all, e)
	}
	return all
}

// FirstOfEach keeps the first time that each event arrived.
func FirstOfEach(all []Seen) []Seen {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(all), func(e Seen) bool {
		again := seen[e.ID]
		seen[e.ID] = true
		return again
	})
}

// Run checks every promise of a publisher with one kind of sink.
func Run(t *testing.T, fresh func(t *testing.T) Sink) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Sink)
	}{
		{"what is acknowledged is there, whole", whole},
		{"what is sent twice has the same id", twice},
		{"versions that wait for each other arrive in order", inOrder},
		{"a sink that is away acknowledges nothing, and gets it later", away},
		{"an event that is refused takes no others along", refused},
		{"no longer than it is told to", patient},
		{"a sink that is opened again goes on behind what it has", reopened},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, fresh(t)) })
	}
}

func open(t *testing.T, s Sink) relay.Publisher {
	t.Helper()
	p, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func publish(t *testing.T, p relay.Publisher, events ...patra.Event) {
	t.Helper()
	for i, err := range p.Publish(t.Context(), events) {
		if err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
}

func several(n int) (all []patra.Event) {
	for i := range n {
		all = append(all, Event(fmt.Sprint("r", i), 1))
	}
	return all
}

func whole(t *testing.T, s Sink) {
	p := open(t, s)
	events := several(20)
	publish(t, p, events...)
	got := map[string]string{}
	for _, raw := range s.Arrived(t) {
		var e Seen
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		got[e.ID] = canonical(t, raw)
	}
	for _, e := range events {
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if got[e.ID] != canonical(t, want) {
			t.Errorf("got %s\nwant %s", got[e.ID], want)
		}
	}
}

func canonical(t *testing.T, raw []byte) string {
	t.Helper()
	b, err := patra.Canonical(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func twice(t *testing.T, s Sink) {
	p := open(t, s)
	publish(t, p, several(5)...)
	publish(t, p, several(5)...)
	if first := FirstOfEach(Read(t, s)); len(first) != 5 {
		t.Errorf("%d events have an id of their own", len(first))
	}
}

func inOrder(t *testing.T, s Sink) {
	p := open(t, s)
	for rev := 1; rev <= 5; rev++ {
		publish(t, p, Event("a", rev), Event("b", rev))
	}
	at := map[string]int{}
	for _, e := range Read(t, s) {
		if e.Data.Rev != at[e.Data.ID]+1 {
			t.Fatalf("%s has %d after %d", e.Data.ID, e.Data.Rev, at[e.Data.ID])
		}
		at[e.Data.ID]++
	}
	if at["a"] != 5 || at["b"] != 5 {
		t.Error(at)
	}
}

func away(t *testing.T, s Sink) {
	p := open(t, s)
	publish(t, p, Event("before", 1))
	s.Down(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	for _, err := range p.Publish(ctx, several(3)) {
		if err == nil {
			t.Error("a sink that is away has acknowledged an event")
		}
	}
	s.Up(t)
	// A way that was lost comes back by itself, after a moment.
	deadline := time.Now().Add(20 * time.Second)
	for relay.FirstError(p.Publish(t.Context(), several(3))) != nil {
		if time.Now().After(deadline) {
			t.Fatal("it does not come back")
		}
		select {
		case <-t.Context().Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	if first := FirstOfEach(Read(t, s)); len(first) != 4 {
		t.Errorf("%d events are there", len(first))
	}
}

func refused(t *testing.T, s Sink) {
	bad, ok := s.Unwanted()
	if !ok {
		t.Skip("it takes everything")
	}
	p := open(t, s)
	events := append(several(3), bad, Event("last", 1))
	errs := p.Publish(t.Context(), events)
	for i, err := range errs {
		if (err == nil) != (i != 3) {
			t.Errorf("event %d: %v", i, err)
		}
	}
	if !relay.IsRefused(errs[3]) {
		t.Errorf("%v is no refusal", errs[3])
	}
	if n := len(FirstOfEach(Read(t, s))); n != 4 {
		t.Errorf("%d events are there", n)
	}
}

func patient(t *testing.T, s Sink) {
	p := open(t, s)
	s.Down(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	if relay.FirstError(p.Publish(ctx, several(2))) == nil {
		t.Error("a sink that is away has acknowledged events")
	}
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("it took %s", took)
	}
	s.Up(t)
}

func reopened(t *testing.T, s Sink) {
	publish(t, open(t, s), several(2)...)
	p := open(t, s)
	publish(t, p, Event("later", 1))
	if n := len(FirstOfEach(Read(t, s))); n != 3 {
		t.Errorf("%d events are there", n)
	}
}
