package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"patra"
)

// fuzzed is how many requests each route gets, as far as they fit into a moment. The long form, PATRA_API_FUZZ=1000, has no
// such bound.
const (
	fuzzed  = 200
	aMoment = 150 * time.Millisecond
)

// likely are values that lead further than letters by chance, by the name of what they are for.
var likely = map[string][]any{
	"source": {"crossref", "locked", "pubmed", "nobody"}, "code": {"crossref", "locked", "datacite", "nobody"}, "endpoint": {"", "works", "search"},
	"target": {"crossref", "crossref/works", "crossref/*/BACKFILL", "plan:1", "slice:2", "task:1", "task:3", "cursor:1", "plan:99", "locked/works/HARVEST", "x:y", "a//b"},
	"key":    {"crossref", "locked#acme-key", "locked", "pubmed", "host:a.example", "nobody"}, "name": {"feed", "nobody"},
	"query": {"", "type:journal-article", "title:(a OR b", "published:[2000 TO 2010}", "NOT x"}, "from": {"2026-05-01", "2026-05-03", "2026-05-09T10:00:00Z", "START", "yesterday"}, "to": {"2026-05-04", "2026-05-08", "START", "2020-01-01"},
	"at": {"2026-05-01", "2030-01-01T00:00:00Z"}, "date": {"2026-05-03"}, "since": {"24h", "7d", "32d", "2026-05-01", "-1h", "999999d"}, "base_url": {"", "http://127.0.0.1:1", "http://169.254.169.254/latest", "file:///etc/passwd", "https://example.org@10.0.0.1"},
	"cursor": {1.0, 2.0, 99.0}, "run": {1.0, 2.0, 99.0}, "batch": {1.0, 2.0, 99.0}, "id": {1.0, 2.0, 99.0}, "where": {"type=book", "title~a", "nonsense"}, "changed_since": {"2026-05-01"}, "type": {"work", ""}, "record_type": {"work", ""},
	"per_second": {"1", "0.5", "default", "-1", "NaN", "1e9"}, "cooldown": {"1s", "-5s", "99h", "soon"}, "ids_of": {"", "crossref", "pubmed.doi", ".."}, "stale": {"", "30d", "P1D"}, "share": {"", "1/30", "0/0"},
	"params": {map[string]any{}, map[string]any{"set": "x"}}, "dry_run": {true, true, true, false}, "force": {false}, "campaign": {"", "history"}, "columns": {"id", "title"}, "fields": {"title"},
}

// nasty are texts that have broken others.
var nasty = []any{"", " ", "\x00", "../../etc/passwd.yaml", "/etc/hosts.yaml", "'; DROP TABLE ing_task; --", "%", "%00", "\u202e\ufffd", "{{v}}", "${contact}", strings.Repeat("a", 3000), "NaN", "-0", "9223372036854775808", "null", "\n\r\nX: y", "#", "*", "a=b=c"}

// fuzzer makes requests from what describes them.
type fuzzer struct {
	*rand.Rand
	paper
}

// value is a value for a schema; often a likely one, sometimes one that is wrong.
func (f fuzzer) value(name string, schema map[string]any) any {
	schema = f.resolve(schema)
	switch f.IntN(20) {
	case 0:
		return nasty[f.IntN(len(nasty))]
	case 1:
		return []any{nil, true, -1.0, 1e300, []any{}, map[string]any{}, 0.5}[f.IntN(7)]
	}
	if options, ok := schema["enum"].([]any); ok {
		return options[f.IntN(len(options))]
	}
	kind, _ := schema["type"].(string)
	if all, ok := schema["type"].([]any); ok {
		kind, _ = all[0].(string)
	}
	if known := likely[name]; known != nil && kind != "array" && f.IntN(5) > 0 {
		return known[f.IntN(len(known))]
	}
	switch kind {
	case "string":
		return []any{"x", "10.5555/abc", "2026-05-03", "why not"}[f.IntN(4)]
	case "integer", "number":
		return float64(f.IntN(12))
	case "boolean":
		return f.IntN(2) == 0
	case "array":
		items, _ := schema["items"].(map[string]any)
		all := []any{}
		for range f.IntN(3) {
			all = append(all, f.value(name, items))
		}
		return all
	}
	return f.object(schema)
}

func (f fuzzer) object(schema map[string]any) map[string]any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		needed := slices.Contains(required, any(name))
		if needed && f.IntN(40) > 0 || !needed && f.IntN(3) == 0 {
			out[name] = f.value(name, properties[name].(map[string]any))
		}
	}
	if f.IntN(30) == 0 {
		out["unheard_of"] = 1
	}
	return out
}

