package source_test

import (
	"slices"
	"strings"
	"testing"

	"patra"
	"patra/internal/source"
)

// What stands around the items is refused where a key on the way to something that is read occurs twice, and nowhere else.
func TestEnvelopesThatSayTwoThings(t *testing.T) {
	text := strings.NewReplacer("RESPONSE", `{format: JSON, items: "$.r.items", id: "$.id", total: {path: "$.r.n", trust: EXACT}, errors: [{path: "$.error", means: REFUSED}, {path: "$.r.none", means: EMPTY}]}`,
		"PAGINATION", `{type: TOKEN, pageSize: 50, maxPageSize: 1000, sizeParam: rows, positionParam: cursor, initial: "*", next: "$.r['next']", token: {state: STATELESS, onSame: END}, end: [EMPTY_PAGE, NO_TOKEN]}`).Replace(unclearSource)
	p := programOf(t, text)
	for _, c := range []struct {
		name, body string
		status     int
		code, path string
	}{
		{"all is well", `{"r":{"n":1,"next":"x","items":[{"id":"1"}]}}`, 200, "", ""},
		{"what nobody reads", `{"facets":1,"facets":2,"r":{"n":1,"more":[{"a":1,"a":2}],"more":0,"next":"x","items":[{"id":"1"}]}}`, 200, "", ""},
		{"an item", `{"r":{"n":1,"next":"x","items":[{"id":"1","id":"2"}]}}`, 200, "", ""},
		{"items", `{"r":{"n":1,"next":"x","items":[{"id":"1"}],"items":[]}}`, 200, patra.CodeBadBody, "$.r.items"},
		{"items, one of them null", `{"r":{"items":null,"n":1,"next":"x","items":[{"id":"1"}]}}`, 200, patra.CodeBadBody, "$.r.items"},
		{"the total", `{"r":{"n":1,"n":0,"next":"x","items":[{"id":"1"}]}}`, 200, patra.CodeBadBody, "$.r.n"},
		{"what is next", `{"r":{"n":1,"next":"x","next":null,"items":[{"id":"1"}]}}`, 200, patra.CodeBadBody, "$.r['next']"},
		{"a next that is no text", `{"r":{"n":1,"next":"x\ud800","items":[{"id":"1"}]}}`, 200, patra.CodeBadBody, "$.r['next']"},
		{"bytes that are no text", "{\"r\":{\"n\":1,\"next\":\"x\xff\",\"items\":[{\"id\":\"1\"}]}}", 200, patra.CodeBadBody, "$.r['next']"},
		{"an error", `{"error":"no","error":null,"r":{"n":1,"next":"x","items":[]}}`, 200, patra.CodeBadBody, "$.error"},
		{"an error, last", `{"error":null,"error":"no","r":{"n":1,"next":"x","items":[]}}`, 200, patra.CodeProvider, "$.error"},
		{"nothing, and something", `{"r":{"none":null,"none":true,"n":1,"next":"x","items":[{"id":"1"}]}}`, 200, patra.CodeBadBody, "$.r.none"},
		{"a refusal that says two things", `{"r":{"n":1,"n":2}}`, 404, patra.CodeHTTP, ""},
	} {
		page, err := p.Read(c.status, []byte(c.body), "*")
		fault := &patra.Fault{}
		if err != nil {
			fault = patra.AsFault(err)
		}
		if fault.Code != c.code || fault.Path != c.path {
			t.Errorf("%s: %+v, %v", c.name, page, err)
		}
		if c.code == patra.CodeBadBody && !strings.Contains(fault.Text, "twice") && !strings.Contains(fault.Text, "no valid text") {
			t.Errorf("%s: %s", c.name, fault.Text)
		}
	}
}

