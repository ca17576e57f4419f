package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/api"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// pipes is a listener whose connections hold nothing: what is not read is not written.
type pipes struct {
	given chan net.Conn
	ended chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.given:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.ended); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// Whoever asks and does not read the answer keeps a connection for a while, and not for ever.
func TestWhoDoesNotReadIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		served := make(chan error, 1)
		go func() { served <- api.New(api.Options{}).Serve(ctx, l) }()
		ours, theirs := net.Pipe()
		l.given <- theirs
		if _, err := io.WriteString(ours, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		if n, err := ours.Read(make([]byte, 100)); err == nil {
			t.Errorf("after ten minutes somebody still waits to write us %d bytes", n)
		}
		ours.Close()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// A stream or a file that is read for long ends soon after its token does.
func TestAStreamEndsWithItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &room{t: t, store: storetest.Engines()[0].Open(t)}
		ada := r.token(api.TokenRequest{Name: "ada", Rank: patra.Viewer})
		handler := api.New(api.Options{Store: r.store, Tokens: true}).Handler()
		req := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+api.Prefix+"/stream", nil)
		req.Header.Set("Authorization", "Bearer "+ada)
		ended := make(chan time.Time, 1)
		go func() {
			handler.ServeHTTP(httptest.NewRecorder(), req)
			ended <- time.Now()
		}()
		time.Sleep(3 * time.Minute)
		select {
		case <-ended:
			t.Fatal("it ended with its token in force")
		default:
		}
		all, err := r.store.Tokens(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		if _, err := r.store.RevokeToken(t.Context(), patra.InstantOf(now), all[0].ID, "test", "gone"); err != nil {
			t.Fatal(err)
		}
		if after := (<-ended).Sub(now); after > 20*time.Second {
			t.Errorf("it went on for %s", after)
		}
	})
}

// Signing out ends the session, or says that it does not.
func TestWhoIsToldThatTheyAreOutIsOut(t *testing.T) {
	r := open(t, withTokens)
	res, _ := r.call("POST", "/api/v1/session", `{"token":"`+r.token(api.TokenRequest{Name: "ada", Rank: patra.Viewer})+`"}`)
	session := header("Cookie", "__Host-patra="+res.Cookies()[0].Value)
	for _, set := range []func(*http.Request){func(*http.Request) {}, header("X-Patra", "1")} {
		res, _ := r.call("DELETE", "/api/v1/session", "", session, set)
		said := res.StatusCode == http.StatusNoContent
		res, _ = r.call("GET", "/api/v1/tasks", "", session)
		if out := res.StatusCode == http.StatusUnauthorized; out != said {
			t.Errorf("told to be out: %v; out: %v", said, out)
		}
	}
	if res, body := r.call("GET", "/api/v1/tasks", "", session); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	// Whoever has an old cookie, or none, can sign in and out.
	for _, c := range []struct{ method, body string }{{"POST", `{"token":"` + r.token(api.TokenRequest{Name: "bob", Rank: patra.Viewer}) + `"}`}, {"DELETE", ""}} {
		if res, body := r.call(c.method, "/api/v1/session", c.body, session, header("X-Patra", "1")); res.StatusCode != http.StatusNoContent {
			t.Errorf("%s: %d %s", c.method, res.StatusCode, body)
		}
	}
}

// Those who sign in are counted by their whole address, also where there are colons in it.
func TestNeighboursAreNotCountedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask := sitting(t, api.Options{Tokens: true})
		for n := range 200 {
			if got := ask("[2001:db8::1]:4000", ""); got != http.StatusOK {
				t.Fatalf("request %d: %d", n+1, got)
			}
		}
		if got := ask("[2001:db8::1]:4001", ""); got != http.StatusTooManyRequests {
			t.Errorf("one more of the same: %d", got)
		}
		if got := ask("[2001:db8::2]:4000", ""); got != http.StatusOK {
			t.Errorf("a neighbour is told %d", got)
		}
	})
}

// A name is in lists and logs: it cannot draw there.
func TestATokenHasANameThatCanBeSeen(t *testing.T) {
	r := open(t)
	for name, want := range map[string]int{"ada": 200, "Ada Łovelace (CI)": 200, "a\nroot": 422, "a\x1b[31m": 422, "a\u202eb": 422, "a\u0000": 422} {
		wish, err := json.Marshal(map[string]string{"name": name, "role": "viewer"})
		if err != nil {
			t.Fatal(err)
		}
		if res, body := r.call("POST", "/api/v1/tokens", string(wish)); res.StatusCode != want {
			t.Errorf("%q: %d %s", name, res.StatusCode, body)
		}
	}
}

// broken is a place whose bodies cannot be read.
type broken struct{}

func (broken) Get(context.Context, patra.StoredBody) ([]byte, error) {
	return nil, errors.New("open /srv/secret-place/bodies: permission denied")
}

