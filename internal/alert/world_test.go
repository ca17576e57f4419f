package alert

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// inbox is a receiver that is a real server.
type inbox struct {
	*httptest.Server
	mu     sync.Mutex
	got    []Message
	bodies []string
	status int
}

func newInbox(t testing.TB) *inbox {
	b := &inbox{status: http.StatusOK}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m Message
		err := json.Unmarshal(body, &m)
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.status != http.StatusOK || err != nil {
			http.Error(w, "out of order", b.status)
			return
		}
		b.got, b.bodies = append(b.got, m), append(b.bodies, string(body))
	}))
	t.Cleanup(b.Close)
	return b
}

// answer sets what it answers from now on.
func (b *inbox) answer(status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status = status
}

// take gives what came since the last time.
func (b *inbox) take() []Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	got := b.got
	b.got = nil
	return got
}

func (b *inbox) receiver(r patra.Receiver) Receiver {
	return Receiver{Receiver: r, Open: func() (Sender, error) {
		return OpenHook(WebhookOptions{URL: b.URL, Template: Generic, Local: true})
	}}
}

// scene is a store in simulated time, somebody who looks for alerts in it, and somebody who is told.
type scene struct {
	*storetest.World
	t     *testing.T
	watch *EvaluatorLoop
	role  patra.LeaderLease
	inbox *inbox
	each  func() // before every look
	pages int64
}

func newScene(t *testing.T, days int) *scene {
	t.Helper()
	s := &scene{World: storetest.NewWorld(t, storetest.Engines()[0], days), t: t, inbox: newInbox(t)}
	s.watch = newWatch(s.Store, s.inbox.receiver(patra.Receiver{Name: "ops", Repeat: 4 * time.Hour}))
	s.take()
	return s
}

func newWatch(st *store.Store, receivers ...Receiver) *EvaluatorLoop {
	return &EvaluatorLoop{Evaluator: Evaluator{Store: st, Rules: patra.DefaultAlertRules}, Receivers: receivers, Owner: store.NewOwner(), Every: 30 * time.Second, Keep: 90 * 24 * time.Hour, Group: 5, Log: slog.New(slog.DiscardHandler)}
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) take() {
	s.t.Helper()
	role, ok, err := s.watch.AcquireLease(s.t.Context())
	s.must(err)
	if !ok {
		s.t.Fatal("somebody else has the role")
	}
	s.role = role
}

// look is one look and one round of sending; then half a minute passes.
func (s *scene) look() store.AlertEvaluation {
	s.t.Helper()
	if s.each != nil {
		s.each()
	}
	v, err := s.watch.EvaluateOnce(s.t.Context(), s.role)
	s.must(err)
	for _, r := range s.watch.Receivers {
		_, err := s.watch.SendOnce(s.t.Context(), s.role, r)
		s.must(err)
	}
	s.Clock.Move(30 * time.Second)
	return v
}

// pass lets time pass without a look. Whoever has the role keeps it.
func (s *scene) pass(d time.Duration) {
	s.t.Helper()
	s.Clock.Move(d)
	s.must(s.RenewLease(s.t.Context(), s.role))
}

// until looks until somebody is told something of a kind, at most so many times, and gives the message and how long it took.
func (s *scene) until(what patra.NotificationKind, kind patra.AlertKind, looks int) (Item, time.Duration) {
	s.t.Helper()
	began := s.Clock.Now()
	for range looks {
		s.look()
		for _, m := range s.inbox.take() {
			for _, i := range m.Items {
				if i.What == what && i.Kind == kind {
					return i, s.Clock.Now().Sub(began)
				}
			}
		}
	}
	s.t.Fatalf("nobody is told %s of %s in %d looks; now: %+v", what, kind, looks, s.live())
	return Item{}, 0
}

func (s *scene) live() []patra.StoredAlert {
	s.t.Helper()
	all, err := s.LiveAlerts(s.t.Context())
	s.must(err)
	return all
}
