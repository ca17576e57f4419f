package sim

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// params is a work-list request after validation.
type params struct {
	want   selection
	order  order
	terms  string // the query as it was sent, echoed in the answer
	rows   int
	offset int
	cursor string
	scroll bool // a cursor was sent
}

const (
	defaultRows = 20
	maxRows     = 1000
	maxOffset   = 10000
)

// failure is one thing wrong with a request, in the provider's form.
type failure struct {
	Type    string `json:"type"`
	Value   string `json:"value"`
	Message string `json:"message"`
}

var (
	servedParams  = []string{"cursor", "filter", "mailto", "offset", "order", "query", "query.title", "rows", "select", "sort"}
	refusedParams = []string{"facet", "sample"} // the real provider has them, this one does not
	// Deposit and update order is index order in this world, and every work has the same score.
	sorts  = map[string]order{"indexed": ascending, "deposited": ascending, "updated": ascending, "score": unordered, "relevance": unordered}
	orders = []string{"asc", "desc", "1", "-1"}
)

// parseParams reads a query string, collecting everything that is wrong with it.
func parseParams(query url.Values) (params, []failure) {
	p := params{want: anyWork(), rows: defaultRows}
	bad := checkNames(query)
	bad = append(bad, p.readPaging(query)...)
	bad = append(bad, p.readOrder(query)...)
	if query.Has("filter") {
		bad = append(bad, p.want.readFilter(query.Get("filter"))...)
	}
	p.terms = query.Get("query")
	p.want.words = strings.Fields(strings.ToLower(p.terms))
	p.want.titleWords = strings.Fields(strings.ToLower(query.Get("query.title")))
	return p, bad
}

// walk begins the list that the parameters ask for.
func (p *params) walk(w *World) walk {
	want := p.want
	return newWalk(w, &want, span{want.first, want.last}, p.order)
}

func checkNames(query url.Values) []failure {
	var bad []failure
	for name, values := range query {
		switch {
		case slices.Contains(refusedParams, name):
			bad = append(bad, failure{"parameter-not-allowed", name, "This route does not support " + name})
		case strings.HasPrefix(name, "query.") && name != "query.title":
			bad = append(bad, failure{"field-query-not-available", name, "Field query " + name + " is not available on this route. Available: query.title"})
		case !slices.Contains(servedParams, name):
			bad = append(bad, failure{"unknown-parameter", name, "There is no parameter " + name + " on any route"})
		case len(values) > 1:
			bad = append(bad, failure{"parameter-not-allowed", name, "Parameter " + name + " may be given only once"})
		}
	}
	slices.SortFunc(bad, func(a, b failure) int { return strings.Compare(a.Value, b.Value) })
	return bad
}

func (p *params) readPaging(query url.Values) []failure {
	var bad []failure
	p.cursor, p.scroll = query.Get("cursor"), query.Has("cursor")
	if p.scroll && (query.Has("offset") || query.Has("sample")) {
		bad = append(bad, failure{"cursor-with-offset-or-sample", "cursor", "Cursor cannot be combined with offset or sample"})
	}
	bad = append(bad, readInt(query, "rows", maxRows, "", &p.rows)...)
	return append(bad, readInt(query, "offset", maxOffset, " Use the cursor parameter to page further into result sets.", &p.offset)...)
}

func readInt(query url.Values, name string, most int, hint string, into *int) []failure {
	if !query.Has(name) {
		return nil
	}
	text := query.Get(name)
	n, err := strconv.ParseUint(text, 10, 31) // refuses signs and spaces, as the provider does
	if err != nil || int(n) > most {
		return []failure{{"integer-not-valid", text, fmt.Sprintf("Integer specified as %s but must be a positive integer less than or equal to %d. %s", text, most, hint)}}
	}
	*into = int(n)
	return nil
}

// readOrder reads sort and order. The provider's default direction is descending.
func (p *params) readOrder(query url.Values) []failure {
	var bad []failure
	by, direction := query.Get("sort"), query.Get("order")
	if query.Has("order") && !slices.Contains(orders, direction) {
		bad = append(bad, failure{"sort-order-not-valid", direction, "Sort order specified as " + direction + " but must be one of: " + strings.Join(orders, ", ")})
	}
	o, known := sorts[by]
	if query.Has("sort") && !known {
		bad = append(bad, failure{"sort-field-not-valid", by, "Sort field specified as " + by + " but must be one of: deposited, indexed, relevance, score, updated"})
	}
	if o == ascending && direction != "asc" && direction != "1" {
		o = descending
	}
	p.order = o
	return bad
}
