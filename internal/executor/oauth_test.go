package executor_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/planner"
	"patra/internal/query"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

const (
	clientID     = "client id/1"
	clientSecret = "s3cr3t+of:client%/1"
)

var client = vault{"acme-id": clientID, "acme": clientSecret}

// issuer gives tokens to the right client, and forgets them when it is told to.
type issuer struct {
	mu      sync.Mutex
	life    any // expires_in; nil is not said
	given   int
	good    map[string]bool
	refuse  bool // every token
	failing []http.HandlerFunc
	seen    []seen
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := read(r)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.seen = append(i.seen, s)
	if len(i.failing) > 0 {
		i.failing[0](w, r)
		i.failing = i.failing[1:]
		return
	}
	id, secret, ok := s.BasicAuth()
	if ok {
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret = s.params.Get("client_id"), s.params.Get("client_secret")
	}
	if s.Method != http.MethodPost || s.params.Get("grant_type") != "client_credentials" || id != clientID || secret != clientSecret {
		w.WriteHeader(http.StatusUnauthorized)
		json.NewEncoder(w).Encode(map[string]string{"error": "invalid_client", "error_description": "who is " + id + " with " + secret + "?"})
		return
	}
	i.given++
	// A token says who it is for, as many do: it must not be mistaken for a secret that came back.
	token := base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf(`{"n":%d,"client":"%s"}`, i.given, clientID)))
	if i.good == nil {
		i.good = map[string]bool{}
	}
	i.good[token] = true
	answer := map[string]any{"access_token": token, "token_type": "bearer"}
	if i.life != nil {
		answer["expires_in"] = i.life
	}
	json.NewEncoder(w).Encode(answer)
}

// opens lets in who has a token that is still good.
func (i *issuer) opens(s seen) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	token, ok := strings.CutPrefix(s.Header.Get("Authorization"), "Bearer ")
	return ok && !i.refuse && i.good[token]
}

func (i *issuer) forget() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.good = nil
}

func (i *issuer) tokens() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.given
}

// behind serves works and tokens at one address.
func (i *issuer) behind(l *lock) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/token", i)
	mux.Handle("/", l.handler(i.opens))
	return mux
}

// planLocked plans the window of the tests for a source that needs the client.
func planLocked(t *testing.T, file *source.File, base string) (*store.Store, string, *planner.Result) {
	t.Helper()
	e := storetest.Engines()[0]
	dbURL := e.URL(t)
	st := e.Connect(t, dbURL)
	if _, err := st.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	start, end := patra.InstantOf(from), patra.InstantOf(to)
	p := &planner.Planner{Store: st, Secrets: &executor.Credentials{Secrets: client}, Config: planner.Config{TaskAttempts: 1, Target: 10_000, MaxPages: 2000, MinStep: time.Hour}}
	plan, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Basis: patra.BasisCertified, From: &start, To: &end, BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	return st, dbURL, plan
}

const ownTokens = `{type: OAUTH2, tokenUrl: /token, clientId: acme-id, secret: acme}`

