package rawxml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plain are documents that are read, and must be.
var plain = []string{
	`<a/>`, `<a></a>`, "<a>\n x</a>\n", `<?xml version="1.0" encoding="UTF-8"?><a/>`, "\ufeff<?xml version='1.0'?>\n<a/>",
	`<!DOCTYPE a "[<" ><a/>`, `<?xml version="1.0" ?>` + "\n" + `<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://example.org/x.dtd"><a b='"1"' c = "x&amp;&#233;&#xe9;"/><!-- c --><?x y?>`,
	"<a>x\r\ny\rz&#13;&lt;&gt;&quot;&apos;\u00e9\u4e2d</a>", "<a><![CDATA[<b>&amp;]] \r\n]]></a>", `<a><!-- c - c --><?p  q="1" ?>t</a>`,
	`<a xmlns="u" xmlns:p="v"><p:b p:c="1" xml:lang="en" d="2"/><b xmlns="w"/></a>`, `<r:a xmlns:r="u"><r:b xmlns:r="u"/></r:a>`,
	"<a b='\t\n'/>", `<a>]] ></a>`, `<A-b.c_1><d/></A-b.c_1 >`, `<?xml version="1.0" encoding='utf-8' standalone="yes"?><a/>`, "<a>\u007f\U0001F600</a>",
	` <?xml version="1.0"?><a/>`, `<a><?xml version="1.0"?></a>`, `<p:a/>`, `<a p:b="1"/>`, `<a xmlns:p="u" xmlns:q="u"/>`, `<a><b xmlns:p="u"/><b xmlns:p="v"/></a>`, `<a xmlns:p=""/>`, `<a xmlns:xml="u"/>`, `<é/>`, `<a>![CDATA[x</a>`, `<a b="1"c="2"/>`,
	strings.Repeat("<a>", 200) + strings.Repeat("</a>", 200),
}

// strange are documents that are refused, and why.
var strange = map[string]Reason{
	``: Empty, ` `: Empty, `<a`: CutOff, `<a>`: CutOff, `<a b="`: CutOff, `<a><!--`: CutOff, `<a><![CDATA[`: CutOff, `<a><?x`: CutOff, `<a>x`: CutOff, `<a></a`: CutOff, `<a><`: CutOff, `</a>`: BadTag, `<a/><b/>`: TwoRoots, `<a/>x`: Outside, `x<a/>`: Outside, `<a></b>`: BadEnd, `<a b=1/>`: BadTag, `<a b/>`: BadTag, `<a b="<"/>`: BadTag,
	`<a>]]></a>`: BadText, `<a>&nbsp;</a>`: BadText, `<a>&#0;</a>`: BadText, `<a>&#xD800;</a>`: BadText, `<a>&amp</a>`: BadText, "<a>\x01</a>": BadText, "<a>\xff</a>": BadText, "<a b='\xc3'/>": BadText, "<a>\uffff</a>": BadText, "<a><![CDATA[\ufffe]]></a>": BadText, `<a><!-- -- --></a>`: BadText,
	`<!DOCTYPE a [<!ENTITY b "c">]><a/>`: Declares, `<!DOCTYPE a "[" [<!ENTITY b "c">]><a/>`: Declares, `<!DOCTYPE><a/>`: Declares, `<!DOCTYPE ><a/>`: Declares, `<!ENTITY b "c"><a/>`: Declares, `<a><!DOCTYPE b></a>`: BadTag, `<a:b:c/>`: BadTag, `<1/>`: BadTag, `<a:/>`: BadTag, `<:a/>`: BadTag, `<a/ >`: BadTag, `<a><![cdata[x]]></a>`: BadTag, `<![CDATA[x]]><a/>`: Declares,
	"\u00a0<a/>": Outside, strings.Repeat("<a>", 201) + strings.Repeat("</a>", 201): TooDeep,
}

// former is what the standard library says of a text, with what has always been asked of an answer beside that.
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

// said writes down what the standard library finds in a text, in order.
func said(text []byte) string {
	var b strings.Builder
	dec := xml.NewDecoder(bytes.NewReader(text))
	depth := 0
	for {
		token, _ := dec.RawToken()
		switch t := token.(type) {
		case nil:
			return b.String()
		case xml.StartElement:
			depth++
			fmt.Fprintf(&b, "<%s:%s", t.Name.Space, t.Name.Local)
			for _, a := range t.Attr {
				fmt.Fprintf(&b, " %s:%s=%q", a.Name.Space, a.Name.Local, a.Value)
			}
			b.WriteString(">")
		case xml.EndElement:
			depth--
			b.WriteString("</>")
		case xml.CharData:
			if depth > 0 {
				fmt.Fprintf(&b, "%q", t)
			}
		}
	}
}

// said writes down the same from the bytes.
func (d *Doc) said(b *strings.Builder, n Node) {
	switch d.Kind(n) {
	case Element:
		fmt.Fprintf(b, "<%s:%s", d.Prefix(n), d.Local(n))
		for a := n + 1; a < d.First(n); a++ {
			fmt.Fprintf(b, " %s:%s=%q", d.Prefix(a), d.Local(a), d.Text(a))
			if d.Parent(a) != n || !d.Says(a, d.Text(a)) || !d.Named(a, string(d.Prefix(a)), string(d.Local(a))) {
				panic("an attribute that is another")
			}
		}
		b.WriteString(">")
		for c := d.First(n); c < d.End(n); c = d.End(c) {
			if d.Parent(c) != n {
				panic("a child of others")
			}
			d.said(b, c)
		}
		b.WriteString("</>")
	case Text, CDATA:
		fmt.Fprintf(b, "%q", d.Text(n))
	}
}

// beyond reports whether a text has something that only we read: the standard library knows which letters a name may have, and
// refuses versions, charsets and names that say more than we ask.
func beyond(text []byte) bool {
	return bytes.Contains(text, []byte("<?")) || bytes.Contains(text, []byte("<!DOCTYPE")) || slices.ContainsFunc(text, func(c byte) bool { return c >= 0x80 })
}

// compare reads a text in both ways, and reports whether it was read here.
func compare(t interface{ Fatalf(string, ...any) }, text []byte) bool {
	var d Doc
	elements, err := former(text)
	if d.Reset(text) != nil {
		return false
	}
	if err != nil {
		if !beyond(text) {
			t.Fatalf("%q is read, and was refused: %v", text, err)
		}
		return true
	}
	if got := d.elements(); fmt.Sprint(got) != fmt.Sprint(elements) {
		t.Fatalf("%q has the elements\n%v and not\n%v", text, got, elements)
	}
	var got strings.Builder
	d.said(&got, Root)
	if want := said(text); strings.ReplaceAll(got.String(), `""`, "") != strings.ReplaceAll(want, `""`, "") {
		t.Fatalf("%q is read as\n%s and not\n%s", text, &got, want)
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

func TestStrangeDocumentsAreRefused(t *testing.T) {
	for text, why := range strange {
		var d Doc
		err, ok := errors.AsType[*Error](d.Reset([]byte(text)))
		if !ok || err.Reason != why || err.Error() == "" {
			t.Errorf("%s is refused with %+v and not for %d", text, err, why)
		}
		compare(t, []byte(text))
	}
}

// Also when a document was used for another text before.
func TestNothingIsLeftOfAFormerText(t *testing.T) {
	var d Doc
	for _, text := range append(slices.Collect(maps.Keys(strange)), plain...) {
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
	for _, text := range append(slices.Collect(maps.Keys(strange)), plain...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { compare(t, text) })
}
