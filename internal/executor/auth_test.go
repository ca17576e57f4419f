package executor_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"patra"
	"patra/internal/egress"
	"patra/internal/evidence"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/observe"
	"patra/internal/planner"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// locked is a source that wants to know who is asking. A day has four works on two pages.
const locked = `apiVersion: patra/v1
code: locked
name: A locked source
recordType: work
defaults:
  http: {baseUrl: "https://example.org", headers: {User-Agent: "patra-test"}}
  auth: AUTH
  rate: {perSecond: 100000, burst: 1000}
  retry: {maxAttempts: 3, backoff: {initial: 1ms, max: 2ms}}
endpoints:
  works:
    role: SEARCH
    request: REQUEST
    pagination: PAGING
    response:
      format: JSON
      items: "$.items"
      id: "$.id"
      updatedAt: "$.updated"
      total: {path: "$.total", trust: EXACT}
      errors: [{path: "$.problem", means: REFUSED}]
    window: {field: day, mode: CALENDAR, align: DAY, size: P1D, maxSpan: P1D, precision: DAY, upper: INCLUSIVE_DAY, order: ASC, earliest: 2002-01-01}
query:
  fields: {day: {type: DATE, ops: [RANGE]}}
  render: [{field: day, op: RANGE, params: {from: "{{from}}", to: "{{to}}"}}]
  params: {from: {name: from}, to: {name: to}}
`

const (
	byGet     = `{method: GET, path: /works}`
	byForm    = `{method: POST, path: /works, send: FORM}`
	byJSON    = `{method: POST, path: /works, send: JSON}`
	twoByTwo  = `{type: OFFSET, pageSize: 2, maxPageSize: 2, sizeParam: size, positionParam: offset, end: [EMPTY_PAGE]}`
	linkByTwo = `{type: URL, pageSize: 2, maxPageSize: 2, sizeParam: size, next: "$.next", end: [NO_TOKEN]}`
)

func lockedSource(auth, request, paging string) string {
	return strings.NewReplacer("AUTH", auth, "REQUEST", request, "PAGING", paging).Replace(locked)
}

// seen is a request as the provider got it.
type seen struct {
	*http.Request
	body   string
	params url.Values // wherever they stood
}

// lock is a provider that lets in whom it likes. It remembers everybody.
type lock struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

func newLock(t *testing.T, opens func(seen) bool) *lock {
	t.Helper()
	l := &lock{}
	l.Server = httptest.NewServer(l.handler(opens))
	t.Cleanup(l.Close)
	return l
}

func (l *lock) handler(opens func(seen) bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := read(r)
		l.mu.Lock()
		l.seen = append(l.seen, s)
		l.mu.Unlock()
		if !opens(s) {
			http.Error(w, `{"message":"who are you?"}`, http.StatusUnauthorized)
			return
		}
		json.NewEncoder(w).Encode(works(s))
	}
}

func (l *lock) all() []seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]seen(nil), l.seen...)
}

func read(r *http.Request) seen {
	b, _ := io.ReadAll(r.Body)
	s := seen{Request: r, body: string(b), params: r.URL.Query()}
	switch r.Header.Get("Content-Type") {
	case "application/x-www-form-urlencoded":
		form, _ := url.ParseQuery(s.body)
		for k, v := range form {
			s.params[k] = v
		}
	case "application/json":
		members := map[string]string{}
		json.Unmarshal(b, &members)
		for k, v := range members {
			s.params.Set(k, v)
		}
	}
	return s
}

// works answers with the works of a page.
func works(s seen) map[string]any {
	at, _ := strconv.Atoi(s.params.Get("offset"))
	day, items := s.params.Get("from"), []any{}
	for n := at; n < min(at+2, 4); n++ {
		items = append(items, map[string]any{"id": fmt.Sprintf("%s/%d", day, n), "updated": fmt.Sprintf("%sT0%d:00:00Z", day, n)})
	}
	return map[string]any{"items": items, "total": 4}
}

// vault is secrets by name.
type vault map[string]string

func (v vault) Secret(name string) (string, bool, error) {
	value, set := v[name]
	return value, set, nil
}

// trustedTo trusts whatever address it is given, as tests need it: the plan's, or that of the spec.
func trustedTo(spec *source.Spec, base string) *http.Client {
	if base == "" {
		base = spec.HTTP.BaseURL
	}
	u, _ := url.Parse(base)
	return egress.NewClient(egress.Options{Host: u.Host, Trusted: true, Connect: time.Second, Headers: 5 * time.Second, Total: 10 * time.Second})
}

