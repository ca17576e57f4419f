package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patra"
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

// What is shipped is written in our subset.
func TestShippedPathsAreOfTheSubset(t *testing.T) {
	if all := itemPaths(t); len(all) < 40 {
		t.Errorf("only %d paths", len(all))
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

// A path is read as it is defined, and finds what stands there.
func TestAnXPathFinds(t *testing.T) {
	doc, err := openXML([]byte(`<r xmlns:p="u" a="x" p:a="y"><b a="1"/> <b a="2">x <c>y</c></b><?b q?><a><b a="3"/><a><b a="4"/></a></a><p:t xml:lang="en">one</p:t><t lang="de">zwei <i>drei</i></t><t/>` +
		`<d><![CDATA[ <raw> ]]></d><e>f<!-- g -->g</e><n>10.1/x</n><n>http://n</n><é>ü</é></r>`))
	if err != nil {
		t.Fatal(err)
	}
	defer release(doc)
	for text, want := range map[string]string{
		"b": "|x y", "b/@a": "1|2", "@a | @p:a": "x|y", "@p:a | @a": "y|x", "@a | @a": "x", "//b/@a": "1|2|3|4", "//a//b/@a": "3|4", "//b | b": "|x y||", "b[2]": "x y", "*[3]/b/@a": "3", "b[@a='2']/c": "y", "b[c]/@a": "2", "b[c='y']/@a": "2",
		"b[c!='y']/@a": "", "b[not(c)]/@a": "1", "b[@a='1' or c]/@a": "1|2", "b[@a='2' and c]/@a": "2", "b[@a][1]/@a": "1", "b[starts-with(., 'x')]/@a": "2", "p:t": "one", "t": "zwei drei|", "*[local-name()='t']": "one|zwei drei|", "*[local-name()!='t'][1]/@a": "1",
		"t/text()": "zwei", "d": "<raw>", "d/text()": "<raw>", "normalize-space(d/text())": "<raw>", "e": "fg", "e/text()": "f|g", "concat(b[1]/@a, '-', p:t)": "1-one", "concat(x, b[c]/@a, n[contains(., 'http')])": "2http://n", "string-join(b/@a, ', ')": "1, 2", "string(t)": "zwei drei",
		"substring-after(n, '/')": "x", "substring-before(n, '/')": "10.1", "replace(n, '^10[.]', '')": "1/x", "not(x)": "true", "not(b)": "false", "self::r/@a": "x", "self::x": "", ".": "x yonezwei drei <raw> fg10.1/xhttp://nü", "./b/@a": "1|2", "/b/@a": "1|2", "é": "ü", "b[ancestor::r]/@a": "1|2",
		"n[ends-with(., 'n')]": "http://n", "n[starts-with(., '10.') or contains(., 'doi')][1]": "10.1/x", "x": "", "t[@lang='de']/i": "drei", `n[.="http://n"]`: "http://n", "*/i": "drei", "//c/text()": "y",
	} {
		p, err := parseXPath(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var all []string
		for _, v := range p.find(doc) {
			said, _ := textOf(plain(v))
			all = append(all, said)
		}
		if got := strings.Join(all, "|"); got != want && got != strings.TrimSpace(want) {
			t.Errorf("%s finds %q and not %q", text, got, want)
		}
	}
}

func shown(values []any) (text string) {
	for _, v := range values {
		is, _ := textOf(v)
		text += fmt.Sprintf("%T %q; ", v, is)
	}
	return text
}

// What is beyond the subset is refused with the nearest form.
func TestAnXPathBeyondTheSubsetIsRefused(t *testing.T) {
	for text, hint := range map[string]string{
		"": "empty", "..": "further out", "b/..": "further out", "b/parent::a": "further out", "following::b": "with a condition", "b/following-sibling::c": "with a condition", "descendant::b": "write //", "node()": "write *", "@*": "name the attribute", "b/@*": "name the attribute", "b[@*]": "name the attribute", "@xmlns:p": "another attribute", "p:*": "p:title",
		"count(b)": "path | count", "b[last()]": "path | last", "b[position()=1]": "author[1]", "lower-case(b)": "path | lower", "translate(b, 'x', 'y')": "replace('x', 'y')", "concta(a, b)": "did you mean concat?", "b[contain(., 'x')]": "did you mean contains?", "sum(b)": "known are concat", "name()": "local-name()",
		"(a | b)[1]": "write each path out", "b[(a)]": "write each path out", "b[@a > 1]": "compare with = and !=", "a + b": "compare with = and !=", "$x": "the path itself", "//b[1]": "path | first", "b[1][@a]": "[condition][1]", "b[a[c]]": "[a and b]", "b[//a]": "cannot stand in a condition", "b[0]": "[1] for the first",
		"@a[.='x']": "on its element", "text()[1]": "on its element", "@a/b": "end the path", "'x'": "what is meant", "b[": "ends too early", "b]": "brackets and quotes", "b[a='x]": "close them", "b[a=c]": "compared with texts", "concat(a)": "concat(path, 'text', path)", "replace(a, '[', '')": "RE2", "string-join(a)": "string-join(path, 'text')", ".[b]": "self::*",
		"a b": "names with /", "a//": "too early", "a/": "too early", "//@a": "//name/@attribute", "b and c": "names with /",
	} {
		_, err := parseXPath(text)
		if err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%q: %v should say %q", text, err, hint)
		}
	}
}

// Whatever is written, it is a path or it is refused; it never makes the program stop.
func FuzzXPath(f *testing.F) {
	for _, text := range []string{"a/b[@c='d'][1] | //e", "concat(a, '-', b)", "replace(a, '(x)', '$1')", "b[not(a) and local-name()='b' or starts-with(., 'x')]/@c", "normalize-space(//*[local-name()='t'])", "self::a/text()", "a[ancestor::b]"} {
		f.Add(text)
	}
	doc, err := openXML([]byte(`<r><a c="d">x<b>y</b></a><e/></r>`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := parseXPath(text); err == nil {
			p.find(doc)
		}
	})
}
