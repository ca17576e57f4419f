package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/antchfx/xmlquery"
	"pgregory.net/rapid"

	"patra"
	"patra/internal/rawxml"
	"patra/sources"
)

// itemPaths are all XPaths that a shipped source reads items with.
func itemPaths(t *testing.T) map[string]*path {
	t.Helper()
	all := map[string]*path{}
	entries, err := sources.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".yaml") {
			continue
		}
		text, err := sources.Files.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		f, err := Load(e.Name(), text)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(f.Endpoints)) {
			if f.Endpoints[name].Response.Format == formatXML {
				pathsOf(t, f, name, all)
			}
		}
	}
	return all
}

func pathsOf(t *testing.T, f *File, endpoint string, all map[string]*path) {
	t.Helper()
	o := Options{Endpoint: endpoint, Operation: patra.Harvest, Contact: "me@example.org"}
	if _, asked := f.Parameters["baseUrl"]; asked {
		o.Parameters = map[string]string{"baseUrl": "https://example.org/oai"}
	}
	spec, err := Compile(f, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := spec.Compile()
	if err != nil {
		t.Fatal(err)
	}
	note := func(p *path) {
		if p != nil {
			all[p.text] = p
		}
	}
	for _, list := range [][]path{p.id, p.updatedAt} {
		for i := range list {
			note(&list[i])
		}
	}
	for _, one := range []*path{p.deleted, p.retracted, p.merged, p.mergedFrom, p.mark} {
		note(one)
	}
	var mappings []*mapping
	for _, f := range p.fields {
		mappings = append(mappings, f.from)
	}
	for _, n := range p.notices {
		note(&n.path)
		mappings = append(mappings, n.target)
	}
	for _, w := range p.watches {
		mappings = append(mappings, w.at)
	}
	for _, m := range mappings {
		if m == nil {
			continue
		}
		note(&m.path)
		for i := range m.object {
			note(&m.object[i].path)
		}
	}
}

// What is shipped is read where it stands.
func TestShippedPathsAreFollowedInTheBytes(t *testing.T) {
	all := itemPaths(t)
	if len(all) < 40 {
		t.Errorf("only %d paths", len(all))
	}
	for text, p := range all {
		if p.lookup == nil {
			t.Errorf("%s is left to the library", text)
		}
	}
}

// drawElement draws an element with few names, so that paths meet what is there.
func drawElement(t *rapid.T, b *strings.Builder, depth int) {
	name := rapid.SampledFrom([]string{"a", "a", "b", "b", "c-d", "p:a", "text"}).Draw(t, "name")
	b.WriteString("<" + name)
	for _, at := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "p:a", "xml:lang"}), 0, 3, rapid.ID).Draw(t, "attributes") {
		fmt.Fprintf(b, " %s='%s'", at, rapid.SampledFrom([]string{"", "x", "y", "x&amp;y", "\r\n"}).Draw(t, "value"))
	}
	if depth == 0 || rapid.IntRange(0, 5).Draw(t, "empty") == 0 {
		b.WriteString("/>")
		return
	}
	b.WriteString(">")
	for range rapid.IntRange(0, 4).Draw(t, "children") {
		if rapid.Bool().Draw(t, "element") {
			drawElement(t, b, depth-1)
		} else {
			b.WriteString(rapid.SampledFrom([]string{" ", "\n ", "x", "y", " x  y ", "x&lt;", "&#160;", "<![CDATA[x]]>", "<![CDATA[ ]]>", "<![CDATA[]]>", "<!-- c -->", "<?a x?>", "<?q?>", "\r\n", "é"}).Draw(t, "text"))
		}
	}
	b.WriteString("</" + name + ">")
}

func drawTest(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "a", "b", "*", "c-d", "p:a"}).Draw(t, "test")
}

func drawRelative(t *rapid.T) string {
	return rapid.SampledFrom([]string{"@a", "@b", "@p:a", "@xml:lang", "@*", ".", "a", "b", "*", "a/b", "a/@b", "*/*", "self::a", "self::*", "text()", "ancestor::a", "ancestor::b", "./a"}).Draw(t, "relative")
}

func drawCondition(t *rapid.T, depth int) string {
	text := rapid.SampledFrom([]string{"''", "'x'", `"y"`, "'x&y'", "'a'"}).Draw(t, "literal")
	kinds := 9
	if depth > 0 {
		kinds = 12
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "condition") {
	case 0, 1:
		return drawRelative(t)
	case 2, 3:
		return drawRelative(t) + "=" + text
	case 4:
		return drawRelative(t) + " != " + text
	case 5:
		return "local-name()=" + rapid.SampledFrom([]string{"'a'", "'b'", "'q'"}).Draw(t, "local")
	case 6:
		return "starts-with(" + drawRelative(t) + ", " + text + ")"
	case 7:
		return "contains(" + drawRelative(t) + ", " + text + ")"
	case 8:
		return "ends-with(" + drawRelative(t) + "," + text + ")"
	case 9:
		return "not(" + drawCondition(t, depth-1) + ")"
	case 10:
		return drawCondition(t, depth-1) + " or " + drawCondition(t, depth-1)
	}
	return drawCondition(t, depth-1) + " and " + drawCondition(t, depth-1)
}

