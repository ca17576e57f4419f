package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"patra"
	"patra/internal/source"
)

// damagedPage is a page as repositories send them, and what must come out of it: of each item its id and title, or why
// it is none and its id as far as that can be read.
type damagedPage struct {
	name, body string
	want       []string
	repairs    string // what is repaired
	fault      string // the page is refused, and this is why
}

// oaiDocument is a page of records.
func oaiDocument(declaration string, records ...string) string {
	return declaration + `<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>` + strings.Join(records, "\n") +
		`<resumptionToken completeListSize="17">abc</resumptionToken></ListRecords></OAI-PMH>`
}

const utf8Declared = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// oaiRecord is a record with a title, of which the time is no part of the hash.
func oaiRecord(id, title string) string {
	return `<record><header><identifier>` + id + `</identifier><datestamp>2026-05-01</datestamp></header><metadata><dc:dc xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>` +
		title + `</dc:title></dc:dc></metadata></record>`
}

// among is a page on which a record stands between others.
func among(record string) string {
	return oaiDocument(utf8Declared, oaiRecord("1", "One"), record, oaiRecord("3", "Three"))
}

func titled(title string) string { return among(oaiRecord("2", title)) }

// inUTF16 is a text in UTF-16.
func inUTF16(text string, big bool) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		if high, low := byte(unit>>8), byte(unit); big {
			b = append(b, high, low)
		} else {
			b = append(b, low, high)
		}
	}
	return string(b)
}

// around are the items of a page with one between two good ones.
func around(second string) []string { return []string{"1 One", second, "3 Three"} }

// mend is a page on which one record has a title that is repaired.
func mend(name, title, read, repairs string) damagedPage {
	return damagedPage{name: name, body: titled(title), want: around("2 " + read), repairs: repairs}
}

// spoil is a page on which one record is broken.
func spoil(name, record, aside string) damagedPage {
	return damagedPage{name: name, body: among(record), want: around(aside)}
}

// refuse is a page that is refused.
func refuse(name, body, fault string) damagedPage {
	return damagedPage{name: name, body: body, fault: fault}
}

// wholeRecord is the record that is damaged.
var wholeRecord = oaiRecord("2", "Two")

// mendedPages are well-formed after they were repaired.
func mendedPages() []damagedPage {
	whole := wholeRecord
	return []damagedPage{
		{name: "nothing is wrong", body: titled("Two"), want: around("2 Two")},

		mend("a vertical tab", "T\vwo", "T\ufffdwo", "1 forbidden character"),
		mend("many control characters", "\x00T\x01w\x08o\x1f", "\ufffdT\ufffdw\ufffdo\ufffd", "4 forbidden character"),
		mend("no character", "Tw\uffffo", "Tw\ufffdo", "1 forbidden character"),
		mend("a byte that is no text", "Tw\xe9o", "Tw\ufffdo", "1 invalid byte"),
		mend("half a surrogate pair in bytes", "T\xed\xa0\x80wo", "T\ufffd\ufffd\ufffdwo", "3 invalid byte"),
		mend("a control character by its number", "T&#x1F;w&#11;o", "T\ufffdw\ufffdo", "2 forbidden reference"),
		mend("half a surrogate pair by its number", "T&#xD800;&#0;wo", "T\ufffd\ufffdwo", "2 forbidden reference"),
		mend("entities of HTML", "T&nbsp;w&eacute;o&mdash;&Sigma;", "T\u00a0wéo—Σ", "4 html entity"),
		mend("an entity of HTML that XML would take for a tag", "T&LT;b&gt;wo", "T<b>wo", "1 html entity"),
		mend("a bare ampersand", "AT&T & co&", "AT&T & co&", "3 bare ampersand"),
		mend("an entity that nobody knows", "T&unknown;w&notit;o", "T&unknown;w&notit;o", "2 bare ampersand"),
		mend("a number without an end", "T&#65 wo", "T&#65 wo", "1 bare ampersand"),
		mend("a bare less-than", "p < 0.05 and x <= y", "p < 0.05 and x <= y", "2 bare less than"),
		mend("the end of a CDATA section in a text", "a]]>b", "a]]>b", "1 cdata end"),
		mend("a control character in a CDATA section", "<![CDATA[T\vw & o\xff]]>", "T\ufffdw & o\ufffd", "1 forbidden character, 1 invalid byte"),
		mend("a comment with dashes", "T<!-- a -- b -->wo", "Two", "1 comment dashes"),
		mend("an attribute with a bare ampersand", `<i a="x&y=&nbsp;\v">Two</i>`, "Two", "1 bare ampersand, 1 html entity"),
		{name: "a forbidden character in an id", body: among(oaiRecord("2\v", "Two")), want: around("BAD_TEXT "), repairs: "1 forbidden character"},
		{name: "a byte that is no text in an id", body: among(oaiRecord("2\xff", "Two")), want: around("BAD_TEXT "), repairs: "1 invalid byte"},

		{name: "lines before the declaration", body: "\r\n\n" + oaiDocument(utf8Declared, oaiRecord("1", "é")), want: []string{"1 é"}},
		{name: "a notice before the document", body: "Notice: undefined index in /var/www/oai.php\n" + oaiDocument(utf8Declared, oaiRecord("1", "One")) + "\x00", want: []string{"1 One"}, repairs: "1 forbidden character, 2 text outside"},
		{name: "a prefix that is not declared", body: among(strings.Replace(whole, ` xmlns:dc="http://purl.org/dc/elements/1.1/"`, "", 1)), want: around("2 Two")},
		{name: "an end tag of nothing", body: among(whole + "</p>"), want: around("2 Two"), repairs: "1 stray end tag"},
	}
}

