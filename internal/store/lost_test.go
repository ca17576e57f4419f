package store_test

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// forgetful stands between us and a server. When it is told to, it hands on a COMMIT and cuts the line before the answer.
type forgetful struct {
	net.Listener
	server string
	cut    atomic.Int64 // how many more COMMITs stay without an answer
	asked  atomic.Int64 // how many more questions whether a page has landed stay without one
	lose   func(statement []byte) bool
}

// silent reports whether a statement gets no answer.
func (f *forgetful) silent(statement []byte) bool {
	return bytes.HasSuffix(statement, []byte("\x03COMMIT")) && f.cut.Add(-1) >= 0 ||
		bytes.Contains(statement, []byte("\x03SELECT COUNT(*) FROM ing_task_run_batch WHERE id = ")) && f.asked.Add(-1) >= 0 ||
		f.lose != nil && f.lose(statement)
}

func (f *forgetful) serve() {
	for {
		c, err := f.Accept()
		if err != nil {
			return
		}
		go f.carry(c)
	}
}

func (f *forgetful) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", f.server)
	if err != nil {
		return
	}
	defer server.Close()
	var deaf atomic.Bool
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if deaf.Load() {
				client.Close()
				return
			}
			if n > 0 {
				_, _ = client.Write(buf[:n])
			}
			if err != nil {
				client.Close()
				return
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if f.silent(buf[:n]) {
			deaf.Store(true)
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
		if err != nil {
			return
		}
	}
}

// overForgetful is a store of a world on a server that can be made to forget its answers.
func overForgetful(t *testing.T, tasks int) (*storetest.World, *store.Store, *forgetful) {
	t.Helper()
	engines := storetest.Engines()
	if len(engines) < 2 {
		t.Skip("only a server can be silent")
	}
	w := storetest.NewWorld(t, engines[1], tasks)
	u, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &forgetful{Listener: l, server: u.Host}
	t.Cleanup(func() { l.Close() })
	go f.serve()
	u.Host = l.Addr().String()
	return w, engines[1].Connect(t, u.String(), store.WithClock(w.Clock.Now)), f
}

// A task that was claimed is claimed, also when the answer to the COMMIT was lost: it is not left to nobody, and no other is taken in its place.
func TestAClaimWhoseCommitHadNoAnswer(t *testing.T) {
	w, s, f := overForgetful(t, 3)
	f.cut.Store(1)
	c, err := s.Claim(t.Context(), patra.ClaimRequest{Owner: "me", Lease: time.Minute})
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	if f.cut.Load() >= 1 {
		t.Error("no answer was lost")
	}
	var running, runs int
	db := storetest.Inspect(t, w.URL)
	for query, into := range map[string]*int{
		`SELECT COUNT(*) FROM ing_task WHERE status_code = 'RUNNING'`: &running,
		`SELECT COUNT(*) FROM ing_task_run`:                           &runs,
	} {
		if err := db.QueryRow(query).Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	if running != 1 || runs != 1 {
		t.Errorf("%d tasks run, with %d runs", running, runs)
	}
	if err := s.Finish(t.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true}); err != nil {
		t.Error(err)
	}
}

// A page that was announced is announced, also when the answer to the COMMIT was lost.
func TestAnAnnouncedPageWhoseCommitHadNoAnswer(t *testing.T) {
	w, s, f := overForgetful(t, 1)
	c, err := s.Claim(t.Context(), patra.ClaimRequest{Owner: "me", Lease: time.Minute})
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	f.cut.Store(1)
	open := patra.PageOpen{BatchNo: 1, ScanNo: 1, Phase: patra.PhaseSearch, Ordinal: 1, PageSize: 10, RequestID: "once", GateKey: "demo", Cost: 1}
	page, err := s.OpenPage(t.Context(), c, w.Clock.Instant(), open)
	if err != nil || page.BatchID == 0 || page.RequestRowID == 0 || page.RequestID != "once" {
		t.Fatalf("%+v, %v", page, err)
	}
	if f.cut.Load() >= 1 {
		t.Error("no answer was lost")
	}
	if _, err := s.FailPage(t.Context(), c, w.Clock.Instant(), page, patra.PageFailure{Fault: patra.Fault{Level: patra.LevelRetry, Code: patra.CodeNetwork}}, nil); err != nil {
		t.Error(err)
	}
}

// A page is kept once and counts as kept, also when neither the COMMIT nor the question what became of it had an answer at first.
func TestAPageOfWhichNothingIsHeard(t *testing.T) {
	w, s, f := overForgetful(t, 1)
	c, err := s.Claim(t.Context(), patra.ClaimRequest{Owner: "me", Lease: time.Minute})
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	open := patra.PageOpen{BatchNo: 1, ScanNo: 1, Phase: patra.PhaseSearch, Ordinal: 1, PageSize: 10, RequestID: "first", GateKey: "demo", Cost: 1}
	page, err := s.OpenPage(t.Context(), c, w.Clock.Instant(), open)
	if err != nil {
		t.Fatal(err)
	}
	next := open
	next.BatchNo, next.Ordinal, next.RequestID = 2, 2, "second"
	f.cut.Store(1)
	f.asked.Store(2)
	counts, opened, err := s.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, w.Result(true, w.Record("1", w.Clock.Instant(), "one")), &next)
	if err != nil || counts.Insert != 1 || opened == nil || opened.BatchID == 0 || opened.RequestID != "second" {
		t.Fatalf("%+v, %+v, %v", counts, opened, err)
	}
	if f.cut.Load() >= 1 || f.asked.Load() >= 1 {
		t.Error("everything had an answer")
	}
}

