package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// account writes down what one source asks and reads, as a text that people can read.
type account struct {
	strings.Builder
	t    *testing.T
	code string
	vars source.Vars
}

// golden is the whole account of a source, endpoint by endpoint.
func golden(t *testing.T, code string) string {
	t.Helper()
	a := &account{t: t, code: code, vars: source.Vars{Contact: "me@example.org", Version: "1"}}
	for _, name := range slices.Sorted(maps.Keys(shippedFile(t, code).Endpoints)) {
		a.endpoint(shippedProgram(t, code, name))
	}
	return a.String()
}

func (a *account) line(format string, args ...any) { fmt.Fprintf(a, format+"\n", args...) }

// endpoint shows the requests for the first window that a plan would cut from 1 May 2026, and what the pages say.
func (a *account) endpoint(p *source.Program) {
	from := patra.Date(2026, 5, 1)
	window := patra.Window{From: from, To: p.Spec.Window.Size.After(from)}
	at := p.Spec.First()
	a.line("======== %s, %s", p.Spec.Endpoint, p.Spec.Role)
	if p.Spec.Role == "SEARCH" {
		a.line("window %s by %s", window, p.Spec.Window.Field)
		a.requests(p.Spec, window)
	}
	first, last := pageFiles(p.Spec.Endpoint, p.Spec.Response.Format)
	page, ids := a.page(a.reader(p), first, at)
	if d := p.Spec.Detail; d != nil {
		call, err := p.Spec.BuildIDs(ids[:min(len(ids), d.Batch)], "", a.vars)
		a.request("the request for these ids", call, err)
	}
	if page.HasNext {
		call, err := p.Spec.Build(query.All(), window, page.Next, "", a.vars)
		a.request("the request for the next page", call, err)
		at = page.Next
	}
	if _, err := os.Stat(a.file(last)); err == nil {
		a.page(a.reader(p), last, at)
	}
}

// reader is who reads the pages: an endpoint that can be asked by ids on its own keeps its mapping for the second phase.
func (a *account) reader(p *source.Program) *source.Program {
	a.t.Helper()
	if p.Spec.Role != "DETAIL" || p.Spec.Detail == nil {
		return p
	}
	second, err := p.Spec.Second.Compile()
	if err != nil {
		a.t.Fatal(err)
	}
	return second
}

func (a *account) file(name string) string { return filepath.Join(ownPages, a.code, name) }

func (a *account) read(name string) []byte {
	a.t.Helper()
	data, err := os.ReadFile(a.file(name))
	if err != nil {
		a.t.Fatal(err)
	}
	return data
}

// requests shows how a walk begins, without a query and with one, and how records are counted.
func (a *account) requests(spec *source.Spec, window patra.Window) {
	a.t.Helper()
	call, err := spec.Build(query.All(), window, spec.First(), "", a.vars)
	for _, name := range slices.Sorted(maps.Keys(call.Headers)) {
		a.line("header %s: %s", name, call.Headers[name])
	}
	a.request("the first request", call, err)
	if takesQueries(shippedFile(a.t, a.code)) {
		text := strings.TrimSpace(string(a.read(queryFile)))
		query, err := query.Parse(text, spec.Query.Fields)
		if err != nil {
			a.t.Fatalf("%s: %v", a.file(queryFile), err)
		}
		call, err := spec.Build(query, window, spec.First(), "", a.vars)
		a.request("the first request, asked for "+text, call, err)
	}
	if spec.CanCount() {
		call, err := spec.BuildCount(query.All(), window, "", a.vars)
		a.request("the request that counts", call, err)
	}
}

// request shows a request with its parameters decoded and sorted, a line for each.
func (a *account) request(title string, call source.Call, err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatalf("%s: %v", title, err)
	}
	u, err := url.Parse(call.URL)
	if err != nil {
		a.t.Fatal(err)
	}
	a.line("\n---- %s\n%s %s://%s%s", title, call.Method, u.Scheme, u.Host, readablePath(u))
	a.params("  ", u.RawQuery)
	switch {
	case len(call.Body) == 0:
	case call.Headers["Content-Type"] == "application/json":
		a.line("body\n%s", a.indented(call.Body, "  "))
	default:
		a.line("body")
		a.params("  ", string(call.Body))
	}
}

// readablePath is a path without escapes, unless one of them is a slash that belongs to a value and parts nothing.
func readablePath(u *url.URL) string {
	if !strings.Contains(u.EscapedPath(), "%2F") {
		return u.Path
	}
	return u.EscapedPath()
}

func (a *account) params(indent, encoded string) {
	a.t.Helper()
	values, err := url.ParseQuery(encoded)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			a.line("%s%s = %s", indent, name, value)
		}
	}
}

// page shows what an answer says and every item of it as it would be stored.
func (a *account) page(p *source.Program, name, position string) (page source.Page, ids []string) {
	a.t.Helper()
	page, err := p.Read(200, a.read(name), position)
	if err != nil {
		a.t.Fatalf("%s: %v", a.file(name), err)
	}
	a.line("\n---- the page %s\nitems  %d", name, len(page.Items))
	if page.Total != nil {
		a.line("total  %d, %s", *page.Total, p.Spec.Response.Total.Trust)
	}
	if page.HasNext {
		a.line("next   %s", page.Next)
	}
	if page.End != "" {
		a.line("end    %s", page.End)
	}
	for i, raw := range page.Items {
		o, err := p.Item(raw, 0)
		if err != nil {
			f := patra.AsFault(err)
			a.line("\nitem %d is quarantined: %s at %s, %s", i+1, f.Code, f.Path, f.Text)
			continue
		}
		ids = append(ids, o.ID)
		a.item(o)
	}
	return page, ids
}

func (a *account) item(o patra.Observation) {
	a.t.Helper()
	updated := "not said"
	if o.UpdatedAt != nil {
		updated = o.UpdatedAt.String()
	}
	a.line("\nid          %s\nupdated_at  %s", o.ID, updated)
	if o.Deleted {
		a.line("deleted     yes")
	}
	if o.MergedInto != "" {
		a.line("merged into %s", o.MergedInto)
	}
	if o.Retracted {
		a.line("retracted   yes")
	}
	for _, s := range o.Signals {
		a.line("signal      %s for %s", s.Reason, s.ID)
	}
	a.line("%s", a.indented(o.Fields, ""))
}

func (a *account) indented(data []byte, prefix string) string {
	a.t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, data, prefix, "  "); err != nil {
		a.t.Fatal(err)
	}
	return prefix + b.String()
}
