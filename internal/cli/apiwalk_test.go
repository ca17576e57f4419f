package cli

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"patra"
	"patra/internal/api"
)

// Without a token nobody is let in anywhere, whatever the whole program has registered.
func TestTheWholeServerLetsNobodyIn(t *testing.T) {
	o := newOffice(t, true)
	open := 0
	for _, r := range o.server.Routes() {
		if r.Need.Open {
			open++
			continue
		}
		for _, token := range []string{"", "nonsense", patra.NewTokenSecret()} {
			if w := o.call(r.Method, withWord(r.Path, "1"), token, nil); w.Code != http.StatusUnauthorized && w.Code != http.StatusForbidden {
				t.Errorf("%s %s with %q: %d %s", r.Method, r.Path, token, w.Code, w.Body)
			}
		}
		if !r.Need.Evidence && r.Need.Rank == patra.Viewer && r.Method != http.MethodGet && r.Path != api.Prefix+"/queries/explain" {
			t.Errorf("%s %s changes something, and a viewer may", r.Method, r.Path)
		}
	}
	if open != 3 || len(o.server.Routes()) < 40 {
		t.Errorf("%d of %d routes are open to everybody", open, len(o.server.Routes()))
	}
}

// withWord is a path with a word for everything that stands in braces.
func withWord(path, word string) string { return hole.ReplaceAllString(path, word) }

// spelled are the ways in which the canary could be in an answer.
func spelled() map[string]string {
	inJSON, err := json.Marshal(canary)
	if err != nil {
		panic(err)
	}
	long := []byte("Bearer " + canary)
	return map[string]string{"raw": canary, "JSON": strings.Trim(string(inJSON), `"`), "part": "swordfish", "query": url.QueryEscape(canary), "path": url.PathEscape(canary), "base64": base64.RawStdEncoding.EncodeToString([]byte(canary))[:20],
		"base64 url": base64.RawURLEncoding.EncodeToString([]byte(canary))[:20], "base64 of the header": base64.RawStdEncoding.EncodeToString(long[3:])[:20], "hex": hex.EncodeToString([]byte(canary))}
}

// The secret of a source, which its provider says back in every answer, is in no answer of ours: not of any route that looks, and
// not of those that act.
func TestNoAnswerHoldsASecret(t *testing.T) {
	o := newOffice(t, true)
	forms, seen, token := spelled(), 0, ""
	ask := func(method, path string, body any) *httptest.ResponseRecorder {
		t.Helper()
		if seen%100 == 0 { // one caller may not ask so often
			token = o.token(fmt.Sprint("walker-", seen), patra.Admin, true)
		}
		seen++
		w := o.call(method, path, token, body)
		if w.Code == http.StatusTooManyRequests || w.Code == http.StatusUnauthorized {
			t.Fatalf("%s %s was not answered: %d", method, path, w.Code)
		}
		return w
	}
	look := func(what string, status int, header http.Header, body string) {
		t.Helper()
		text := body + fmt.Sprint(header)
		for how, form := range forms {
			if strings.Contains(text, form) {
				t.Errorf("%s (%d) holds the secret, as %s: %.300s", what, status, how, text[max(0, strings.Index(text, form)-100):])
			}
		}
	}
	call := func(method, path string, body any) {
		t.Helper()
		w := ask(method, path, body)
		look(method+" "+path, w.Code, w.Header(), w.Body.String())
	}
	told := false
	for _, r := range o.server.Routes() {
		if r.Method != http.MethodGet {
			continue
		}
		for _, word := range []string{"1", "2", "3", "4", "5", "locked", "locked%23acme-key", "work"} {
			call("GET", withWord(r.Path, word), nil)
		}
		call("GET", strings.NewReplacer("{source}", "locked", "{type}", "work", "{id}", "1", "{code}", "locked", "{key}", "locked%23acme-key").Replace(r.Path), nil)
	}
	for _, c := range []struct {
		path string
		body map[string]any
	}{
		{"/sources/locked/test", map[string]any{"from": "2026-05-03", "to": "2026-05-04"}}, {"/sources/locked/test", map[string]any{"query": canary}},
		{"/queries/explain", map[string]any{"source": "locked", "from": "2026-05-03", "to": "2026-05-04"}},
		{"/plans", map[string]any{"source": "locked", "from": "2026-05-05", "to": "2026-05-06"}}, {"/plans", map[string]any{"source": "locked", "dry_run": true}},
		{"/replays", map[string]any{"run": 1, "reason": "x"}}, {"/replays", map[string]any{"run": 5, "reason": "x", "live": true}}, {"/bundles", map[string]any{"run": 5, "reason": "x"}},
		{"/quarantine/1/retry", nil}, {"/gates/locked%23acme-key/set", map[string]any{"per_second": "1"}}, {"/controls/pause", map[string]any{"target": "locked"}}, {"/signals", map[string]any{"source": "locked", "ids": []string{"1"}}},
	} {
		var body any
		if c.body != nil {
			body = c.body
		}
		w := ask("POST", api.Prefix+c.path, body)
		if w.Code != http.StatusOK && c.body["query"] == nil {
			t.Errorf("%s did nothing: %d %s", c.path, w.Code, w.Body)
		}
		if c.body["query"] == nil { // one that a caller says is theirs to see again
			look("POST "+c.path, w.Code, w.Header(), w.Body.String())
		}
		told = told || strings.Contains(w.Body.String(), "REDACTED")
	}
	if !told || seen < 200 {
		t.Errorf("%d answers were looked at, and it is %v that one of them had something to hide", seen, told)
	}
}