// Whoever gives tokens may be at another host: the one that tokenUrl names, and no other.
func TestTokensComeFromAnotherHost(t *testing.T) {
	for _, in := range []string{"HEADER", "BODY"} {
		t.Run(in, func(t *testing.T) {
			i := &issuer{life: 3600}
			tokens := httptest.NewTLSServer(i)
			t.Cleanup(tokens.Close)
			l := newLock(t, i.opens)
			var asked atomic.Int64
			dial := func(spec *source.Spec, base string) *http.Client {
				if base == "" {
					asked.Add(1)
					if spec.HTTP.BaseURL != tokens.URL+"/oauth/token?v=2" {
						t.Errorf("a client for %s", spec.HTTP.BaseURL)
					}
					return tokens.Client()
				}
				return trustedTo(spec, base)
			}
			auth := fmt.Sprintf(`{type: OAUTH2, tokenUrl: "%s/oauth/token?v=2", clientId: acme-id, secret: acme, in: %s, scopes: [read, "list all"], audience: "https://api"}`, tokens.URL, in)
			st, dbURL := caller{text: lockedSource(auth, byGet, twoByTwo), secrets: client, dial: dial}.harvest(t, l.URL)
			complete(t, st, dbURL)
			if len(i.seen) != 1 || asked.Load() != 1 {
				t.Fatalf("%d tokens were asked for", len(i.seen))
			}
			s := i.seen[0]
			_, _, basic := s.BasicAuth()
			if s.params.Get("scope") != "read list all" || s.params.Get("audience") != "https://api" || basic != (in == "HEADER") || s.params.Has("client_secret") == basic || s.Header.Get("User-Agent") != "patra-test" || s.URL.String() != "/oauth/token?v=2" {
				t.Errorf("%s with %v and %s", s.URL, s.Header, s.body)
			}
			var rows int
			if err := storetest.Inspect(t, dbURL).QueryRow(`SELECT COUNT(*) FROM ing_request WHERE kind_code = 'AUTH' AND run_id IS NULL AND gate_key = 'locked' AND request_id = ?
				AND sent_at >= acquired_at AND finished_at IS NOT NULL AND http_status = 200 AND outcome_code = 'OK'`, s.Header.Get("X-Ingest-Correlation-Id")).Scan(&rows); err != nil || rows != 1 {
				t.Errorf("%d rows, %v", rows, err)
			}
		})
	}
}

// A token that the provider takes no longer is replaced once, and the same page is asked for again: also where a page can
// be asked for only once, because a refusal gives none away, and where a request has only one attempt. Nor is anything
// given away by a request that could not be sent, because the new token was not to be had at once.
func TestARefusedTokenIsReplaced(t *testing.T) {
	stateful := `{type: TOKEN, pageSize: 2, maxPageSize: 2, sizeParam: size, positionParam: offset, initial: "0", next: "$.next", stability: SNAPSHOT, token: {state: STATEFUL, onSame: ERROR}, end: [EMPTY_PAGE]}`
	for attempts, hitch := range map[string]bool{"maxAttempts: 1": false, "maxAttempts: 3": true} {
		t.Run(attempts, func(t *testing.T) {
			i := &issuer{life: 3600}
			var requests atomic.Int64
			mux := http.NewServeMux()
			mux.Handle("/token", i)
			mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1) == 3 {
					i.forget()
					if hitch {
						i.failing = []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }}
					}
				}
				s := read(r)
				if !i.opens(s) {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				page := works(s)
				page["next"] = map[string]string{"0": "2", "2": "4", "4": "6"}[s.params.Get("offset")]
				json.NewEncoder(w).Encode(page)
			})
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			file, err := source.Load("locked.yaml", []byte(strings.Replace(lockedSource(ownTokens, byGet, stateful), "maxAttempts: 3", attempts, 1)))
			if err != nil {
				t.Fatal(err)
			}
			st, dbURL, plan := planLocked(t, file, server.URL)
			x := runner(t, st, plan)
			x.Config.Workers, x.Client, x.Credentials = 1, trustedTo, &executor.Credentials{Secrets: client}
			restarts := 0
			x.Observe = func(e executor.Event) {
				if e.Kind == executor.EventRestart {
					restarts++
				}
			}
			if err := x.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			complete(t, st, dbURL)
			if i.tokens() != 2 || restarts > 0 || len(i.failing) > 0 {
				t.Errorf("%d tokens, %d restarts", i.tokens(), restarts)
			}
			var refused int
			if err := storetest.Inspect(t, dbURL).QueryRow(`SELECT COUNT(*) FROM ing_request WHERE kind_code = 'PAGE' AND http_status = 401 AND level_code = 'L1'`).Scan(&refused); err != nil || refused != 1 {
				t.Errorf("%d requests were refused, %v", refused, err)
			}
		})
	}
}