// caller is a whole harvest of a locked source.
type caller struct {
	kept    *evidence.BodyStore // nil: answers are not kept
	text    string
	secrets executor.Secrets
	dial    func(*source.Spec, string) *http.Client
	log     io.Writer
	gate    executor.Gate
	dir     string           // where the store is; empty is anywhere
	apart   bool             // whoever plans is another machine, without secrets
	numbers *observe.Metrics // nil: nobody counts
}

// harvest plans and runs the window of the tests.
func (c caller) harvest(t *testing.T, base string) (*store.Store, string) {
	t.Helper()
	file, err := source.Load("locked.yaml", []byte(c.text))
	if err != nil {
		t.Fatal(err)
	}
	if c.dial == nil {
		c.dial = trustedTo
	}
	if c.log == nil {
		c.log = io.Discard
	}
	if c.gate == nil {
		c.gate = gate.NewLocal()
	}
	e := storetest.Engines()[0]
	dbURL := e.URL(t)
	if c.dir != "" {
		dbURL = "sqlite:" + c.dir + "/patra.db"
	}
	st := e.Connect(t, dbURL)
	if _, err := st.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewJSONHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	credentials := &executor.Credentials{Secrets: c.secrets}
	start, end := patra.InstantOf(from), patra.InstantOf(to)
	known := credentials
	if c.apart {
		known = &executor.Credentials{Secrets: vault{}}
	}
	p := &planner.Planner{Store: st, Secrets: known, Config: planner.Config{TaskAttempts: 2, Target: 10_000, MaxPages: 2000, MinStep: time.Hour, Probes: 10},
		Prober: &executor.Prober{Store: st, Gate: c.gate, Client: c.dial, Log: log, Credentials: credentials}}
	plan, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Basis: patra.BasisCertified, From: &start, To: &end, BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	x := runner(t, st, plan)
	x.Gate, x.Client, x.Log, x.Credentials = c.gate, c.dial, log, credentials
	if c.kept != nil {
		x.Evidence = c.kept
	}
	x.Observe = func(e executor.Event) {
		if c.numbers != nil {
			c.numbers.Event(e)
		}
		if b, err := json.Marshal(e); err == nil {
			c.log.Write(b)
		}
	}
	x.Measure = x.Observe
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return st, dbURL
}

// complete asks for every record of the four days.
func complete(t *testing.T, st *store.Store, dbURL string) {
	t.Helper()
	if n, err := st.CountRecords(t.Context(), "locked"); err != nil || n != 16 {
		t.Errorf("%d records, %v", n, err)
	}
	cursor, err := st.Cursors(t.Context(), store.Filter{})
	if err != nil || len(cursor) != 1 || cursor[0].SealedThrough != patra.InstantOf(to) {
		t.Errorf("cursor %+v, %v", cursor, err)
	}
	storetest.CheckInvariants(t, storetest.Inspect(t, dbURL))
}

