package source_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// authFile is a source whose auth blocks stand on lines 7 and 15.
const authFile = `apiVersion: patra/v1
code: locked
name: Locked
recordType: work
defaults:
  http: {baseUrl: "https://example.org/v1"}
  DEFAULTS
  rate: {perSecond: 2, burst: 2}
parameters: {tenant: {default: home}}
endpoints:
  works:
    role: SEARCH
    REQUEST
    pagination: {type: URL, next: "$.next", end: [NO_TOKEN]}
    OWN
    response: {format: JSON, items: "$.items", id: "$.id", total: {trust: NONE}}
    window: {field: day, mode: CALENDAR, align: DAY, size: P1D, precision: DAY, upper: INCLUSIVE_DAY}
query:
  fields: {day: {type: DATE, ops: [RANGE]}}
  render: [{field: day, op: RANGE, params: {from: "{{from}}", to: "{{to}}"}}]
  params: {from: {name: from}, to: {name: to}}
`

func authText(defaults, own, request string) string {
	if own == "" {
		own = "default: true"
	}
	if defaults == "" {
		defaults = "retry: {maxAttempts: 3}"
	}
	if request == "" {
		request = "request: {method: GET, path: /works}"
	}
	return strings.NewReplacer("DEFAULTS", defaults, "OWN", own, "REQUEST", request).Replace(authFile)
}

