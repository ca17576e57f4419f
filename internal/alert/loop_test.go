package alert

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

func halt(s *scene, endpoint string) {
	s.t.Helper()
	_, err := s.Halt(s.t.Context(), patra.WorkScope{Source: "demo", Endpoint: endpoint, Operation: patra.Harvest}, patra.Fault{Level: patra.LevelFatal, Code: patra.CodeAuth, Status: 401, Text: "who are you"})
	s.must(err)
}

// kinds are what messages are about, one word each.
func kinds(got []Message) (all []string) {
	for _, m := range got {
		for _, i := range m.Items {
			all = append(all, fmt.Sprintf("%s %s", i.What, i.Kind))
		}
	}
	return all
}

func (s *scene) expect(when string, want ...string) {
	s.t.Helper()
	if got := kinds(s.inbox.take()); !slices.Equal(got, want) {
		s.t.Errorf("%s: told %v, want %v", when, got, want)
	}
}

// Several processes look, in their own time; one of them is killed, with the role in its hands. Whatever happens is told once.
func TestSeveralProcessesTellOnce(t *testing.T) {
	inbox := newInbox(t) // a server waits for the network, which does not know of simulated time
	synctest.Test(t, func(t *testing.T) {
		s := &scene{World: storetest.NewWorld(t, storetest.Engines()[0], 0), t: t, inbox: inbox}
		s.Clock.Follow(time.Now)
		ops := s.inbox.receiver(patra.Receiver{Name: "ops"})
		// The first one has the role, looks once, and is gone before it has told anybody.
		dead := newWatch(s.Store, ops)
		halt(s, "works")
		role, ok, err := dead.AcquireLease(t.Context())
		if err != nil || !ok {
			t.Fatal(err)
		}
		if _, err := dead.EvaluateOnce(t.Context(), role); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 3)
		for range 3 {
			w := newWatch(s.Store, ops)
			go func() { ended <- w.Run(ctx) }()
		}
		time.Sleep(time.Minute)
		s.expect("while the lease of the dead one lasts")
		time.Sleep(time.Minute)
		s.expect("after it", "FIRED HALTED")
		time.Sleep(time.Hour)
		s.expect("an hour later")
		if _, err := s.Resume(t.Context(), patra.Target{Scope: patra.ScopeSource, Key: "demo"}, "", "ada"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		s.expect("when it is mended", "RESOLVED HALTED")
		stop()
		for range 3 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		// Whoever was told to stop has given the role back.
		if _, held, err := s.LastAlertEvaluation(t.Context()); err != nil || held {
			t.Errorf("the role is held: %v, %v", held, err)
		}
	})
}

// Whoever is killed after it has sent and before that is written down leaves it to be sent again, under the same number.
func TestAMessageComesTwiceOnlyIfNobodyKnows(t *testing.T) {
	s := newScene(t, 0)
	halt(s, "works")
	if _, err := s.watch.EvaluateOnce(t.Context(), s.role); err != nil {
		t.Fatal(err)
	}
	due, err := s.ClaimNotifications(t.Context(), s.role, "ops", 10, holdFor)
	if err != nil || len(due) != 1 {
		t.Fatalf("%+v, %v", due, err)
	}
	hook, err := s.watch.Receivers[0].Open()
	s.must(err)
	_, err = hook.Post(t.Context(), MessageOf(due))
	s.must(err)
	first := s.inbox.take() // and here it is killed
	for range 3 {
		s.look()
	}
	s.expect("while it may still be on its way")
	s.pass(holdFor)
	s.look()
	again := s.inbox.take()
	if len(again) != 1 || again[0].ID != first[0].ID || again[0].Items[0].Notice != first[0].Items[0].Notice {
		t.Errorf("%+v after %+v", again, first)
	}
	for range 3 {
		s.look()
	}
	s.expect("after it arrived")
}

func TestManyAlertsAreOneMessage(t *testing.T) {
	s := newScene(t, 0)
	for i := range 12 {
		halt(s, fmt.Sprint("e", i))
	}
	s.look()
	got := s.inbox.take()
	if len(got) != 1 || len(got[0].Items) != 12 || got[0].Title != "12 alerts: 12 fire, 0 are over" {
		t.Errorf("%d messages: %+v", len(got), got)
	}
	resume(s)
	s.look()
	s.look()
	if got = s.inbox.take(); len(got) != 1 || len(got[0].Items) != 12 || got[0].Items[0].What != patra.NoticeResolved {
		t.Errorf("%d messages: %+v", len(got), got)
	}
}

