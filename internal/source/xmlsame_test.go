package source

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/rawjson"
	"patra/internal/rawxml"
	"patra/internal/sim"
	"patra/sources"
)

// xmlHash is the hash of an item as it is defined: its bytes, without the outermost elements that are volatile.
func xmlHash(item []byte, volatile []elementPath) (string, error) {
	if len(volatile) == 0 {
		return patra.HashBytes(item), nil
	}
	dec := xml.NewDecoder(bytes.NewReader(item))
	var open []string
	var rest []byte
	inside := 0
	for {
		from := dec.InputOffset()
		token, err := dec.Token()
		if token == nil {
			return patra.HashBytes(rest), map[bool]error{true: nil, false: err}[len(open) == 0]
		}
		start, begins := token.(xml.StartElement)
		if begins {
			if open = append(open, start.Name.Local); inside == 0 && anyFits(volatile, open) {
				inside = len(open)
			}
		}
		if inside == 0 {
			rest = append(rest, item[from:dec.InputOffset()]...)
		}
		if _, ends := token.(xml.EndElement); ends {
			if inside == len(open) {
				inside = 0
			}
			open = open[:len(open)-1]
		}
	}
}

func anyFits(paths []elementPath, open []string) bool {
	for _, p := range paths {
		text := "/" + strings.Join(open, "/")
		wanted := "/" + strings.Join(p.names, "/")
		if text == wanted || p.anywhere && strings.HasSuffix(text, wanted) {
			return true
		}
	}
	return false
}

// xmlPrograms are the shipped readers of XML.
func xmlPrograms(t *testing.T) (all []*Program) {
	t.Helper()
	for _, at := range [][2]string{{"pubmed", "fetch"}, {"oai", "records"}, {"arxiv-oai", "records"}, {"arxiv", "search"}, {"pmc-oai", "records"}} {
		f, err := Find(at[0], sources.Files)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Endpoint: at[1], Operation: patra.Harvest, Contact: "me@example.org"}
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
		all = append(all, p)
	}
	return all
}

// xmlPages are all answers in XML that there are here, and beside the project.
func xmlPages(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, dir := range []string{filepath.Join("..", "..", "sources", "testdata"), filepath.Join("..", "..", "..", "shared", "fixtures")} {
		err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(name, ".xml") {
				return nil //nolint:nilerr // there may be none
			}
			all[name], err = os.ReadFile(name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	from := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	provider := sim.New(sim.Config{Seed: 3, From: from, To: from.AddDate(0, 0, 1), PerDay: 40, Exact: true}).Handler()
	ask := func(address string) []byte {
		w := httptest.NewRecorder()
		provider.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
		return w.Body.Bytes()
	}
	var found struct{ ESearchResult struct{ IDList []string } }
	if err := json.Unmarshal(ask("/entrez/eutils/esearch.fcgi?db=pubmed&retmode=json&retmax=40&term=all[sb]"), &found); err != nil {
		t.Fatal(err)
	}
	all["simulated articles"] = ask("/entrez/eutils/efetch.fcgi?db=pubmed&retmode=xml&id=" + strings.Join(found.ESearchResult.IDList, ","))
	all["simulated list"] = ask("/oai?verb=ListRecords&metadataPrefix=oai_dc")
	return all
}

// Whatever providers have sent is cut and read as it is when it is taken apart with the standard library, and hashed as it is defined.
func TestPagesAreReadAsTheyWere(t *testing.T) {
	items, simulated := 0, 0
	for name, body := range xmlPages(t) {
		for _, p := range xmlPrograms(t) {
			which := p.splitter.(xmlSplitter).items
			want := piecesOf(t, body, which)
			page, _, err := p.open(200, body, "")
			if err != nil || len(page.Items) == 0 {
				if len(want) > 0 && err == nil {
					t.Errorf("%s: nothing is found by %s", name, p.Spec.Source)
				}
				continue
			}
			if len(page.Repairs) > 0 || len(want) != len(page.Items) {
				t.Fatalf("%s: %d items and not %d, repaired %v", name, len(page.Items), len(want), page.Repairs)
			}
			for i, raw := range page.Items {
				if !bytes.Contains(raw, want[i][bytes.IndexByte(want[i], '>'):]) {
					t.Fatalf("%s: item %d is\n%s and not\n%s", name, i, raw, want[i])
				}
				got, err := p.itemAt(&page, i, 1)
				alone, aloneErr := p.Item(raw, 1)
				hash, _ := xmlHash(raw, p.opener.(xmlOpener).volatile)
				if !reflect.DeepEqual(got, alone) || !reflect.DeepEqual(err, aloneErr) || err == nil && got.Hash != hash {
					t.Fatalf("%s: item %d is\n%+v, %v and alone\n%+v, %v, by definition %s", name, i, got, err, alone, aloneErr, hash)
				}
				if items++; strings.HasPrefix(name, "simulated") {
					simulated++
				}
			}
			page.walked.release()
		}
	}
	if items < 50 || simulated < 50 {
		t.Errorf("only %d items were compared, %d of simulated pages", items, simulated)
	}
}

// piecesOf takes the outermost elements that are meant out of a page, with the standard library.
func piecesOf(t *testing.T, body []byte, which []elementPath) (all [][]byte) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(body))
	var open []string
	inside, from := 0, int64(0)
	for {
		at := dec.InputOffset()
		token, err := dec.Token()
		if token == nil {
			if len(open) > 0 {
				t.Fatal(err)
			}
			return all
		}
		switch token := token.(type) {
		case xml.StartElement:
			if open = append(open, token.Name.Local); inside == 0 && anyFits(which, open) {
				inside, from = len(open), at
			}
		case xml.EndElement:
			if inside == len(open) {
				all = append(all, body[from:dec.InputOffset()])
				inside = 0
			}
			open = open[:len(open)-1]
		}
	}
}