// request is one call of a route.
func (f fuzzer) request(path string, op operation) (string, any) {
	query := url.Values{}
	for _, p := range op.Parameters {
		text := func(v any) string {
			if s, ok := v.(string); ok {
				return s
			}
			return fmt.Sprint(v)
		}
		v := f.value(p.Name, p.Schema)
		switch {
		case p.In == "path":
			word := text(v)
			if word == "" || word == "." || word == ".." { // which is another route
				word = "1"
			}
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(word), 1)
		case p.In == "query" && f.IntN(3) == 0:
			if list, ok := v.([]any); ok {
				for _, one := range list {
					query.Add(p.Name, text(one))
				}
				continue
			}
			query.Set(p.Name, text(v))
		}
	}
	if f.IntN(40) == 0 {
		query.Set("unheard_of", "1")
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if op.Body == nil {
		return path, nil
	}
	switch f.IntN(30) {
	case 0:
		return path, `{"a":`
	case 1:
		return path, `[]`
	case 2:
		return path, "\xff\xfe"
	}
	return path, f.object(f.resolve(op.Body.Content["application/json"].Schema))
}

// Every route is called again and again, with what its description allows and with what it does not. No call may make the server
// stumble, and every answer is what the description says.
func TestNoRequestMakesTheServerStumble(t *testing.T) {
	o := newOffice(t, true)
	b, err := o.server.Document()
	if err != nil {
		t.Fatal(err)
	}
	rounds, lasts := fuzzed, aMoment
	if n, err := strconv.Atoi(os.Getenv("PATRA_API_FUZZ")); err == nil {
		rounds, lasts = n, time.Hour
	}
	p := readPaper(t, b)
	sent, token, statuses := 0, "", map[int]int{}
	for _, path := range slices.Sorted(maps.Keys(p.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(p.Paths[path])) {
			op, began := p.Paths[path][method], time.Now()
			f := fuzzer{rand.New(rand.NewPCG(7, uint64(len(path)*1000+len(op.ID)))), p} // each route its own: how far one gets changes no other
			for n := 0; n < rounds && time.Since(began) < lasts; n++ {
				if sent%150 == 0 { // one caller may not ask so often
					token = o.token(fmt.Sprint("fuzz-", sent), patra.Admin, true)
				}
				sent++
				address, body := f.request(path, op)
				w := o.call(strings.ToUpper(method), address, token, body)
				statuses[w.Code]++
				if err := f.judge(op, w); err != nil {
					text, _ := json.Marshal(body)
					t.Errorf("%s %s %s: %d %s: %v", method, address, text, w.Code, w.Header().Get("Content-Type"), err)
				}
			}
			if op.ID == "set-gate" { // or whoever asks a provider later waits for what was set by chance
				for _, key := range []string{"crossref", "locked", "locked#acme-key"} {
					_, _, _, err := o.store.UpdateGate(t.Context(), key, patra.GateUpdate{Default: true, EndCooldown: true, Forget: true}, "", "test")
					if err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	o.sound()
	t.Logf("%d requests: %v", sent, statuses)
	if statuses[200] < sent/10 {
		t.Errorf("only %d of %d requests led anywhere", statuses[200], sent)
	}
}

// judge looks at one answer.
func (f fuzzer) judge(op operation, w *httptest.ResponseRecorder) error {
	kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	switch {
	case w.Code >= 500:
		return fmt.Errorf("it stumbled: %s", w.Body)
	case w.Code == 429:
		return fmt.Errorf("it was asked too often")
	case w.Code >= 400 && kind != "application/problem+json":
		return fmt.Errorf("no problem: %s", w.Body)
	case w.Code == 204 || slices.Contains([]string{"application/zip", "application/x-ndjson", "text/csv", "text/event-stream"}, kind):
		return nil
	case w.Code < 400 && kind != "application/json":
		return fmt.Errorf("neither JSON nor a file")
	}
	answer, ok := op.Responses[strconv.Itoa(w.Code)]
	if !ok {
		answer = op.Responses["default"]
	}
	var v any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		return err
	}
	schema := answer.Content[kind].Schema
	if schema == nil {
		if w.Code >= 400 {
			schema = map[string]any{"$ref": "#/components/schemas/Problem"}
		} else {
			return fmt.Errorf("nothing describes it: %.200s", w.Body)
		}
	}
	return f.check(schema, v, "answer")
}
