package source_test

import (
	"strings"
	"testing"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

const signed = `apiVersion: patra/v1
code: signed
name: A source that wants to know who asks
recordType: work
parameters: {set: {default: a.b, doc: "which set"}}
defaults:
  http: {baseUrl: "https://example.org", headers: {User-Agent: "patra/${version} (${param.set}; mailto:${contact})"}}
endpoints:
  works:
    role: SEARCH
    request: {method: METHOD, path: /works, send: SEND, query: {tool: patra, email: "${contact}", set: "${param.set}"}}
    pagination: {type: OFFSET, pageSize: 2, maxPageSize: 2, sizeParam: size, positionParam: offset, end: [EMPTY_PAGE]}
    response: {format: JSON, items: "$.items", id: "$.id", total: {trust: NONE}}
    window: {field: day, mode: CALENDAR, align: DAY, size: P1D, maxSpan: P1D, precision: DAY, upper: INCLUSIVE_DAY, earliest: 2002-01-01}
query:
  fields: {day: {type: DATE, ops: [RANGE]}}
  render: [{field: day, op: RANGE, params: {from: "{{from}}", to: "{{to}}"}}]
  params: {from: {name: from}, to: {name: to}}
`

// Whoever sent a request can be read off what is stored of it, wherever the source puts that: the request that is made
// anew for that sender is the same one, whoever asks today.
func TestWhoSentARequestCanBeReadOff(t *testing.T) {
	day := patra.Date(2026, 5, 1)
	for send, method := range map[string]string{"QUERY": "GET", "FORM": "POST", "JSON": "POST"} {
		file, err := source.Load("signed.yaml", []byte(strings.NewReplacer("METHOD", method, "SEND", send).Replace(signed)))
		if err != nil {
			t.Fatal(err)
		}
		spec, err := source.Compile(file, source.Options{Operation: patra.Harvest, Contact: "x@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		for _, who := range []source.Vars{{Contact: "ada@example.org", Version: "1.2.3"}, {Contact: "", Version: "dev"}, {Contact: "o'brien+a@x.example", Version: "v2 (dirty)"}} {
			sent, err := spec.Build(query.All(), patra.Window{From: day, To: day + patra.Day}, "0", "", who)
			if err != nil {
				t.Fatal(err)
			}
			if got := spec.RecoverVars(sent.Digest(), source.Vars{Contact: "me@today.example", Version: "9"}); got != who {
				t.Errorf("%s: %+v is read off as %+v", send, who, got)
			}
		}
		if got := spec.RecoverVars(nil, source.Vars{Contact: "me"}); got.Contact != "me" {
			t.Errorf("of nothing, %+v", got)
		}
	}
}