var somePaths = []string{"/a/b", "//b", "//a/b", "/p:a", "//text", "//p:a | /b/a", "//c-d/a", "//a"}

// An item keeps its hash, also where it has to be repaired to be read: hashes are kept for years.
func TestAnXMLItemKeepsItsHash(t *testing.T) {
	changed := 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		drawElement(t, &b, 4)
		at := strings.IndexAny(b.String(), " />")
		declared := rapid.SampledFrom([]string{" xmlns:p='u'", " xmlns:p='u&amp;v'", " xmlns:p=\"u v\" xmlns='w'", " xmlns:q='é' xmlns:p='x'"}).Draw(t, "declared")
		raw := []byte(b.String()[:at] + declared + b.String()[at:] + rapid.SampledFrom([]string{"", "\n", "<!-- c -->"}).Draw(t, "behind"))
		which, err := parseElements(rapid.SampledFrom(somePaths).Draw(t, "which"))
		if err != nil {
			t.Fatal(err)
		}
		o := xmlOpener{which}
		hash := func(raw []byte) string {
			doc, err := o.open(raw)
			if err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			defer release(doc)
			got, err := o.hash(raw, doc)
			if err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			return got
		}
		clean := hash(raw)
		for i, p := range which { // the oracle has no prefixes
			for j, name := range p.names {
				which[i].names[j] = name[strings.IndexByte(name, ':')+1:]
			}
		}
		if want, _ := xmlHash(raw, which); clean != want {
			t.Fatalf("%s without %v has the hash %s and not %s", raw, which, clean, want)
		}
		if clean != patra.HashBytes(raw) {
			changed++
		}
		// Each vertical tab stands for a letter: the hash is that of the bytes without what is volatile.
		damaged, marked := bytes.ReplaceAll(raw, []byte(">x"), []byte(">\v")), bytes.ReplaceAll(raw, []byte(">x"), []byte(">X"))
		rest := restOf(t, o, marked)
		if got := hash(damaged); got != patra.HashBytes(bytes.ReplaceAll(rest, []byte(">X"), []byte(">\v"))) {
			t.Fatalf("%q has the hash %s", damaged, got)
		}
	})
	if changed == 0 {
		t.Error("nothing was ever volatile")
	}
}

// restOf is an item without what is volatile.
func restOf(t *rapid.T, o xmlOpener, raw []byte) []byte {
	doc, err := o.open(raw)
	if err != nil {
		t.Fatal(err)
	}
	d := doc.(*xmlDocument)
	defer release(d)
	c := xmlCutter{doc: d, sent: true, which: o.volatile}
	c.inside(rawxml.Root, 1)
	return append(c.rest, raw[c.kept:]...)
}

// formerItem is an item with the prefixes that were declared around it, as it is defined.
func formerItem(item []byte, prefixes string) []byte {
	if prefixes == "" {
		return item
	}
	end := bytes.IndexAny(item, " \t\r\n/>")
	tag, missing := item[:bytes.IndexByte(item, '>')], ""
	for decl := range strings.SplitSeq(strings.TrimSpace(prefixes), " ") {
		name, _, _ := strings.Cut(decl, "=")
		if bytes.Contains(item, []byte(strings.TrimPrefix(name, "xmlns:")+":")) && !bytes.Contains(tag, []byte(name+"=")) {
			missing += " " + decl
		}
	}
	return []byte(string(item[:end]) + missing + string(item[end:]))
}

