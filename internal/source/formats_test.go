package source_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// write is a source file with the parts that a test is about.
func write(request, pagination, response, mapping string) string {
	return fmt.Sprintf(`apiVersion: patra/v1
code: test
name: Test
recordType: work
defaults: {http: {baseUrl: "https://example.org/api"}, rate: {perSecond: 5, burst: 5}}
endpoints:
  works:
    role: SEARCH
    request: %s
    pagination: %s
    response: %s
    window: {field: day, mode: CALENDAR, align: DAY, size: P1D, precision: DAY, upper: INCLUSIVE_DAY, order: ASC}
query:
  fields: {day: {type: DATE, ops: [RANGE]}}
  render: [{field: day, op: RANGE, params: {from: ["{{from}}"], to: ["{{to}}"]}}]
  params: {from: {name: from}, to: {name: to}}
mapping: %s
`, request, pagination, response, mapping)
}

const (
	get      = `{method: GET, path: /works}`
	offset   = `{type: OFFSET, pageSize: 2, maxPageSize: 10, sizeParam: rows, positionParam: start, end: [EMPTY_PAGE]}`
	jsonList = `{format: JSON, items: "$.items", id: "$.id", updatedAt: "$.at", total: {path: "$.total", trust: ESTIMATE}}`
	noFields = `{}`
)

var day = patra.Window{From: patra.Date(2026, 5, 1), To: patra.Date(2026, 5, 3)}

// walk follows a source through given answers and tells the requests it made and how it ended.
func walk(t *testing.T, p *source.Program, answers ...string) (urls []string, ids []string, end string, err error) {
	t.Helper()
	position := p.Spec.First()
	for _, body := range answers {
		call, err := p.Spec.Build(query.All(), day, position, "", source.Vars{})
		if err != nil {
			return urls, ids, "", err
		}
		request := strings.TrimPrefix(call.URL, "https://example.org/api")
		if len(call.Body) > 0 {
			request += " " + string(call.Body)
		}
		urls = append(urls, request)
		page, err := p.Read(200, []byte(body), position)
		if err != nil {
			return urls, ids, "", err
		}
		for _, raw := range page.Items {
			o, err := p.Item(raw, 0)
			if err != nil {
				return urls, ids, "", err
			}
			ids = append(ids, o.ID)
		}
		if !page.HasNext {
			return urls, ids, page.End, nil
		}
		position = page.Next
	}
	return urls, ids, "", nil
}

