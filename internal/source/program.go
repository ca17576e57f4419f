package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/theory/jsonpath"

	"patra"
)

// Program is a Spec with its paths compiled, ready to read pages. It is immutable and safe for concurrent use.
type Program struct {
	Spec      *Spec
	items     namePath
	next      namePath
	total     namePath
	id        *jsonpath.Path
	updatedAt *jsonpath.Path
	volatile  []namePath
	fields    map[string]*mapping
}

// Compile makes the program of a spec.
func (s *Spec) Compile() (*Program, error) {
	p := &Program{Spec: s, fields: map[string]*mapping{}}
	var err error
	step := func(read func() error) {
		if err == nil {
			err = read()
		}
	}
	step(func() (e error) { p.items, e = parseNamePath(s.Response.Items); return })
	step(func() (e error) { p.next, e = parseNamePath(s.Pagination.Next); return })
	step(func() (e error) { p.id, e = parsePath(s.Response.ID); return })
	if s.Response.Total.Path != "" {
		step(func() (e error) { p.total, e = parseNamePath(s.Response.Total.Path); return })
	}
	if s.Response.UpdatedAt != "" {
		step(func() (e error) { p.updatedAt, e = parsePath(s.Response.UpdatedAt); return })
	}
	for _, v := range s.Response.Volatile {
		step(func() error {
			path, e := parseNamePath(v)
			p.volatile = append(p.volatile, path)
			return e
		})
	}
	for name, text := range s.Mapping {
		step(func() (e error) { p.fields[name], e = parseMapping(text); return })
	}
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", s.Source, err)
	}
	return p, nil
}

// Page is what one answer contains.
type Page struct {
	Items   []json.RawMessage
	Next    string // position of the next page
	HasNext bool
	End     string // how the walk announced its end, when it did
	Total   *int64
}

// Read finds the items and the way on in the body of a successful answer to a request for position.
func (p *Program) Read(body []byte, position string) (Page, error) {
	if err := wholeJSON(body); err != nil {
		return Page{}, err
	}
	raw, found := p.items.raw(body)
	if !found {
		return Page{}, schemaFault(p.Spec.Response.Items, "the answer has no such member")
	}
	var page Page
	if err := json.Unmarshal(raw, &page.Items); err != nil {
		return Page{}, schemaFault(p.Spec.Response.Items, "the items are no list")
	}
	if p.total != nil {
		page.Total = number(p.total.raw(body))
	}
	token, found := p.next.raw(body)
	if err := p.onward(&page, token, found, position); err != nil {
		return Page{}, err
	}
	return page, nil
}

// onward decides whether the walk goes on, by the end rules of the source. A short page ends nothing by itself.
func (p *Program) onward(page *Page, token json.RawMessage, found bool, position string) error {
	ends := p.Spec.Pagination.End
	if !found || string(token) == "null" {
		page.End = patra.EndNoToken
		if found {
			page.End = patra.EndNullNext
		}
		if !slices.Contains(ends, page.End) && !(len(page.Items) == 0 && slices.Contains(ends, patra.EndEmptyPage)) {
			return schemaFault(p.Spec.Pagination.Next, "the answer has no next position, and the source does not say that this is the end")
		}
		return nil
	}
	if err := json.Unmarshal(token, &page.Next); err != nil || page.Next == "" {
		return schemaFault(p.Spec.Pagination.Next, "the next position is no text")
	}
	if len(page.Items) == 0 && slices.Contains(ends, patra.EndEmptyPage) {
		page.End = patra.EndEmptyPage
		return nil
	}
	if page.Next == position {
		switch p.Spec.Pagination.Token.OnSame {
		case "END":
			page.End = patra.EndSameToken
			return nil
		case "ERROR":
			return &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeLoop, Path: p.Spec.Pagination.Next, Text: "the provider gave the same position again"}
		}
	}
	page.HasNext = true
	return nil
}

// wholeJSON refuses a body that is not exactly one JSON value: a body that was cut, or a web page.
func wholeJSON(body []byte) error {
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) > 0 && trimmed[0] == '<' {
		return &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeBadBody, Text: "the provider answered with a web page instead of data"}
	}
	if len(trimmed) == 0 {
		return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeBadBody, Text: "the body is empty"}
	}
	if !json.Valid(trimmed) {
		return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeBadBody, Text: "the body is not whole: it is no valid JSON value"}
	}
	return nil
}

func schemaFault(path, text string) error {
	return &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeSchema, Path: path, Text: text}
}

// number reads a count that may be written as a number or as text.
func number(raw json.RawMessage, found bool) *int64 {
	var n json.Number
	if !found || json.Unmarshal(bytes.Trim(raw, `"`), &n) != nil {
		return nil
	}
	v, err := n.Int64()
	if err != nil {
		return nil
	}
	return &v
}

// tree decodes an item without touching its numbers.
func tree(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one value")
	}
	return v, nil
}
