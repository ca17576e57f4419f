package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"patra"
	"patra/internal/rawxml"
)

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

// xmlCutter takes elements out of a document: each as it was sent, what was sent around them, and the prefixes declared
// there.
type xmlCutter struct {
	doc      *xmlDocument
	sent     bool // the rest is what was sent, and not as it is walked
	which    []elementPath
	pieces   [][]byte
	nodes    []rawxml.Node // the same
	rest     []byte
	kept     int // the place up to which the rest was kept
	declared map[string]string
}

// page cuts a whole page, of which only the root is kept.
func (c *xmlCutter) page() {
	from, to := c.doc.Span(rawxml.Root)
	c.kept = from
	c.inside(rawxml.Root, 1)
	c.rest = append(c.rest, c.doc.text[c.kept:to]...)
}

// take takes an element out.
func (c *xmlCutter) take(n rawxml.Node) {
	d := c.doc
	from, to := d.Span(n)
	begin, end := d.place(from), d.place(to)
	c.pieces, c.nodes = append(c.pieces, d.sent[begin:end]), append(c.nodes, n)
	if c.sent {
		c.rest, c.kept = append(c.rest, d.sent[c.kept:begin]...), end
	} else {
		c.rest, c.kept = append(c.rest, d.text[c.kept:from]...), to
	}
}

// inside looks at an element, and goes on inside it unless it is taken out.
func (c *xmlCutter) inside(n rawxml.Node, depth int) {
	d, first := c.doc, c.doc.First(n)
	for a := n + 1; a < first; a++ {
		if string(d.Prefix(a)) == "xmlns" {
			c.declare(string(d.Local(a)), d.Text(a))
		}
	}
	meant := func(p elementPath) bool { return p.at(&d.Doc, n, depth) }
	if d.Kind(n) == rawxml.Broken || slices.ContainsFunc(c.which, meant) {
		c.take(n)
		return
	}
	for at := first; at < d.End(n); at = d.End(at) {
		if k := d.Kind(at); k == rawxml.Element || k == rawxml.Broken {
			c.inside(at, depth+1)
		}
	}
}

// declare notes a prefix that an element declares.
func (c *xmlCutter) declare(prefix, means string) {
	if strings.ContainsAny(means, `<>&"`) {
		return
	}
	if c.declared == nil {
		c.declared = map[string]string{}
	}
	c.declared[prefix] = means
}

// declarations are prefixes as they stand in a tag.
func declarations(declared map[string]string) string {
	var b strings.Builder
	for _, prefix := range slices.Sorted(maps.Keys(declared)) {
		fmt.Fprintf(&b, " xmlns:%s=%q", prefix, declared[prefix])
	}
	return b.String()
}

// xmlSplitter reads a document with item elements.
type xmlSplitter struct {
	text   string
	items  []elementPath
	strict bool // what would have to be repaired is refused
}

// isItem reports whether an element is an item, and may be left out where it is broken.
func (x xmlSplitter) isItem(d *rawxml.Doc, n rawxml.Node, depth int) bool {
	return slices.ContainsFunc(x.items, func(p elementPath) bool { return p.at(d, n, depth) })
}

func (x xmlSplitter) split(body []byte) (got parts, err error) {
	d := xmlDocuments.get()
	defer func() {
		if got.walked == nil {
			release(d)
		}
	}()
	repairs, err := d.read(body, x)
	if err != nil {
		return parts{}, notXML(body, err)
	}
	c := xmlCutter{doc: d, which: x.items}
	c.page()
	around, err := openAround(c.rest)
	if err != nil {
		return parts{}, notXML(body, err)
	}
	if root := d.Local(rawxml.Root); strings.EqualFold(string(root), "html") {
		return parts{}, webPage()
	}
	if len(c.pieces) == 0 && !x.hasParent(d) {
		return parts{around: around}, schemaFault(x.text, "the answer has no such place for items")
	}
	got = parts{around: around, repairs: repairs, walked: &parsedPage{xml: d, elements: c.nodes}}
	got.items, got.apart = complete(c.pieces, prefixesOf(declarations(c.declared)), got.walked)
	return got, nil
}

// hasParent tells an empty list from an answer that has no list at all, where the path says what stands around the
// items.
func (x xmlSplitter) hasParent(d *xmlDocument) bool {
	var parents []elementPath
	for _, p := range x.items {
		if len(p.names) == 1 {
			return true
		}
		parents = append(parents, elementPath{p.anywhere, p.names[:len(p.names)-1]})
	}
	c := xmlCutter{doc: d, which: parents}
	c.page()
	return len(c.pieces) > 0
}

// xmlOpener reads one XML item.
type xmlOpener struct{ volatile []elementPath }

func (xmlOpener) open(item []byte) (any, error) {
	d, err := openXML(item)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// hash identifies an item by its bytes as they were sent, without what changes by itself. What is repaired to be read
// is not in it.
func (x xmlOpener) hash(item []byte, doc any) (string, error) {
	if len(x.volatile) == 0 {
		return patra.HashBytes(item), nil
	}
	d := doc.(*xmlDocument)
	if from, to := d.span(); to-from != len(item) { // it was completed, and there is more in it than in its page
		alone, err := openXML(item)
		if err != nil {
			return "", err
		}
		defer release(alone)
		d = alone
	}
	from, to := d.span()
	c := xmlCutter{doc: d, sent: true, which: x.volatile, rest: d.room[:0], kept: from}
	c.inside(d.Top(), 1)
	d.room = append(c.rest, d.sent[c.kept:to]...)
	return patra.HashBytes(d.room), nil
}