// What providers answered is for those who have the grant evidence, whatever their role: no route shows it to others.
func TestOnlyTheGrantShowsWhatProvidersAnswered(t *testing.T) {
	o := newOffice(t, true)
	record := strings.NewReplacer("{source}", "locked", "{type}", "work", "{id}", "1", "{code}", "locked", "{key}", "locked%23acme-key")
	for _, who := range []struct {
		rank     patra.TokenRole
		evidence bool
	}{{patra.Viewer, false}, {patra.Operator, false}, {patra.Admin, false}, {patra.Viewer, true}} {
		var shown []string
		asked := 0
		token := ""
		for _, r := range o.server.Routes() {
			if r.Method != http.MethodGet || r.Path == api.Prefix+"/stream" {
				continue
			}
			paths := []string{record.Replace(r.Path), record.Replace(r.Path) + "?raw=true", record.Replace(r.Path) + "?source=locked&raw=true&format=csv&columns=id,raw"}
			for n := range 8 {
				paths = append(paths, withWord(r.Path, fmt.Sprint(n+1)))
			}
			for _, path := range paths {
				if asked%100 == 0 { // one caller may not ask so often
					token = o.token(fmt.Sprint(who.rank, who.evidence, asked), who.rank, who.evidence)
				}
				asked++
				w := o.call("GET", path, token, nil)
				if w.Code == http.StatusTooManyRequests {
					t.Fatalf("%s was not answered", path)
				}
				if strings.Contains(w.Body.String(), unmapped) {
					shown = append(shown, path)
				}
			}
		}
		switch {
		case !who.evidence && len(shown) > 0:
			t.Errorf("%s sees what the provider answered at %q", who.rank, shown)
		case who.evidence && len(shown) < 3:
			t.Errorf("%s with the grant sees it at %q only", who.rank, shown)
		}
	}
	viewer := o.token("vera", patra.Viewer, false)
	got := o.want(http.StatusOK, "GET", "/records/locked/work/1", viewer, nil)
	if got["raw"] != nil || got["raw_withheld"] != true || got["fields"] == nil {
		t.Errorf("a viewer's record: %v", got)
	}
	o.want(http.StatusForbidden, "GET", "/records/export?raw=true", viewer, nil)
	if w := o.call("GET", api.Prefix+"/records/export", viewer, nil); w.Code != http.StatusOK {
		t.Errorf("an export without raw: %d", w.Code)
	}
}
