package api_test

import (
	"context"
	"encoding/json"
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

// room is a server on a store of its own.
type room struct {
	t     testing.TB
	store *store.Store
	api   *api.Server
	http  *httptest.Server
}

func open(t testing.TB, set ...func(*api.Options)) *room {
	t.Helper()
	o := api.Options{Store: storetest.Engines()[0].Open(t)}
	for _, f := range set {
		f(&o)
	}
	r := &room{t: t, store: o.Store, api: api.New(o)}
	r.http = httptest.NewServer(r.api.Handler())
	t.Cleanup(r.http.Close)
	return r
}

func withTokens(o *api.Options) { o.Tokens = true }

// token lets somebody in and gives the secret.
func (r *room) token(w api.TokenRequest) string {
	r.t.Helper()
	if w.Days == 0 {
		w.Days = 1
	}
	k, err := api.Issue(r.t.Context(), r.store, patra.InstantOf(time.Now()), w, "test")
	if err != nil {
		r.t.Fatal(err)
	}
	return k.Secret
}

// call sends one request; set changes it before.
func (r *room) call(method, path, body string, set ...func(*http.Request)) (*http.Response, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.http.URL+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, f := range set {
		f(req)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res, string(b)
}

func as(secret string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) }
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
}

// filled is a path with something for everything that stands in braces.
func filled(path string) string {
	for strings.Contains(path, "{") {
		before, rest, _ := strings.Cut(path, "{")
		_, after, _ := strings.Cut(rest, "}")
		path = before + "1" + after
	}
	return path
}

// Every route, without a token and with a wrong one: nobody is let in.
func TestNobodyIsLetInWithoutAToken(t *testing.T) {
	r := open(t, withTokens, func(o *api.Options) { o.Proxied = true })
	open, asked := 0, 0
	for _, route := range r.api.Routes() {
		if route.Need.Open {
			open++
			continue
		}
		for name, set := range map[string]func(*http.Request){"nothing": func(*http.Request) {}, "a wrong token": as(patra.NewTokenSecret()), "nonsense": as("x"), "a wrong cookie": header("Cookie", "__Host-patra="+patra.NewTokenSecret())} {
			asked++ // each time from elsewhere: whoever guesses much is not even looked up
			res, body := r.call(route.Method, filled(route.Path), "", set, header("X-Forwarded-For", fmt.Sprintf("10.0.%d.%d", asked/256, asked%256)))
			if res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden {
				t.Errorf("%s %s with %s: %d %s", route.Method, route.Path, name, res.StatusCode, body)
			}
		}
	}
	if open != 3 || len(r.api.Routes()) < 10 {
		t.Errorf("%d of %d routes are open to everybody", open, len(r.api.Routes()))
	}
	for _, path := range []string{"/api/openapi.json", "/api/docs", "/api/docs.css", "/api/v1/nothing", "/api/", "/api/v1/"} {
		if res, _ := r.call("GET", path, ""); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
}

// Each rank may do what the one before it may, and evidence is a grant of its own.
func TestARankMayDoWhatItsRoutesNeed(t *testing.T) {
	r := open(t, withTokens)
	for _, rank := range patra.Ranks {
		for _, evidence := range []bool{false, true} {
			secret := r.token(api.TokenRequest{Name: fmt.Sprint(rank, evidence), Rank: rank, Evidence: evidence})
			for _, route := range r.api.Routes() {
				if strings.HasSuffix(route.Path, "/stream") || route.Need.Open {
					continue
				}
				res, body := r.call(route.Method, filled(route.Path), "", as(secret))
				may := rank.Includes(route.Need.Rank) && (evidence || !route.Need.Evidence)
				if refused := res.StatusCode == http.StatusForbidden || res.StatusCode == http.StatusUnauthorized; refused == may {
					t.Errorf("%s %s as %s (evidence %v), which takes %s: %d %s", route.Method, route.Path, rank, evidence, route.Need, res.StatusCode, body)
				}
			}
		}
	}
}

// A token that has expired, or was taken back, is no token; nor is its session.
func TestATokenEnds(t *testing.T) {
	r := open(t, withTokens)
	now := patra.InstantOf(time.Now())
	old := patra.NewTokenSecret()
	if _, err := r.store.CreateToken(t.Context(), now-2*patra.Day, patra.Token{Name: "old", Rank: patra.Admin, ExpiresAt: now - patra.Day}, patra.TokenHash(old)); err != nil {
		t.Fatal(err)
	}
	if res, _ := r.call("GET", "/api/v1/tasks", "", as(old)); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("an expired token: %d", res.StatusCode)
	}
	ada := r.token(api.TokenRequest{Name: "ada", Rank: patra.Admin})
	res, _ := r.call("POST", "/api/v1/session", `{"token":"`+ada+`"}`)
	if res.StatusCode != http.StatusNoContent || len(res.Cookies()) != 1 {
		t.Fatalf("signing in: %d, %v", res.StatusCode, res.Cookies())
	}
	k := res.Cookies()[0]
	if !k.Secure || !k.HttpOnly || k.SameSite != http.SameSiteStrictMode || k.Path != "/" || !strings.HasPrefix(k.Name, "__Host-") || k.Value == ada {
		t.Errorf("the cookie is %+v", k)
	}
	session := header("Cookie", k.Name+"="+k.Value)
	if res, body := r.call("GET", "/api/v1/tasks", "", session); res.StatusCode != http.StatusOK {
		t.Errorf("a session: %d %s", res.StatusCode, body)
	}
	if res, _ := r.call("GET", "/api/v1/tasks", "", as(k.Value)); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("what a browser has works as a token: %d", res.StatusCode)
	}
	// What a form of another place can send is not enough.
	if res, _ := r.call("POST", "/api/v1/tokens", `{"name":"eve","role":"admin"}`, session); res.StatusCode != http.StatusForbidden {
		t.Errorf("a session changed something without the header: %d", res.StatusCode)
	}
	res, body := r.call("POST", "/api/v1/tokens", `{"name":"bob","role":"viewer"}`, session, header("X-Patra", "1"))
	var bob api.NewToken
	if err := json.Unmarshal([]byte(body), &bob); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	if bob.CreatedBy != "ada" || bob.ExpiresAt.Sub(bob.CreatedAt) != 90*24*time.Hour {
		t.Errorf("%+v", bob)
	}
	if res, _ := r.call("POST", fmt.Sprintf("/api/v1/tokens/%d/revoke", bob.ID-2), `{"reason":"gone"}`, as(ada)); res.StatusCode != http.StatusOK {
		t.Errorf("revoking: %d", res.StatusCode) // ada's own
	}
	for name, set := range map[string]func(*http.Request){"token": as(ada), "session": session} {
		if res, _ := r.call("GET", "/api/v1/tasks", "", set); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("a %s that was taken back: %d", name, res.StatusCode)
		}
	}
	if res, _ := r.call("GET", "/api/v1/tasks", "", as(bob.Secret)); res.StatusCode != http.StatusOK {
		t.Errorf("another token went with it: %d", res.StatusCode)
	}
}