// A receiver that is away is tried again, later and later; the others are told meanwhile, also that it is away; and when it is back it
// gets what it has missed, if that is still so.
func TestAReceiverThatIsAway(t *testing.T) {
	s := newScene(t, 0)
	away := newInbox(t)
	away.answer(http.StatusInternalServerError)
	s.watch.Receivers = append(s.watch.Receivers, away.receiver(patra.Receiver{Name: "chat"}))
	halt(s, "works")
	s.look()
	s.expect("at once", "FIRED HALTED")
	for range 20 {
		s.look()
	}
	s.expect("after ten minutes", "FIRED SINK")
	states, err := s.ReceiverStates(t.Context())
	s.must(err)
	if len(states) != 2 || states[0].Name != "chat" || states[0].Waiting != 1 || states[0].Failures < 3 || states[0].Failures > 8 || states[0].Error != "it answered with status 500: out of order" || states[1].Failures != 0 || states[1].SentAt == nil {
		t.Errorf("%+v", states)
	}
	away.answer(http.StatusOK)
	for range 40 {
		s.look()
	}
	if got := kinds(away.take()); !slices.Equal(got, []string{"FIRED HALTED"}) {
		t.Errorf("chat is told %v", got)
	}
	s.expect("when it is back", "RESOLVED SINK")
	// What is over before it could be told is not told.
	away.answer(http.StatusInternalServerError)
	s.look()
	resume(s)
	s.look()
	s.look()
	s.expect("when it is mended", "RESOLVED HALTED")
}

// One that is away for longer than a message is tried is told when it is back, for it is still so; and until then it is known that it
// is away.
func TestAReceiverThatIsAwayForDays(t *testing.T) {
	s := newScene(t, 0)
	away := newInbox(t)
	away.answer(http.StatusInternalServerError)
	s.watch.Receivers = append(s.watch.Receivers, away.receiver(patra.Receiver{Name: "chat"}))
	halt(s, "works")
	for range 27 {
		s.look()
		s.pass(time.Hour)
	}
	for range 20 {
		s.look()
	}
	if states, err := s.ReceiverStates(t.Context()); err != nil || states[0].Name != "chat" || states[0].Failures == 0 {
		t.Errorf("after a day and a half: %+v, %v", states, err)
	}
	away.answer(http.StatusOK)
	for range 40 {
		s.look()
	}
	if got := kinds(away.take()); !slices.Equal(got, []string{"FIRED HALTED"}) {
		t.Errorf("chat is told %v", got)
	}
}

// One that did not answer and was taken out of the settings needs nobody any more.
func TestAReceiverThatIsGone(t *testing.T) {
	s := newScene(t, 0)
	away := newInbox(t)
	away.answer(http.StatusInternalServerError)
	one := s.watch.Receivers
	s.watch.Receivers, s.watch.Told = append(one, away.receiver(patra.Receiver{Name: "chat"})), []string{"ops", "chat"}
	halt(s, "works")
	s.until(patra.NoticeFired, patra.AlertSink, 20)
	s.watch.Receivers, s.watch.Told = one, []string{"ops"}
	s.until(patra.NoticeResolved, patra.AlertSink, 2)
	states, err := s.watch.ReceiverStates(t.Context())
	s.must(err)
	if len(states) != 2 || !states[0].Gone || states[1].Gone {
		t.Errorf("%+v", states)
	}
}

// What a receiver could not be told ends meanwhile. It is away all the same until something arrives: the alert about it does not come
// and go with the others.
func TestAReceiverThatStaysAway(t *testing.T) {
	s := newScene(t, 0)
	away := newInbox(t)
	away.answer(http.StatusInternalServerError)
	s.watch.Receivers = append(s.watch.Receivers, away.receiver(patra.Receiver{Name: "chat"}))
	halt(s, "works")
	for range 5 {
		s.look()
	}
	s.expect("after some attempts", "FIRED HALTED", "FIRED SINK")
	resume(s)
	for range 10 {
		s.look()
	}
	s.expect("when the first alert is over", "RESOLVED HALTED")
	away.answer(http.StatusOK)
	halt(s, "works")
	for range 40 {
		s.look()
	}
	s.expect("when something arrives", "FIRED HALTED", "RESOLVED SINK")
}

// One that takes a message and never answers holds up nobody.
func TestAReceiverThatHangs(t *testing.T) {
	s := newScene(t, 0)
	s.must(s.ReleaseLease(t.Context(), s.role))
	took, stop := make(chan struct{}, 1), make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		took <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	}))
	defer hanging.Close()
	defer close(stop)
	looks := make(chan store.AlertEvaluation)
	w := newWatch(s.Store, Receiver{Receiver: patra.Receiver{Name: "hangs"}, Open: func() (Sender, error) {
		return OpenHook(WebhookOptions{URL: hanging.URL, Template: Slack, Local: true, Timeout: time.Hour})
	}}, s.inbox.receiver(patra.Receiver{Name: "ops"}))
	w.Every, w.Looked = time.Millisecond, func(v store.AlertEvaluation) { looks <- v }
	halt(s, "works")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	<-looks
	<-took // and from now on it hangs
	told := false
	for n := 0; n < 10 || !told; n++ {
		<-looks
		told = told || len(s.inbox.take()) > 0
		if n > 10_000 {
			t.Fatal("the other one is told nothing")
		}
	}
	cancel()
	for {
		select {
		case <-looks:
			continue
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		}
		return
	}
}

