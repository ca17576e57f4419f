package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/api"
	"patra/internal/store/storetest"
)

// far is a connection that comes from somewhere.
type far struct {
	net.Conn
	from string
}

func (f far) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.ParseIP(f.from), Port: 1}
}

// street is a server whose clock is the test's, and connections to it from wherever one likes.
type street struct {
	t      *testing.T
	l      *pipes
	served chan error
	stop   func()
}

func onStreet(t *testing.T, o api.Options) *street {
	ctx, stop := context.WithCancel(t.Context())
	s := &street{t, &pipes{make(chan net.Conn), make(chan struct{})}, make(chan error, 1), stop}
	go func() { s.served <- api.New(o).Serve(ctx, s.l) }()
	return s
}

// dial comes from an address.
func (s *street) dial(from string) net.Conn {
	ours, theirs := net.Pipe()
	s.l.given <- far{theirs, from}
	return ours
}

func (s *street) end() {
	s.stop()
	if err := <-s.served; err != nil {
		s.t.Error(err)
	}
}

// idle begins a request and leaves it at that. What it is told it takes, as the buffers of a real connection would.
func (s *street) idle(from string) (kept bool, end func()) {
	c := s.dial(from)
	_, err := io.WriteString(c, "GET /")
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, c)
	}()
	return err == nil, func() { _ = c.Close(); <-read }
}

// healthy asks whether the server is there, and gives what it says.
func healthy(c net.Conn) string {
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return err.Error()
	}
	b := make([]byte, 1000)
	n, err := c.Read(b)
	if err != nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(string(b[:n]), "\r\n")
	return line
}

// Whoever sends a header letter by letter has five seconds for it.
func TestASlowHeaderIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onStreet(t, api.Options{})
		c, began, sent := s.dial("192.0.2.1"), time.Now(), make(chan struct{})
		go func() {
			defer close(sent)
			for _, letter := range "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: " + strings.Repeat("a", 100) {
				if _, err := io.WriteString(c, string(letter)); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		said, err := io.ReadAll(c)
		if took := time.Since(began); took != 5*time.Second || strings.Contains(string(said), "200") || errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("it was left after %s with %v: %s", took, err, said)
		}
		c.Close()
		<-sent
		s.end()
	})
}

// However many connections somebody opens and does nothing with, others get in at once; and if everybody comes from the address
// of a proxy, one address may have all there are.
func TestOneAddressDoesNotTakeAllConnections(t *testing.T) {
	for _, proxied := range []bool{false, true} {
		t.Run(fmt.Sprint("proxied ", proxied), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := onStreet(t, api.Options{Proxied: proxied})
				kept := 0
				for range 500 {
					here, end := s.idle("192.0.2.1")
					if here {
						kept++
					}
					defer end()
				}
				if want := map[bool]int{false: 128, true: 500}[proxied]; kept != want {
					t.Errorf("%d connections of one address are kept, not %d", kept, want)
				}
				began := time.Now()
				other := s.dial("192.0.2.2")
				if said := healthy(other); said != "HTTP/1.1 200 OK" || time.Since(began) > 0 {
					t.Errorf("somebody else is told %q after %s", said, time.Since(began))
				}
				other.Close()
				time.Sleep(6 * time.Second) // by now those who sent no header are gone
				again := s.dial("192.0.2.1")
				if said := healthy(again); said != "HTTP/1.1 200 OK" {
					t.Errorf("with its connections gone the address is told %q", said)
				}
				again.Close()
				s.end()
			})
		})
	}
}

// All connections together are limited too, and whoever comes then waits for the next that is free.
func TestAllConnectionsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onStreet(t, api.Options{})
		for i := range 512 {
			kept, end := s.idle(fmt.Sprintf("192.0.2.%d", 1+i%8))
			if !kept {
				t.Fatal(i)
			}
			defer end()
		}
		began := time.Now()
		c := s.dial("198.51.100.1")
		if said, took := healthy(c), time.Since(began); said != "HTTP/1.1 200 OK" || took != 5*time.Second {
			t.Errorf("one more is told %q after %s", said, took)
		}
		c.Close()
		s.end()
	})
}

// asking sends requests to a handler, from an address.
type asking struct {
	t *testing.T
	h http.Handler
}

func (a asking) get(path, from, token string, set ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(a.t.Context(), "GET", "http://localhost"+api.Prefix+path, nil)
	r.RemoteAddr = from + ":1"
	r.Header.Set("Authorization", "Bearer "+token)
	for _, f := range set {
		f(r)
	}
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, r)
	return w
}

