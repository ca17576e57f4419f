package source

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/antchfx/xmlquery"

	"patra"
	"patra/internal/rawxml"
)

// maxDepth is how deep elements may nest. Real pages stay below 30.
const maxDepth = 200

// elementPath says which elements are meant: their names from the root on, or from any depth after a leading `//`.
type elementPath struct {
	anywhere bool
	names    []string
}

// parseElements reads `/feed/entry`, `//record`, or several of them with `|` between.
func parseElements(text string) (all []elementPath, err error) {
	for part := range strings.SplitSeq(text, "|") {
		part = strings.TrimSpace(part)
		var p elementPath
		rest, absolute := strings.CutPrefix(part, "/")
		if after, ok := strings.CutPrefix(rest, "/"); ok {
			p.anywhere, rest = true, after
		}
		if !absolute || rest == "" {
			return nil, fmt.Errorf("%q is not a path of elements; write /feed/entry or //record", part)
		}
		p.names = strings.Split(rest, "/")
		for _, name := range p.names {
			if name == "" || strings.ContainsAny(name, "[]()@*= '\"") {
				return nil, fmt.Errorf("%q does not consist of element names only", part)
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// at reports whether an element is meant that stands so deep in a document.
func (p elementPath) at(d *rawxml.Doc, n rawxml.Node, depth int) bool {
	if depth < len(p.names) || (!p.anywhere && depth != len(p.names)) {
		return false
	}
	for _, name := range slices.Backward(p.names) {
		if string(d.Local(n)) != name[strings.IndexByte(name, ':')+1:] {
			return false
		}
		n = d.Parent(n)
	}
	return true
}

// fits compares with the local names of the open elements. A prefix in the path is for the reader only.
func (p elementPath) fits(open []string) bool {
	if len(open) < len(p.names) || (!p.anywhere && len(open) != len(p.names)) {
		return false
	}
	for i, name := range p.names {
		local := name[strings.IndexByte(name, ':')+1:]
		if open[len(open)-len(p.names)+i] != local {
			return false
		}
	}
	return true
}

// cut takes elements out of an XML text: each as it was sent, the text without them, and the prefixes declared around.
func cut(body []byte, which []elementPath) (pieces [][]byte, rest []byte, prefixes string, err error) {
	pieces, rest, prefixes, walked, err := cutWalked(body, which)
	walked.release()
	return pieces, rest, prefixes, err
}

// cutWalked is cut for whoever wants to look at the elements afterwards, if they are such as can be looked at there.
func cutWalked(body []byte, which []elementPath) (pieces [][]byte, rest []byte, prefixes string, _ *parsedPage, err error) {
	d := xmlDocuments.get()
	if d.ResetNames(body) != nil {
		release(d)
		pieces, rest, prefixes, err = cutTokens(body, which)
		return pieces, rest, prefixes, nil, err
	}
	d.text = body
	c := xmlCutter{doc: &d.Doc, text: body, which: which}
	c.inside(rawxml.Root, 1)
	return c.pieces, append(c.rest, body[c.kept:]...), declarations(c.declared), &parsedPage{xml: d, elements: c.nodes}, nil
}

// xmlCutter is a document that is being cut.
type xmlCutter struct {
	doc      *rawxml.Doc
	text     []byte
	which    []elementPath
	pieces   [][]byte
	nodes    []rawxml.Node // the same
	rest     []byte
	kept     int // the place up to which the rest was kept
	declared map[string]string
}

// inside looks at an element, and goes on inside it unless it is taken out.
func (c *xmlCutter) inside(n rawxml.Node, depth int) {
	d, first := c.doc, c.doc.First(n)
	for a := n + 1; a < first; a++ {
		if string(d.Prefix(a)) == "xmlns" {
			c.declare(string(d.Local(a)), d.Text(a))
		}
	}
	for _, p := range c.which {
		if p.at(d, n, depth) {
			from, to := d.Span(n)
			c.pieces, c.nodes = append(c.pieces, c.text[from:to]), append(c.nodes, n)
			c.rest = append(c.rest, c.text[c.kept:from]...)
			c.kept = to
			return
		}
	}
	for at := first; at < d.End(n); at = d.End(at) {
		if d.Kind(at) == rawxml.Element {
			c.inside(at, depth+1)
		}
	}
}

func (c *xmlCutter) declare(prefix, means string) {
	if c.declared == nil {
		c.declared = map[string]string{}
	}
	declare(c.declared, []xml.Attr{{Name: xml.Name{Space: "xmlns", Local: prefix}, Value: means}})
}

// cutTokens is cut for a text that is wrong, or that is not as plain as most are: the standard library says what it is.
func cutTokens(body []byte, which []elementPath) (pieces [][]byte, rest []byte, prefixes string, err error) {
	dec := xml.NewDecoder(bytes.NewReader(body))
	var open []string
	declared := map[string]string{}
	kept, inside, begin, roots := 0, -1, 0, 0
	for {
		at := int(dec.InputOffset())
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, "", notWhole(err)
		}
		switch t := token.(type) {
		case xml.Directive:
			// The name of a grammar is harmless, and PubMed sends one: nothing is fetched. What declares something is refused.
			if !rawxml.NamesGrammar(t) {
				return nil, nil, "", badBody("DOCTYPE", "the document declares entities or elements of its own")
			}
		case xml.CharData:
			if len(open) == 0 && len(bytes.TrimSpace(t)) > 0 && !bytes.Equal(t, []byte("\ufeff")) {
				return nil, nil, "", notWhole(errors.New("there is text outside of the document"))
			}
		case xml.StartElement:
			if len(open) == 0 {
				roots++
			}
			open = append(open, t.Name.Local)
			if len(open) > maxDepth || roots > 1 {
				return nil, nil, "", notWhole(errors.New("the document has two roots or nests too deeply"))
			}
			if inside < 0 {
				declare(declared, t.Attr)
				for _, p := range which {
					if p.fits(open) {
						inside, begin = len(open), at
						break
					}
				}
			}
		case xml.EndElement:
			if inside == len(open) {
				end := int(dec.InputOffset())
				pieces = append(pieces, body[begin:end])
				rest = append(rest, body[kept:begin]...)
				kept, inside = end, -1
			}
			open = open[:len(open)-1]
		}
	}
	if roots == 0 {
		return nil, nil, "", &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeBadBody, Text: "the body is empty"}
	}
	return pieces, append(rest, body[kept:]...), declarations(declared), nil
}

// declarations are prefixes as they stand in a tag.
func declarations(declared map[string]string) string {
	var b strings.Builder
	for _, prefix := range slices.Sorted(maps.Keys(declared)) {
		fmt.Fprintf(&b, " xmlns:%s=%q", prefix, declared[prefix])
	}
	return b.String()
}

// declare notes the prefixes that an element declares.
func declare(into map[string]string, attrs []xml.Attr) {
	for _, a := range attrs {
		if a.Name.Space == "xmlns" && !strings.ContainsAny(a.Value, `<>&"`) {
			into[a.Name.Local] = a.Value
		}
	}
}

// xmlSplitter reads a document with item elements.
type xmlSplitter struct {
	text  string
	items []elementPath
}

func (x xmlSplitter) split(body []byte) (got parts, err error) {
	pieces, rest, prefixes, walked, err := cutWalked(body, x.items)
	defer func() {
		if got.walked == nil {
			walked.release()
		}
	}()
	if err != nil {
		return parts{}, err
	}
	around, err := xmlquery.Parse(bytes.NewReader(rest))
	if err != nil {
		return parts{}, notWhole(err)
	}
	if root := rootOf(around); root != nil && strings.EqualFold(root.Data, "html") {
		return parts{}, webPage()
	}
	if len(pieces) == 0 && !x.hasParent(rest) {
		return parts{around: around}, schemaFault(x.text, "the answer has no such place for items")
	}
	items, apart := complete(pieces, prefixesOf(prefixes), walked)
	return parts{items: items, apart: apart, around: around, walked: walked}, nil
}

// hasParent tells an empty list from an answer that has no list at all, where the path says what stands around the items.
func (x xmlSplitter) hasParent(rest []byte) bool {
	var parents []elementPath
	for _, p := range x.items {
		if len(p.names) == 1 {
			return true
		}
		parents = append(parents, elementPath{p.anywhere, p.names[:len(p.names)-1]})
	}
	found, _, _, err := cut(rest, parents)
	return err == nil && len(found) > 0
}

func rootOf(doc *xmlquery.Node) *xmlquery.Node {
	for n := doc.FirstChild; n != nil; n = n.NextSibling {
		if n.Type == xmlquery.ElementNode {
			return n
		}
	}
	return nil
}

// xmlOpener reads one XML item.
type xmlOpener struct{ volatile []elementPath }

func (xmlOpener) open(item []byte) (any, error) {
	if d := openXML(item); d != nil {
		return d, nil
	}
	root, err := treeOf(item)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, errors.New("the item is empty")
	}
	return root, nil
}

// hash identifies an item by its bytes, without what changes by itself.
func (x xmlOpener) hash(item []byte, doc any) (string, error) {
	if len(x.volatile) == 0 {
		return patra.HashBytes(item), nil
	}
	if d, ok := doc.(*xmlDocument); ok {
		if from, to := d.span(); to-from == len(item) { // else it was completed, and there is more in it than in its page
			c := xmlCutter{doc: &d.Doc, text: d.text[:to], which: x.volatile, rest: d.room[:0], kept: from}
			c.inside(d.Top(), 1)
			d.room = append(c.rest, c.text[c.kept:]...)
			return patra.HashBytes(d.room), nil
		}
	}
	_, rest, _, err := cut(item, x.volatile)
	return patra.HashBytes(rest), err
}