// A provider that refuses new tokens too does not mean the token: a person must look, and not many tokens are burnt.
func TestATokenThatIsNeverTakenIsNoReasonToGoOn(t *testing.T) {
	i, l := &issuer{life: 3600, refuse: true}, &lock{}
	l.Server = httptest.NewServer(i.behind(l))
	t.Cleanup(l.Close)
	text := strings.Replace(lockedSource(ownTokens, byGet, twoByTwo), `total: {path: "$.total", trust: EXACT}`, `total: {trust: NONE}`, 1)
	st, _ := caller{text: text, secrets: client}.harvest(t, l.URL)
	tasks, err := st.Tasks(t.Context(), store.Filter{Status: patra.Failed})
	if err != nil || len(tasks) != 4 {
		t.Fatalf("%d tasks failed, %v", len(tasks), err)
	}
	var f patra.Fault
	if err := json.Unmarshal(tasks[0].LastError, &f); err != nil || f.Level != patra.LevelFatal || f.Code != patra.CodeAuth || !strings.Contains(f.Text, `OAUTH2, secrets "acme" and "acme-id"`) {
		t.Errorf("%s, %v", tasks[0].LastError, err)
	}
	if n := i.tokens(); n != 2 {
		t.Errorf("%d tokens were asked for", n)
	}
}

// What may go wrong with a request for a token, and what it means.
func TestTokensThatAreNotGiven(t *testing.T) {
	say := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); fmt.Fprint(w, body) }
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		level  patra.Level
		code   string
		text   string
	}{
		"a bad client":    {say(401, `{"error":"invalid_client","error_description":"no `+clientSecret+` here"}`), patra.LevelFatal, patra.CodeAuth, `client id "acme-id", secret "acme"`},
		"many words":      {say(400, `{"error":"x","error_description":"`+strings.Repeat("-", 190)+clientSecret+`"}`), patra.LevelFatal, patra.CodeAuth, "---"},
		"a bad scope":     {say(400, `{"error":"invalid_scope"}`), patra.LevelFatal, patra.CodeAuth, `invalid_scope`},
		"no words":        {say(403, ``), patra.LevelFatal, patra.CodeAuth, `check both`},
		"too many":        {say(429, ``), patra.LevelRetry, patra.CodeRateLimited, "slow down"},
		"out of order":    {say(503, `<html>`), patra.LevelRetry, patra.CodeHTTP, "now"},
		"elsewhere":       {say(302, ``), patra.LevelFatal, patra.CodeAuth, "redirects"},
		"a web page":      {say(200, `<html>`), patra.LevelRetry, patra.CodeBadBody, "not JSON"},
		"no token":        {say(200, `{}`), patra.LevelFatal, patra.CodeAuth, "access_token"},
		"another type":    {say(200, `{"access_token":"x","token_type":"mac"}`), patra.LevelFatal, patra.CodeAuth, `"mac"`},
		"no answer":       {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, patra.LevelRetry, patra.CodeNetwork, ""},
		"a token at last": {say(200, `{"access_token":"x"}`), patra.LevelRetry, patra.CodeAuth, "a new one is asked for"}, // refused by the provider
	} {
		t.Run(name, func(t *testing.T) {
			i, l := &issuer{}, &lock{}
			for range 3 {
				i.failing = append(i.failing, c.answer)
			}
			server := httptest.NewServer(i.behind(l))
			t.Cleanup(server.Close)
			p := &executor.Prober{Store: &lockedRows{}, Gate: gate.NewLocal(), Client: trustedTo, Log: slog.New(slog.DiscardHandler), Credentials: &executor.Credentials{Secrets: client}}
			_, err := p.Probe(t.Context(), specOf(t, strings.Replace(lockedSource(ownTokens, byGet, twoByTwo), "maxAttempts: 3", "maxAttempts: 1", 1)), query.All(), month, server.URL)
			f, ok := errors.AsType[*patra.Fault](err)
			if name == "a token at last" { // the second one is refused as well
				c.level, c.text = patra.LevelFatal, "refuses a new token"
			}
			if !ok || f.Level != c.level || f.Code != c.code || !strings.Contains(f.Text, c.text) || strings.Contains(f.Text, clientSecret[:6]) {
				t.Errorf("%v (%v)", err, f)
			}
		})
	}
}

