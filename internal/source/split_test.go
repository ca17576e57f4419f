package source_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"patra"
	"patra/internal/query"
	"patra/internal/sim"
	"patra/internal/source"
)

// The range stands in PubMed's language beside whatever else is asked, and its operators are read from left to right.
func TestPubMedIsAskedForARangeOfIDs(t *testing.T) {
	spec := shippedProgram(t, "pubmed", "search").Spec
	for text, want := range map[string]string{
		"*":                          "1:1000[uid]",
		`tiab:"heart failure"`:       `1:1000[uid] AND "heart failure"[tiab]`,
		"tiab:heart OR mesh:Humans":  `("heart"[tiab] OR "Humans"[mh]) AND 1:1000[uid]`,
		"NOT tiab:mouse":             `1:1000[uid] NOT "mouse"[tiab]`,
		"tiab:heart OR NOT tiab:rat": `((all[sb] NOT "rat"[tiab]) OR "heart"[tiab]) AND 1:1000[uid]`,
	} {
		n, err := query.Parse(text, spec.Query.Fields)
		if err != nil {
			t.Fatal(err)
		}
		call, err := spec.Build(query.BindRange(n, "uid", patra.IDRange{From: 1, To: 1001}), day, "0", "", source.Vars{Contact: "t@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		form, err := url.ParseQuery(string(call.Body))
		if err != nil || form.Get("term") != want || form.Get("mindate") != "2026/05/01" || form.Get("datetype") != "edat" {
			t.Errorf("%s became %s, %v", text, call.Body, err)
		}
	}
}

// TestPartsOfAFullWindowAreAllOfIt: a window is halved by ids until each part is small, by the counts of the simulated
// provider alone. Together the parts hold what the window holds, and nothing twice.
func TestPartsOfAFullWindowAreAllOfIt(t *testing.T) {
	from := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	provider := sim.New(sim.Config{Seed: 4, From: from, To: from.AddDate(0, 0, 3), PerDay: 60, Exact: true}).Handler()
	window := patra.Window{From: patra.InstantOf(from.AddDate(-5, 0, 0)), To: patra.InstantOf(from.AddDate(5, 0, 0))}
	p := shippedProgram(t, "pubmed", "search")
	for _, text := range []string{"*", "tiab:of OR NOT tiab:in"} {
		q, err := query.Parse(text, p.Spec.Query.Fields)
		if err != nil {
			t.Fatal(err)
		}
		whole := askIDs(t, provider, p, q, window)
		var parts []string
		var halve func(r patra.IDRange)
		halve = func(r patra.IDRange) {
			part := query.BindRange(q, p.Spec.Window.Split.Field, r)
			switch n := count(t, provider, p, part, window); {
			case n > 20:
				for _, half := range r.Cut(2) {
					halve(half)
				}
			case n > 0:
				parts = append(parts, askIDs(t, provider, p, part, window)...)
			}
		}
		halve(p.Spec.Window.Split.Range())
		slices.Sort(whole)
		slices.Sort(parts)
		if len(whole) < 60 || !slices.Equal(whole, parts) {
			t.Errorf("%s: %d ids in the window, %d in its parts", text, len(whole), len(parts))
		}
	}
}

func count(t *testing.T, provider http.Handler, p *source.Program, query query.Node, w patra.Window) int64 {
	t.Helper()
	call, err := p.Spec.BuildCount(query, w, "http://127.0.0.1:1", source.Vars{Contact: "t@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	status, body := serve(provider, call)
	n, err := p.Count(status, body)
	if err != nil || n == nil {
		t.Fatalf("%s: %v\n%s", query, err, body)
	}
	return *n
}

// askIDs walks through a search that gives ids.
func askIDs(t *testing.T, provider http.Handler, p *source.Program, query query.Node, w patra.Window) (ids []string) {
	t.Helper()
	for position := p.Spec.First(); ; {
		call, err := p.Spec.Build(query, w, position, "http://127.0.0.1:1", source.Vars{Contact: "t@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		status, body := serve(provider, call)
		page, err := p.Read(status, body, position)
		if err != nil {
			t.Fatalf("%s: %v\n%s", query, err, body)
		}
		for _, raw := range page.Items {
			ids = append(ids, string(raw))
		}
		if !page.HasNext {
			return ids
		}
		position = page.Next
	}
}
