package store_test

import (
	"bytes"
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
		if bytes.HasSuffix(buf[:n], []byte("\x03COMMIT")) && f.cut.Add(-1) >= 0 {
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
	return w, engines[1].Connect(t, u.String()), f
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
	if err := s.Finish(t.Context(), c, w.Clock.Instant(), patra.Closing{Status: patra.Queued, GiveBack: true}); err != nil {
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
