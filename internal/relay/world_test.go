package relay_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"patra"
	"patra/internal/relay"
	"patra/internal/relay/relaytest"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// world is a store that records come into, while relays are at work or not.
type world struct {
	*storetest.World
	claim *patra.Claim
	page  int64
	want  map[string]bool // record and revision
}

// newWorld is one on SQLite: in a bubble there is no other.
func newWorld(t testing.TB) *world { return newWorldOn(t, storetest.Engines()[0]) }

func newWorldOn(t testing.TB, e storetest.Engine) *world {
	w := &world{World: storetest.NewWorld(t, e, 3), want: map[string]bool{}}
	w.claim = w.Take()
	return w
}

// change gives records another version, one page each time.
func (w *world) change(rev int, records int) {
	w.Clock.Move(time.Second)
	var page []patra.Observation
	for i := range records {
		id := fmt.Sprint("r", i)
		page = append(page, w.Record(id, storetest.Origin+patra.Instant(rev)*patra.Hour, fmt.Sprint(id, "v", rev)))
		w.want[fmt.Sprintf("%s/%d", id, rev)] = true
	}
	w.page++
	w.Page(w.claim, w.page, true, page...)
}

// opened is a second way into the same store, as another process has, with the real clock.
func (w *world) opened(t testing.TB) *store.Store {
	s, err := store.Open(t.Context(), w.URL)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// records is the filter of sinks in tests: what records did.
var records = patra.EventFilter{Types: []string{"record.*"}}

func newRelay(s *store.Store, sinks ...relay.Sink) *relay.Relay {
	return &relay.Relay{Store: s, Sinks: sinks, Log: slog.New(slog.DiscardHandler),
		Config: relay.Config{Owner: store.NewOwner(), Lease: 2 * time.Second, Poll: 20 * time.Millisecond, Batch: 7, Once: true}}
}

// verify compares what arrived with what is in the store: everything is there, an event that is there twice has the same id,
// and of each record the first arrivals are in order.
func (w *world) verify(t testing.TB, arrived []relaytest.Seen) {
	t.Helper()
	at, ids, got := map[string]int{}, map[string]string{}, map[string]bool{}
	for _, e := range relaytest.FirstOfEach(arrived) {
		key := fmt.Sprintf("%s/%d", e.Data.ID, e.Data.Rev)
		if got[key] {
			t.Errorf("%s is there with two ids", key)
		}
		got[key] = true
		if e.Data.Rev != at[e.Data.ID]+1 {
			t.Errorf("%s has %d after %d", e.Data.ID, e.Data.Rev, at[e.Data.ID])
		}
		at[e.Data.ID] = e.Data.Rev
		ids[e.ID] = key
	}
	for key := range w.want {
		if !got[key] {
			t.Errorf("%s is missing", key)
		}
	}
	if len(got) != len(w.want) {
		t.Errorf("%d events are there, and should be %d", len(got), len(w.want))
	}
	storetest.CheckInvariants(t.(*testing.T), storetest.Inspect(t, w.URL))
}

// memory is a sink for tests of the relay itself, with faults.
type memory struct {
	mu    sync.Mutex
	got   [][]byte
	fault func(patra.Event) error
	calls int
}

func (m *memory) Publish(_ context.Context, events []patra.Event) []error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	errs := make([]error, len(events))
	for i, e := range events {
		if m.fault != nil {
			errs[i] = m.fault(e)
		}
		if errs[i] == nil {
			raw, _ := e.MarshalJSON()
			m.got = append(m.got, raw)
		}
	}
	return errs
}

func (m *memory) Close() error { return nil }

func (m *memory) Arrived(testing.TB) [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.got)
}
func (m *memory) Open() (relay.Publisher, error)     { return m, nil }
func (m *memory) Down(testing.TB)                    {}
func (m *memory) Up(testing.TB)                      {}
func (m *memory) Unwanted() (e patra.Event, ok bool) { return e, false }

// to makes a sink of the relay.
func to(name string, s relaytest.Sink) relay.Sink {
	return relay.Sink{Name: name, Filter: records, Open: func(context.Context) (relay.Publisher, error) { return s.Open() }}
}

// follow lets the clock of the store be the one of the bubble.
func (w *world) follow() { w.Clock.Follow(time.Now) }

func contextWithStop(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}