func authSpec(t *testing.T, defaults, own string) *source.Spec {
	t.Helper()
	f, err := source.Load("locked.yaml", []byte(authText(defaults, own, "")))
	if err != nil {
		t.Fatal(err)
	}
	s, err := source.Compile(f, source.Options{Operation: patra.Harvest})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is wrong with an auth block is said with its line and what to do. A secret that was pasted is not repeated.
func TestMistakesInAuth(t *testing.T) {
	const canary = "sk-LIVE-0123456789"
	for _, c := range []struct {
		name, defaults, own, request string
		want                         []string
	}{
		{"an unknown type", "auth: {type: APIKEY}", "", "", []string{`locked.yaml:7:16: type "APIKEY" is not known (BAD_VALUE at defaults.auth.type). Did you mean "API_KEY"?`}},
		{"a key without a place", "auth: {type: API_KEY}", "", "", []string{"in is required", "name is required", "secret is required"}},
		{"a secret in place of its name", "auth: {type: BEARER, secret: " + canary + "}", "", "", []string{
			"locked.yaml:7:32: secret is not the name of a secret (BAD_VALUE at defaults.auth.secret). Write a name such as ncbi, never the secret itself, and set it under secrets in patra.yaml"}},
		{"a key that means nothing", "auth: {type: BEARER, secret: a, scopes: [x]}", "", "", []string{"locked.yaml:7:35: scopes means nothing with type: BEARER (CONFLICT at defaults.auth.scopes). Leave it out; it has secret, optional, rate"}},
		{"a secret for nobody", "auth: {type: NONE, secret: a}", "", "", []string{"secret means nothing with type: NONE"}},
		{"a bad header", "auth: {type: API_KEY, in: HEADER, name: 'X Key', secret: a}", "", "", []string{`"X Key" is not the name of a header`}},
		{"a header of the connection", "auth: {type: API_KEY, in: HEADER, name: Host, secret: a}", "", "", []string{"the header Host is made by the connection"}},
		{"a body that is not there", "auth: {type: API_KEY, in: BODY, name: k, secret: a}", "", "", []string{
			"locked.yaml:7:29: the request of works has no body for the key (CONFLICT at defaults.auth.in). Write in: HEADER or QUERY, or give the request method: POST and send: FORM or JSON"}},
		{"a body that is not there, at the endpoint", "", "auth: {type: API_KEY, in: BODY, name: k, secret: a}", "request: {method: POST, path: /works}", []string{"locked.yaml:15:31: the request of works has no body"}},
		{"nobody's password", "auth: {type: BASIC, secret: a}", "", "", []string{"user is required (REQUIRED at defaults.auth.user). Write user: NAME"}},
		{"two users", "auth: {type: BASIC, user: u, userSecret: b, secret: a}", "", "", []string{"user and userSecret both say"}},
		{"a password in the user", "auth: {type: BASIC, user: 'u:pw', secret: a}", "", "", []string{"a user has no colon"}},
		{"a token from nowhere", "auth: {type: OAUTH2, secret: a}", "", "", []string{"clientId is required", "tokenUrl is required"}},
		{"a token in the clear", "auth: {type: OAUTH2, secret: a, clientId: b, tokenUrl: 'http://host/token'}", "", "", []string{`tokenUrl "http://host/token" is not an address that secrets may be sent to`}},
		{"a token with a password", "auth: {type: OAUTH2, secret: a, clientId: b, tokenUrl: 'https://u:p@host/token'}", "", "", []string{"is not an address that secrets may be sent to"}},
		{"a token by query", "auth: {type: OAUTH2, secret: a, clientId: b, tokenUrl: /t, in: QUERY}", "", "", []string{`in "QUERY" is not known`}},
		{"a hole that nobody fills", "auth: {type: OAUTH2, secret: a, clientId: b, tokenUrl: '/${param.nobody}/t'}", "", "", []string{"${param.nobody} is not known here"}},
		{"an unknown signer", "auth: {type: CUSTOM, signer: HMAC, secret: a}", "", "", []string{`signer "HMAC" is not known`}},
		{"bad options", "auth: {type: CUSTOM, signer: HMAC_SHA256, secret: a, options: {encoding: ROT13, signed: 'path, moon', dateFormat: x, colour: red, keyHeader: 'a b'}}", "", "", []string{
			`encoding "ROT13" is not known (BAD_VALUE at defaults.auth.options.encoding). Write HEX or BASE64`, `"moon" is no part of a request`, `dateFormat "x" is not known`, `HMAC_SHA256 has no option "colour" (UNKNOWN_KEY at defaults.auth.options.colour)`, `"a b" is not the name of a header`}},
		{"no rate", "auth: {type: BEARER, secret: a, rate: {perSecond: 0}}", "", "", []string{"perSecond is more than 0 (BAD_VALUE at defaults.auth.rate.perSecond)"}},
		{"a negative burst", "auth: {type: BEARER, secret: a, rate: {perSecond: 1, burst: -1}}", "", "", []string{"burst is at least 1"}},
		{"an unknown key", "auth: {type: BEARER, secrets: a}", "", "", []string{`unknown key "secrets"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := source.Load("locked.yaml", []byte(authText(c.defaults, c.own, c.request)))
			var found patra.Problems
			if !errors.As(err, &found) {
				t.Fatalf("got %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			}
			if len(found) != len(c.want) || strings.Contains(err.Error(), canary) {
				t.Errorf("%d problems: %v", len(found), err)
			}
			for _, p := range found {
				if p.Line != 7 && p.Line != 15 {
					t.Errorf("line %d: %s", p.Line, p)
				}
			}
		})
	}
}

// A file never fails to be valid because a secret is not there.
func TestAValidFileNeedsNoSecret(t *testing.T) {
	for _, auth := range []string{
		`auth: {type: API_KEY, in: HEADER, name: X-Key, secret: a}`, `auth: {type: BASIC, userSecret: b_1, secret: a}`,
		`auth: {type: OAUTH2, tokenUrl: "https://login.example.org/${param.tenant}/token", clientId: b, secret: a, scopes: [x, y], audience: z, in: BODY}`,
		`auth: {type: CUSTOM, signer: HMAC_SHA256, secret: a, user: me, options: {keyHeader: X-Key, signed: "method path", encoding: base64}}`,
	} {
		spec := authSpec(t, auth, "")
		warnings, err := spec.Access(nil)
		if err == nil || len(warnings) > 0 {
			t.Errorf("%s: %v, %v", auth, warnings, err)
		}
	}
}

func TestAnEndpointMaySayItselfWhoWeAre(t *testing.T) {
	key := "auth: {type: API_KEY, in: QUERY, name: k, secret: a, optional: true, rate: {perSecond: 9}}"
	for own, want := range map[string]string{
		"auth: {}":                        `{"type":"API_KEY","in":"QUERY","name":"k","secret":"a","optional":true,"rate":{"perSecond":9}}`,
		"auth: {type: NONE}":              `{"type":"NONE"}`,
		"auth: {secret: b}":               `{"type":"API_KEY","in":"QUERY","name":"k","secret":"b","optional":true,"rate":{"perSecond":9}}`,
		"auth: {type: BEARER, secret: b}": `{"type":"BEARER","secret":"b","optional":true,"rate":{"perSecond":9}}`,
	} {
		got, err := json.Marshal(authSpec(t, key, own).Auth)
		if err != nil || string(got) != want {
			t.Errorf("%s became %s, want %s, %v", own, got, want, err)
		}
	}
}

func TestTheLimitOfAKeyIsItsOwn(t *testing.T) {
	keyed := authSpec(t, "auth: {type: BEARER, secret: a, rate: {perSecond: 9}}", "")
	if got, want := keyed.Limit(true, ""), (patra.RateLimit{Key: "locked#a", PerSecond: 9, Burst: 2}); got != want {
		t.Errorf("%+v", got)
	}
	plain := patra.RateLimit{Key: "locked", PerSecond: 2, Burst: 2}
	if got := keyed.Limit(false, ""); got != plain {
		t.Errorf("%+v", got)
	}
	if got := authSpec(t, "auth: {type: BEARER, secret: a}", "").Limit(true, ""); got != plain { // the address is limited, whoever asks
		t.Errorf("%+v", got)
	}
	has := func(string) (bool, error) { return true, nil }
	if keyed.Tariff(has).PerSecond != 9 || keyed.Tariff(nil).PerSecond != 2 {
		t.Error("a plan is priced by another rate")
	}
}

// A key has a quota of its own, under its own name; without one it has that of the source.
func TestTheQuotaOfAKeyIsItsOwn(t *testing.T) {
	five := 5 * time.Minute
	for own, want := range map[string]patra.QuotaLimit{
		"rate: {perSecond: 9, quota: {daily: 10000, reserve: 5%}}": {Daily: 10000, Reserve: 5, Skew: five},
		"rate: {perSecond: 9}": {},
	} {
		spec := authSpec(t, "auth: {type: BEARER, secret: a, "+own+"}", "")
		if got := spec.Limit(true, ""); got.Key != "locked#a" || got.Quota != want {
			t.Errorf("%s: %+v", own, got)
		}
		if got := spec.Limit(false, ""); got.Key != "locked" || !got.Quota.IsZero() {
			t.Errorf("without the key: %+v", got)
		}
	}
}

// What is missing is said once, whichever phase wants it; what can be done without is a warning.
func TestAccess(t *testing.T) {
	spec := authSpec(t, "auth: {type: BASIC, userSecret: u, secret: s, optional: true}", "")
	second := *spec
	spec.Second = &second
	for _, c := range []struct {
		have   map[string]error // nil: it is set
		warn   int
		reason string
	}{
		{map[string]error{"u": nil, "s": nil}, 0, ""},
		{nil, 1, ""},
		{map[string]error{"u": nil}, 0, `locked needs the secret "s", and it is not set (SECRET_MISSING at auth.secret). Name it under secrets in patra.yaml, as in s: "env:S", and set what is named there`},
		{map[string]error{"u": nil, "s": errors.New("the file is empty")}, 0, "the file is empty (SECRET_UNREADABLE at auth.secret)"},
	} {
		warnings, err := spec.Access(func(name string) (bool, error) { e, set := c.have[name]; return set && e == nil, e })
		if len(warnings) != c.warn || (err == nil) != (c.reason == "") || err != nil && err.Error() != c.reason {
			t.Errorf("%v: %v, %v", slices.Sorted(maps.Keys(c.have)), warnings, err)
		}
	}
}

// A position is stored, so the key in it is not part of it. Everything else is, byte for byte.
func TestALinkIsKeptWithoutTheKey(t *testing.T) {
	program := func(auth string) *source.Program {
		p, err := authSpec(t, auth, "").Compile()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	keyed, plain := program(`auth: {type: API_KEY, in: QUERY, name: "api key", secret: a}`), program("auth: {type: BEARER, secret: a}")
	for link, want := range map[string]string{
		"https://example.org/v1/works?api+key=K&p=2":                "https://example.org/v1/works?p=2",
		"https://example.org/v1/works?p=%7e2&api%20key=K&x=a+b#api": "https://example.org/v1/works?p=%7e2&x=a+b#api",
		"https://example.org/v1/works?api+key=K":                    "https://example.org/v1/works",
		"https://example.org/v1/works?api+key&api+key=K&q=api+key":  "https://example.org/v1/works?q=api+key",
		"https://example.org/v1/works":                              "https://example.org/v1/works",
		"?p=2&api+key=K":                                            "?p=2",
	} {
		body := []byte(fmt.Sprintf(`{"items":[],"next":%q}`, link))
		if page, err := keyed.Read(200, body, ""); err != nil || page.Next != want || !page.HasNext {
			t.Errorf("%s became %s, %v", link, page.Next, err)
		}
		if page, err := plain.Read(200, body, ""); err != nil || page.Next != link {
			t.Errorf("%s became %s without a key in the query, %v", link, page.Next, err)
		}
	}
	call, err := keyed.Spec.Build(query.All(), patra.Window{From: patra.Date(2026, 5, 1), To: patra.Date(2026, 5, 2)}, "https://example.org/v1/works?p=2", "", source.Vars{})
	if err != nil || strings.Contains(string(call.Digest()), "api") {
		t.Errorf("%s, %v", call.Digest(), err)
	}
}

func TestWhereTokensAreAskedFor(t *testing.T) {
	for _, c := range []struct {
		url, base, want string
		own             bool
	}{
		{"/oauth/token?v=2", "", "https://example.org/v1/oauth/token?v=2", true},
		{"/oauth/token", "http://127.0.0.1:8090", "http://127.0.0.1:8090/oauth/token", true},
		{"https://login.example.org/${param.tenant}/t", "http://127.0.0.1:8090", "https://login.example.org/home/t", false},
	} {
		spec := authSpec(t, fmt.Sprintf("auth: {type: OAUTH2, clientId: b, secret: a, tokenUrl: '%s'}", c.url), "")
		address, place, own, err := spec.TokenAddress(c.base, source.Vars{})
		if err != nil || address != c.want || own != c.own || !own && place.HTTP.BaseURL != c.want {
			t.Errorf("%s: %s, %v, %v", c.url, address, own, err)
		}
		if spec.HTTP.BaseURL != "https://example.org/v1" {
			t.Error("the address of the source itself changed")
		}
	}
}

func TestTheSchemaKnowsEveryWayToShowWhoWeAre(t *testing.T) {
	b, err := json.Marshal(source.Schema()["$defs"].(map[string]any)["Auth"])
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{`"OAUTH2"`, `"CUSTOM"`, `"BASIC"`, `"BODY"`, `"HMAC_SHA256"`, `"tokenUrl"`, `"userSecret"`, `"scopes":{"items"`, `"rate":{"$ref":"#/$defs/KeyRate"}`} {
		if !strings.Contains(string(b), word) {
			t.Errorf("no %s in %s", word, b)
		}
	}
}