// What an item is given is part of its hash. All items are one behind the other where one was given something.
func TestAnItemIsGivenThePrefixesItNeeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOf(rapid.SampledFrom([][]byte{[]byte("<a/>"), []byte("<p:a>x</p:a>"), []byte("<a b='1'><p:b/></a>"), []byte("<a xmlns:p='u'><p:b q:c='1'/></a>"), []byte("<q:a>p:</q:a>")})).Draw(t, "items")
		declared := map[string]string{}
		for _, p := range rapid.SliceOf(rapid.SampledFrom([]string{"p", "q", "xp"})).Draw(t, "prefixes") {
			declared[p] = rapid.SampledFrom([]string{"u", "a  b", "é", "a b"}).Draw(t, "means")
		}
		text := declarations(declared)
		got, apart := complete(items, prefixesOf(text), nil)
		var all []byte
		changed := false
		for i, item := range items {
			want := formerItem(item, text)
			if !bytes.Equal(got[i], want) {
				t.Fatalf("%s with %s is %s and not %s", item, text, got[i], want)
			}
			if span, ok := patra.SpanIn(apart, got[i]); apart != nil && (!ok || span.From != int64(len(all))) {
				t.Fatalf("%s is at %v of %s", want, span, apart)
			}
			all = append(all, want...)
			changed = changed || len(want) != len(item)
		}
		if changed != (apart != nil) || changed && !bytes.Equal(apart, all) {
			t.Fatalf("%s are together %q", all, apart)
		}
	})
}

// An item that was completed is what it is alone, also where it is read in its page, which does not have what it was given.
func TestACompletedItemIsReadInItsPage(t *testing.T) {
	p := *xmlPrograms(t)[0]
	p.splitter = xmlSplitter{text: "/r/item", items: []elementPath{{names: []string{"r", "item"}}}}
	p.fields = nil
	for _, text := range []string{"@a", "@m:d", "m:b", "*[local-name()='b'] | list", "n:b/@m:c", "self::*/@a | list", ". | markup", "b[@c]"} {
		m, err := parseMapping(formatXML, text)
		if err != nil {
			t.Fatal(text, err)
		}
		p.fields = append(p.fields, field{text, append(rawjson.AppendString(nil, text), ':'), m})
	}
	id, err := parseXPath("id")
	if err != nil {
		t.Fatal(err)
	}
	p.id = []path{id}
	p.updatedAt, p.deleted, p.retracted, p.merged, p.mergedFrom, p.mark, p.failures, p.total = nil, nil, nil, nil, nil, nil, nil, nil
	body := []byte(`<r xmlns="u" xmlns:m="v" xmlns:n="w"><item a="1" m:d="2"><id>1</id><m:b>x</m:b><b c="3">y</b></item> <item><id>2</id><t>0</t><n:b m:c="z"/></item> <item><id>3</id></item>` +
		` <item><id>4</id><m:b xmlns:m="v"/></item> <item><id>5</id><m:b xmlns:m="other"/></item> <item xmlns:m="v"><id>6</id><m:b/><t/></item> <item><id>7</id><o:b/></item></r>`)
	for _, volatile := range [][]elementPath{nil, {{anywhere: true, names: []string{"t"}}}} {
		p.opener = xmlOpener{volatile}
		page, around, err := p.open(200, body, "")
		if err != nil || around == nil {
			t.Fatal(err)
		}
		inPage := 0
		for i, raw := range page.Items {
			if page.walked.elements[i] != rawxml.Root {
				inPage++
			}
			want, wantErr := p.Item(raw, 1)
			if got, err := p.itemAt(&page, i, 1); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr) {
				t.Errorf("%s is in its page %s, hash %s, %v and alone\n%s, hash %s, %v", raw, got.Fields, got.Hash, err, want.Fields, want.Hash, wantErr)
			}
		}
		if inPage != len(page.Items) {
			t.Errorf("%d of %d items are read in their page", inPage, len(page.Items))
		}
		page.walked.release()
	}
}

// Markup is what stands between the tags of an element, whatever its own tag has.
func TestMarkupIsWhatStandsThere(t *testing.T) {
	for item, want := range map[string]string{
		`<r><t>H<sub>2</sub>O &amp; more</t></r>`: "H<sub>2</sub>O &amp; more", `<r><t a="x>y" b='/>'>z</t></r>`: "z", `<r><t/></r>`: "", `<r><t a=">"/></r>`: "",
		`<r><t><![CDATA[<b>]]></t ></r>`: "<![CDATA[<b>]]>", `<r><t >a<t>b</t></t></r>`: "a<t>b</t>", "<r><t>a\vb&nbsp;</t></r>": "a\ufffdb\u00a0",
	} {
		m, err := parseMapping(formatXML, "t | markup")
		if err != nil {
			t.Fatal(err)
		}
		doc, err := openXML([]byte(item))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.read(doc); err != nil || got != want {
			t.Errorf("%s has inside %q, %v and not %q", item, got, err, want)
		}
		release(doc)
	}
}

func TestCollapseIsThatOfWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", " ", "  ", "\t", "\n", "\u00a0", "\u0085", "\xa0", "\x1c", "\u2003", "\v", "word", "six of", "\u3000", "\u1680", "\xe2", "\xe2\x80", "\xc2", "中"})).Draw(t, "parts"), "")
		if got, want := collapse(s), strings.Join(strings.Fields(s), " "); got != want {
			t.Fatalf("%q becomes %q and not %q", s, got, want)
		}
	})
	for r := range unicode.MaxRune {
		for _, s := range []string{"a" + string(r) + "b", "seven by" + string(r) + "tes are more"} {
			if got, want := collapse(s), strings.Join(strings.Fields(s), " "); got != want {
				t.Fatalf("%q becomes %q and not %q", s, got, want)
			}
		}
	}
}

// An object of a mapping is written as the map that it stands for.
func TestAnObjectIsWrittenByName(t *testing.T) {
	m, err := parseMapping(formatJSON, "$.all[*] {b: $.x, a: $.y, b: $.z, c: $.l} | list")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openJSON([]byte(`{"all":[{"x":1,"y":"\u2028","z":2,"l":[]},{"x":1,"l":{"b":1,"a":null}},{}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer release(doc)
	v, err := m.read(doc)
	if err != nil {
		t.Fatal(err)
	}
	got, err := appendValue(nil, v)
	if want := `[{"a":"\u2028","b":2,"c":[]},{"b":1,"c":{"a":null,"b":1}},{}]`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if object, ok := asMap(v.([]any)[0]); !ok || len(object) != 3 {
		t.Errorf("%v", object)
	}
}

// Functions change what was found, and never the item that it was found in.
func TestAMappingLeavesItsItemAlone(t *testing.T) {
	for text, format := range map[string]string{
		"$.l[*] | lower | prefix('x')": formatJSON, "$..l[*] | lower": formatJSON, "$.l[?@ != $.x] | lower": formatJSON, "$.l.*.* | lower": formatJSON,
		"l | lower": formatXML, "l[2] | lower": formatXML, "l/@a | lower | list": formatXML,
	} {
		m, err := parseMapping(format, text)
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if format == formatXML {
			doc, err = openXML([]byte(`<r><l a="A">A</l><l a="B">B</l></r>`))
		} else {
			doc, err = openJSON([]byte(`{"x":"A","l":["A","B"]}`))
		}
		if err != nil {
			t.Fatal(err)
		}
		before := shown(m.path.find(doc))
		first, err := m.read(doc)
		text, _ := appendValue(nil, first)
		second, again := m.read(doc)
		if now, _ := appendValue(nil, second); !bytes.Equal(text, now) || !reflect.DeepEqual(err, again) || shown(m.path.find(doc)) != before {
			t.Errorf("%s was %s and is %s", m.path.text, text, now)
		}
		release(doc)
	}
}

// What is unusual is read like anything else: prefixes of the same meaning or of none, names beyond ASCII, tags without a space.
func TestAnUnusualItemIsRead(t *testing.T) {
	p := xmlPrograms(t)[1]
	for _, raw := range []string{
		`<record xmlns:a="u" xmlns:b="u"><header><identifier>1</identifier></header><metadata><a:dc><b:title>T</b:title></a:dc></metadata></record>`,
		`<record><header status="x"class="y"><identifier>1</identifier></header><metadata><dc><titre/><title>T</title></dc></metadata></record>`,
		`<record><header><identifier>1</identifier></header><metadata><é><title>T</title></é></metadata></record>`,
		`<p:record><header><identifier>1</identifier></header><metadata><q:dc><q:title>T</q:title></q:dc></metadata></p:record>`,
	} {
		o, err := p.Item([]byte(raw), 1)
		if err != nil || o.ID != "1" || string(o.Fields) != `{"title":"T"}` {
			t.Errorf("%s is read as %+v, %v", raw, o, err)
		}
	}
	for raw, id := range map[string]string{
		`<record><header>`: "", ``: "", `<record><header><identifier>1</identifier></header><b></c></record>`: "1", `<record><header><identifier>1</b></header></record>`: "",
	} {
		o, err := p.Item([]byte(raw), 1)
		if f := patra.AsFault(err); err == nil || f.Code != patra.CodeBrokenXML || f.Level != patra.LevelData || o.ID != id {
			t.Errorf("%q is read as %q, %v", raw, o.ID, err)
		}
	}
}
