package source

import (
	"bytes"
	"errors"

	"patra"
	"patra/internal/rawxml"
)

// xmlDocument is an XML item or page: its text, walked once. What the paths of a source ask for is found in the bytes.
type xmlDocument struct {
	rawxml.Doc
	sent  []byte // the item, or its page, as it came, in UTF-8
	text  []byte // the same as it is walked, where something was repaired
	fixed rawxml.Repaired

	found  []rawxml.Node
	around []rawxml.Node // where the template of an object is filled in
	seen   []uint64
	room   []byte
	given  []any     // what was found, as others were given it
	parts  []xmlNode // and what that points to
}

// xmlNode is a part of an item.
type xmlNode struct {
	doc *xmlDocument
	at  rawxml.Node
}

var xmlDocuments pool[xmlDocument]

// read makes this the document of a page, and says what was repaired. A page that is well-formed is walked once.
func (d *xmlDocument) read(body []byte, x xmlSplitter) (patra.Repairs, error) {
	sent, err := rawxml.Decode(body)
	if err != nil {
		return nil, err
	}
	d.sent, d.text, d.fixed = sent, sent, rawxml.Repaired{}
	damage := d.Reset(sent)
	if damage == nil || x.strict {
		return nil, damage
	}
	d.fixed = rawxml.Repair(sent)
	d.text = d.fixed.Text
	if err := d.Salvage(d.text, x.isItem); err != nil {
		return nil, err
	}
	return patra.Repairs(d.fixed.Count(&d.Doc)), nil
}

// place is where something stands in what was sent.
func (d *xmlDocument) place(at int) int { return d.fixed.Sent(at) }

// openXML makes a document of an item, which stands alone. It is given back with release. An item that cannot be read
// gives a Fault.
func openXML(item []byte) (*xmlDocument, error) {
	d := xmlDocuments.get()
	if err := d.readItem(item); err != nil {
		release(d)
		return nil, brokenXML(err)
	}
	return d, nil
}

// readItem makes this the document of an item.
func (d *xmlDocument) readItem(item []byte) error {
	d.sent, d.text, d.fixed = item, item, rawxml.Repaired{}
	if d.Reset(item) == nil {
		return nil
	}
	d.fixed = rawxml.Repair(item)
	d.text = d.fixed.Text
	return d.Reset(d.text)
}

// openAround makes a document of what stands around the items of a page. A path from its root begins with the name of
// the root.
func openAround(rest []byte) (*xmlDocument, error) {
	text := make([]byte, 0, len(rest)+len("<_></_>"))
	text = append(append(append(text, "<_>"...), rest...), "</_>"...)
	d := &xmlDocument{sent: text, text: text}
	return d, d.Salvage(text, func(*rawxml.Doc, rawxml.Node, int) bool { return false })
}

// turn makes this the document of another item of its page.
func (d *xmlDocument) turn(n rawxml.Node) {
	d.Turn(n)
	clear(d.given)
	d.given, d.parts = d.given[:0], d.parts[:0]
}

// span is where the item stands in what was sent, with what stands around it if it stands alone.
func (d *xmlDocument) span() (from, to int) {
	if d.Top() == rawxml.Root {
		return 0, len(d.sent)
	}
	from, to = d.Span(d.Top())
	return d.place(from), d.place(to)
}

// values are nodes as others are given them, until release: attributes as text, the rest where it stands.
func (d *xmlDocument) values(found []rawxml.Node) []any {
	if len(found) == 0 {
		return nil
	}
	d.given, d.parts = roomFor(d.given, len(found)), roomFor(d.parts, len(found))
	from := len(d.given)
	for _, n := range found {
		if d.Kind(n) == rawxml.Attribute {
			d.given = append(d.given, d.Text(n))
			continue
		}
		d.parts = append(d.parts, xmlNode{d, n})
		d.given = append(d.given, &d.parts[len(d.parts)-1])
	}
	return d.given[from:len(d.given):len(d.given)]
}

// roomFor is a list with room for so many more, which does not move what is in use.
func roomFor[T any](list []T, more int) []T {
	if len(list)+more <= cap(list) {
		return list
	}
	return make([]T, 0, max(128, 2*more))
}

// text is all the text inside a part of an item.
func (n *xmlNode) text() string { return n.doc.Text(n.at) }

// markup is what stands inside a part of an item, with its tags.
func (n *xmlNode) markup() string { return string(n.doc.Inside(n.at)) }

// notXML says why a page cannot be read. Only one that ends too early is not whole.
func notXML(body []byte, err error) error {
	if isWebPage(body) {
		return webPage()
	}
	why, ok := errors.AsType[*rawxml.Error](err)
	if !ok {
		return err
	}
	switch why.Reason {
	case rawxml.Empty:
		return emptyBody()
	case rawxml.CutOff:
		return cutOff(why.Error())
	case rawxml.Declares:
		return badBody("DOCTYPE", "the document declares entities or elements of its own")
	case rawxml.TooDeep:
		return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeTooDeep, Text: "the body cannot be read: " + why.Error()}
	}
	return unreadable("the body is no XML: " + why.Error())
}

// unreadable is a body that is whole and is not what it should be, which may pass: the provider may send anything while
// it is mended.
func unreadable(text string) error {
	return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeUnreadable, Text: text}
}

// brokenXML says why an item cannot be read.
func brokenXML(err error) error {
	code := patra.CodeBrokenXML
	if why, ok := errors.AsType[*rawxml.Error](err); ok && why.Reason == rawxml.TooDeep {
		code = patra.CodeTooDeep
	}
	return dataFault(code, "", "the element is broken: "+err.Error())
}

// isWebPage reports whether a body begins as a web page does.
func isWebPage(body []byte) bool {
	head := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), 512)], "\xef\xbb\xbf \t\r\n"))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}