// decodedPages are in other charsets, or say so.
func decodedPages() []damagedPage {
	return []damagedPage{
		{name: "ISO-8859-1", body: oaiDocument(`<?xml version="1.0" encoding="ISO-8859-1"?>`, oaiRecord("1", "caf\xe9"), oaiRecord("2", "\x93x\x94")), want: []string{"1 café", "2 “x”"}},
		{name: "windows-1252", body: oaiDocument(`<?xml version='1.0' encoding='windows-1252' ?>`, oaiRecord("1", "\x80uro")), want: []string{"1 €uro"}},
		{name: "ISO-8859-15", body: oaiDocument(`<?xml version="1.0" encoding="iso-8859-15"?>`, oaiRecord("1", "\xa4uro")), want: []string{"1 €uro"}},
		{name: "KOI8-R", body: oaiDocument(`<?xml version="1.0" encoding="KOI8-R"?>`, oaiRecord("1", "\xed\xc9\xd2")), want: []string{"1 Мир"}},
		{name: "GB18030 with a byte that is none", body: oaiDocument(`<?xml version="1.0" encoding="GB18030"?>`, oaiRecord("1", "\xd6\xd0\xff")), want: []string{"1 中\ufffd"}, repairs: "1 invalid byte"},
		{name: "US-ASCII that is none", body: oaiDocument(`<?xml version="1.0" encoding="US-ASCII"?>`, oaiRecord("1", "caf\xe9")), want: []string{"1 café"}},
		{name: "UTF-16, the lower byte first", body: inUTF16(oaiDocument(`<?xml version="1.0" encoding="UTF-16"?>`, oaiRecord("1", "中😀")), false), want: []string{"1 中😀"}},
		{name: "UTF-16, the higher byte first", body: inUTF16(oaiDocument("", oaiRecord("1", "é")), true), want: []string{"1 é"}},
		{name: "UTF-16 without a mark", body: inUTF16(oaiDocument(`<?xml version="1.0"?>`, oaiRecord("1", "é")), false)[2:], want: []string{"1 é"}},
		{name: "UTF-8 with a mark", body: "\ufeff" + oaiDocument(utf8Declared, oaiRecord("1", "é")), want: []string{"1 é"}},
		{name: "UTF-8 that says UTF-16", body: oaiDocument(`<?xml version="1.0" encoding="utf-16"?>`, oaiRecord("1", "é")), want: []string{"1 é"}},
	}
}