// Every way to show who we are, as it arrives at a real server.
func TestWaysToShowWhoWeAre(t *testing.T) {
	const key = "k3y +/&=é"
	header := func(name, want string) func(seen) bool {
		return func(s seen) bool { return s.Header.Get(name) == want }
	}
	for _, c := range []struct {
		name, auth, request string
		secrets             vault
		opens               func(seen) bool
	}{
		{"NONE", `{type: NONE}`, byGet, nil, func(s seen) bool { return s.Header.Get("Authorization") == "" }},
		{"API_KEY in a header", `{type: API_KEY, in: HEADER, name: x-api-key, secret: s}`, byGet, vault{"s": key}, header("X-Api-Key", key)},
		{"API_KEY in the query", `{type: API_KEY, in: QUERY, name: "api key", secret: s}`, byGet, vault{"s": key}, func(s seen) bool { return len(s.URL.Query()["api key"]) == 1 && s.URL.Query().Get("api key") == key }},
		{"API_KEY in the query, where something stood before", `{type: API_KEY, in: QUERY, name: k, secret: s}`, `{method: GET, path: /works, query: {k: demo, z: "a b"}}`, vault{"s": key}, func(s seen) bool {
			return len(s.URL.Query()["k"]) == 1 && s.URL.Query().Get("k") == key && s.URL.Query().Get("z") == "a b"
		}},
		{"API_KEY in the query of a POST", `{type: API_KEY, in: QUERY, name: k, secret: s}`, byForm, vault{"s": key}, func(s seen) bool { return s.URL.RawQuery == "k="+url.QueryEscape(key) && s.params.Get("from") != "" }},
		{"API_KEY in a form", `{type: API_KEY, in: BODY, name: k, secret: s}`, byForm, vault{"s": key}, func(s seen) bool {
			return s.URL.RawQuery == "" && s.params.Get("k") == key && s.ContentLength == int64(len(s.body))
		}},
		{"API_KEY in JSON", `{type: API_KEY, in: BODY, name: k, secret: s}`, byJSON, vault{"s": key}, func(s seen) bool {
			return s.URL.RawQuery == "" && s.params.Get("k") == key && s.ContentLength == int64(len(s.body))
		}},
		{"API_KEY that is optional and set", `{type: API_KEY, in: HEADER, name: x-api-key, secret: s, optional: true}`, byGet, vault{"s": key}, header("X-Api-Key", key)},
		{"API_KEY that is optional and not set", `{type: API_KEY, in: HEADER, name: x-api-key, secret: s, optional: true}`, byGet, vault{}, func(s seen) bool { _, ok := s.Header["X-Api-Key"]; return !ok }},
		{"BEARER", `{type: BEARER, secret: s}`, byGet, vault{"s": key}, header("Authorization", "Bearer "+key)},
		{"BASIC with a plain user", `{type: BASIC, user: library, secret: s}`, byGet, vault{"s": key}, func(s seen) bool { u, p, ok := s.BasicAuth(); return ok && u == "library" && p == key }},
		{"BASIC with a user of our own", `{type: BASIC, userSecret: u, secret: s}`, byGet, vault{"s": key, "u": "it's me"}, func(s seen) bool { u, p, ok := s.BasicAuth(); return ok && u == "it's me" && p == key }},
		{"a signature in hex", `{type: CUSTOM, signer: HMAC_SHA256, secret: s, userSecret: id, options: {keyHeader: X-Key, signatureHeader: X-Sig, dateHeader: X-When, dateFormat: UNIX}}`, byForm, vault{"s": key, "id": "me"},
			func(s seen) bool {
				hash := sha256.Sum256([]byte(s.body))
				sum := mac(key, "POST", "/works", "", s.Header.Get("X-When"), hex.EncodeToString(hash[:]))
				at, err := strconv.ParseInt(s.Header.Get("X-When"), 10, 64)
				return s.Header.Get("X-Sig") == hex.EncodeToString(sum) && s.Header.Get("X-Key") == "me" && err == nil && time.Since(time.Unix(at, 0)) < time.Minute
			}},
		{"a signature in base64", `{type: CUSTOM, signer: HMAC_SHA256, secret: s, options: {signed: "date, query, path", signaturePrefix: "HMAC ", encoding: BASE64, dateFormat: HTTP, dateHeader: Date}}`, byGet, vault{"s": key},
			func(s seen) bool {
				sum := mac(key, s.Header.Get("Date"), s.URL.RawQuery, "/works")
				_, err := http.ParseTime(s.Header.Get("Date"))
				return s.Header.Get("X-Signature") == "HMAC "+base64.StdEncoding.EncodeToString(sum) && err == nil && s.URL.RawQuery != ""
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLock(t, c.opens)
			st, dbURL := caller{text: lockedSource(c.auth, c.request, twoByTwo), secrets: c.secrets}.harvest(t, l.URL)
			complete(t, st, dbURL)
			for _, s := range l.all() {
				if !c.opens(s) || s.Header.Get("User-Agent") != "patra-test" {
					t.Errorf("%s %s with %v and %s", s.Method, s.URL, s.Header, s.body)
				}
			}
		})
	}
}

func mac(key string, lines ...string) []byte {
	m := hmac.New(sha256.New, []byte(key))
	io.WriteString(m, strings.Join(lines, "\n"))
	return m.Sum(nil)
}

// Every signer that a source file may name is one that the program has, and takes the options that were checked.
func TestEverySignerIsThere(t *testing.T) {
	for _, name := range source.Signers() {
		l := newLock(t, func(seen) bool { return true })
		st, dbURL := caller{text: lockedSource(`{type: CUSTOM, signer: `+name+`, secret: s}`, byGet, twoByTwo), secrets: vault{"s": "key"}}.harvest(t, l.URL)
		complete(t, st, dbURL)
	}
}

