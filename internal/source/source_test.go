package source_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
	"patra/sources"
)

func shipped(t testing.TB) string {
	t.Helper()
	data, err := sources.Files.ReadFile("crossref.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func compile(t testing.TB, text string) *source.Program {
	t.Helper()
	f, err := source.Load("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := source.Compile(f, source.Options{Operation: patra.Harvest, Contact: "me@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := spec.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stateless is the shipped source as if its token could be asked for again.
func stateless(onSame, end string) func(string) string {
	return func(text string) string {
		return strings.NewReplacer("state: STATEFUL, onSame: CONTINUE", "state: STATELESS, onSame: "+onSame, "end: [EMPTY_PAGE]", "end: ["+end+"]").Replace(text)
	}
}

func TestRequestIsExactlyThis(t *testing.T) {
	p := compile(t, shipped(t))
	day := patra.Window{From: patra.Date(2026, 5, 31), To: patra.Date(2026, 6, 2)}
	call, err := p.Spec.Build(query.All(), day, "AoJ+/w==&x", "", source.Vars{Contact: "me@example.org", Version: "1.2"})
	if err != nil {
		t.Fatal(err)
	}
	// The window is half-open; the provider includes its last day. The token is data, whatever it looks like.
	const want = "https://api.crossref.org/works?cursor=AoJ%2B%2Fw%3D%3D%26x&filter=from-index-date%3A2026-05-31%2Cuntil-index-date%3A2026-06-01&order=asc&rows=200&sort=indexed"
	if call.URL != want || call.Method != "GET" {
		t.Errorf("got  %s %s\nwant %s", call.Method, call.URL, want)
	}
	if ua := call.Headers["User-Agent"]; ua != "patra/1.2 (mailto:me@example.org)" {
		t.Errorf("User-Agent %q", ua)
	}
	call, err = p.Spec.Build(query.All(), day, "*", "http://127.0.0.1:8090/mirror", source.Vars{Contact: "${version}"})
	if err != nil || !strings.HasPrefix(call.URL, "http://127.0.0.1:8090/mirror/works?cursor=%2A&") {
		t.Errorf("through a mirror: %s, %v", call.URL, err)
	}
	if ua := call.Headers["User-Agent"]; ua != "patra/ (mailto:${version})" {
		t.Errorf("a value was read as a template: %q", ua)
	}
}

func TestUpperBounds(t *testing.T) {
	for upper, want := range map[string]string{"INCLUSIVE_DAY": "2026-05-01", "INCLUSIVE_SECOND": "2026-05-01T23:59:59Z", "EXCLUSIVE": "2026-05-02T00:00:00Z"} {
		text := strings.Replace(shipped(t), "upper: INCLUSIVE_DAY", "upper: "+upper, 1)
		if upper != "INCLUSIVE_DAY" {
			text = strings.NewReplacer("precision: DAY", "precision: SECOND", "indexed_at: {type: DATE,", "indexed_at: {type: DATETIME,").Replace(text)
		}
		call, err := compile(t, text).Spec.Build(query.All(), patra.Window{From: patra.Date(2026, 5, 1), To: patra.Date(2026, 5, 2)}, "*", "", source.Vars{})
		if err != nil || !strings.Contains(call.URL, "until-index-date%3A"+strings.ReplaceAll(want, ":", "%3A")+"&") {
			t.Errorf("%s: %s, %v", upper, call.URL, err)
		}
	}
}

func TestEndOfTheWalk(t *testing.T) {
	keep := func(s string) string { return s }
	for _, c := range []struct {
		name, body string
		source     func(string) string
		hasNext    bool
		end        string
		code       string
	}{
		{"a full page goes on", `{"message":{"items":[{},{}],"next-cursor":"b"}}`, keep, true, "", ""},
		{"a short page goes on", `{"message":{"items":[{}],"next-cursor":"b"}}`, keep, true, "", ""},
		{"the same token of a scroll goes on", `{"message":{"items":[{}],"next-cursor":"a"}}`, keep, true, "", ""},
		{"an empty page ends", `{"message":{"items":[],"next-cursor":"a"}}`, keep, false, "EMPTY_PAGE", ""},
		{"the same token may mean the end", `{"message":{"items":[{}],"next-cursor":"a"}}`, stateless("END", "SAME_TOKEN"), false, "SAME_TOKEN", ""},
		{"or a loop", `{"message":{"items":[{}],"next-cursor":"a"}}`, stateless("ERROR", "EMPTY_PAGE"), false, "", patra.CodeLoop},
		{"no token may mean the end", `{"message":{"items":[{}]}}`, stateless("END", "NO_TOKEN"), false, "NO_TOKEN", ""},
		{"null may mean the end", `{"message":{"items":[{}],"next-cursor":null}}`, stateless("END", "NULL_NEXT"), false, "NULL_NEXT", ""},
		{"no token is an error where it means nothing", `{"message":{"items":[{}]}}`, keep, false, "", patra.CodeSchema},
	} {
		t.Run(c.name, func(t *testing.T) {
			page, err := compile(t, c.source(shipped(t))).Read(200, []byte(c.body), "a")
			if c.code != "" {
				if f := patra.AsFault(err); err == nil || f.Code != c.code {
					t.Errorf("error %v, want %s", err, c.code)
				}
				return
			}
			if err != nil || page.HasNext != c.hasNext || page.End != c.end {
				t.Errorf("%+v, %v", page, err)
			}
		})
	}
}

func TestTotalsMayBeText(t *testing.T) {
	p := compile(t, shipped(t))
	for text, want := range map[string]int64{`7`: 7, `"7"`: 7, `null`: -1, `"many"`: -1, `7.5`: -1, `-1`: -1} {
		page, err := p.Read(200, []byte(`{"message":{"items":[],"next-cursor":"x","total-results":`+text+`}}`), "*")
		if err != nil {
			t.Fatal(err)
		}
		got := int64(-1)
		if page.Total != nil {
			got = *page.Total
		}
		if got != want {
			t.Errorf("total %s reads as %d", text, got)
		}
	}
}

const item = `{"DOI":"10.1/AbC","title":["A <b>title</b> & more"],"type":"journal-article","published":{"date-parts":[[2024,3]]},
	"author":[{"given":"Ada","family":"L"},{"name":"Group"}],"indexed":{"date-time":"2026-05-01T10:20:30Z","version":"9"},"score":1.0,"big":12345678901234567890123}`

func TestItemIsReadWhole(t *testing.T) {
	p := compile(t, shipped(t))
	o, err := p.Item(json.RawMessage(item), 5)
	if err != nil {
		t.Fatal(err)
	}
	at, _ := patra.ParseInstant("2026-05-01T10:20:30Z")
	if o.ID != "10.1/AbC" || *o.UpdatedAt != at || string(o.Raw) != item || o.ObservedAt != 5 {
		t.Errorf("%+v", o)
	}
	const fields = `{"authors":[{"family":"L","given":"Ada"},{"name":"Group"}],"doi":"10.1/abc","published":"2024-03","title":"A <b>title</b> & more","type":"journal-article"}`
	if string(o.Fields) != fields {
		t.Errorf("got  %s\nwant %s", o.Fields, fields)
	}
}

func TestContentHash(t *testing.T) {
	p := compile(t, shipped(t))
	hash := func(text string) string {
		o, err := p.Item(json.RawMessage(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		return o.Hash
	}
	base := hash(item)
	if hash(strings.Replace(item, `"version":"9"`, `"version":"10"`, 1)) != base || hash(strings.Replace(item, `"score":1.0`, `"score":2`, 1)) != base {
		t.Error("what changes by itself changed the hash")
	}
	if hash(`{"score":1.0,`+strings.Replace(item[1:], `"score":1.0,`, "", 1)) != base {
		t.Error("the order of members changed the hash")
	}
	if hash(strings.Replace(item, "345678901234567890123", "345678901234567890124", 1)) == base {
		t.Error("a number that no double can hold lost its last digit")
	}
	if hash(strings.Replace(item, "Ada", "Eva", 1)) == base {
		t.Error("a change of content did not change the hash")
	}
}

func TestItemsThatAreNoRecords(t *testing.T) {
	p := compile(t, shipped(t))
	for text, code := range map[string]string{
		`{}`:            patra.CodeMissingID,
		`{"DOI":null}`:  patra.CodeMissingID,
		`{"DOI":""}`:    patra.CodeMissingID,
		`{"DOI":["a"]}`: patra.CodeMissingID,
		`7`:             patra.CodeMissingID,
		`{"DOI":"` + strings.Repeat("x", 513) + `"}`:                 patra.CodeMissingID,
		`{"DOI":"1","indexed":{"date-time":"0000-00-00T00:00:00Z"}}`: patra.CodeBadTime,
		`{"DOI":"1","indexed":{"date-time":"2026-02-30T00:00:00Z"}}`: patra.CodeBadTime,
		`{"DOI":"1","indexed":{"date-time":1767884753}}`:             patra.CodeBadTime,
		`{"DOI":"1","published":"2024"}`:                             patra.CodeMapping,
	} {
		_, err := p.Item(json.RawMessage(text), 0)
		if f := patra.AsFault(err); err == nil || f.Code != code || f.Level != patra.LevelData {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	p = compile(t, strings.Replace(shipped(t), "$.DOI | lower", "$.DOI", 1))
	if o, err := p.Item(json.RawMessage(`{"DOI":12345678901234567890}`), 0); err != nil || o.ID != "12345678901234567890" {
		t.Errorf("a number as id: %q, %v", o.ID, err)
	}
}

func TestStatuses(t *testing.T) {
	p := compile(t, shipped(t))
	for _, c := range []struct {
		status   int
		position string
		level    patra.Level
		code     string
	}{
		{200, "*", "", ""},
		{429, "*", patra.LevelRetry, patra.CodeRateLimited},
		{503, "x", patra.LevelRetry, patra.CodeHTTP},
		{404, "*", patra.LevelRequest, patra.CodeHTTP},
		{404, "x", patra.LevelRetry, patra.CodeTokenExpired},
		{400, "x", patra.LevelRetry, patra.CodeTokenExpired},
		{401, "x", patra.LevelFatal, patra.CodeAuth},
		{403, "*", patra.LevelFatal, patra.CodeAuth},
		{301, "*", patra.LevelRetry, patra.CodeHTTP},
		{206, "*", patra.LevelRetry, patra.CodeBadBody},
	} {
		_, err := p.Read(c.status, []byte(`{"message":{"items":[],"next-cursor":"x"}}`), c.position)
		if c.code == "" {
			if err != nil {
				t.Errorf("%d at %s: %v", c.status, c.position, err)
			}
			continue
		}
		if f := patra.AsFault(err); err == nil || f.Level != c.level || f.Code != c.code {
			t.Errorf("%d at %s: %v", c.status, c.position, err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-5": 0, "garbage": 0, "1.5": 0, "999999999999": time.Hour, "86400000000000000000000": time.Hour,
		"Fri, 01 May 2026 12:00:30 GMT": 30 * time.Second, "Fri, 01 May 2026 11:00:00 GMT": 0, "Fri, 01 May 2036 12:00:00 GMT": time.Hour,
	} {
		if got := source.RetryAfter(429, http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
	skewed := http.Header{"Retry-After": {"Fri, 01 May 2026 12:00:30 GMT"}, "Date": {"Fri, 01 May 2026 12:00:20 GMT"}}
	if got := source.RetryAfter(503, skewed, now.Add(time.Hour)); got != 10*time.Second {
		t.Errorf("measured against the answer's own date: %s", got)
	}
	if got := source.RetryAfter(200, http.Header{"Retry-After": {"59"}}, now); got != 0 {
		t.Errorf("an answer that refuses nothing made us wait %s", got)
	}
}

func TestSnapshotIsTheWholeSpec(t *testing.T) {
	spec := compile(t, shipped(t)).Spec
	snap, err := spec.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	back, err := source.FromSnapshot(snap.Fingerprint, snap.Body)
	if err != nil || !reflect.DeepEqual(spec, back) {
		t.Errorf("came back as %+v, %v", back, err)
	}
	if _, err := source.FromSnapshot(snap.Fingerprint, append(snap.Body[:len(snap.Body)-1:len(snap.Body)-1], ' ', '}')); err == nil {
		t.Error("an altered snapshot was accepted")
	}
	changed := compile(t, strings.Replace(shipped(t), "pageSize: 200", "pageSize: 201", 1)).Spec
	if other, err := changed.Snapshot(); err != nil || other.Fingerprint == snap.Fingerprint {
		t.Errorf("another page size has the same fingerprint, %v", err)
	}
}

// Plans carry these fingerprints, so a key that nobody wrote changes nothing about the stored form, whatever it is called.
func TestTheStoredFormIsStable(t *testing.T) {
	const fingerprint = "9872457672c1916ed5ddb8cb232f0482bf7b1fee990eb9a0d960820e34cb7c85"
	snap, err := compile(t, write(get, offset, jsonList, noFields)).Spec.Snapshot()
	if err != nil || snap.Fingerprint != fingerprint {
		t.Errorf("the fingerprint became %s, %v\n%s", snap.Fingerprint, err, snap.Body)
	}
	text := strings.Replace(windowed(byDay+"; minStep: P1D; maxSpan: P1M; split: {field: number, from: 1, to: 9}"), "burst: 5}", "burst: 5, quota: {daily: 9, reserve: 0%}}", 1)
	if snap, err = compile(t, text).Spec.Snapshot(); err != nil {
		t.Fatal(err)
	}
	back, err := source.FromSnapshot(snap.Fingerprint, snap.Body)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := back.Snapshot(); err != nil || again.Fingerprint != snap.Fingerprint || back.Strategy() != patra.StrategyHybrid || *back.Rate.Quota.Reserve != 0 {
		t.Errorf("came back as %s, %v", again.Body, err)
	}
}

// What the schema offers is what the checks accept, and no key is missing.
func TestTheSchemaKnowsWhatAWindowCanSay(t *testing.T) {
	b, err := json.Marshal(source.Schema()["$defs"])
	if err != nil {
		t.Fatal(err)
	}
	var defs map[string]struct {
		Properties map[string]map[string]any
	}
	if err := json.Unmarshal(b, &defs); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ owner, key, what, want string }{
		{"Window", "minStep", "type", "string"}, {"Window", "maxSpan", "type", "string"}, {"Window", "split", "$ref", "#/$defs/Split"},
		{"Window", "strategy", "enum", "[TIME CURSOR_LANDMARK VOLUME_BUDGET]"}, {"Split", "field", "type", "[string number boolean]"}, {"Split", "from", "type", "integer"}, {"Split", "to", "type", "integer"},
		{"Rate", "quota", "$ref", "#/$defs/Quota"}, {"Quota", "daily", "type", "integer"}, {"Quota", "hourly", "type", "integer"}, {"Quota", "reserve", "type", "string"},
	} {
		if got := fmt.Sprint(defs[tt.owner].Properties[tt.key][tt.what]); got != tt.want {
			t.Errorf("%s.%s: %s is %s, want %s", tt.owner, tt.key, tt.what, got, tt.want)
		}
	}
}

// TestBrokenFiles: every kind of mistake is named with its code and its line.
func TestBrokenFiles(t *testing.T) {
	lines := strings.Split(shipped(t), "\n")
	lineOf := func(part string) int {
		for i, l := range lines {
			if strings.Contains(l, part) {
				return i + 1
			}
		}
		t.Fatalf("no line has %q", part)
		return 0
	}
	for _, c := range []struct{ old, new, code, at string }{
		{"apiVersion: patra/v1", "apiVersion: patra/v9", "BAD_VALUE", "apiVersion"},
		{"code: crossref", "code: Cross Ref", "BAD_VALUE", "code: crossref"},
		{"recordType: work", "recordtype: work", "UNKNOWN_KEY", "recordType"},
		{"baseUrl: https://api.crossref.org", "baseUrl: api.crossref.org", "BAD_VALUE", "baseUrl"},
		{"baseUrl: https://api.crossref.org", "baseUrl: https://user:pw@api.crossref.org", "BAD_VALUE", "baseUrl"},
		{"${version}", "${secret}", "BAD_VALUE", "${version}"},
		{"connect: 10s", "connect: soon", "BAD_VALUE", "connect: 10s"},
		{"maxBody: 67108864", "maxBody: 0", "BAD_VALUE", "maxBody"},
		{"perSecond: 3", "perSecond: 0", "BAD_VALUE", "perSecond"},
		{"perSecond: 3", "perSecond: fast", "WRONG_TYPE", "perSecond"},
		{"burst: 3", "burst: 0", "BAD_VALUE", "burst"},
		{"maxAttempts: 5", "maxAttempts: 0", "BAD_VALUE", "maxAttempts"},
		{"factor: 2", "factor: 0.5", "BAD_VALUE", "factor"},
		{"role: SEARCH", "role: FIND", "BAD_VALUE", "role"},
		{"method: GET", "method: PUT", "BAD_VALUE", "method"},
		{"path: /works,", "path: works,", "BAD_VALUE", "path: /works"},
		{"type: TOKEN", "type: TOKENS", "BAD_VALUE", "type: TOKEN"},
		{"pageSize: 200", "pageSize: 2000", "BAD_VALUE", "pageSize: 200"},
		{"positionParam: cursor", "positionParm: cursor", "UNKNOWN_KEY", "positionParam"},
		{`next: "$.message['next-cursor']"`, `next: "message.next"`, "BAD_PATH", "next:"},
		{`next: "$.message['next-cursor']"`, `next: "$.["`, "BAD_PATH", "next:"},
		{"state: STATEFUL", "state: STATEFULL", "BAD_VALUE", "state: STATEFUL"},
		{"state: STATEFUL", "state: STATELESS", "CONFLICT", "state: STATEFUL"},
		{"end: [EMPTY_PAGE]", "end: []", "REQUIRED", "end:"},
		{"end: [EMPTY_PAGE]", "end: [NEVER]", "BAD_VALUE", "end:"},
		{"format: JSON", "format: YAML", "BAD_VALUE", "format"},
		{`items: "$.message.items"`, `items: "$.message.items[*]"`, "BAD_PATH", "items:"},
		{`id: "$.DOI"`, `id: "$.DOI["`, "BAD_PATH", `id: "$.DOI"`},
		{"trust: EXACT", "trust: FULL", "BAD_VALUE", "trust"},
		{"field: indexed_at\n", "field: index_at\n", "UNKNOWN_FIELD", "field: indexed_at"},
		{"mode: CALENDAR", "mode: CALENDER", "BAD_VALUE", "mode"},
		{"align: DAY", "align: DAYS", "BAD_VALUE", "align"},
		{"size: P1D", "size: 1d", "BAD_VALUE", "size: P1D"},
		{"precision: DAY", "precision: WEEK", "BAD_VALUE", "precision"},
		{"upper: INCLUSIVE_DAY", "upper: INCLUSIVE", "BAD_VALUE", "upper"},
		{"earliest: 2002-07-25", "earliest: long ago", "BAD_VALUE", "earliest"},
		{"lookback: P1D", "lookback: P1", "BAD_VALUE", "lookback"},
		{"- {field: indexed_at", "- {field: updated_at", "BAD_GRAMMAR", "- {field: indexed_at"},
		{"params: {filter: [\"from-index", "params: {filters: [\"from-index", "BAD_GRAMMAR", "- {field: indexed_at"},
		{"| lower", "| shout", "BAD_MAPPING", "doi:"},
		{"orcid: $.ORCID}", "orcid}", "BAD_MAPPING", "authors:"},
		{"name: Crossref REST API", "name: Crossref REST API\nname: again", "DUPLICATE_KEY", ""},
	} {
		text := strings.Replace(shipped(t), c.old, c.new, 1)
		if text == shipped(t) {
			t.Fatalf("%q is not in the file", c.old)
		}
		_, err := source.Load("broken.yaml", []byte(text))
		var found patra.Problems
		if !errors.As(err, &found) {
			t.Errorf("%s: %v", c.new, err)
			continue
		}
		ok := false
		for _, p := range found {
			ok = ok || p.Code == c.code && p.File == "broken.yaml" && (c.at == "" || p.Line == lineOf(c.at))
		}
		if !ok {
			t.Errorf("%s: no %s on line of %q in\n%v", c.new, c.code, c.at, found)
		}
	}
}

// TestRecordedPages reads answers that the real provider gave, in place, without loss.
func TestRecordedPages(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "fixtures")
	raw, err := os.ReadFile(filepath.Join(root, "SEQUENCES.json"))
	if err != nil {
		t.Skip("the folder of recorded answers is not beside the project")
	}
	var sequences []struct {
		Source string   `json:"source"`
		Items  int      `json:"items"`
		Files  []string `json:"files"`
	}
	if err := json.Unmarshal(raw, &sequences); err != nil {
		t.Fatal(err)
	}
	p := compile(t, shipped(t))
	pages := 0
	for _, s := range sequences {
		if s.Source != "crossref" || !strings.Contains(s.Files[0], ".json") {
			continue
		}
		items, position := 0, p.Spec.First()
		ids := map[string]bool{}
		for _, name := range s.Files {
			body, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			page, err := p.Read(200, body, position)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			for _, raw := range page.Items {
				o, err := p.Item(raw, 0)
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				ids[o.ID] = true
			}
			items, position, pages = items+len(page.Items), page.Next, pages+1
			if !page.HasNext || page.Total == nil {
				t.Errorf("%s: next %v, total %v", name, page.HasNext, page.Total)
			}
		}
		if items != s.Items || len(ids) != s.Items {
			t.Errorf("%s: %d items, %d ids, recorded are %d", s.Files[0], items, len(ids), s.Items)
		}
	}
	if pages < 20 {
		t.Errorf("only %d recorded pages were read", pages)
	}
	t.Logf("%d recorded pages", pages)
}

// FuzzRead: whatever a provider sends, nothing panics and nothing is invented.
func FuzzRead(f *testing.F) {
	p := compile(f, shipped(f))
	f.Add([]byte(`{"message":{"items":[` + item + `],"next-cursor":"x","total-results":1}}`))
	f.Add([]byte(`{"message":{"items":[null,1,"a",[],{}],"next-cursor":""}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		page, err := p.Read(200, body, "*")
		if err != nil {
			return
		}
		for _, raw := range page.Items {
			o, err := p.Item(raw, 0)
			if err == nil && (o.ID == "" || o.Hash == "" || !json.Valid(o.Fields)) {
				t.Errorf("half a record: %+v", o)
			}
		}
	})
}

// FuzzLoad: whatever is in a source file, it is understood or refused with a place.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(shipped(f)))
	f.Add([]byte("mapping: {a: \"$.x {b: $.c} | lower\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := source.Load("f.yaml", data)
		if err != nil {
			return
		}
		for name := range file.Endpoints {
			spec, err := source.Compile(file, source.Options{Endpoint: name, Operation: patra.Harvest, Contact: "a@b.c"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := spec.Compile(); err != nil {
				t.Errorf("a file that was accepted does not compile: %v", err)
			}
		}
	})
}