func TestItIsSaidAgainWhileItLasts(t *testing.T) {
	s := newScene(t, 0)
	halt(s, "works")
	s.look()
	s.expect("at once", "FIRED HALTED")
	for range 3 {
		s.pass(time.Hour)
		s.look()
	}
	s.expect("within four hours")
	s.pass(time.Hour)
	s.look()
	s.expect("after four hours", "REPEAT HALTED")
	_, err := s.AckAlert(t.Context(), s.live()[0].ID, 0, "ada", "on it")
	s.must(err)
	for range 3 {
		s.pass(4 * time.Hour)
		s.look()
	}
	s.expect("after it was acknowledged")
	resume(s)
	s.look()
	s.look()
	s.expect("when it is over", "RESOLVED HALTED")
}

// However long an alert lasts, its notices are not more and more.
func TestNoticesOfAnAlertAreBounded(t *testing.T) {
	s := newScene(t, 0)
	s.watch.Receivers[0].Repeat = time.Minute
	halt(s, "works")
	for range 60 {
		s.look()
		s.pass(time.Minute)
	}
	if got := len(s.inbox.take()); got != 60 {
		t.Errorf("told %d times", got)
	}
	var n int
	s.must(storetest.Inspect(t, s.URL).QueryRow("SELECT COUNT(*) FROM ing_alert_notice").Scan(&n))
	if n > 25 {
		t.Errorf("%d notices are kept", n)
	}
	s.watch.Receivers[0].Repeat = 0
	resume(s)
	s.look()
	s.look()
	s.expect("when it is over", "RESOLVED HALTED")
}

// A look may take longer than the lease: whoever looks keeps the role.
func TestALongLookKeepsTheRole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{World: storetest.NewWorld(t, storetest.Engines()[0], 1), t: t}
		s.Clock.Follow(time.Now)
		s.scheduled()
		slow, other := newWatch(s.Store), newWatch(s.Store)
		slow.Fires = func(string, patra.Instant) (patra.Instant, bool) {
			time.Sleep(2 * slow.lease())
			return 0, false
		}
		role, ok, err := slow.AcquireLease(t.Context())
		if err != nil || !ok {
			t.Fatal(err)
		}
		looked := make(chan error, 1)
		go func() {
			_, err := slow.EvaluateOnce(t.Context(), role)
			looked <- err
		}()
		time.Sleep(slow.lease() + time.Second)
		if _, ok, err := other.AcquireLease(t.Context()); err != nil || ok {
			t.Errorf("somebody else has the role: %v, %v", ok, err)
		}
		if err := <-looked; err != nil {
			t.Error(err)
		}
	})
}

// What breaks a goroutine is caught by whoever is there for that, as its text may hold an address that is a secret.
func TestWhatBreaksIsCaught(t *testing.T) {
	s := newScene(t, 0)
	s.must(s.ReleaseLease(t.Context(), s.role))
	w := newWatch(s.Store, Receiver{Receiver: patra.Receiver{Name: "breaks"}, Open: func() (Sender, error) { panic("https://example.org/secret") }})
	caught := make(chan any, 1)
	w.Guard = func() {
		if broken := recover(); broken != nil {
			caught <- broken
		}
	}
	halt(s, "works")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	<-caught
	cancel()
	s.must(<-ended)
}

// However many watermarks there are, all are looked at.
func TestEveryWatermarkIsLookedAt(t *testing.T) {
	defer func(n int) { cursorsAtOnce = n }(cursorsAtOnce)
	cursorsAtOnce = 2
	s := newScene(t, 1)
	for i := range 4 {
		s.AddPlan("demo", fmt.Sprint("e", i), 1, 5)
	}
	s.pass(25 * time.Hour)
	_, facts, err := s.watch.Evaluate(t.Context())
	s.must(err)
	if len(facts.Cursors) != 5 {
		t.Errorf("%d of 5 watermarks", len(facts.Cursors))
	}
}

// Where nobody has looked lately, what is so at this moment is told, and that nobody looks.
func TestAlertsAreKnownAlsoWhereNobodyLooks(t *testing.T) {
	s := newScene(t, 0)
	halt(s, "works")
	now := func() Status {
		t.Helper()
		st, err := s.watch.Status(t.Context(), s.watch.Every)
		s.must(err)
		return st
	}
	if st := now(); st.Watched || len(st.Items) != 1 || st.Items[0].ID != 0 || st.Items[0].State != patra.AlertFiring || st.LookedAt != nil {
		t.Errorf("%+v", st)
	}
	s.look()
	if st := now(); !st.Watched || len(st.Items) != 1 || st.Items[0].ID == 0 || st.Items[0].FiredAt == nil || len(st.Items[0].Notices) != 1 || st.Items[0].Notices[0].State != patra.NoticeSent {
		t.Errorf("%+v", st)
	}
	s.Clock.Move(10 * time.Minute)
	if st := now(); st.Watched || len(st.Items) != 1 || st.Items[0].ID != 0 || st.LookedAt == nil {
		t.Errorf("%+v", st)
	}
}
