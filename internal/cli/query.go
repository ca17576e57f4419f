package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

func (a *app) queryCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "query", Short: "Try queries without sending anything", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.explainCmd())
	return c
}

// Explanation is a query and what it becomes at one provider.
type Explanation struct {
	Source  string         `json:"source"`
	Query   string         `json:"query"`
	Hash    string         `json:"expr_proto_hash"`
	AST     query.Node     `json:"ast"`
	Clauses []query.Clause `json:"clauses"`
	Method  string         `json:"method"`
	URL     string         `json:"url"`
	Body    string         `json:"body,omitempty"`
}

func (a *app) explainCmd() *cobra.Command {
	var f planFlags
	var out format
	c := &cobra.Command{
		Use: "explain SOURCE -q QUERY", Short: "Show the request that a query becomes, and the fate of every clause", Args: exactArgs("SOURCE"),
		Long: strings.TrimSpace(`
Show what a query becomes at a provider. Nothing is sent. Write queries like this:

  cancer "heart failure"               both, anywhere
  title:heart  title:heart*            a word, the start of a word
  title:"heart failure"                a phrase
  type:[article, book]                 one of these values
  year:[2000 TO 2010}                  a range; [ ] include their end, { } do not; * is open
  a AND b, a OR b, NOT a, (a OR b), title:(a OR b)

A clause that the provider cannot answer exactly is refused with the reason, never left out.`),
		Example: `  patra query explain crossref -q 'title:cancer type:journal-article'`,
		RunE: func(c *cobra.Command, args []string) error {
			e, spec, err := a.explain(c.Context(), args[0], f)
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, e)
			}
			e.print(a.stdout, spec)
			return nil
		},
	}
	a.addAskFlags(c, &f)
	formatFlag(c, &out)
	return c
}

// explain says what a query becomes at a source.
func (a *app) explain(ctx context.Context, code string, f planFlags) (*Explanation, *source.Spec, error) {
	req, err := a.request(ctx, code, f)
	if err != nil {
		return nil, nil, err
	}
	contact := cmp.Or(req.Contact, "you@example.org")
	spec, err := source.Compile(req.Source, source.Options{Endpoint: f.endpoint, Operation: patra.Harvest, Contact: contact, Parameters: req.Params})
	if err != nil {
		return nil, nil, err
	}
	e, err := explain(spec, f.query, window(req.From, req.To), req.BaseURL, source.Vars{Contact: contact, Version: a.version})
	return e, spec, err
}

// window is what the user said, or a day to show an example with.
func window(from, to *patra.Instant) patra.Window {
	w := patra.Window{From: patra.Date(2026, 1, 1)}
	if from != nil {
		w.From = *from
	}
	w.To = w.From + patra.Day
	if to != nil {
		w.To = *to
	}
	return w
}

func explain(spec *source.Spec, text string, w patra.Window, baseURL string, vars source.Vars) (*Explanation, error) {
	n := query.All()
	if text != "" {
		var err error
		if n, err = query.Parse(text, spec.Query.Fields); err != nil {
			return nil, err
		}
	}
	n = query.Normalise(n)
	if err := spec.CheckQuery(n); err != nil {
		return nil, err
	}
	fetch := w.Widen(spec.Window.Overlap, spec.Window.Precision)
	asked, err := spec.Query.Render(spec.Bind(n, fetch))
	if err != nil {
		return nil, err
	}
	call, err := spec.Build(n, fetch, spec.First(), baseURL, vars)
	if err != nil {
		return nil, err
	}
	return &Explanation{Source: spec.Source, Query: query.Format(n, spec.Query.Fields), Hash: n.Hash(), AST: n, Clauses: asked.Clauses,
		Method: call.Method, URL: call.URL, Body: string(call.Body)}, nil
}

func (e *Explanation) print(w io.Writer, spec *source.Spec) {
	fmt.Fprintf(w, "Query    %s\nCursor   %.8s (another query has another watermark)\n\n", e.Query, e.Hash)
	t := newTable(w, "clause", "becomes", "by")
	for _, c := range e.Clauses {
		text := c.Text
		if c.Negated {
			text = "NOT " + text
		}
		t.AppendRow([]any{text, became(c), c.Rule})
	}
	t.Render()
	if spec.Strategy() == patra.StrategyLandmark {
		fmt.Fprintln(w, "\nWindow   is not sent: this source cannot be asked for one, and is read from its first page to its last")
	}
	fmt.Fprintf(w, "\nRequest  %s %s\n", e.Method, e.URL)
	if e.Body != "" {
		fmt.Fprintf(w, "Body     %s\n", e.Body)
	}
	fmt.Fprintf(w, "\nFields   %s\n", strings.Join(slices.Sorted(maps.Keys(spec.Query.Fields)), ", "))
}

func became(c query.Clause) string {
	switch {
	case c.Fragment != "":
		return c.Fragment
	case len(c.Params) > 0:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(c.Params)) {
			parts = append(parts, name+"="+strings.Join(c.Params[name], ", "))
		}
		return strings.Join(parts, "; ")
	}
	return c.Note
}