// once tells of the first statement that has a text.
func once(text string) func([]byte) bool {
	var met atomic.Bool
	return func(statement []byte) bool {
		return bytes.Contains(statement, []byte(text)) && met.CompareAndSwap(false, true)
	}
}

// A task that ends because it wore out its workers is counted once, however often that is tried.
func TestAWornOutTaskIsCountedOnce(t *testing.T) {
	w, s, f := overForgetful(t, 1)
	for range 5 {
		w.Take()
		w.Clock.Move(2 * storetest.Lease)
	}
	f.lose = once("UPDATE ing_plan_slice SET status_code = 'FAILED'")
	if n, err := s.FailExhausted(t.Context()); err != nil || n != 1 {
		t.Errorf("%d tasks, %v", n, err)
	}
}

// Whoever was to sign in and found the last place taken when that was tried again is not signed in.
func TestASessionThatFoundNoPlaceAtSecondSight(t *testing.T) {
	w, s, f := overForgetful(t, 1)
	now := w.Clock.Instant()
	ada, err := w.CreateToken(t.Context(), now, patra.Token{Name: "ada", Rank: patra.Admin}, patra.TokenHash("ada"))
	if err != nil {
		t.Fatal(err)
	}
	session := patra.Token{Name: "ada", Rank: patra.Admin, Parent: ada.ID, ExpiresAt: now + patra.Hour}
	open := func(s *store.Store, secret string) (bool, error) {
		_, ok, err := s.OpenSession(t.Context(), now, session, patra.TokenHash(secret))
		return ok, err
	}
	first := once("INSERT INTO ing_token")
	f.lose = func(statement []byte) bool {
		lost := first(statement)
		for i := 0; lost; i++ { // until no place is left
			if ok, err := open(w.Store, fmt.Sprint(i)); !ok {
				return err == nil
			}
		}
		return lost
	}
	if ok, err := open(s, "last"); ok || err != nil {
		t.Errorf("signed in: %v, %v", ok, err)
	}
}

// A trigger and the plan that comes of it are there once, and whoever asked for them has them, when no COMMIT had an answer.
func TestAPlanOfWhichNothingIsHeard(t *testing.T) {
	w, s, f := overForgetful(t, 1)
	via := *w
	via.Store = s
	f.cut.Store(2)
	plan := via.StartPlanFor(w.Cursor, patra.Window{From: storetest.Origin, To: storetest.Origin + 2*patra.Day})
	if plan.ID == 0 || plan.ID == w.Plan.ID || f.cut.Load() > 0 {
		t.Errorf("plan %d, %d answers are left to be lost", plan.ID, f.cut.Load())
	}
}

// Whoever may try a breaker is told so, also when the answer to the COMMIT was lost. Else everybody would wait for it, itself too.
func TestATryOfWhichNothingIsHeard(t *testing.T) {
	w, s, f := overForgetful(t, 1)
	c := w.Take()
	rule := patra.BreakerRule{Failures: 1, Shortest: time.Minute, Longest: time.Minute}
	if _, err := s.RecordFailure(t.Context(), c.WorkScope(), rule, patra.EndpointFailure{}, patra.Fault{Level: patra.LevelRetry, Code: patra.CodeNetwork}); err != nil {
		t.Fatal(err)
	}
	w.Clock.Move(time.Minute)
	f.cut.Store(1)
	hold, err := s.Admit(t.Context(), c.WorkScope())
	if err != nil || !hold.Allowed() || hold.Probe == 0 || f.cut.Load() > 0 {
		t.Fatalf("%+v, %v", hold, err)
	}
	if ch, err := s.RecordSuccess(t.Context(), c.WorkScope(), hold.Probe); err != nil || ch.Is.State != patra.Closed {
		t.Errorf("%+v, %v", ch, err)
	}
}

// Whoever took a role has it, also when the answer to the COMMIT was lost. Else nobody would have it for as long as it lasts.
func TestARoleOfWhichNothingIsHeard(t *testing.T) {
	_, s, f := overForgetful(t, 1)
	if err := s.EnsureSink(t.Context(), "a sink", false); err != nil {
		t.Fatal(err)
	}
	f.cut.Store(1)
	role, ok, err := s.AcquireLease(t.Context(), patra.RelayLease("a sink"), "me", time.Minute)
	if err != nil || !ok || role.Fence != 1 || f.cut.Load() > 0 {
		t.Errorf("%+v, %v, %v", role, ok, err)
	}
}
