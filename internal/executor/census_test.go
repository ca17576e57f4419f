package executor_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"patra"
)

// A token that hides what it is proves nothing. A list of all ids in one answer does, if the walk has read all of them.
func TestACensusProvesAWalkThatAloneProvesNothing(t *testing.T) {
	const tokens = `{type: TOKEN, pageSize: 20, maxPageSize: 1000, sizeParam: rows, positionParam: offset, next: "$.message.next", token: {state: STATELESS, onSame: ERROR}, end: [NO_TOKEN]}`
	text := strings.NewReplacer("trust: EXACT", "trust: NONE", "    response:", "    census: {query: {list: ids}, items: \"$.ids\", id: \"$.id\"}\n    response:").Replace(paged(tokens, "P1D"))
	for _, c := range []struct {
		name    string
		lost    int // of the rows, which the walk never shows
		shown   int // of the ids, in one answer
		state   patra.Completeness
		witness patra.Witness
		lists   int
	}{
		{"all of them", -1, 50, patra.StateSealed, patra.WitnessCensus, 1},
		{"one is never shown", 25, 50, patra.StateRead, patra.WitnessNone, 2},
		{"the list has pages of its own", -1, 30, patra.StateRead, patra.WitnessNone, 1},
		{"the provider has no such list", -1, 0, patra.StateRead, patra.WitnessNone, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, lists := rowsOf(50), 0
			_, day, _ := firstDay(t, text, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				at, next := asked(r, "offset"), ""
				if r.URL.Query().Get("list") == "ids" {
					if lists++; c.shown == 0 {
						http.Error(w, "no", http.StatusNotFound)
						return
					}
					ids := []string{}
					for _, row := range part(rows, 0, c.shown) {
						ids = append(ids, fmt.Sprintf(`{"id": %q}`, row.id))
					}
					if c.shown < len(rows) {
						next = `"next": "30",`
					}
					fmt.Fprintf(w, `{"message": {%s "x": 1}, "ids": [%s]}`, next, strings.Join(ids, ","))
					return
				}
				answer := part(rows, at, 20)
				if at+20 < len(rows) {
					next = fmt.Sprintf(`"next": "%d", `, at+20)
				}
				if i := c.lost - at; c.lost >= 0 && i >= 0 && i < len(answer) {
					answer = append(append([]listed{}, answer[:i]...), answer[i+1:]...)
				}
				fmt.Fprint(w, strings.Replace(worksOf(len(rows), answer), `{"message": {`, `{"message": {`+next, 1))
			}))
			if day.State != c.state || day.Proof == nil || day.Proof.Witness != c.witness || lists != c.lists {
				t.Errorf("%s by %+v after %d lists of ids", day.State, day.Proof, lists)
			}
			if c.state == patra.StateSealed && *day.Proof.Census != 50 {
				t.Errorf("the census has %d ids", *day.Proof.Census)
			}
			if c.lost >= 0 && !strings.Contains(day.Proof.Why, "1 ids that the provider lists were not read") {
				t.Errorf("it says %q", day.Proof.Why)
			}
		})
	}
}