// What is in the tables is no token: nobody who reads them can call.
func TestTheTablesHoldNoSecret(t *testing.T) {
	r := open(t, withTokens)
	secret := r.token(api.TokenRequest{Name: "ada", Rank: patra.Admin})
	all, err := r.store.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(all)
	if err != nil || strings.Contains(string(b), secret) || strings.Contains(string(b), patra.TokenHash(secret)) {
		t.Errorf("%s, %v", b, err)
	}
	if res, _ := r.call("GET", "/api/v1/tasks", "", as(patra.TokenHash(secret))); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("the hash is as good as the secret: %d", res.StatusCode)
	}
	if a, b := patra.NewTokenSecret(), patra.NewTokenSecret(); a == b || len(a) < 6+26 { // 26 letters of 32 are 130 bits
		t.Errorf("%s and %s", a, b)
	}
}

// A page of another place, a name that was made to point here, a body without end.
func TestWhoIsNotMeantIsRefused(t *testing.T) {
	r := open(t)
	for _, c := range []struct {
		name, method, path, body string
		set                      func(*http.Request)
		want                     int
	}{
		{"ours", "POST", "/api/v1/tokens", `{"name":"a","role":"viewer"}`, func(*http.Request) {}, 200},
		{"a page of another place", "POST", "/api/v1/tokens", `{"name":"a","role":"viewer"}`, header("Origin", "http://evil.example"), 403},
		{"the same, as browsers say it", "POST", "/api/v1/tokens", `{"name":"a","role":"viewer"}`, header("Sec-Fetch-Site", "cross-site"), 403},
		{"another name", "GET", "/api/v1/tasks", "", header("Host", "evil.example"), 403},
		{"our name with more behind it", "GET", "/api/v1/tasks", "", header("Host", "localhost.evil.example"), 403},
		{"localhost", "GET", "/api/v1/tasks", "", header("Host", "localhost:1234"), 200},
		{"v6", "GET", "/api/v1/tasks", "", header("Host", "[::1]:1234"), 200},
		{"a long body", "POST", "/api/v1/tokens", `{"name":"` + strings.Repeat("a", 2<<20) + `","role":"viewer"}`, func(*http.Request) {}, 413},
		{"a body that is none", "POST", "/api/v1/tokens", `{`, func(*http.Request) {}, 400},
		{"two bodies", "POST", "/api/v1/tokens", `{"name":"a","role":"viewer"}{}`, func(*http.Request) {}, 400},
		{"a field that is not there", "POST", "/api/v1/tokens", `{"name":"a","role":"viewer","x":1}`, func(*http.Request) {}, 422},
		{"a role that is none", "POST", "/api/v1/tokens", `{"name":"a","role":"god"}`, func(*http.Request) {}, 422},
		{"a parameter that is not there", "GET", "/api/v1/tasks?sort=id", "", func(*http.Request) {}, 422},
		{"too much at once", "GET", "/api/v1/tasks?limit=1001", "", func(*http.Request) {}, 422},
		{"a cursor of nobody", "GET", "/api/v1/tasks?cursor=abc", "", func(*http.Request) {}, 422},
		{"a row that is not there", "GET", "/api/v1/tasks/7", "", func(*http.Request) {}, 404},
		{"a method that is not there", "DELETE", "/api/v1/tasks", "", func(*http.Request) {}, 404},
	} {
		res, body := r.call(c.method, c.path, c.body, c.set)
		if res.StatusCode != c.want {
			t.Errorf("%s: %d %s", c.name, res.StatusCode, body)
		}
		if c.want >= 400 && (!strings.HasPrefix(res.Header.Get("Content-Type"), "application/problem+json") || !json.Valid([]byte(body))) {
			t.Errorf("%s is answered with %s: %s", c.name, res.Header.Get("Content-Type"), body)
		}
	}
}