// Items that are listed by their ids are found by them: an id that is there twice, or that is no text, finds another item.
func TestItemsByIDThatSayTwoThings(t *testing.T) {
	p := programOf(t, strings.NewReplacer("RESPONSE", `{format: JSON, items: "$.result", order: "$.result.uids", id: "$.uid", total: {trust: NONE}}`,
		"PAGINATION", `{type: OFFSET, pageSize: 50, maxPageSize: 1000, sizeParam: rows, positionParam: offset, end: [EMPTY_PAGE]}`).Replace(unclearSource))
	for body, text := range map[string]string{
		`{"result":{"uids":["1","2"],"1":{"uid":"1"},"2":{"uid":"2"}}}`:                     "",
		`{"result":{"uids":["1","2"],"1":{"uid":"1"},"2":{"uid":"2"},"1":{"uid":"3"}}}`:     `the key "1" occurs twice`,
		`{"result":{"uids":["\ud800","\ud801"],"\ud800":{"uid":"1"},"\ud801":{"uid":"2"}}}`: `occurs twice`,
		`{"result":{"uids":["\ud800"],"\ud800":{"uid":"1"},"2":{"uid":"2"}}}`:               "no valid text",
		`{"result":{"uids":["1"],"uids":["2"],"1":{"uid":"1"},"2":{"uid":"2"}}}`:            `the key "uids" occurs twice`,
		`{"result":{"uids":["1"],"1":{"uid":"1"}},"result":{"uids":["2"],"2":{"uid":"2"}}}`: `the key "result" occurs twice`,
	} {
		_, err := p.Read(200, []byte(body), "0")
		if text == "" && err != nil || text != "" && (err == nil || patra.AsFault(err).Code != patra.CodeBadBody || !strings.Contains(err.Error(), text)) {
			t.Errorf("%s: %v, want %q", body, err, text)
		}
	}
}

