package source_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/query"
	"patra/internal/sim"
	"patra/internal/source"
)

// found is a work as the simulated provider shows it.
type found struct {
	ID       string `json:"id"`
	Source   string `json:"source"`
	Title    string `json:"title"`
	Abstract string `json:"abstractText"`
}

// TestTheProviderUnderstandsWhatWasAsked: a random query is rendered by the shipped grammar and sent to the simulated
// provider, which has a reader of its own for the query language. What comes back is what the query means, work by work.
func TestTheProviderUnderstandsWhatWasAsked(t *testing.T) {
	from := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	provider := sim.New(sim.Config{Seed: 4, From: from, To: from.AddDate(0, 0, 3), PerDay: 60, Exact: true}).Handler()
	p := shippedProgram(t, "europepmc", "")
	window := patra.Window{From: patra.InstantOf(from.AddDate(-5, 0, 0)), To: patra.InstantOf(from.AddDate(5, 0, 0))}
	all := ask(t, provider, p, query.All(), window)
	if len(all) != 180 {
		t.Fatalf("%d works are there", len(all))
	}
	var words []string
	for _, w := range all[:40] {
		words = append(words, strings.FieldsFunc(untagged(w.Title), notLetter)...)
	}
	hits, misses, refused := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		q := anyQuery(words).Draw(rt, "query")
		if _, err := p.Spec.Query.Render(q); err != nil {
			refused++
			return
		}
		got := map[string]bool{}
		for _, w := range ask(t, provider, p, q, window) {
			got[w.Source+w.ID] = true
		}
		for _, w := range all {
			record := query.Record{"title": {untagged(w.Title)}, "abstract": {untagged(w.Abstract)}}
			want := query.Eval(q, record)
			if want != got[w.Source+w.ID] {
				rt.Fatalf("%s: the provider says %v about %q", q, !want, w.Title)
			}
			if want {
				hits++
			} else {
				misses++
			}
		}
	})
	if hits == 0 || misses == 0 || refused > 50 {
		t.Errorf("%d hits, %d misses, %d queries refused: the test proves little", hits, misses, refused)
	}
}

// untagged is a text as it is searched: tags are no words.
func untagged(s string) string { return tag.ReplaceAllString(s, "") }

var tag = regexp.MustCompile(`<[^>]*>`)

func notLetter(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }

// anyQuery is made of words that titles really have, AND, OR and NOT.
func anyQuery(words []string) *rapid.Generator[query.Node] {
	word := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return len(w) < 4 }))
	atom := rapid.Custom(func(t *rapid.T) query.Node {
		field := rapid.SampledFrom([]string{"title", "abstract"}).Draw(t, "field")
		if rapid.Bool().Draw(t, "one word") {
			return query.Term(field, word.Draw(t, "word"), query.MatchAny)
		}
		at := rapid.IntRange(0, len(words)-2).Draw(t, "at")
		return query.Term(field, words[at]+" "+words[at+1], query.MatchPhrase)
	})
	var node func(depth int) *rapid.Generator[query.Node]
	node = func(depth int) *rapid.Generator[query.Node] {
		return rapid.Custom(func(t *rapid.T) query.Node {
			if depth == 0 {
				return atom.Draw(t, "atom")
			}
			switch rapid.IntRange(0, 3).Draw(t, "op") {
			case 0:
				return query.And(node(depth-1).Draw(t, "left"), node(depth-1).Draw(t, "right"))
			case 1:
				return query.Or(node(depth-1).Draw(t, "left"), node(depth-1).Draw(t, "right"))
			case 2:
				return query.Not(node(depth-1).Draw(t, "not"))
			}
			return atom.Draw(t, "atom")
		})
	}
	return node(3)
}

// ask walks through all pages of a query.
func ask(t *testing.T, provider http.Handler, p *source.Program, q query.Node, w patra.Window) (all []found) {
	t.Helper()
	for position := p.Spec.First(); ; {
		call, err := p.Spec.Build(q, w, position, "http://127.0.0.1:1", source.Vars{Contact: "t@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		rec := httptest.NewRecorder()
		provider.ServeHTTP(rec, httptest.NewRequest(call.Method, call.URL, nil))
		page, err := p.Read(rec.Code, rec.Body.Bytes(), position)
		if err != nil {
			t.Fatalf("%s: %v\n%s", q, err, rec.Body)
		}
		for _, raw := range page.Items {
			var f found
			if err := json.Unmarshal(raw, &f); err != nil {
				t.Fatal(err)
			}
			all = append(all, f)
		}
		if !page.HasNext {
			return all
		}
		position = page.Next
	}
}
