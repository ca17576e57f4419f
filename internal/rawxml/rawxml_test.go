package rawxml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/antchfx/xmlquery"
	"pgregory.net/rapid"
)

// plain are documents that are read here, and must be.
var plain = []string{
	`<a/>`, `<a></a>`, "<a>\n x</a>\n", `<?xml version="1.0" encoding="UTF-8"?><a/>`, "\ufeff<?xml version='1.0'?>\n<a/>",
	`<!DOCTYPE a "[<" ><a/>`, `<?xml version="1.0" ?>` + "\n" + `<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://example.org/x.dtd"><a b='"1"' c = "x&amp;&#233;&#xe9;"/><!-- c --><?x y?>`,
	"<a>x\r\ny\rz&#13;&lt;&gt;&quot;&apos;\u00e9\u4e2d</a>", "<a><![CDATA[<b>&amp;]] \r\n]]></a>", `<a><!-- c - c --><?p  q="1" ?>t</a>`,
	`<a xmlns="u" xmlns:p="v"><p:b p:c="1" xml:lang="en" d="2"/><b xmlns="w"/></a>`, `<r:a xmlns:r="u"><r:b xmlns:r="u"/></r:a>`,
	"<a b='\t\n'/>", `<a>]] ></a>`, `<A-b.c_1><d/></A-b.c_1 >`, `<?xml version="1.0" encoding='utf-8' standalone="yes"?><a/>`, "<a>\u007f\U0001F600</a>",
}

// strange are documents that are wrong, or that others read.
var strange = []string{
	``, ` `, `<a`, `<a>`, `</a>`, `<a/><b/>`, `<a/>x`, `x<a/>`, `<a></b>`, `<a b=1/>`, `<a b/>`, `<a b="1"c="2"/>`, `<a b="<"/>`, `<a>]]></a>`, `<a>&nbsp;</a>`, `<a>&#0;</a>`, `<a>&#xD800;</a>`, `<a>&amp</a>`,
	"<a>\x01</a>", "<a>\xff</a>", "<a b='\xc3'/>", "<a>\uffff</a>", "<a><![CDATA[\ufffe]]></a>", `<!DOCTYPE a [<!ENTITY b "c">]><a/>`, `<!DOCTYPE a "[" [<!ENTITY b "c">]><a/>`, `<!DOCTYPE><a/>`, `<!DOCTYPE ><a/>`, `<!ENTITY b "c"><a/>`, `<a><!DOCTYPE b></a>`, `<a><!-- -- --></a>`, `<a><!--->`,
	`<?xml version="1.1"?><a/>`, `<?xml version="1.0" encoding="ISO-8859-1"?><a/>`, ` <?xml version="1.0"?><a/>`, `<a><?xml version="1.0"?></a>`, `<p:a/>`, `<a p:b="1"/>`, `<a xmlns:p="u" xmlns:q="u"/>`, `<a xmlns="u" xmlns:q="u"/>`,
	`<a><b xmlns:p="u"/><b xmlns:p="v"/></a>`, `<a xmlns:p=""/>`, `<a xmlns:p="xmlns" xmlns:q="1"/>`, `<a xmlns:xml="u"/>`, `<a><b xmlns:p="u"/><p:c/></a>`, `<a><b xmlns:p="u"></b><p:c/></a>`, `<a b:xmlns="u" xmlns:b="v"/>`, `<a:b:c/>`, `<é/>`, `<a>![CDATA[x</a>`,
	`<1/>`, `<a:/>`, `<:a/>`, `<a/ >`, `<![CDATA[x]]><a/>`, `<a><![cdata[x]]></a>`, "\ufeff\n<a/>", "\u00a0<a/>", strings.Repeat("<a>", 201) + strings.Repeat("</a>", 201), `<xmlns:a/>`, `<a xmlns:b="http://www.w3.org/XML/1998/namespace" b:c="1"/>`,
}