// An item is refused for what it says twice anywhere, for an id that is no text, and for the id of another record that is none.
func TestItemsThatSayTwoThings(t *testing.T) {
	text := strings.NewReplacer("RESPONSE", `{format: FORMAT, ITEMS id: ID, noId: HASH, mergedInto: INTO, mergedFrom: FROM, total: {trust: NONE}, volatile: VOLATILE}`,
		"PAGINATION", `{type: OFFSET, pageSize: 50, maxPageSize: 1000, sizeParam: rows, positionParam: offset, end: [EMPTY_PAGE]}`).Replace(unclearSource)
	inJSON := strings.NewReplacer("FORMAT", "JSON", "ITEMS", `items: "$.items",`, "ID", `["$.id", "$..part[?@.n == 1].id"]`, "INTO", `"$.into"`, "FROM", `"$.from[*]"`, "VOLATILE", `["$.at"]`).Replace(text)
	simple := strings.NewReplacer("FORMAT", "FORM", "ITEMS", `ROWS`, "ID", `"$.id"`, "INTO", `"$.into"`, "FROM", `"$.from"`, "VOLATILE", `["$.at"]`).Replace(text)
	inXML := strings.NewReplacer("FORMAT", "XML", "ITEMS", `items: "/l/i",`, "ID", `"id"`, "INTO", `"into"`, "FROM", `"from"`, "VOLATILE", `["/i/at"]`).Replace(text)
	list := strings.NewReplacer("FORM", "JSON", "ROWS", `items: "$.items",`).Replace(simple)
	lines := strings.NewReplacer("FORM", "JSONL", "ROWS", "").Replace(simple)
	table := strings.NewReplacer("FORM", "CSV", "ROWS", "").Replace(simple)
	for _, c := range []struct{ name, file, body, want string }{
		{"good", list, `{"items":[{"id":"1","at":{"a":1}}]}`, "1"},
		{"a key that nobody reads", list, `{"items":[{"id":"1","x":[{"a":1,"a":1}]},{"id":"2"}]}`, "DUPLICATE_KEY at $.x[0].a of 1; 2"},
		{"a key in what is volatile", list, `{"items":[{"id":"1","at":{"a":1,"a":1}}]}`, "DUPLICATE_KEY at $.at.a of 1"},
		{"what is volatile", list, `{"items":[{"id":"1","at":{"a":1},"at":{"a":1}}]}`, "DUPLICATE_KEY at $.at of 1"},
		{"the id", list, `{"items":[{"id":"1","id":"1"}]}`, "DUPLICATE_KEY at $.id of "},
		{"half of a pair", list, `{"items":[{"id":"\ud800"},{"id":"\ud83d\ude00"},{"id":"a\ufffd"}]}`, "BAD_TEXT at $.id of ; 😀; a\ufffd"},
		{"the id of a successor", list, `{"items":[{"id":"1","into":"\udc00"},{"id":"2","into":"\ufffd"}]}`, "BAD_TEXT at $.into of 1; 2"},
		{"the id of a forerunner", inJSON, `{"items":[{"id":"1","from":["a","\ud800"],"part":{"p":{"n":1,"id":"x"}}}]}`, "BAD_TEXT at $.from[*] of 1/x"},
		{"a path that is not simple", inJSON, `{"items":[{"id":"1","part":{"p":{"n":1,"id":"\ud800"}}},{"id":"2","part":{"p":{"n":1,"id":"x"}}}]}`, "BAD_TEXT at $..part[?@.n == 1].id of ; 2/x"},
		{"a key on a path that is not simple", inJSON, `{"items":[{"id":"1","part":{"p":{"n":1,"id":"x","id":"y"}}}]}`, "DUPLICATE_KEY at $.part.p.id of "},
		{"lines", lines, "{\"id\":\"\\ud800\"}\n{\"id\":\"\xff\"}\n{\"id\":\"1\",\"id\":\"2\"}\n{\"id\":\"3\"}\n", "BAD_TEXT at $.id of ; BAD_TEXT at $.id of ; DUPLICATE_KEY at $.id of ; 3"},
		{"a table", table, "id,x\n1,a\n\xff,b\n\xfe,c\n2,\xff\n", "1; BAD_TEXT at $.id of ; BAD_TEXT at $.id of ; 2"},
		{"a table with two ids", table, "id,x,id\n1,a,2\n", "DUPLICATE_KEY at $.id of "},
		{"a table with columns that have no name", table, "id,,\n1,a,b\n\xff,a,b\n", "1; BAD_TEXT at $.id of "},
		{"XML", inXML, `<l><i><id>&#xD800;</id></i><i><id>&#55297;</id></i><i><id>1</id></i><i><id>&#xFFFD;</id></i><i><id>2</id><into>&#xDFFF;</into></i></l>`,
			"BAD_TEXT at id of ; BAD_TEXT at id of ; 1; \ufffd; BAD_TEXT at into of 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := programOf(t, c.file)
			page, err := p.Read(200, []byte(c.body), "0")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for o, err := range p.Records(&page, 1) {
				said := o.ID
				if err != nil {
					fault := patra.AsFault(err)
					said = fault.Code + " at " + fault.Path + " of " + o.ID
				}
				got = append(got, said)
				if !slices.ContainsFunc(page.Items, func(item []byte) bool { return string(item) == string(o.Raw) }) {
					t.Errorf("%q is no item", o.Raw)
				}
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("%s\nwant %s", strings.Join(got, "; "), c.want)
			}
		})
	}
}

// programOf compiles the one endpoint of a source file.
func programOf(t *testing.T, text string) *source.Program {
	t.Helper()
	f, err := source.Load("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := source.Compile(f, source.Options{Endpoint: "works", Operation: patra.Harvest})
	if err != nil {
		t.Fatal(err)
	}
	p, err := spec.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const unclearSource = `apiVersion: patra/v1
code: x
name: X
recordType: work
defaults: {http: {baseUrl: "https://example.org"}, rate: {perSecond: 10}}
endpoints:
  works:
    role: SEARCH
    request: {method: GET, path: /works}
    pagination: PAGINATION
    response: RESPONSE
    window: {field: at, mode: CALENDAR, align: DAY, size: P1D, precision: DAY, upper: INCLUSIVE_DAY, order: ASC}
query:
  fields: {at: {type: DATE, ops: [RANGE]}}
  render: [{field: at, op: RANGE, params: {filter: ["from:{{from}}", "to:{{to}}"]}}]
  params: {filter: {name: filter, join: ","}}
`