func drawLocation(t *rapid.T) string {
	text := rapid.SampledFrom([]string{"", "", "", "", "/", "//", "./", ".//"}).Draw(t, "begin")
	for i := range rapid.IntRange(1, 4).Draw(t, "steps") {
		if i > 0 {
			text += rapid.SampledFrom([]string{"/", "/", "/", "//"}).Draw(t, "slash")
		}
		text += rapid.SampledFrom([]string{"", "", "", "", "", "self::", "child::"}).Draw(t, "axis") + drawTest(t)
		for range max(0, rapid.IntRange(-2, 2).Draw(t, "conditions")) {
			if rapid.IntRange(0, 4).Draw(t, "number") == 0 {
				text += rapid.SampledFrom([]string{"[1]", "[2]", "[ 3 ]"}).Draw(t, "position")
			} else {
				text += "[" + drawCondition(t, 2) + "]"
			}
		}
	}
	return text + rapid.SampledFrom([]string{"", "", "", "", "/@a", "/@*", "/@p:a", "/text()", "//text()", "/.", "/.."}).Draw(t, "end")
}

func drawXPath(t *rapid.T) string {
	text := drawLocation(t)
	switch rapid.IntRange(0, 12).Draw(t, "function") {
	case 0:
		return "normalize-space(" + text + ")"
	case 1:
		return "concat(" + text + ", '-', " + drawLocation(t) + ")"
	case 2:
		return "string-join(" + text + ",'; ')"
	case 3:
		return "not(" + text + ")"
	case 4:
		return "substring-after(normalize-space(" + text + "), 'x')"
	case 5:
		return "replace(" + text + ", '([xy])', '$1$1')"
	case 6:
		return "string(" + text + ")"
	case 7:
		return "substring-before(" + text + ", 'y')"
	case 8, 9:
		return text + " | " + drawLocation(t)
	case 10:
		return text + "|" + drawLocation(t) + " | " + drawLocation(t)
	}
	return text
}

// inBoth looks for the same in the bytes and in the tree, and reports how much was found.
func inBoth(t interface{ Fatalf(string, ...any) }, p path, raw []byte, in *xmlNode) int {
	got, want := p.find(in), p.inTree(in.tree())
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		if n, is := got[i].(*xmlNode); is {
			node, both := want[i].(*xmlquery.Node)
			same = both && n.tree() == node && n.text() == node.InnerText() && plain(n) == plain(node)
		} else {
			same = got[i] == want[i]
		}
	}
	if !same {
		t.Fatalf("%s in %s finds\n%s in the tree and\n%s in the bytes", p.text, raw, shown(want), shown(got))
	}
	return len(got)
}

func shown(values []any) (text string) {
	for _, v := range values {
		is, _ := textOf(v)
		text += fmt.Sprintf("%T %q; ", v, is)
	}
	return text
}

// What is rare is looked at on purpose.
func TestRarePathsFindTheSameInBytes(t *testing.T) {
	raw := []byte(`<a xmlns:p="u" a="x" p:a="x" b="y"><b a="1"/> <b a="1">x<c>y</c></b><a><b a="2"/><a><b a="3"/></a></a></a>`)
	doc := openXML(raw)
	defer release(doc)
	for text, found := range map[string]int{
		"@a | @p:a": 1, "@a | @b": 2, "b/@a | //@*": 0, "//a//b": 3, "//b | b": 4, "b | //b": 4, "b[2] | b": 2, "*[3]/b": 1, "@*": 0, "b/@*": 0, "@xmlns:p": 0, "b[@*]": 0, "//*[1]": 0, "b[@a][1]": 0,
		"concat(b[1], b[2])": 0, "normalize-space(b[2])": 1, "..": 0, "b[a or c]": 1, "b[(a)]": 0, "x:*": 0, "count(b)": 0, "b[text()='x']": 1, "string-join(//b/@a, ',')": 1,
	} {
		p, err := parseXPath(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if p.lookup == nil {
			if found != 0 {
				t.Errorf("%s is left to the library", text)
			}
			continue
		}
		if got := inBoth(t, p, raw, &xmlNode{doc, rawxml.Root}); got != found {
			t.Errorf("%s finds %d and not %d", text, got, found)
		}
	}
}

// A path finds in the bytes of an item what the library finds in a tree of it: the same nodes, in the same order, as often.
func TestAnXPathFindsTheSameInBytes(t *testing.T) {
	found, followed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		drawElement(t, &b, 4)
		at := strings.IndexAny(b.String(), " />")
		raw := []byte(b.String()[:at] + " xmlns:p='u'" + b.String()[at:])
		doc := openXML(raw)
		if doc == nil {
			t.Fatalf("%s is not read", raw)
		}
		defer release(doc)
		for range 20 {
			p, err := parseXPath(drawXPath(t))
			if err != nil || p.lookup == nil {
				continue
			}
			followed++
			in := &xmlNode{doc, rawxml.Root}
			found += inBoth(t, p, raw, in)
			if n := rawxml.Node(rapid.IntRange(0, doc.Len()-1).Draw(t, "inside")); doc.Kind(n) == rawxml.Element {
				in.at = n
				found += inBoth(t, p, raw, in)
			}
		}
	})
	if found == 0 || followed == 0 {
		t.Error("nothing was ever found")
	}
	t.Logf("%d paths were followed and found %d", followed, found)
}