func TestEveryAnswerIsKeptInItsBox(t *testing.T) {
	r := open(t)
	for _, path := range []string{"/api/v1/tasks", "/api/v1/nothing", "/api/docs", "/healthz"} {
		res, _ := r.call("GET", path, "")
		for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin"} {
			if !strings.Contains(res.Header.Get(name), want) {
				t.Errorf("%s of %s is %q", name, path, res.Header.Get(name))
			}
		}
		if strings.Contains(res.Header.Get("Content-Security-Policy"), "unsafe") {
			t.Error(res.Header.Get("Content-Security-Policy"))
		}
	}
	if res, _ := r.call("GET", "/api/v1/tokens", ""); res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("ETag") != "" {
		t.Errorf("tokens may be kept in a cache: %v", res.Header)
	}
}

// Whoever has an answer already is not given it again.
func TestAnAnswerHasATag(t *testing.T) {
	r := open(t)
	res, body := r.call("GET", "/api/v1/plans", "")
	tag := res.Header.Get("ETag")
	if tag == "" || body == "" {
		t.Fatalf("%v", res.Header)
	}
	res, body = r.call("GET", "/api/v1/plans", "", header("If-None-Match", tag))
	if res.StatusCode != http.StatusNotModified || body != "" {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	if res, _ = r.call("GET", "/api/v1/plans", "", header("If-None-Match", `"other"`)); res.StatusCode != http.StatusOK {
		t.Errorf("%d", res.StatusCode)
	}
}

// sitting asks a server as somebody at an address, without a network: in a bubble no time passes in between.
func sitting(t *testing.T, o api.Options) func(from, secret string) int {
	handler := api.New(o).Handler()
	return func(from, secret string) int {
		req := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+api.Prefix+"/session", nil)
		req.RemoteAddr = from
		if secret != "" {
			as(secret)(req)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		return w.Code
	}
}

// One caller who asks without end is told to wait, and others are not; a second later they may ask again.
func TestACallerWhoAsksWithoutEndIsToldToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &room{t: t, store: storetest.Engines()[0].Open(t)}
		eve, ada := r.token(api.TokenRequest{Name: "eve", Rank: patra.Viewer}), r.token(api.TokenRequest{Name: "ada", Rank: patra.Viewer})
		ask := sitting(t, api.Options{Store: r.store, Tokens: true})
		for n := range 200 {
			if got := ask("192.0.2.1:1", eve); got != http.StatusOK {
				t.Fatalf("request %d: %d", n+1, got)
			}
		}
		if got := ask("192.0.2.1:1", eve); got != http.StatusTooManyRequests {
			t.Errorf("one more than may be: %d", got)
		}
		if got := ask("192.0.2.1:1", ada); got != http.StatusOK {
			t.Errorf("another caller at the same place: %d", got)
		}
		<-time.After(time.Second)
		for n := range 50 {
			if got := ask("192.0.2.1:1", eve); got != http.StatusOK {
				t.Fatalf("request %d of the next second: %d", n+1, got)
			}
		}
		if got := ask("192.0.2.1:1", eve); got != http.StatusTooManyRequests {
			t.Errorf("one more than in a second: %d", got)
		}
	})
}

func TestARouteThatDoesNotSayWhoMayCallItCannotBe(t *testing.T) {
	r := open(t)
	defer func() {
		if recover() == nil {
			t.Error("it was registered")
		}
	}()
	api.Get(r.api, "/secrets", api.Permission{}, api.Doc{ID: "secrets"}, func(context.Context, *api.EmptyInput) (string, error) { return "", nil })
}

// What was left of a body that is too long must not be read as another request.
func TestWhatIsLeftOfALongBodyIsNoRequest(t *testing.T) {
	r := open(t)
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", r.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	hidden := "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	body := strings.Repeat("a", 1<<20+1) + strings.Repeat(hidden, 40_000)
	go fmt.Fprintf(c, "POST /api/v1/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	got, _ := io.ReadAll(c) // which may end with a reset
	if n := strings.Count(string(got), "HTTP/1.1 "); n > 1 || strings.Contains(string(got), "200 OK") {
		t.Errorf("%d answers to one request: %.600s", n, got)
	}
}