// spoiltPages have a record that cannot be read.
func spoiltPages() []damagedPage {
	whole := wholeRecord
	return []damagedPage{
		spoil("tags that cross", strings.Replace(whole, "</dc:title>", "<b><i></b></i></dc:title>", 1), "XML_BROKEN 2"),
		spoil("an end tag that is missing inside", strings.Replace(whole, "</dc:title>", "", 1), "XML_BROKEN 2"),
		spoil("an attribute without quotes", strings.Replace(whole, "<dc:title>", "<dc:title lang=en>", 1), "XML_BROKEN 2"),
		spoil("an attribute that does not end", strings.Replace(whole, "<dc:title>", `<dc:title lang="en>`, 1), "XML_BROKEN 2"),
		spoil("a tag that does not end", strings.Replace(whole, "<dc:title>", "<dc:title ", 1), "XML_BROKEN 2"),
		spoil("a record whose own tag is broken", strings.Replace(whole, "<record>", "<record x=1>", 1), "XML_BROKEN "),
		spoil("a record that is broken before its id ends", strings.Replace(whole, "</identifier>", "</id>", 1), "XML_BROKEN "),
		spoil("less-than before a letter", strings.Replace(whole, "Two", "if x<y then", 1), "XML_BROKEN 2"),
		spoil("a CDATA section that does not end", strings.Replace(whole, "Two", "<![CDATA[Two", 1), "XML_BROKEN 2"),
		spoil("a comment that does not end", strings.Replace(whole, "Two", "<!-- Two", 1), "XML_BROKEN 2"),
		spoil("a record without an end", strings.TrimSuffix(whole, "</record>"), "XML_BROKEN 2"),
		spoil("half a record", whole[:len(whole)/2], "XML_BROKEN 2"),
		spoil("a record that nests too deeply", strings.Replace(whole, "Two", strings.Repeat("<a>", 5000)+strings.Repeat("</a>", 5000), 1), "TOO_DEEP 2"),
		spoil("a record that is too large", strings.Replace(whole, "Two", strings.Repeat("Two ", 5<<20), 1), "TOO_LARGE 2"),
		spoil("a broken record with records inside", `<record><header><identifier>2</identifier></header><metadata><record><leader/></record><b></c></metadata></record>`, "XML_BROKEN 2"),
		{name: "one record is repaired and one broken", body: oaiDocument(utf8Declared, oaiRecord("1", "O & ne"), strings.Replace(whole, "Two", "T\v<b>", 1)), want: []string{"1 O & ne", "XML_BROKEN 2"}, repairs: "1 bare ampersand"},
	}
}

// refusedPages give nothing, and say why.
func refusedPages() []damagedPage {
	whole, many := wholeRecord, []string{}
	for n := range 300 {
		many = append(many, strings.Replace(oaiRecord(fmt.Sprint(n), "x"), "x", "<b>", 1))
	}
	return []damagedPage{
		refuse("more broken records than good ones", oaiDocument("", many...), "UNREADABLE: the body is no XML: more than 100 of its elements are broken"),
		refuse("cut between two records", strings.Split(titled("Two"), "<record><header><identifier>3")[0], "BAD_BODY: the body is not whole: it ends inside of <ListRecords>"),
		refuse("cut inside of a record", strings.Split(titled("Two"), "Two")[0], "BAD_BODY: the body is not whole: it ends inside of <dc:title>"),
		refuse("cut behind a broken record", strings.Split(titled("<b></i>"), "Three")[0], "BAD_BODY: the body is not whole: it ends inside of <dc:title>"),
		refuse("cut inside of a tag", strings.TrimSuffix(titled("Two"), ">"), "BAD_BODY: the body is not whole: it ends inside of <OAI-PMH>"),
		refuse("an envelope that is broken", strings.Replace(titled("Two"), "</ListRecords>", "</Records>", 1), "UNREADABLE: the body is no XML: <ListRecords> is open"),
		refuse("the last record without an end, which may hide the way on", oaiDocument(utf8Declared, oaiRecord("1", "One"), strings.TrimSuffix(whole, "</record>")), "UNREADABLE: the body is no XML: <record> is open at byte"),
		refuse("two documents", titled("Two")+titled("Two"), "UNREADABLE: the body is no XML: a second document begins at byte"),
		refuse("a charset that nobody knows", oaiDocument(`<?xml version="1.0" encoding="klingon"?>`, whole), `UNREADABLE: the body is no XML: its charset "klingon" is not known`),
		refuse("an entity of its own", `<!DOCTYPE r [<!ENTITY b "c">]>`+oaiDocument("", oaiRecord("1", "&b;")), "BAD_BODY at DOCTYPE"),
		refuse("a web page that is no XML", "<!DOCTYPE html>\n<html><br><p>Log in", "WEB_PAGE"),
		refuse("no document", "Internal error", "BAD_BODY: the body is empty"),
	}
}

func damagedPages() []damagedPage {
	return slices.Concat(mendedPages(), decodedPages(), spoiltPages(), refusedPages())
}