// A link to the next page holds our key in the query. It is not stored, and sent all the same.
func TestALinkLosesOurKeyAndGetsItBack(t *testing.T) {
	const key = "link-canary +1"
	l := &lock{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := read(r)
		if keys := s.params["api_key"]; len(keys) != 1 || keys[0] != key {
			http.Error(w, "{}", http.StatusUnauthorized)
			return
		}
		page := works(s)
		if s.params.Get("offset") == "" {
			q := s.URL.Query()
			q.Set("offset", "2")
			page["next"] = l.URL + "/works?" + q.Encode() // the key among the rest
		}
		json.NewEncoder(w).Encode(page)
	}))
	t.Cleanup(l.Close)
	st, dbURL := caller{text: lockedSource(`{type: API_KEY, in: QUERY, name: api_key, secret: s}`, byGet, linkByTwo), secrets: vault{"s": key}}.harvest(t, l.URL)
	complete(t, st, dbURL)
	var after string
	if err := storetest.Inspect(t, dbURL).QueryRow(`SELECT after_token FROM ing_task_run_batch WHERE has_next = 1`).Scan(&after); err != nil || !strings.Contains(after, "offset=2") || strings.Contains(after, "api_key") {
		t.Errorf("the position is %q, %v", after, err)
	}
}

// The rate of a key is counted for the key.
func TestAKeyHasARateOfItsOwn(t *testing.T) {
	text := lockedSource(`{type: BEARER, secret: ncbi, optional: true, rate: {perSecond: 50000, burst: 7}}`, byGet, twoByTwo)
	for name, c := range map[string]struct {
		secrets vault
		want    string
	}{
		"with the key":    {vault{"ncbi": "secret-value"}, "locked#ncbi 50000 7"},
		"without the key": {nil, "locked 100000 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLock(t, func(seen) bool { return true })
			g := &watchedGate{Gate: gate.NewLocal(), asked: map[string]int{}}
			st, dbURL := caller{text: text, secrets: c.secrets, gate: g}.harvest(t, l.URL)
			complete(t, st, dbURL)
			key, _, _ := strings.Cut(c.want, " ")
			if len(g.asked) != 1 || g.asked[c.want] == 0 {
				t.Errorf("the gate was asked for %v", g.asked)
			}
			var other int
			if err := storetest.Inspect(t, dbURL).QueryRow(`SELECT COUNT(*) FROM ing_request WHERE gate_key <> ?`, key).Scan(&other); err != nil || other > 0 {
				t.Errorf("%d requests stand under other keys than %s, %v", other, key, err)
			}
			var own int
			if err := storetest.Inspect(t, dbURL).QueryRow(`SELECT COUNT(*) FROM ing_request WHERE gate_key = ?`, key).Scan(&own); err != nil || own != len(l.all()) {
				t.Errorf("%d of %d requests stand under %s, %v", own, len(l.all()), key, err)
			}
		})
	}
}

// Of two phases each is counted where it belongs: the second may need no key.
func TestEachPhaseHasItsOwnLimit(t *testing.T) {
	text := strings.NewReplacer("rate: {perSecond: 10, burst: 10}", "rate: {perSecond: 50000, burst: 500}", "  fetch:\n    role: DETAIL\n", "  fetch:\n    role: DETAIL\n    auth: {type: NONE}\n").Replace(shippedFast(t, "pubmed"))
	file, err := source.Load("pubmed.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	provider := sim.New(sim.Config{Seed: 9, From: from.AddDate(0, -1, 0), To: to.AddDate(0, 1, 0), PerDay: 120, Exact: true})
	keyed := map[string]bool{}
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := read(r)
		mu.Lock()
		keyed[r.URL.Path] = keyed[r.URL.Path] || s.params.Get("api_key") == "ncbi-value"
		mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(s.body))
		provider.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	st, dbURL, plan := planAll(t, file, nil, server.URL)
	x := runner(t, st, plan)
	x.Credentials = &executor.Credentials{Secrets: vault{"ncbi": "ncbi-value"}}
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !keyed["/entrez/eutils/esearch.fcgi"] || keyed["/entrez/eutils/efetch.fcgi"] || len(keyed) != 2 {
		t.Errorf("the key was sent to %v", keyed)
	}
	var right, wrong int
	if err := storetest.Inspect(t, dbURL).QueryRow(`SELECT SUM((b.phase_code = 'SEARCH') = (r.gate_key = 'pubmed#ncbi')), SUM((b.phase_code = 'SEARCH') <> (r.gate_key = 'pubmed#ncbi'))
		FROM ing_request r JOIN ing_task_run_batch b ON b.id = r.batch_id`).Scan(&right, &wrong); err != nil || right < 8 || wrong > 0 {
		t.Errorf("%d requests are counted rightly and %d wrongly, %v", right, wrong, err)
	}
}

