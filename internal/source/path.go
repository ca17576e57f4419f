package source

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"patra/internal/rawjson"
)

// path finds values in a document: an RFC 9535 JSONPath in JSON, an XPath of our subset in XML.
type path struct {
	text  string
	json  *jsonpath.Path
	walk  *walk      // the same for the bytes of an item, if it can be followed there
	xpath *xpathExpr // nil in JSON
}

func parsePath(format, text string) (path, error) {
	if format == formatXML {
		return parseXPath(text)
	}
	p, err := jsonpath.Parse(text)
	if err != nil {
		return path{}, fmt.Errorf("%s is not a JSONPath: %w", strconv.Quote(text), err)
	}
	return path{text: text, json: p, walk: walkOf(p)}, nil
}

// many reports whether the path may select several values.
func (p path) many() bool { return p.json != nil && p.json.Query().Singular() == nil }

// find gives everything that the path selects below a node.
func (p path) find(node any) []any { return p.look(node, false) }

// parts is find for whoever looks on inside what is found: what has an inside is left where it stands.
func (p path) parts(node any) []any { return p.look(node, true) }

func (p path) look(node any, nodes bool) []any {
	if p.json != nil {
		return p.inJSON(node, nodes)
	}
	switch n := node.(type) {
	case *xmlDocument:
		return p.xpath.find(n, n.Top())
	case *xmlNode:
		return p.xpath.find(n.doc, n.at)
	}
	return nil
}

func (p path) inJSON(node any, nodes bool) []any {
	switch n := node.(type) {
	case *document:
		if p.walk == nil {
			return p.json.Select(n.tree())
		}
		return p.walk.follow(n.root, 0, nil, nodes)
	case rawjson.Node:
		if p.walk == nil {
			return p.json.Select(n.Value())
		}
		return p.walk.follow(n, 0, nil, nodes)
	}
	return p.json.Select(node)
}

// nodes is find for a JSON item whose path can be followed to its end in the bytes; not ok if that is not so. What is found
// is valid until the next question.
func (p path) nodes(doc any) (found []rawjson.Node, ok bool) {
	d, is := doc.(*document)
	if !is || p.walk == nil {
		return nil, false
	}
	d.found, ok = p.walk.nodes(d.root, d.found[:0])
	return d.found, ok
}

// textOf is a scalar as text. An XML element is all the text inside it, mixed content included.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case *xmlNode:
		return v.text(), true
	}
	return "", false
}

// namePath is a path of member names.
type namePath []string

func parseNamePath(text string) (namePath, error) {
	p, err := parsePath(formatJSON, text)
	if err != nil {
		return nil, err
	}
	names := namePath{}
	for _, seg := range p.json.Query().Segments() {
		sel := seg.Selectors()
		name, ok := sel[0].(spec.Name)
		if !ok || len(sel) != 1 || seg.IsDescendant() {
			return nil, fmt.Errorf("%s does not consist of member names only", strconv.Quote(text))
		}
		names = append(names, string(name))
	}
	return names, nil
}
