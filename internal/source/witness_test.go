package source_test

import (
	"strings"
	"testing"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

const moving = `apiVersion: patra/v1
code: moving
name: A provider whose list moves
recordType: work
defaults: {http: {baseUrl: "https://example.org"}, rate: {perSecond: 1}}
endpoints:
  works:
    role: SEARCH
    request: {method: GET, path: /}
    pagination: {type: OFFSET, pageSize: 20, maxPageSize: 20, sizeParam: size, positionParam: offset, order: ASC, end: [EMPTY_PAGE]}
    response: {format: JSON, items: "$.items", id: "$.id", updatedAt: "$.at", total: {trust: NONE}}
    window: {field: at, mode: CALENDAR, align: DAY, size: P1D, precision: SECOND, upper: EXCLUSIVE, order: ASC}
query:
  fields: {at: {type: DATETIME, ops: [RANGE]}}
  render: [{field: at, op: RANGE, params: {from: ["{{from}}"], to: ["{{to}}"]}}]
  params: {from: {name: from}, to: {name: to}}
`

// A witness is only as good as what it would notice.
func TestWitnessesOfClaims(t *testing.T) {
	for _, c := range []struct {
		name   string
		change []string
		want   patra.Witness
		says   bool
	}{
		{"rows show what they are sorted by", nil, patra.WitnessSeam, false},
		{"rows do not show what they are sorted by", []string{"upper: EXCLUSIVE", "upper: EXCLUSIVE, otherDate: true"}, patra.WitnessMetAgain, false},
		{"rows have no time", []string{`updatedAt: "$.at", `, ""}, patra.WitnessMetAgain, false},
		{"what rows are sorted by never changes", []string{"order: ASC, end", "order: FIXED, end", `updatedAt: "$.at", `, ""}, patra.WitnessSeam, false},
		{"the provider says that nothing follows", []string{"type: OFFSET", `type: PAGE, next: "$.next"`, "[EMPTY_PAGE]", "[NO_TOKEN]"}, patra.WitnessSizes, true},
		{"a short page ends a walk", []string{"type: OFFSET", `type: PAGE, next: "$.next"`, "[EMPTY_PAGE]", "[NO_TOKEN, SHORT_PAGE]"}, patra.WitnessSizes, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := source.Load("moving.yaml", []byte(strings.NewReplacer(c.change...).Replace(moving)))
			if err != nil {
				t.Fatal(err)
			}
			spec, err := source.Compile(f, source.Options{Basis: patra.BasisCertified})
			if err != nil {
				t.Fatal(err)
			}
			if w := spec.Witness(query.All()); w.Witness != c.want || w.Says != c.says {
				t.Errorf("windows are proved by %s, and the provider says the end: %v", w.Witness, w.Says)
			}
		})
	}
}
