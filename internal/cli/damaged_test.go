package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patra"
)

const damagedSource = `apiVersion: patra/v1
code: mine
name: Mine
recordType: work
defaults:
  http: {baseUrl: https://example.org}
  rate: {perSecond: 1000, burst: 100}
endpoints:
  works:
    role: SEARCH
    request: {method: GET, path: /works}
    pagination: {type: OFFSET, positionParam: offset, end: [EMPTY_PAGE]}
    response: {format: XML, STRICT items: "/list/item", id: "id", updatedAt: "at", total: {trust: NONE}}
    window: {field: at, mode: CALENDAR, align: DAY, size: P1D, precision: DAY, upper: INCLUSIVE_DAY}
query:
  fields: {at: {type: DATE, ops: [RANGE]}}
  render: [{field: at, op: RANGE, params: {from: "{{from}}", to: "{{to}}"}}]
  params: {from: {name: from}, to: {name: to}}
mapping: {title: "title"}
`

// A page that is repaired is read in every way that there is: tried, harvested, replayed, mapped anew, and it says what
// was repaired.
func TestADamagedPageIsReadEverywhere(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		items := ""
		if day := r.URL.Query().Get("from"); r.URL.Query().Get("offset") == "0" {
			for n, title := range []string{"One", "T\vw&nbsp;o", "Three & \xe9", "Four", "Five", "Six", "Seven", "Eight"} {
				items += fmt.Sprintf(`<item><id>%[1]s-%d</id><at>%[1]s</at><title>%[3]s</title></item>`, day, n, title)
			}
			items += `<item><id>` + day + `-broken</id><title><b></title></item>`
		}
		_, _ = io.WriteString(w, `<?xml version="1.0"?><list>`+items+`</list>`)
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	t.Chdir(dir)
	env := []string{"PATRA_SOURCES_DIR=.", "PATRA_STORE_URL=sqlite:" + filepath.Join(dir, "p.db")}
	write := func(strict string) {
		t.Helper()
		if err := os.WriteFile("mine.yaml", []byte(strings.Replace(damagedSource, "STRICT", strict, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	says := func(exit int, args ...string) string {
		t.Helper()
		var out, said bytes.Buffer
		if code := run(t.Context(), args, env, &out, &said); code != exit {
			t.Fatalf("%v: %d\n%s%s", args, code, &out, &said)
		}
		return out.String() + said.String()
	}
	try := []string{"source", "test", "mine", "--from", "2026-05-02", "--base-url", server.URL}
	write("")
	tried := strings.Join(strings.Fields(says(0, try...)), " ")
	for _, want := range []string{"9 items", "Repaired 1 bare ampersand, 1 forbidden character, 1 html entity, 1 invalid byte.", "Item 9 cannot become a record: XML_BROKEN at : the element is broken: <b> is open at byte"} {
		if !strings.Contains(tried, want) {
			t.Errorf("it does not say %q:\n%s", want, tried)
		}
	}
	write("strict: true, ")
	if tried = says(1, try...); !strings.Contains(tried, "UNREADABLE: the body is no XML: it has a character or a reference at byte") {
		t.Errorf("a strict source: %s", tried)
	}
	write("")
	says(0, "harvest", "mine", "--from", "2026-05-02", "--to", "2026-05-03", "--base-url", server.URL)
	var batches struct{ Items []patra.Batch }
	text := says(0, "batches", "-o", "json")
	if err := json.Unmarshal([]byte(text), &batches.Items); err != nil {
		t.Fatal(err, text)
	}
	repaired := 0
	for _, b := range batches.Items { // which may be read more than once, as a proof
		if len(b.Repairs) == 0 {
			continue
		}
		if repaired++; b.Repairs.Total() != 4 || b.Counts.Insert+b.Counts.Same != 8 || b.Counts.Update > 0 || b.Counts.Quarantine != 1 {
			t.Errorf("%+v", b)
		}
	}
	if table := says(0, "batches"); repaired == 0 || !strings.Contains(table, "repaired") {
		t.Errorf("%d repaired pages\n%s", repaired, table)
	}
	if list := says(0, "quarantine", "show", "1"); !strings.Contains(list, "XML_BROKEN") || !strings.Contains(list, "2026-05-02-broken") || !strings.Contains(list, "<title><b></title>") {
		t.Error(list)
	}
	says(0, "replay", "1")
	if got := says(0, "records", "query", "mine", "-o", "json"); !strings.Contains(got, `T\ufffdw\u00a0o`) && !strings.Contains(got, "T\ufffdw\u00a0o") {
		t.Error(got)
	}
	if remapped := says(0, "remap", "mine", "--since", "2026-01-01", "-o", "json"); !strings.Contains(remapped, `"records": 8`) {
		t.Error(remapped)
	}
}