// watchedGate notes what is asked of a gate.
type watchedGate struct {
	executor.Gate
	mu    sync.Mutex
	asked map[string]int
}

func (g *watchedGate) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	g.mu.Lock()
	g.asked[fmt.Sprintf("%s %v %d", l.Key, l.PerSecond, l.Burst)]++
	g.mu.Unlock()
	return g.Gate.Reserve(ctx, l, cost)
}

// A refusal says what to look at: how we said who we are, and the name of the secret.
func TestARefusalIsDiagnosed(t *testing.T) {
	for _, c := range []struct {
		auth    string
		secrets vault
		say     []string
	}{
		{`{type: NONE}`, nil, []string{"auth: NONE", "wants a key"}},
		{`{type: BEARER, secret: acme}`, vault{"acme": "wrong-secret"}, []string{"BEARER", `"acme"`, "patra.yaml"}},
		{`{type: BASIC, userSecret: acme-user, secret: acme}`, vault{"acme": "wrong-secret", "acme-user": "wrong-user"}, []string{"BASIC", `"acme" and "acme-user"`}},
		{`{type: API_KEY, in: HEADER, name: k, secret: acme, optional: true}`, nil, []string{"API_KEY", `"acme" is not set`, "did not say who we are"}},
		{`{type: CUSTOM, signer: HMAC_SHA256, secret: acme}`, vault{"acme": "wrong-secret"}, []string{"HMAC_SHA256", `"acme"`, "clock"}},
	} {
		for _, status := range []int{401, 403} {
			l := newLock(t, func(seen) bool { return false })
			l.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
			text := strings.Replace(lockedSource(c.auth, byGet, twoByTwo), `total: {path: "$.total", trust: EXACT}`, `total: {trust: NONE}`, 1)
			st, _ := caller{text: text, secrets: c.secrets}.harvest(t, l.URL)
			tasks, err := st.Tasks(t.Context(), store.Filter{Status: patra.Failed})
			if err != nil || len(tasks) != 4 {
				t.Fatalf("%s: %d tasks failed, %v", c.auth, len(tasks), err)
			}
			var f patra.Fault
			if err := json.Unmarshal(tasks[0].LastError, &f); err != nil || f.Level != patra.LevelFatal || f.Code != patra.CodeAuth || f.Status != status {
				t.Errorf("%s: %s, %v", c.auth, tasks[0].LastError, err)
			}
			for _, word := range c.say {
				if !strings.Contains(f.Text, word) || strings.Contains(f.Text, "wrong-") {
					t.Errorf("%s: %q does not say %q", c.auth, f.Text, word)
				}
			}
		}
	}
}

// A secret that went away between the plan and the request is not waited for, and nothing is sent without it.
func TestAMissingSecretIsNotSentAround(t *testing.T) {
	l := newLock(t, func(seen) bool { return true })
	text := strings.Replace(lockedSource(`{type: BEARER, secret: acme}`, byGet, twoByTwo), `total: {path: "$.total", trust: EXACT}`, `total: {trust: NONE}`, 1)
	st, _ := caller{text: text, secrets: &leaving{vault: vault{"acme": "value"}, stay: 1}}.harvest(t, l.URL)
	tasks, err := st.Tasks(t.Context(), store.Filter{Status: patra.Failed})
	if err != nil || len(tasks) != 4 || !strings.Contains(string(tasks[0].LastError), `the secret \"acme\" is not set`) {
		t.Fatalf("%v, %v", tasks, err)
	}
	if n := len(l.all()); n > 1 { // planning may ask once
		t.Errorf("%d requests were sent", n)
	}
}

// leaving has secrets for a while.
type leaving struct {
	vault
	mu   sync.Mutex
	stay int
}

func (l *leaving) Secret(name string) (string, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stay--; l.stay < 0 {
		return "", false, nil
	}
	return l.vault.Secret(name)
}