// damagedProgram reads such pages.
func damagedProgram(t testing.TB, strict bool) *source.Program {
	t.Helper()
	response := strings.Replace(oaiResponse, "//record", "/OAI-PMH/ListRecords/record", 1)
	if strict {
		response = strings.Replace(response, "format: XML", "format: XML, strict: true", 1)
	}
	f, err := source.Load("t.yaml", []byte(write(get, oaiPaging, response, `{title: "metadata//dc:title"}`)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := source.Compile(f, source.Options{Operation: patra.Harvest})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// itemsOf are the items of a page as the table has them, and the hashes of those that are records.
func itemsOf(t testing.TB, p *source.Program, page *source.Page) (all []string, hashes map[string]string) {
	t.Helper()
	hashes = map[string]string{}
	for o, err := range p.Records(page, 1) {
		if err != nil {
			all = append(all, patra.AsFault(err).Code+" "+o.ID)
			continue
		}
		var fields struct{ Title string }
		if err := json.Unmarshal(o.Fields, &fields); err != nil {
			t.Fatal(err)
		}
		all, hashes[o.ID] = append(all, o.ID+" "+fields.Title), o.Hash
	}
	return all, hashes
}

// Each page gives the records that can be had from it, says what was repaired, and goes on; what is refused is refused
// truly.
func TestDamagedPages(t *testing.T) {
	p, good := damagedProgram(t, false), map[string]string{}
	for i, c := range damagedPages() {
		sent := bytes.Clone([]byte(c.body))
		page, err := p.Read(200, sent, "")
		if !bytes.Equal(sent, []byte(c.body)) {
			t.Errorf("%s: what was sent was changed", c.name)
		}
		if c.fault != "" || err != nil {
			if err == nil || c.fault == "" || !strings.HasPrefix(err.Error(), c.fault) {
				t.Errorf("%s: %v, and not %q", c.name, err, c.fault)
			}
			continue
		}
		if page.Next != "abc" || page.Total == nil || *page.Total != 17 || page.Repairs.String() != c.repairs {
			t.Errorf("%s: next %q, total %v, repaired %s and not %s", c.name, page.Next, page.Total, page.Repairs, c.repairs)
		}
		alone := [][]byte{}
		for _, raw := range page.Items {
			alone = append(alone, bytes.Clone(raw))
		}
		got, hashes := itemsOf(t, p, &page)
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%s:\n%q and not\n%q", c.name, got, c.want)
		}
		for _, raw := range alone { // a record is the same when its kept bytes are read by themselves
			if o, err := p.Item(raw, 1); err == nil && hashes[o.ID] != o.Hash {
				t.Errorf("%s: %s has alone another hash", c.name, o.ID)
			}
		}
		if i == 0 {
			good = maps.Clone(hashes)
		}
		for _, id := range []string{"1", "3"} { // the others are what they are without it
			if len(c.want) == 3 && c.want[0] == "1 One" && hashes[id] != good[id] {
				t.Errorf("%s: record %s has another hash", c.name, id)
			}
		}
		again, err := p.Read(200, sent, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, second := itemsOf(t, p, &again); !maps.Equal(hashes, second) {
			t.Errorf("%s: the second reading gives other hashes", c.name)
		}
	}
}

// A strict source refuses each of these pages that is not well-formed, and reads the others.
func TestAStrictSourceRepairsNothing(t *testing.T) {
	p, lenient := damagedProgram(t, true), damagedProgram(t, false)
	for _, c := range damagedPages() {
		if c.fault != "" {
			continue
		}
		page, err := lenient.Read(200, []byte(c.body), "")
		if err != nil {
			t.Fatal(err)
		}
		got, _ := itemsOf(t, lenient, &page)
		broken := strings.Contains(fmt.Sprint(got), "XML_BROKEN") || strings.Contains(fmt.Sprint(got), "TOO_DEEP")
		if _, err := p.Read(200, []byte(c.body), ""); (err != nil) != (c.repairs != "" || broken) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// FuzzDamagedXML: a page is read twice alike, every record of it is read alone as it is in its page, and nothing that
// was sent changes.
func FuzzDamagedXML(f *testing.F) {
	for _, c := range damagedPages() {
		if len(c.body) < 100_000 {
			f.Add([]byte(c.body))
		}
	}
	p := damagedProgram(f, false)
	f.Fuzz(func(t *testing.T, body []byte) {
		sent := bytes.Clone(body)
		page, err := p.Read(200, body, "")
		again, second := p.Read(200, body, "")
		if (err == nil) != (second == nil) || !bytes.Equal(sent, body) {
			t.Fatalf("%q is read as %v and %v", sent, err, second)
		}
		if err != nil {
			return
		}
		items := page.Items
		got, hashes := itemsOf(t, p, &page)
		if same, _ := itemsOf(t, p, &again); fmt.Sprint(got) != fmt.Sprint(same) {
			t.Fatalf("%q is read as %q and %q", body, got, same)
		}
		for i, raw := range items {
			o, err := p.Item(raw, 1)
			if err == nil && strings.HasPrefix(got[i], o.ID+" ") && hashes[o.ID] == "" {
				t.Fatalf("%q: item %d is read alone, and is %s in its page", body, i, got[i])
			}
		}
	})
}