// lockedRows keeps the rows of requests that come from many at once.
type lockedRows struct {
	mu     sync.Mutex
	opened []patra.RequestOpen
	closed int
}

func (r *lockedRows) OpenRequest(_ context.Context, _ patra.Instant, open patra.RequestOpen) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened = append(r.opened, open)
	return int64(len(r.opened)), nil
}

func (r *lockedRows) CloseRequest(context.Context, int64, patra.Exchange) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed++
	return nil
}

// Many ask at once, for a long time: there is one request for a token, then one before it expires, then one after the
// provider forgot it.
func TestTokensAreSharedAndRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, l := &issuer{life: "600"}, &lock{}
		slow := i.behind(l)
		web := pipeClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			slow.ServeHTTP(w, r)
		}))
		rows, credentials, spec := &lockedRows{}, &executor.Credentials{Secrets: client}, specOf(t, lockedSource(ownTokens, byGet, twoByTwo))
		many := func(want int) {
			t.Helper()
			var all sync.WaitGroup
			for range 20 { // each with a prober of its own, as runs have
				all.Go(func() {
					p := &executor.Prober{Store: rows, Gate: gate.NewLocal(), Log: slog.New(slog.DiscardHandler), Credentials: credentials, Client: func(*source.Spec, string) *http.Client { return web }}
					if probe, err := p.Probe(t.Context(), spec, query.All(), month, "http://127.0.0.1"); err != nil || *probe.Total != 4 {
						t.Errorf("%+v, %v", probe, err)
					}
				})
			}
			all.Wait()
			if got := i.tokens(); got != want {
				t.Errorf("%d tokens were asked for, want %d", got, want)
			}
		}
		many(1)
		time.Sleep(8 * time.Minute)
		many(1)
		time.Sleep(time.Minute) // it lives for ten minutes and is used for nine
		many(2)
		time.Sleep(2 * time.Minute)
		i.forget()
		many(3)
		auth := 0
		for _, r := range rows.opened {
			if r.Kind == patra.RequestAuth {
				auth++
			}
		}
		if auth != 3 || rows.closed != len(rows.opened) {
			t.Errorf("%d rows of tokens, %d of %d closed", auth, rows.closed, len(rows.opened))
		}
	})
}

// Who came first and left does not take the token from those who wait for it.
func TestATokenOutlivesWhoAskedForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, l := &issuer{life: 3600}, &lock{}
		slow := i.behind(l)
		web := pipeClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(10 * time.Second)
			slow.ServeHTTP(w, r)
		}))
		p := &executor.Prober{Store: &lockedRows{}, Gate: gate.NewLocal(), Log: slog.New(slog.DiscardHandler), Credentials: &executor.Credentials{Secrets: client}, Client: func(*source.Spec, string) *http.Client { return web }}
		spec := specOf(t, lockedSource(ownTokens, byGet, twoByTwo))
		hasty, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := p.Probe(hasty, spec, query.All(), month, "http://127.0.0.1"); !errors.Is(err, context.Canceled) {
				t.Errorf("the first: %v", err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if _, err := p.Probe(t.Context(), spec, query.All(), month, "http://127.0.0.1"); err != nil {
				t.Errorf("the second: %v", err)
			}
		})
		synctest.Wait()
		leave()
		all.Wait()
		if n := i.tokens(); n != 1 {
			t.Errorf("%d tokens", n)
		}
	})
}