// former is what has always been asked of an answer.
func former(text []byte) (elements []string, err error) {
	dec := xml.NewDecoder(bytes.NewReader(text))
	var open []int
	roots := 0
	for {
		at := dec.InputOffset()
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.Directive:
			if !NamesGrammar(t) {
				return nil, errors.New("declares")
			}
		case xml.CharData:
			if len(open) == 0 && len(bytes.TrimSpace(t)) > 0 && !bytes.Equal(t, []byte("\ufeff")) {
				return nil, errors.New("text outside")
			}
		case xml.StartElement:
			if len(open) == 0 {
				roots++
			}
			open = append(open, len(elements))
			if len(open) > maxDepth || roots > 1 {
				return nil, errors.New("roots or depth")
			}
			elements = append(elements, fmt.Sprintf("%s %d", t.Name.Local, at))
		case xml.EndElement:
			elements[open[len(open)-1]] += fmt.Sprintf("-%d", dec.InputOffset())
			open = open[:len(open)-1]
		}
	}
	if roots == 0 {
		return nil, errors.New("empty")
	}
	return elements, nil
}

// elements are the same of a document that was read here.
func (d *Doc) elements() (all []string) {
	for n := range d.nodes {
		if at := Node(n); d.Kind(at) == Element {
			from, to := d.Span(at)
			all = append(all, fmt.Sprintf("%s %d-%d", d.Local(at), from, to))
		}
	}
	return all
}

// tree writes down a node and everything inside as the library sees it.
func tree(b *strings.Builder, n *xmlquery.Node) {
	fmt.Fprintf(b, "(%d %q %q", n.Type, n.Prefix, n.Data)
	if n.Type == xmlquery.ProcessingInstruction {
		fmt.Fprintf(b, " %q", n.ProcInst.Inst)
	} else {
		for _, a := range n.Attr {
			fmt.Fprintf(b, " %q:%q=%q", a.Name.Space, a.Name.Local, a.Value)
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		tree(b, c)
	}
	if n.Type == xmlquery.ElementNode {
		fmt.Fprintf(b, "=%q", n.InnerText())
	}
	b.WriteString(")")
}

// tree writes down the same from the bytes.
func (d *Doc) tree(b *strings.Builder, n Node) {
	switch d.Kind(n) {
	case Element:
		fmt.Fprintf(b, "(%d %q %q", xmlquery.ElementNode, d.Prefix(n), d.Local(n))
		for a := n + 1; a < d.First(n); a++ {
			fmt.Fprintf(b, " %q:%q=%q", d.Prefix(a), d.Local(a), d.Text(a))
			if d.Parent(a) != n || !d.Says(a, d.Text(a)) || !d.Named(a, string(d.Prefix(a)), string(d.Local(a))) {
				panic("an attribute that is another")
			}
		}
		for c := d.First(n); c < d.End(n); c = d.End(c) {
			if d.Parent(c) != n {
				panic("a child of others")
			}
			d.tree(b, c)
		}
		fmt.Fprintf(b, "=%q)", d.Text(n))
	case Text:
		fmt.Fprintf(b, "(%d %q %q)", xmlquery.TextNode, "", d.Text(n))
	case CDATA:
		fmt.Fprintf(b, "(%d %q %q)", xmlquery.CharDataNode, "", d.Text(n))
	case Comment:
		fmt.Fprintf(b, "(%d %q %q)", xmlquery.CommentNode, "", d.Bytes(n))
	case Instruction:
		fmt.Fprintf(b, "(%d %q %q %q)", xmlquery.ProcessingInstruction, "", d.Local(n), bytes.TrimSpace(d.Bytes(n)))
	}
}

// compare reads a text in both ways, and reports whether it was read here.
func compare(t interface{ Fatalf(string, ...any) }, text []byte) bool {
	var d Doc
	elements, err := former(text)
	if d.ResetNames(text) == nil {
		if err != nil {
			t.Fatalf("%q is read, and was refused: %v", text, err)
		}
		if got := d.elements(); fmt.Sprint(got) != fmt.Sprint(elements) {
			t.Fatalf("%q has the elements\n%v and not\n%v", text, got, elements)
		}
	}
	if d.Reset(text) != nil {
		return false
	}
	if err != nil {
		t.Fatalf("%q is read, and was refused: %v", text, err)
	}
	doc, err := xmlquery.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%q is read, and the library refuses it: %v", text, err)
	}
	root := doc.FirstChild
	for root.Type != xmlquery.ElementNode {
		root = root.NextSibling
	}
	var got, want strings.Builder
	d.tree(&got, Root)
	tree(&want, root)
	if got.String() != want.String() {
		t.Fatalf("%q is read as\n%s and not\n%s", text, &got, &want)
	}
	return true
}

