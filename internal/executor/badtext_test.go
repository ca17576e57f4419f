package executor_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// aside are the items in quarantine: their code, place, id and bytes.
func (e *early) aside() (all []string) {
	e.t.Helper()
	rows, err := storetest.Inspect(e.t, e.url).QueryContext(e.t.Context(), `SELECT error_code, COALESCE(field_path, ''), COALESCE(provider_id, ''), fragment FROM ing_quarantine ORDER BY id`)
	if err != nil {
		e.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var code, path, id string
		var fragment []byte
		if err := rows.Scan(&code, &path, &id, &fragment); err != nil {
			e.t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s at %s of %q: %s", code, path, id, fragment))
	}
	if err := rows.Err(); err != nil {
		e.t.Fatal(err)
	}
	return all
}

// spoiltItems is a page of good works with others between them.
func spoiltItems(total int, others ...string) string {
	good := worksOf(total, rowsOf(30))
	return strings.Replace(good, "]}}", ","+strings.Join(others, ",")+"]}}", 1)
}

// An id that is no valid text was never sent as what it would become, and of a key that occurs twice nobody knows which value counts:
// such items are put into quarantine with their bytes, and the others are stored.
func TestItemsThatWouldHaveToBeRepaired(t *testing.T) {
	const date = `"indexed": {"date-time": "2026-05-01T01:00:00Z"}`
	others := []string{
		`{"DOI": "10.1/\ud800", ` + date + `}`,
		`{"DOI": "10.1/\ud801", ` + date + `}`,
		"{\"DOI\": \"10.1/\xff\", " + date + `}`,
		`{"DOI": "10.1/a", "DOI": "10.1/b", ` + date + `}`,
		`{"DOI": "10.1/c", "indexed": {"date-time": "2026-05-01T01:00:00Z", "date-time": "2026-05-01T02:00:00Z"}}`,
	}
	ids, day, e := firstDay(t, paged(strings.Replace(thirty, "30", "100", 1), "P1D"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked(r, "offset") > 0 {
			io.WriteString(w, worksOf(35, nil))
			return
		}
		io.WriteString(w, spoiltItems(35, others...))
	}))
	if len(ids) != 30 || slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(id, "\ufffd") }) {
		t.Errorf("%d records: %q", len(ids), ids)
	}
	want := []string{
		`BAD_TEXT at $.DOI of "": ` + others[0], `BAD_TEXT at $.DOI of "": ` + others[1], `BAD_TEXT at $.DOI of "": ` + others[2],
		`DUPLICATE_KEY at $.DOI of "": ` + others[3], `DUPLICATE_KEY at $.indexed.date-time of "10.1/c": ` + others[4],
	}
	if got := e.aside(); !slices.Equal(got, want) {
		t.Errorf("in quarantine are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if day.State != patra.StateSealed || day.IDsSeen != 35 {
		t.Errorf("the day: %+v", day)
	}
}

// A character that stands for what is no text can be sent as itself: then it is an id like any other.
func TestAReplacementCharacterThatWasSentIsAnID(t *testing.T) {
	const date = `"indexed": {"date-time": "2026-05-01T01:00:00Z"}`
	ids, _, e := firstDay(t, paged(strings.Replace(thirty, "30", "100", 1), "P1D"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked(r, "offset") > 0 {
			io.WriteString(w, worksOf(32, nil))
			return
		}
		io.WriteString(w, spoiltItems(32, `{"DOI": "10.1/\ufffd", `+date+`}`, `{"DOI": "10.1/\ud83d\ude00", `+date+`}`))
	}))
	if len(ids) != 32 || !slices.Contains(ids, "10.1/\ufffd") || !slices.Contains(ids, "10.1/😀") || len(e.aside()) > 0 {
		t.Errorf("%q, in quarantine %q", ids, e.aside())
	}
}

// Where a key on the way to the items, the total or the next page occurs twice, the page says two things: it is no page.
func TestAnEnvelopeThatSaysTwoThings(t *testing.T) {
	items := strings.TrimSuffix(strings.TrimPrefix(worksOf(30, rowsOf(30)), `{"message": {"total-results": 30, `), "}}")
	for _, c := range []struct{ name, body, path, key string }{
		{"two lists", `{"message": {"total-results": 30, ` + items + `, "items": []}}`, "$.message.items", `"items"`},
		{"two totals", `{"message": {"total-results": 30, ` + items + `, "total-results": 0}}`, "$.message['total-results']", `"total-results"`},
		{"two envelopes", `{"message": {"total-results": 30, ` + items + `}, "message": {"total-results": 0, "items": []}}`, "$.message.items", `"message"`},
		{"two envelopes, one of them escaped", `{"message": {"total-results": 30, ` + items + `}, "mess\u0061ge": {"total-results": 0, "items": []}}`, "$.message.items", `"message"`},
		{"no list, twice", `{"message": {"total-results": 0, "items": {}, "items": null}}`, "$.message.items", `"items"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(paged(thirty, "P1D"), "maxAttempts: 30", "maxAttempts: 2", 1)
			ids, day, e := firstDay(t, text, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, c.body)
			}))
			if len(ids) != 0 || day.ID != 0 {
				t.Errorf("%d records, %+v", len(ids), day)
			}
			tasks, err := e.store.Tasks(t.Context(), store.Filter{Status: patra.Failed})
			if err != nil || len(tasks) != 1 {
				t.Fatalf("%+v, %v", tasks, err)
			}
			fault := string(tasks[0].LastError)
			if !strings.Contains(fault, `"BAD_BODY"`) || !strings.Contains(fault, c.path) || !strings.Contains(fault, strings.ReplaceAll(c.key, `"`, `\"`)) {
				t.Errorf("the task says %s", fault)
			}
		})
	}
}
