package executor_test

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/planner"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// guestbook keeps the names of all requests that reached a provider.
type guestbook struct {
	mu    sync.Mutex
	seen  map[string]int
	proto string
}

func (g *guestbook) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.seen[r.Header.Get("X-Ingest-Correlation-Id")]++
		g.proto = r.Proto
		g.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// check compares the guests with the ledger: each has a row of its own, and none came twice.
func (g *guestbook) check(t *testing.T, dbURL string) {
	t.Helper()
	db := storetest.Inspect(t, dbURL)
	for name, times := range g.seen {
		var rows int
		if err := db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM ing_request WHERE request_id = ?`, name).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if rows != 1 || times != 1 {
			t.Errorf("request %q came %d times and has %d rows", name, times, rows)
		}
	}
}

// A server that speaks HTTP/2 goes away, resets streams or refuses them, in the middle of a harvest. Nothing is lost, nobody is
// halted, and every request that the provider saw is in the ledger, once.
func TestHTTP2Faults(t *testing.T) {
	certificate := rooted().issue(t, -time.Hour, time.Hour, "127.0.0.1")
	files := map[string]string{
		"a token that can be used once": strings.NewReplacer("trust: EXACT", "trust: NONE", "pageSize: 200", "pageSize: 50").Replace(shippedFast(t, "crossref")),
		"pages that can be asked again": strings.Replace(paged(`{type: OFFSET, pageSize: 50, maxPageSize: 1000, sizeParam: rows, positionParam: offset, cap: 10000, end: [EMPTY_PAGE]}`, "P1D"), "trust: EXACT", "trust: NONE", 1),
	}
	for _, c := range []struct {
		name     string
		meddler  func(fired *int) *meddler
		repeated bool // a request that can be repeated is, below us: the server says that it did not look at it
	}{
		{"it goes away before it looks at a request", func(fired *int) *meddler {
			return &meddler{request: func(c *meddled, nth int, stream uint32) bool {
				if nth != 4 && nth != 9 {
					return false
				}
				*fired++
				c.goAway(stream-2, 0)
				return true
			}}
		}, true},
		{"it goes away in the middle of a body", func(fired *int) *meddler {
			return &meddler{body: func(c *meddled, nth int, half func() uint32) bool {
				if nth != 3 && nth != 7 {
					return false
				}
				*fired++
				c.goAway(half(), enhanceYourCalm)
				_ = c.client.Close()
				return true
			}}
		}, false},
		{"it resets a stream in the middle of a body", func(fired *int) *meddler {
			return &meddler{body: func(c *meddled, nth int, half func() uint32) bool {
				if nth != 3 && nth != 7 {
					return false
				}
				*fired++
				c.reset(half(), internalError)
				return true
			}}
		}, false},
		{"it refuses a stream", func(fired *int) *meddler {
			return &meddler{request: func(c *meddled, nth int, stream uint32) bool {
				if nth != 4 && nth != 9 {
					return false
				}
				*fired++
				c.reset(stream, refusedStream)
				return true
			}}
		}, true},
	} {
		for kind, text := range files {
			t.Run(c.name+", "+kind, func(t *testing.T) {
				file, err := source.Load("test.yaml", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				provider := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 120, Exact: true})
				guests := &guestbook{seen: map[string]int{}}
				fired, faults := 0, 0
				base := newMeddler(t, guests.before(provider.Handler()), certificate, c.meddler(&fired))
				st, dbURL, plan := planAll(t, file, nil, base)
				x := runner(t, st, plan)
				x.Config.Workers = 1
				x.Measure = func(e executor.Event) {
					if e.Kind != executor.EventNoPage {
						return
					}
					if faults++; e.Fault.Code != patra.CodeNetwork || e.Fault.Level != patra.LevelRetry || e.Exchange.Outcome != patra.OutcomeNetError {
						t.Errorf("%s %s, %s: %s", e.Fault.Level, e.Fault.Code, e.Exchange.Outcome, e.Fault.Text)
					}
				}
				if err := x.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if cursor, err := st.Cursors(t.Context(), store.Filter{}); err != nil || cursor[0].Value != patra.InstantOf(to) {
					t.Fatalf("watermark %s, %v", cursor[0].Value, err)
				}
				missing := map[string]bool{}
				for w := range provider.Truth(from, to) {
					missing[w.ID] = true
				}
				all := len(missing)
				if err := st.Records(t.Context(), file.Code, func(r patra.Record) error {
					delete(missing, r.ProviderID)
					return nil
				}); err != nil || len(missing) > 0 || all < 400 {
					t.Errorf("%d of %d records are missing, %v", len(missing), all, err)
				}
				want := 2
				if c.repeated && file.Code != "crossref" {
					want = 0 // they are repeated, through the gate, under the same name
				}
				if fired != 2 || faults != want || guests.proto != "HTTP/2.0" {
					t.Errorf("%d faults were made, %d were seen, want %d; over %s", fired, faults, want, guests.proto)
				}
				guests.check(t, dbURL)
				storetest.CheckInvariants(t, storetest.Inspect(t, dbURL))
			})
		}
	}
}

// fixed is a provider that speaks TLS with the certificates that it is given.
func fixed(t *testing.T, provider *sim.Server, guests *guestbook, c tls.Certificate) string {
	server := httptest.NewUnstartedServer(guests.before(provider.Handler()))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{c}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// A provider that does not prove who it is is told nothing: neither a question nor a secret. It is tried again, since it may be
// a gateway that is being restarted; when that lasts the endpoint is halted, and the sentence says what to do.
func TestACertificateThatIsNotBelieved(t *testing.T) {
	known := rooted()
	provider := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 30, Exact: true})
	for _, c := range []struct {
		name, text string
		made       tls.Certificate
	}{
		{"one that ended", "the provider's certificate ended at 20", known.issue(t, -48*time.Hour, -time.Hour, "127.0.0.1")},
		{"one that has not begun", "look at the clock of this machine", known.issue(t, time.Hour, 2*time.Hour, "127.0.0.1")},
		{"one of another host", "the certificate is not for 127.0.0.1", known.issue(t, -time.Hour, time.Hour, "elsewhere.example.org", "127.0.0.2")},
		{"one that nobody knows has signed", "SSL_CERT_FILE", newAuthority().issue(t, -time.Hour, time.Hour, "127.0.0.1")},
	} {
		t.Run(c.name, func(t *testing.T) {
			guests := &guestbook{seen: map[string]int{}}
			st, dbURL, tried := haltedBy(t, fixed(t, provider, guests, c.made), patra.CodeCertificate)
			if len(guests.seen) != 0 {
				t.Errorf("%d requests reached somebody whom we do not know", len(guests.seen))
			}
			if tried.text == "" || !strings.Contains(tried.text, c.text) {
				t.Errorf("it says: %s", tried.text)
			}
			if tried.attempts != 3 {
				t.Errorf("it was tried %d times", tried.attempts)
			}
			halts, err := st.Controls(t.Context())
			if err != nil || len(halts) != 1 || halts[0].Kind != patra.KindHalt || halts[0].State != patra.Halted {
				t.Errorf("%+v, %v", halts, err)
			}
			storetest.CheckInvariants(t, storetest.Inspect(t, dbURL))
		})
	}
}

// A handshake that breaks off is a network that fails: it is tried again, and the breaker opens.
func TestAHandshakeThatIsCut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 64))
			_ = c.Close()
		}
	}()
	_, dbURL, tried := haltedBy(t, "https://"+l.Addr().String(), patra.CodeNetwork)
	if tried.attempts != 3 || tried.level != patra.LevelRetry {
		t.Errorf("%s, tried %d times: %s", tried.level, tried.attempts, tried.text)
	}
	storetest.CheckInvariants(t, storetest.Inspect(t, dbURL))
}

// ended is how a task ended.
type ended struct {
	level    patra.Level
	text     string
	attempts int // requests of the task
}

// haltedBy harvests the first day of a provider whose every request fails, and gives how that ended.
func haltedBy(t *testing.T, base, code string) (*store.Store, string, ended) {
	t.Helper()
	text := strings.NewReplacer("maxAttempts: 30", "maxAttempts: 3").Replace(paged(`{type: OFFSET, pageSize: 50, maxPageSize: 1000, sizeParam: rows, positionParam: offset, end: [EMPTY_PAGE]}`, "P30D"))
	file, err := source.Load("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e := storetest.Engines()[0]
	dbURL := e.URL(t)
	st := e.Connect(t, dbURL)
	if _, err := st.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := &planner.Planner{Store: st, Config: planner.Config{TaskAttempts: 1, Target: 10_000, MaxPages: 2000, MinStep: time.Hour}}
	start, end := patra.InstantOf(from), patra.InstantOf(to)
	plan, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Basis: patra.BasisCertified, From: &start, To: &end, BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	x := runner(t, st, plan)
	x.Controls = st
	var how ended
	x.Measure = func(e executor.Event) {
		if e.Kind == executor.EventNoPage {
			how.attempts++
			if e.Fault.Code != code || e.Exchange.Outcome != patra.OutcomeNetError {
				t.Errorf("%s, %s: %s", e.Fault.Code, e.Exchange.Outcome, e.Fault.Text)
			}
		}
	}
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	tasks, err := st.Tasks(t.Context(), store.Filter{Status: patra.Failed})
	if err != nil || len(tasks) != 1 {
		t.Fatalf("%d tasks have failed, %v", len(tasks), err)
	}
	var fault patra.Fault
	if err := json.Unmarshal(tasks[0].LastError, &fault); err != nil || fault.Code != code {
		t.Errorf("the task says %s, %v", tasks[0].LastError, err)
	}
	how.level, how.text = fault.Level, fault.Text
	return st, dbURL, how
}