func TestPaging(t *testing.T) {
	for _, c := range []struct {
		name, request, pagination, response string
		answers, urls                       []string
		ids, end, code                      string
	}{
		{"offsets step by what was received", get, offset, jsonList,
			[]string{`{"items":[{"id":"a"},{"id":"b"}]}`, `{"items":[{"id":"c"}]}`, `{"items":[{"id":"d"},{"id":"e"}]}`, `{"items":[]}`},
			[]string{"/works?from=2026-05-01&rows=2&start=0&to=2026-05-02", "/works?from=2026-05-01&rows=2&start=2&to=2026-05-02", "/works?from=2026-05-01&rows=2&start=3&to=2026-05-02", "/works?from=2026-05-01&rows=2&start=5&to=2026-05-02"},
			"a b c d e", "EMPTY_PAGE", ""},
		{"a cap is an error, never an end", get, `{type: OFFSET, pageSize: 2, maxPageSize: 10, sizeParam: rows, positionParam: start, cap: 3, end: [EMPTY_PAGE]}`, jsonList,
			[]string{`{"items":[{"id":"a"},{"id":"b"}]}`, `{"items":[{"id":"c"},{"id":"d"}]}`}, nil, "a b", "", patra.CodeDeepPaging},
		{"pages count on", get, `{type: PAGE, positionParam: page, initial: "0", end: [EMPTY_PAGE]}`, jsonList,
			[]string{`{"items":[{"id":"a"}]}`, `{"items":[]}`}, []string{"/works?from=2026-05-01&page=0&to=2026-05-02", "/works?from=2026-05-01&page=1&to=2026-05-02"}, "a", "EMPTY_PAGE", ""},
		{"a page number that the provider names", get, `{type: PAGE, positionParam: page, next: "$.next", end: [NULL_NEXT]}`, jsonList,
			[]string{`{"items":[{"id":"a"}],"next":5}`, `{"items":[{"id":"b"}],"next":null}`}, []string{"/works?from=2026-05-01&page=1&to=2026-05-02", "/works?from=2026-05-01&page=5&to=2026-05-02"}, "a b", "NULL_NEXT", ""},
		{"the position stands in the path, with the dates", `{method: GET, path: "/details/${from}/${to}/${cursor}/json"}`, `{type: OFFSET, positionParam: cursor, end: [EMPTY_PAGE]}`, jsonList,
			[]string{`{"items":[{"id":"a"}]}`, `{"items":[]}`}, []string{"/details/2026-05-01/2026-05-02/0/json", "/details/2026-05-01/2026-05-02/1/json"}, "a", "EMPTY_PAGE", ""},
		{"a form", `{method: POST, path: /works, send: FORM}`, offset, jsonList, []string{`{"items":[]}`}, []string{"/works from=2026-05-01&rows=2&start=0&to=2026-05-02"}, "", "EMPTY_PAGE", ""},
		{"a JSON body", `{method: POST, path: /works, send: JSON}`, offset, jsonList, []string{`{"items":[]}`}, []string{`/works {"from":"2026-05-01","rows":"2","start":"0","to":"2026-05-02"}`}, "", "EMPTY_PAGE", ""},
		{"a token goes alone", `{method: GET, path: /works, query: {verb: List}}`, `{type: TOKEN, positionParam: token, next: "$.next", token: {state: STATELESS, onSame: ERROR, alone: [verb]}, end: [NO_TOKEN]}`, jsonList,
			[]string{`{"items":[{"id":"a"}],"next":"t/1+=%"}`, `{"items":[{"id":"b"}],"next":""}`}, []string{"/works?from=2026-05-01&to=2026-05-02&verb=List", "/works?token=t%2F1%2B%3D%25&verb=List"}, "a b", "NO_TOKEN", ""},
		{"a token that is already encoded", get, `{type: TOKEN, positionParam: token, next: "$.next", token: {state: STATELESS, onSame: ERROR, encode: NEVER, alone: [verb]}, end: [NO_TOKEN]}`, jsonList,
			[]string{`{"items":[{"id":"a"}],"next":"oai%3Ax"}`, `{"items":[]}`}, []string{"/works?from=2026-05-01&to=2026-05-02", "/works?token=oai%3Ax"}, "a", "NO_TOKEN", ""},
		{"a link keeps our parameters", `{method: GET, path: /works, query: {sort: id}}`, `{type: URL, next: "$.links.next", end: [NO_TOKEN]}`, jsonList,
			[]string{`{"items":[{"id":"a"}],"links":{"next":"https://example.org/api/works?page=2&from=2026-05-01 x"}}`, `{"items":[],"links":{"next":"/api/works?page=3"}}`, `{"items":[{"id":"b"}],"links":{}}`},
			[]string{"/works?from=2026-05-01&sort=id&to=2026-05-02", "/works?from=2026-05-01+x&page=2&sort=id&to=2026-05-02", "/works?from=2026-05-01&page=3&sort=id&to=2026-05-02"}, "a b", "NO_TOKEN", ""},
		{"time goes on from the last record", get, `{type: TIME, pageSize: 2, maxPageSize: 9, sizeParam: rows, end: [EMPTY_PAGE]}`, jsonList,
			[]string{`{"items":[{"id":"a","at":"2026-05-01T09:00:00Z"},{"id":"b","at":"2026-05-02T10:00:00Z"}]}`, `{"items":[{"id":"b","at":"2026-05-02T10:00:00Z"}]}`},
			[]string{"/works?from=2026-05-01&rows=2&to=2026-05-02", "/works?from=2026-05-02&rows=2&to=2026-05-02"}, "a b b", "SAME_TOKEN", ""},
		{"a page full of one time cannot be passed", get, `{type: TIME, pageSize: 2, maxPageSize: 9, sizeParam: rows, end: [EMPTY_PAGE]}`, jsonList,
			[]string{`{"items":[{"id":"a","at":"2026-05-02T09:00:00Z"},{"id":"b","at":"2026-05-02T10:00:00Z"}]}`, `{"items":[{"id":"a","at":"2026-05-02T09:00:00Z"},{"id":"b","at":"2026-05-02T10:00:00Z"}]}`}, nil, "a b", "", patra.CodeDeepPaging},
		{"a short page ends only where the source says so", get, `{type: PAGE, pageSize: 2, maxPageSize: 9, sizeParam: rows, positionParam: page, end: [SHORT_PAGE]}`, jsonList,
			[]string{`{"items":[{"id":"a"},{"id":"b"}]}`, `{"items":[{"id":"c"}]}`}, nil, "a b c", "SHORT_PAGE", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			urls, ids, end, err := walk(t, compile(t, write(c.request, c.pagination, c.response, noFields)), c.answers...)
			if c.code != "" {
				if f := patra.AsFault(err); err == nil || f.Code != c.code {
					t.Errorf("error %v, want %s", err, c.code)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if c.urls != nil && strings.Join(urls, "\n") != strings.Join(c.urls, "\n") {
				t.Errorf("asked\n%s\nwant\n%s", strings.Join(urls, "\n"), strings.Join(c.urls, "\n"))
			}
			if strings.Join(ids, " ") != c.ids || end != c.end {
				t.Errorf("ids %v, end %q", ids, end)
			}
		})
	}
}

// A link to another place would carry our parameters there.
func TestLinksStayAtHome(t *testing.T) {
	p := compile(t, write(get, `{type: URL, next: "$.next", end: [NO_TOKEN]}`, jsonList, noFields))
	for _, link := range []string{"https://evil.example/works", "http://example.org/api/works", "https://user:pw@example.org/works", "//evil.example/x", "https://example.org:8443/works", "file:///etc/passwd"} {
		if call, err := p.Spec.Build(query.All(), day, link, "", source.Vars{}); err == nil {
			t.Errorf("%s was followed to %s", link, call.URL)
		}
	}
}

func TestErrorRules(t *testing.T) {
	p := compile(t, write(get, offset, `{format: JSON, items: "$.items", id: "$.id", total: {trust: NONE}, errors: [
		{path: "$.ERROR", match: "(?i)timeout", means: RETRY}, {path: "$.ERROR", means: REFUSED}, {status: [422], path: "$.code", match: "^noRecordsMatch$", means: EMPTY},
		{status: [429], match: "Plan upgrade", means: FATAL}, {status: [400], path: "$.token", means: TOKEN_EXPIRED}]}`, noFields))
	for _, c := range []struct {
		status int
		body   string
		level  patra.Level
		code   string
	}{
		{200, `{"ERROR":"Status: Timeout"}`, patra.LevelRetry, patra.CodeProvider},
		{200, `{"ERROR":"bad term"}`, patra.LevelRequest, patra.CodeProvider},
		{200, `{"ERROR":null,"items":[{"id":"1"}]}`, "", ""},
		{422, `{"code":"noRecordsMatch"}`, "", ""},
		{422, `{"code":"badArgument"}`, patra.LevelRequest, patra.CodeHTTP},
		{429, `{"error":"Plan upgrade required"}`, patra.LevelFatal, patra.CodeProvider},
		{429, `<html>slow down</html>`, patra.LevelRetry, patra.CodeRateLimited},
		{400, `{"token":"gone"}`, patra.LevelRetry, patra.CodeTokenExpired},
		{503, ``, patra.LevelRetry, patra.CodeHTTP},
	} {
		page, err := p.Read(c.status, []byte(c.body), "0")
		if c.code == "" {
			if err != nil || (c.status == 422 && page.End != patra.EndEmptyCode) {
				t.Errorf("%d %s: %+v, %v", c.status, c.body, page, err)
			}
			continue
		}
		if f := patra.AsFault(err); err == nil || f.Code != c.code || f.Level != c.level {
			t.Errorf("%d %s: %v", c.status, c.body, err)
		}
	}
}

const oaiPage = `<?xml version="1.0" encoding="UTF-8"?>
<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
 <ListRecords>
  <record><header><identifier>oai:x:1</identifier><datestamp>2026-05-01T10:00:00Z</datestamp></header>
   <metadata><oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"><dc:title>H<sub>2</sub>O &amp; more</dc:title><dc:creator>A</dc:creator><dc:creator>B</dc:creator></oai_dc:dc></metadata></record>
  <record><header status="deleted"><identifier>oai:x:2</identifier><datestamp>2026-05-02</datestamp></header></record>
  <resumptionToken completeListSize="17">abc</resumptionToken>
 </ListRecords>
</OAI-PMH>`

const oaiResponse = `{format: XML, items: //record, id: header/identifier, updatedAt: header/datestamp, deleted: {path: header/@status, equals: deleted},
	total: {path: //resumptionToken/@completeListSize, trust: ESTIMATE}, volatile: [/record/header/datestamp], errors: [{path: "//error[@code='noRecordsMatch']", means: EMPTY}, {path: //error, means: REFUSED}]}`

const oaiPaging = `{type: TOKEN, positionParam: resumptionToken, next: //resumptionToken, token: {state: STATELESS, onSame: ERROR, alone: [verb]}, end: [NO_TOKEN]}`

func TestXML(t *testing.T) {
	p := compile(t, write(get, oaiPaging, oaiResponse, `{title: "metadata//dc:title", markup: "metadata//dc:title | markup", authors: "metadata//dc:creator | list", all: "metadata//dc:creator | join('; ')"}`))
	page, err := p.Read(200, []byte(oaiPage), "")
	if err != nil || len(page.Items) != 2 || page.Next != "abc" || !page.HasNext || *page.Total != 17 {
		t.Fatalf("%+v, %v", page, err)
	}
	first, err := p.Item(page.Items[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	const fields = `{"all":"A; B","authors":["A","B"],"markup":"H<sub>2</sub>O &amp; more","title":"H2O & more"}`
	if first.ID != "oai:x:1" || string(first.Fields) != fields || first.Deleted || *first.UpdatedAt != patra.Date(2026, 5, 1)+10*patra.Hour || first.RawCode != "XML" {
		t.Errorf("%+v\n%s", first, first.Fields)
	}
	second, err := p.Item(page.Items[1], 0)
	if err != nil || second.ID != "oai:x:2" || !second.Deleted {
		t.Errorf("%+v, %v", second, err)
	}
	touched, err := p.Item([]byte(strings.Replace(string(page.Items[0]), "10:00:00", "11:00:00", 1)), 0)
	if err != nil || touched.Hash != first.Hash {
		t.Errorf("what changes by itself changed the hash, %v", err)
	}
	end, err := p.Read(200, []byte(strings.Replace(oaiPage, ">abc<", "><", 1)), "abc")
	if err != nil || end.HasNext || end.End != "NO_TOKEN" {
		t.Errorf("an empty token: %+v, %v", end, err)
	}
	none, err := p.Read(200, []byte(`<OAI-PMH><error code="noRecordsMatch">nothing</error></OAI-PMH>`), "")
	if err != nil || none.End != patra.EndEmptyCode {
		t.Errorf("noRecordsMatch: %+v, %v", none, err)
	}
	if _, err := p.Read(200, []byte(`<OAI-PMH><error code="badArgument">no</error></OAI-PMH>`), ""); err == nil || patra.AsFault(err).Level != patra.LevelRequest {
		t.Errorf("badArgument: %v", err)
	}
}

// A program is used by many workers at once, and what one reads never shows up in another's record.
func TestXMLIsReadByManyAtOnce(t *testing.T) {
	p := compile(t, write(get, oaiPaging, strings.Replace(oaiResponse, "id: header/identifier", "id: header/identifier | other/identifier", 1),
		`{title: "concat(metadata/a, ' ', metadata/b)", authors: "metadata/c[. != ''] | list"}`))
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for n := range 300 {
				id := fmt.Sprintf("%d-%d", worker, n)
				raw := fmt.Sprintf("<record><header><identifier>%[1]s</identifier></header><metadata><a>%[1]s</a><b>x</b><c>%[1]s</c><c></c><c>y</c></metadata></record>", id)
				o, err := p.Item([]byte(raw), 0)
				if want := fmt.Sprintf(`{"authors":["%[1]s","y"],"title":"%[1]s x"}`, id); err != nil || o.ID != id || string(o.Fields) != want {
					t.Errorf("%s was read as %s %s, %v", id, o.ID, o.Fields, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestHostileXML(t *testing.T) {
	p := compile(t, write(get, oaiPaging, oaiResponse, noFields))
	for name, body := range map[string]string{
		"entities":        `<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><r>&b;</r>`,
		"outside file":    `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>`,
		"nesting":         strings.Repeat("<a>", 5000) + strings.Repeat("</a>", 5000),
		"two roots":       `<r/><r/>`,
		"unclosed":        `<r><record>`,
		"cut in the tail": oaiPage[:len(oaiPage)-20],
		"nothing":         ``,
		"a web page":      `<html><body>log in</body></html>`,
		"no such charset": `<?xml version="1.0" encoding="klingon"?>` + strings.TrimPrefix(oaiPage, `<?xml version="1.0" encoding="UTF-8"?>`),
		"JSON":            `{"a":1}`,
	} {
		if page, err := p.Read(200, []byte(body), ""); err == nil {
			t.Errorf("%s was read as %+v", name, page)
		}
	}
	if _, err := p.Read(200, []byte(`<!DOCTYPE OAI-PMH PUBLIC "-//X//DTD//EN" "https://example.org/x.dtd">`+strings.TrimPrefix(oaiPage, `<?xml version="1.0" encoding="UTF-8"?>`)), ""); err != nil {
		t.Errorf("the name of a grammar is harmless: %v", err)
	}
}

func TestLinesTablesAndMaps(t *testing.T) {
	lines := compile(t, write(get, offset, `{format: JSONL, id: "$.id", total: {trust: NONE}}`, noFields))
	if page, err := lines.Read(200, []byte("{\"id\":\"1\"}\n\n{\"id\":\"2\"}\n"), "0"); err != nil || len(page.Items) != 2 {
		t.Errorf("lines: %+v, %v", page, err)
	}
	if _, err := lines.Read(200, []byte("{\"id\":\"1\"}\n{\"id\":"), "0"); err == nil {
		t.Error("half a line was accepted")
	}
	table := compile(t, write(get, offset, `{format: CSV, id: "$.PMID", total: {trust: NONE}}`, `{title: "$.Title"}`))
	page, err := table.Read(200, []byte("\ufeffPMID,Title\n7,\"a, b\"\n8,c\n"), "0")
	if err != nil || len(page.Items) != 2 {
		t.Fatalf("table: %+v, %v", page, err)
	}
	if o, err := table.Item(page.Items[0], 0); err != nil || o.ID != "7" || string(o.Fields) != `{"title":"a, b"}` {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := table.Read(200, []byte("PMID,Title\n7\n"), "0"); err == nil {
		t.Error("a short row was accepted")
	}
	byID := compile(t, write(get, offset, `{format: JSON, items: "$.result", order: "$.result.uids", id: "$.uid", total: {trust: NONE}}`, noFields))
	page, err = byID.Read(200, []byte(`{"result":{"uids":["9","7"],"7":{"uid":"7"},"9":{"uid":"9","x":"\u0041"}}}`), "0")
	if err != nil || len(page.Items) != 2 || string(page.Items[0]) != `{"uid":"9","x":"\u0041"}` {
		t.Errorf("map: %s, %v", page.Items, err)
	}
	if _, err := byID.Read(200, []byte(`{"result":{"uids":["9"]}}`), "0"); err == nil {
		t.Error("an item that is not there was accepted")
	}
}

func TestIDs(t *testing.T) {
	composite := compile(t, write(get, offset, `{format: JSON, items: "$.items", id: ["$.doi", "$.version"], total: {trust: NONE}}`, noFields))
	if o, err := composite.Item([]byte(`{"doi":"10.1/x","version":2}`), 0); err != nil || o.ID != "10.1/x/2" {
		t.Errorf("%q, %v", o.ID, err)
	}
	if _, err := composite.Item([]byte(`{"doi":"10.1/x"}`), 0); err == nil {
		t.Error("half an id was accepted")
	}
	hashed := compile(t, write(get, offset, `{format: JSON, items: "$.items", id: "$.id", noId: HASH, total: {trust: NONE}}`, noFields))
	a, errA := hashed.Item([]byte(`{"id":null,"x":1}`), 0)
	b, errB := hashed.Item([]byte(`{"id":null,"x":2}`), 0)
	if errA != nil || errB != nil || a.ID == b.ID || !strings.HasPrefix(a.ID, "sha256:") {
		t.Errorf("%q %q, %v %v", a.ID, b.ID, errA, errB)
	}
	two := compile(t, write(get, offset, `{format: JSON, items: "$.items", id: "$.id", updatedAt: ["$.revised", "$.created"], total: {trust: NONE}}`, noFields))
	if o, err := two.Item([]byte(`{"id":1,"created":"2026/05/01"}`), 0); err != nil || *o.UpdatedAt != patra.Date(2026, 5, 1) {
		t.Errorf("the second time was not taken: %+v, %v", o, err)
	}
}

func TestMappingFunctions(t *testing.T) {
	const item = `{"id":"1","a":"  Heart   Failure ","b":["x","y","x"],"c":"p; q ;; r","n":"12","u":"https://doi.org/10.1/Z","e":""}`
	for mapping, want := range map[string]string{
		"$.a | trim":                            `"Heart   Failure"`,
		"$.a | collapse | lower":                `"heart failure"`,
		"$.a | upper | collapse":                `"HEART FAILURE"`,
		"$.b[*]":                                `["x","y","x"]`,
		"$.b[*] | distinct":                     `["x","y"]`,
		"$.b[*] | first":                        `"x"`,
		"$.b[*] | last":                         `"x"`,
		"$.b[*] | count":                        `3`,
		"$.b[*] | join(' / ')":                  `"x / y / x"`,
		"$.c | split(';')":                      `["p","q","r"]`,
		"$.n | number":                          `12`,
		"$.u | cut('https://doi.org/') | lower": `"10.1/z"`,
		"$.u | after('/')":                      `"Z"`,
		"$.id | prefix('pmid:')":                `"pmid:1"`,
		"$.a | replace(' ', '') | lower":        `"heartfailure"`,
		"$.e | nonempty":                        ``,
		"$.missing | lower":                     ``,
		"$.b[*] {v: $}":                         `[{"v":"x"},{"v":"y"},{"v":"x"}]`,
		"$ {id: $.id, n: $.n, no: $.none}":      `{"id":"1","n":"12"}`,
	} {
		p := compile(t, write(get, offset, jsonList, fmt.Sprintf("{f: %q}", mapping)))
		o, err := p.Item([]byte(item), 0)
		if err != nil {
			t.Errorf("%s: %v", mapping, err)
			continue
		}
		if got := strings.TrimSuffix(strings.TrimPrefix(string(o.Fields), `{"f":`), "}"); got != want && !(want == "" && string(o.Fields) == "{}") {
			t.Errorf("%s: %s, want %s", mapping, got, want)
		}
	}
	for _, bad := range []string{"$.a | lower('x')", "$.b[*] | join", "$.a | join(x)", "$.a | unknown", "$.a {b", "$.a {b}", "$.a | join('x'", "["} {
		if _, err := source.Load("t.yaml", []byte(write(get, offset, jsonList, fmt.Sprintf("{f: %q}", bad)))); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestParametersAndLayers(t *testing.T) {
	text := strings.Replace(write(`{method: GET, path: /oai, query: {verb: ListRecords, metadataPrefix: "${param.prefix}", set: "${param.set}"}}`, oaiPaging, oaiResponse, noFields),
		"defaults: {http: {baseUrl: \"https://example.org/api\"}", "parameters: {base: {required: true, doc: address of the repository}, prefix: {default: oai_dc}, set: {}}\ndefaults: {http: {baseUrl: \"${param.base}\"}", 1)
	text = strings.Replace(text, "    window:", "    rate: {burst: 2}\n    window:", 1)
	f, err := source.Load("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Compile(f, source.Options{Operation: patra.Harvest}); err == nil || !strings.Contains(err.Error(), "needs the parameter base") {
		t.Errorf("without the required parameter: %v", err)
	}
	if _, err := source.Compile(f, source.Options{Operation: patra.Harvest, Parameters: map[string]string{"base": "https://r.example", "sett": "x"}}); err == nil || !strings.Contains(err.Error(), `no parameter "sett"`) {
		t.Errorf("with an unknown parameter: %v", err)
	}
	spec, err := source.Compile(f, source.Options{Operation: patra.Harvest, Parameters: map[string]string{"base": "https://r.example/x", "set": "a&b"}})
	if err != nil {
		t.Fatal(err)
	}
	call, err := spec.Build(query.All(), day, "", "", source.Vars{})
	if err != nil || call.URL != "https://r.example/x/oai?from=2026-05-01&metadataPrefix=oai_dc&set=a%26b&to=2026-05-02&verb=ListRecords" {
		t.Errorf("%s, %v", call.URL, err)
	}
	if spec.Rate.Burst != 2 || spec.Rate.PerSecond != 5 || spec.Retry.MaxAttempts != 5 { // endpoint, source, platform
		t.Errorf("merged %+v %+v", spec.Rate, spec.Retry)
	}
}

// FuzzXML: whatever a provider sends, nothing panics and nothing half-read is accepted.
func FuzzXML(f *testing.F) {
	file, err := source.Load("t.yaml", []byte(write(get, oaiPaging, oaiResponse, `{title: "metadata//dc:title | markup"}`)))
	if err != nil {
		f.Fatal(err)
	}
	spec, err := source.Compile(file, source.Options{Operation: patra.Harvest})
	if err != nil {
		f.Fatal(err)
	}
	p, err := spec.Compile()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(oaiPage))
	f.Add([]byte(`<r><record xmlns:a="b"><a:x/></record></r>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		page, err := p.Read(200, body, "")
		if err != nil {
			return
		}
		for _, raw := range page.Items {
			if o, err := p.Item(raw, 0); err == nil && (o.ID == "" || o.Hash == "") {
				t.Errorf("half a record: %+v", o)
			}
		}
	})
}

// FuzzMapping: whatever is written as a mapping, it is refused when it is loaded or it always ends with a value.
func FuzzMapping(f *testing.F) {
	for _, seed := range []string{"$.a | lower", "$.b[*] {v: $.c, w: $} | distinct | join(', ')", "$..x | split(';') | first", "$.a | replace('a', 'b') | after('/')"} {
		f.Add(seed, `{"id":"1","a":"x","b":[{"c":1},{"c":[2]}]}`)
	}
	f.Fuzz(func(t *testing.T, mapping, item string) {
		text := write(get, offset, jsonList, fmt.Sprintf("{f: %q}", mapping))
		file, err := source.Load("t.yaml", []byte(text))
		if err != nil {
			return
		}
		spec, err := source.Compile(file, source.Options{Operation: patra.Harvest})
		if err != nil {
			t.Fatal(err)
		}
		p, err := spec.Compile()
		if err != nil {
			t.Fatalf("a mapping that was accepted does not compile: %v", err)
		}
		if o, err := p.Item([]byte(item), 0); err == nil && len(o.Fields) > 10*len(item)+10*len(mapping)+100 {
			t.Errorf("%d bytes came out of %d", len(o.Fields), len(item))
		}
	})
}

// FuzzTemplate: a value is data, whatever it looks like.
func FuzzTemplate(f *testing.F) {
	file, err := source.Load("t.yaml", []byte(strings.Replace(write(`{method: GET, path: "/x/${from}", query: {q: "${param.p}", v: "${version}"}}`, offset, jsonList, noFields), "defaults:", "parameters: {p: {}}\ndefaults:", 1)))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"a", "${version}", "${contact}", "a b&c=d#e", "../../x", "\r\nX: y", "{{from}}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if value == "" {
			return
		}
		spec, err := source.Compile(file, source.Options{Operation: patra.Harvest, Parameters: map[string]string{"p": value}})
		if err != nil {
			t.Fatal(err)
		}
		call, err := spec.Build(query.All(), day, "0", "", source.Vars{Version: "secret", Contact: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(call.URL)
		if err != nil || u.Query().Get("q") != value || u.Host != "example.org" || u.Path != "/api/x/2026-05-01" {
			t.Errorf("%q became %s, %v", value, call.URL, err)
		}
	})
}