func TestPlainDocumentsAreRead(t *testing.T) {
	for _, text := range plain {
		if !compare(t, []byte(text)) {
			t.Errorf("%s is not read", text)
		}
	}
}

// Texts are walked eight bytes at a time: whatever is special is so wherever it stands among them.
func TestSpecialBytesAreSeenEverywhere(t *testing.T) {
	for special, read := range map[string]bool{
		"<b/>": true, "&amp;": true, "]": true, "\r": true, "\t": true, "\n": true, "\u00e9": true, "\u6771\u96f2": true, "\ufb01": true, "\u007f": true, "'\"": true,
		"]]>": false, "\x01": false, "\x1f": false, "\xff": false, "\u6771\uffff": false, "&": false,
	} {
		for before := range 18 {
			for after := range 10 {
				text := "<a>" + strings.Repeat("x", before) + special + strings.Repeat("~", after) + "</a>"
				if compare(t, []byte(text)) != read {
					t.Errorf("%q: it should be %v that it is read", text, read)
				}
			}
		}
	}
}

func TestStrangeDocumentsAreLeftToOthers(t *testing.T) {
	for _, text := range strange {
		if compare(t, []byte(text)) {
			t.Errorf("%s is read", text)
		}
	}
}

// Also when a document was used for another text before.
func TestNothingIsLeftOfAFormerText(t *testing.T) {
	var d Doc
	for _, text := range append(append([]string{}, strange...), plain...) {
		before := d.Reset([]byte(text))
		var fresh Doc
		if after := fresh.Reset([]byte(text)); (before == nil) != (after == nil) || before == nil && fmt.Sprint(d.nodes) != fmt.Sprint(fresh.nodes) {
			t.Errorf("%s: %v and %v", text, before, after)
		}
	}
}

var pieces = []string{
	"<a>", "</a>", "<p:b>", "</p:b>", "<c/>", `<a x="1">`, `<a xmlns:p="u">`, `<b xmlns="u">`, "</b>", `<p:d p:y='&lt;'/>`, `<c xml:lang="e"/>`, "text", " ", "\r\n", "\r", "&amp;", "&#10;", "&#x1F600;", "&#13;", "]]", ">", "é", "\xe9", "\ufffe", "<![CDATA[", "]]>", "<!--", "-->", "-", "<?q r?>", "<?xml version='1.0'?>",
	"<!DOCTYPE a>", "\ufeff", `"`, "'", "=", "&", ";", "![CDATA[", "\x00", "<a  b = 'x&#xE9;\r\ny' >", `<d xmlns:p="u" xmlns:q="v"/>`, `<q:e xmlns:q="v"/>`, "<", "/", "\u00a0",
}

// A text that is read here is read as others read it, whatever it is made of.
func TestWhatIsReadIsReadAsOthersDo(t *testing.T) {
	read := 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		var open []string
		for range rapid.IntRange(1, 14).Draw(t, "pieces") {
			p := rapid.SampledFrom(pieces).Draw(t, "piece")
			if strings.HasPrefix(p, "</") && len(open) > 0 && rapid.IntRange(0, 9).Draw(t, "kind") > 0 { // most elements end as they began
				p, open = open[len(open)-1], open[:len(open)-1]
			} else if name, tag := strings.CutPrefix(p, "<"); tag && name != "" && strings.ContainsAny(name[:1], "abp") {
				open = append(open, "</"+name[:strings.IndexAny(name, " >")]+">")
			}
			b.WriteString(p)
		}
		for len(open) > 0 {
			b.WriteString(open[len(open)-1])
			open = open[:len(open)-1]
		}
		if compare(t, []byte(b.String())) {
			read++
		}
	})
	if read == 0 {
		t.Error("nothing was ever read")
	}
}

func FuzzXML(f *testing.F) {
	for _, text := range append(append([]string{}, plain...), strange...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { compare(t, text) })
}