// Why a body cannot be read is in the log, and not in the answer.
func TestABodyThatCannotBeReadTellsNothingOfUs(t *testing.T) {
	w := storetest.NewWorld(t, storetest.Engines()[0], 1)
	c := w.Take()
	page, err := w.OpenAt(c, 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	result := w.Result(false)
	result.BodySHA256 = patra.HashBytes([]byte("x"))
	result.Kept = &patra.StoredBody{Body: result.BodySHA256, Stored: result.BodySHA256, Size: 1, Codec: patra.CodecZstd, Location: "x"}
	if _, _, err := w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, result, nil); err != nil {
		t.Fatal(err)
	}
	r := open(t, func(o *api.Options) { o.Store, o.Bodies = w.Store, broken{} })
	res, body := r.call("POST", api.Prefix+"/batches/1/exchange", `{"reason":"x"}`)
	if res.StatusCode != http.StatusServiceUnavailable || strings.Contains(body, "secret-place") || !strings.Contains(body, `"id"`) {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

// A list of gaps that has looked at as many watermarks as it may says where to go on.
func TestTheGapsOfAllWatermarksAreListed(t *testing.T) {
	r, _ := peopled(t)
	want := get[api.GapList](r, "/gaps")
	defer api.SetMostCursors(1)()
	first := get[api.GapList](r, "/gaps?limit=1000")
	if len(first.Items) != len(want.Items) || first.Next == "" {
		t.Fatalf("%d of %d gaps, and then %q", len(first.Items), len(want.Items), first.Next)
	}
	if rest := get[api.GapList](r, "/gaps?cursor="+first.Next); len(rest.Items) != 0 || rest.Next != "" {
		t.Errorf("%+v", rest)
	}
}

// A look for gaps ends when it has looked through enough, also if it found none, and the next goes on behind it: with ten
// thousand watermarks nobody waits for all of them.
func TestALookForGapsIsBounded(t *testing.T) {
	r, w := peopled(t)
	for i := range 3 { // watermarks of which nothing is missing, as nobody ever read anything
		_, err := w.EnsureCursor(t.Context(), w.Clock.Instant(), patra.Cursor{Namespace: patra.Namespace{Source: "demo", Endpoint: "works", Operation: patra.Backfill, Key: fmt.Sprint("other-", i), Scope: "GLOBAL"}, Origin: storetest.Origin, OriginCode: "USER"})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := get[api.GapList](r, "/gaps")
	for name, set := range map[string]func() func(){
		"one watermark at a time":   func() func() { return api.SetMostLooked(50_000, 1) },
		"hardly a window at a time": func() func() { return api.SetMostLooked(1, 100) },
	} {
		t.Run(name, func(t *testing.T) {
			defer set()()
			var found []patra.GapView
			calls, next := 0, ""
			for calls == 0 || next != "" {
				part := get[api.GapList](r, "/gaps?cursor="+next)
				found, next = append(found, part.Items...), part.Next
				if calls++; calls > 10 {
					t.Fatal("it does not end")
				}
			}
			if len(found) != len(want.Items) || len(found) == 0 || name == "one watermark at a time" && calls < 4 {
				t.Errorf("%d of %d gaps in %d calls", len(found), len(want.Items), calls)
			}
		})
	}
}

// Who signed in is written down, and who could not; but whoever tries and tries does not fill the log.
func TestSignInsAreWrittenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &room{t: t, store: storetest.Engines()[0].Open(t)}
		ada := r.token(api.TokenRequest{Name: "ada", Rank: patra.Admin})
		handler := api.New(api.Options{Store: r.store, Tokens: true, Proxied: true}).Handler()
		send := func(from, path, body string, set ...func(*http.Request)) *httptest.ResponseRecorder {
			req := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost"+api.Prefix+path, strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("X-Forwarded-For", from)
			for _, f := range set {
				f(req)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, req)
			return w
		}
		log := func() []patra.AuditEntry {
			all, err := r.store.AuditLog(t.Context(), store.AuditFilter{Limit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		w := send("192.0.2.1", "/session", `{"token":"`+ada+`"}`)
		if w.Code != http.StatusNoContent {
			t.Fatal(w.Code, w.Body)
		}
		if e := log()[0]; e.Actor != "ada" || e.Action != patra.AuditToken || e.Target != "token:1" || !strings.Contains(string(e.Detail), `"signed_in":true`) {
			t.Errorf("a sign-in is %+v", e)
		}
		// What somebody does in a session is done by the token that they were given.
		k := w.Result().Cookies()[0]
		if w := send("192.0.2.1", "/tokens", `{"name":"bob","role":"viewer"}`, header("Cookie", k.Name+"="+k.Value), header("X-Patra", "1")); w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
		if e := log()[0]; e.Actor != "ada" || !strings.Contains(string(e.Detail), `"token":1`) || !strings.Contains(string(e.Detail), `"given":"bob"`) {
			t.Errorf("an action is %+v", e)
		}
		before := len(log())
		for i := range 1000 {
			send(fmt.Sprintf("10.0.%d.%d", i/256, i%256), "/session", `{"token":"`+patra.NewTokenSecret()+`"}`)
		}
		if n := len(log()) - before; n != 20 {
			t.Errorf("of 1000 refused sign-ins %d are written down", n)
		}
		time.Sleep(time.Minute)
		send("192.0.2.9", "/session", `{"token":"nonsense"}`)
		if e := log()[0]; len(log()) != before+21 || e.Actor != "nobody" || e.Target != "session" || !strings.Contains(string(e.Detail), `"unsaid":980`) || !strings.Contains(string(e.Detail), "192.0.2.9") {
			t.Errorf("a refused one is %+v", e)
		}
		if _, broken, err := r.store.VerifyAudit(t.Context()); broken != nil || err != nil {
			t.Error(broken, err)
		}
	})
}