// What could not be sent is not planned.
func TestAPlanWithoutItsSecretIsRefused(t *testing.T) {
	for _, c := range []struct {
		auth    string
		secrets executor.Secrets
		say     string
	}{
		{`{type: BEARER, secret: acme}`, nil, `locked needs the secret "acme", and it is not set (SECRET_MISSING at auth.secret). Name it under secrets in patra.yaml, as in acme: "env:ACME"`},
		{`{type: BASIC, userSecret: acme-user, secret: acme, optional: true}`, vault{"acme": "half"}, `needs the secret "acme-user", and it is not set (SECRET_MISSING at auth.userSecret)`},
		{`{type: OAUTH2, tokenUrl: /token, clientId: acme-id, secret: acme}`, vault{"acme": "half"}, `(SECRET_MISSING at auth.clientId)`},
		{`{type: BEARER, secret: acme, optional: true}`, broken{}, `the file is gone (SECRET_UNREADABLE at auth.secret)`},
	} {
		file, err := source.Load("locked.yaml", []byte(lockedSource(c.auth, byGet, twoByTwo)))
		if err != nil {
			t.Fatal(err)
		}
		st := storetest.Engines()[0].Open(t)
		p := &planner.Planner{Store: st, Secrets: &executor.Credentials{Secrets: c.secrets}, Config: planner.Config{TaskAttempts: 3, Target: 10_000, MaxPages: 2000, MinStep: time.Hour}}
		start, end := patra.InstantOf(from), patra.InstantOf(to)
		_, err = p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Basis: patra.BasisCertified, From: &start, To: &end})
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", c.auth, err)
		}
		if plans, err := st.Plans(t.Context(), store.Filter{}); err != nil || len(plans) > 0 {
			t.Errorf("%s: %d plans, %v", c.auth, len(plans), err)
		}
	}
}

type broken struct{}

func (broken) Secret(string) (string, bool, error) { return "", false, fmt.Errorf("the file is gone") }

// The fingerprint of a plan says nothing about the secrets of the machine that made it.
func TestAPlanDoesNotDependOnSecrets(t *testing.T) {
	text := lockedSource(`{type: BEARER, secret: acme, optional: true, rate: {perSecond: 50, burst: 5}}`, byGet, twoByTwo)
	file, err := source.Load("locked.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	start, end := patra.InstantOf(from), patra.InstantOf(to)
	var made []*planner.Draft
	for _, secrets := range []vault{nil, {"acme": "value"}} {
		p := &planner.Planner{Store: storetest.Engines()[0].Open(t), Secrets: &executor.Credentials{Secrets: secrets}, Config: planner.Config{TaskAttempts: 3, Target: 10_000, MaxPages: 2000, MinStep: time.Hour}}
		d, err := p.Draft(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Basis: patra.BasisCertified, From: &start, To: &end})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, d)
	}
	if made[0].Snapshot.Fingerprint != made[1].Snapshot.Fingerprint || made[0].Plan.Key != made[1].Plan.Key || bytes.Contains(made[1].Snapshot.Body, []byte("value\"")) {
		t.Errorf("%s and %s", made[0].Plan.Key, made[1].Plan.Key)
	}
	warned := func(d *planner.Draft) bool { return strings.Contains(d.Warnings.Error(), "NO_SECRET") }
	if !warned(made[0]) || warned(made[1]) {
		t.Errorf("warnings %v and %v", made[0].Warnings, made[1].Warnings)
	}
}

// A secret goes over the wire encrypted, or not at all, also where whoever planned did not know that there is one.
func TestASecretIsNotSentInTheClear(t *testing.T) {
	l := newLock(t, func(seen) bool { return true })
	_, port, _ := strings.Cut(strings.TrimPrefix(l.URL, "http://"), ":")
	text := strings.Replace(lockedSource(`{type: BEARER, secret: acme, optional: true}`, byGet, twoByTwo), `total: {path: "$.total", trust: EXACT}`, `total: {trust: NONE}`, 1)
	st, _ := caller{text: text, secrets: vault{"acme": "value"}, apart: true}.harvest(t, "http://0.0.0.0:"+port) // reaches the server by an address that is not known to be this machine
	tasks, err := st.Tasks(t.Context(), store.Filter{Status: patra.Failed})
	if err != nil || len(tasks) != 4 || !strings.Contains(string(tasks[0].LastError), "without encryption") || len(l.all()) > 0 {
		t.Errorf("%v, %v, %d requests", tasks, err, len(l.all()))
	}
}