// Whoever tries secrets is slowed down. Whoever has used the right one from the same address does not notice, and others
// elsewhere do not either.
func TestAGuesserIsSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &room{t: t, store: storetest.Engines()[0].Open(t)}
		ada, bob := r.token(api.TokenRequest{Name: "ada", Rank: patra.Viewer}), r.token(api.TokenRequest{Name: "bob", Rank: patra.Viewer})
		ask := asking{t, api.New(api.Options{Store: r.store, Tokens: true}).Handler()}
		const here, elsewhere = "192.0.2.1", "192.0.2.2"
		if w := ask.get("/controls", here, ada); w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
		guess := func(n int) (asked, told int) {
			for range n {
				switch w := ask.get("/controls", here, patra.NewTokenSecret()); {
				case w.Code == http.StatusUnauthorized:
					asked++
				case w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "1":
					told++
				default:
					t.Fatal(w.Code, w.Body)
				}
			}
			return asked, told
		}
		if asked, told := guess(100); asked != 30 || told != 70 {
			t.Errorf("of 100 guesses %d were looked up, and %d told to wait", asked, told)
		}
		for _, one := range []struct {
			who, from, token string
			want             int
		}{
			{"whoever was in", here, ada, http.StatusOK}, {"a new one from there", here, bob, http.StatusTooManyRequests}, {"a new one from elsewhere", elsewhere, bob, http.StatusOK},
			{"and then from there", here, bob, http.StatusOK}, {"a word that is no token", here, "nonsense", http.StatusUnauthorized},
		} {
			if w := ask.get("/controls", one.from, one.token); w.Code != one.want {
				t.Errorf("%s is told %d, not %d: %s", one.who, w.Code, one.want, w.Body)
			}
		}
		time.Sleep(10 * time.Second)
		if asked, _ := guess(100); asked != 10 {
			t.Errorf("ten seconds later %d guesses were looked up", asked)
		}
	})
}

// Behind a proxy of ours the proxy says who guesses; nobody else is believed.
func TestAProxySaysWhereACallerIs(t *testing.T) {
	for _, proxied := range []bool{true, false} {
		r := &room{t: t, store: storetest.Engines()[0].Open(t)}
		ask := asking{t, api.New(api.Options{Store: r.store, Tokens: true, Proxied: proxied}).Handler()}
		via := func(hops string) func(*http.Request) {
			return func(r *http.Request) { r.Header.Set("X-Forwarded-For", hops) }
		}
		for i := range 100 { // what stands before the last was said by the guesser
			ask.get("/controls", "127.0.0.1", patra.NewTokenSecret(), via(fmt.Sprintf("203.0.113.%d, 192.0.2.1", i)))
		}
		same := ask.get("/controls", "127.0.0.1", patra.NewTokenSecret(), via("192.0.2.1")).Code
		other := ask.get("/controls", "127.0.0.1", patra.NewTokenSecret(), via("192.0.2.2")).Code
		want := map[bool]int{true: http.StatusUnauthorized, false: http.StatusTooManyRequests}[proxied]
		if same != http.StatusTooManyRequests || other != want {
			t.Errorf("proxied %v: the guesser is told %d, and somebody else %d", proxied, same, other)
		}
	}
}

// One caller does not take all streams.
func TestOneCallerDoesNotTakeAllStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &room{t: t, store: storetest.Engines()[0].Open(t)}
		ada, bob := r.token(api.TokenRequest{Name: "ada", Rank: patra.Viewer}), r.token(api.TokenRequest{Name: "bob", Rank: patra.Viewer})
		ctx, stop := context.WithCancel(t.Context())
		handler := api.New(api.Options{Store: r.store, Tokens: true}).Handler()
		listen := func(token string) *httptest.ResponseRecorder {
			req := httptest.NewRequestWithContext(ctx, "GET", "http://localhost"+api.Prefix+"/stream", nil)
			req.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			go handler.ServeHTTP(w, req)
			synctest.Wait()
			return w
		}
		for i := range 16 {
			if w := listen(ada); w.Code != http.StatusOK {
				t.Fatal(i, w.Code, w.Body)
			}
		}
		if w := listen(ada); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
			t.Errorf("the seventeenth stream of one caller: %d %v", w.Code, w.Header())
		}
		if w := listen(bob); w.Code != http.StatusOK {
			t.Errorf("the first of another: %d %s", w.Code, w.Body)
		}
		stop()
		synctest.Wait()
	})
}

// What takes many rows waits for its turn, for a while; and if there is none, it is said when to come again.
func TestHeavyAnswersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := api.New(api.Options{})
		var mu sync.Mutex
		busy, most := 0, 0
		proceed := make(chan struct{})
		api.Get(s, "/much", api.Look, api.Doc{ID: "much", Summary: "much", Heavy: true}, func(ctx context.Context, _ *api.EmptyInput) (string, error) {
			mu.Lock()
			busy++
			most = max(most, busy)
			mu.Unlock()
			<-proceed
			mu.Lock()
			busy--
			mu.Unlock()
			return "much", nil
		})
		ask := asking{t, s.Handler()}
		codes := make(chan *httptest.ResponseRecorder, 100)
		for range 50 {
			go func() { codes <- ask.get("/much", "127.0.0.1", "") }()
		}
		synctest.Wait()
		if most != 4 {
			t.Errorf("%d are made at once", most)
		}
		for range 50 - 4 - 32 { // those who found the line full
			if w := <-codes; w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
				t.Errorf("with the line full: %d %v %s", w.Code, w.Header(), w.Body)
			}
		}
		for range 8 { // eight of the line get a turn
			proceed <- struct{}{}
			synctest.Wait()
		}
		for range 8 {
			if w := <-codes; w.Code != http.StatusOK {
				t.Errorf("with its turn: %d %s", w.Code, w.Body)
			}
		}
		time.Sleep(6 * time.Second) // the rest of the line has waited long enough
		for range 32 - 8 {
			if w := <-codes; w.Code != http.StatusServiceUnavailable {
				t.Errorf("after its patience: %d %s", w.Code, w.Body)
			}
		}
		close(proceed)
		synctest.Wait()
		if most != 4 || len(codes) != 4 {
			t.Errorf("%d were made at once, and %d are left", most, len(codes))
		}
	})
}
