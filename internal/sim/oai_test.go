package sim

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

type oaiPageXML struct {
	XMLName xml.Name `xml:"http://www.openarchives.org/OAI/2.0/ OAI-PMH"`
	Request struct {
		Base string `xml:",chardata"`
		Verb string `xml:"verb,attr"`
	} `xml:"request"`
	Error struct {
		Code string `xml:"code,attr"`
	} `xml:"error"`
	Records []innerXML   `xml:"ListRecords>record"`
	Headers []innerXML   `xml:"ListIdentifiers>header"`
	Single  []innerXML   `xml:"GetRecord>record"`
	Sets    []string     `xml:"ListSets>set>setSpec"`
	Prefix  []string     `xml:"ListMetadataFormats>metadataFormat>metadataPrefix"`
	Token   *oaiTokenXML `xml:"ListRecords>resumptionToken"`
	IDToken *oaiTokenXML `xml:"ListIdentifiers>resumptionToken"`
	status  int
	raw     string
}

type innerXML struct {
	Status string `xml:"status,attr"`
	Inner  string `xml:",innerxml"`
	Header struct {
		Status     string `xml:"status,attr"`
		Identifier string `xml:"identifier"`
		Datestamp  string `xml:"datestamp"`
	} `xml:"header"`
	Metadata *struct {
		DC struct {
			Title   string   `xml:"http://purl.org/dc/elements/1.1/ title"`
			Creator []string `xml:"http://purl.org/dc/elements/1.1/ creator"`
		} `xml:"http://www.openarchives.org/OAI/2.0/oai_dc/ dc"`
	} `xml:"metadata"`
}

type oaiTokenXML struct {
	Text    string `xml:",chardata"`
	Size    int    `xml:"completeListSize,attr"`
	Cursor  int    `xml:"cursor,attr"`
	Expires string `xml:"expirationDate,attr"`
}

func oaiGet(t *testing.T, s *Server, path string, pairs ...string) oaiPageXML {
	t.Helper()
	w := do(s.Handler(), address(path, pairs...))
	p := oaiPageXML{status: w.Code, raw: w.Body.String()}
	if err := xml.Unmarshal(w.Body.Bytes(), &p); err != nil || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/xml") {
		t.Fatalf("%d %v %v: %.300s", w.Code, err, w.Header(), p.raw)
	}
	return p
}

// oaiWalk follows the tokens to the end and gives all items and the size of each page.
func oaiWalk(t *testing.T, s *Server, path, verb string, pairs ...string) (items []string, sizes []int, last oaiPageXML) {
	t.Helper()
	p := oaiGet(t, s, path, append([]string{"verb", verb, "metadataPrefix", "oai_dc"}, pairs...)...)
	for {
		for _, r := range p.Records {
			items = append(items, "<record>"+r.Inner+"</record>")
		}
		for _, h := range p.Headers {
			open := "<header>"
			if h.Status != "" {
				open = `<header status="` + h.Status + `">`
			}
			items = append(items, open+h.Inner+"</header>")
		}
		sizes = append(sizes, len(p.Records)+len(p.Headers))
		token := p.Token
		if verb == "ListIdentifiers" {
			token = p.IDToken
		}
		if token == nil || token.Text == "" {
			return items, sizes, p
		}
		p = oaiGet(t, s, path, "verb", verb, "resumptionToken", token.Text)
	}
}

func TestOAIPagesToTheEndAreTheTruth(t *testing.T) {
	s := New(uneven(30, 70))
	for path, p := range map[string]*Provider{"/oai": s.OAI(), "/oai/day": s.OAIDay(), "/oai/422": s.OAI()} {
		for verb, form := range map[string]string{"ListRecords": "record", "ListIdentifiers": "header"} {
			got, sizes, last := oaiWalk(t, s, path, verb, "from", "2024-01-11", "until", "2024-01-15")
			want := texts(records(p.As(form), 10, 15))
			if path == "/oai/day" {
				slices.Reverse(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s %s: %d items, want %d", path, verb, len(got), len(want))
			}
			if verb == "ListIdentifiers" { // a page holds all of them
				if len(sizes) != 1 || strings.Contains(last.raw, "resumptionToken") {
					t.Errorf("%s %s: pages of %v", path, verb, sizes)
				}
				continue
			}
			if sizes[0] != 54 || slices.ContainsFunc(sizes[1:len(sizes)-1], func(n int) bool { return n != 100 }) || len(sizes) < 3 {
				t.Errorf("%s %s: pages of %v", path, verb, sizes)
			}
			if !strings.Contains(last.raw, `/></`+verb+`>`) || strings.Contains(last.raw, "</resumptionToken>") {
				t.Errorf("%s %s does not end with an empty token: %s", path, verb, last.raw[len(last.raw)-300:])
			}
		}
	}
}

func TestOAIDeletedRecordsHaveAHeaderOnly(t *testing.T) {
	s := New(uneven(30, 40))
	gone := 0
	for _, r := range records(s.OAI(), 0, 30) {
		if strings.Contains(string(r.Bytes), `<header status="deleted">`) != r.Deleted || strings.Contains(string(r.Bytes), "<metadata>") == r.Deleted {
			t.Fatalf("%+v %s", r.Deleted, r.Bytes)
		}
		if r.Deleted {
			gone++
		}
		p := oaiGet(t, s, "/oai", "verb", "GetRecord", "metadataPrefix", "oai_dc", "identifier", r.ID)
		one := p.Single[0]
		if "<record>"+one.Inner+"</record>" != string(r.Bytes) || one.Header.Identifier != r.ID || one.Header.Datestamp != r.At.Format(time.RFC3339) {
			t.Fatalf("GetRecord: %s\nwant %s", p.raw, r.Bytes)
		}
		if !r.Deleted && (one.Metadata.DC.Title == "" || len(one.Metadata.DC.Creator) == 0) {
			t.Fatalf("no Dublin Core in its namespace: %s", r.Bytes)
		}
	}
	if gone < 20 || gone > 150 {
		t.Errorf("%d of 1200 are deleted", gone)
	}
}

func oaiCount(t *testing.T, s *Server, path string, pairs ...string) int {
	t.Helper()
	got, _, _ := oaiWalk(t, s, path, "ListIdentifiers", pairs...)
	return len(got)
}

func TestOAIWindowsIncludeBothEnds(t *testing.T) {
	s := New(small(40))
	for _, c := range []struct {
		path, from, until string
		want              int
	}{
		{"/oai", "2024-01-10", "2024-01-10", 10},
		{"/oai", "2024-01-10", "2024-01-12", 30},
		{"/oai", "2024-01-10T00:00:00Z", "2024-01-10T23:59:59Z", 10},
		{"/oai", "2024-01-10T00:00:01Z", "2024-01-10T23:59:58Z", 8},
		{"/oai", "2024-01-10T23:59:59Z", "2024-01-11T00:00:00Z", 2},
		{"/oai", "2024-01-10T00:00:00Z", "2024-01-10T00:00:00Z", 1},
		{"/oai", "2024-02-08", "", 20},
		{"/oai", "", "2024-01-02T00:00:00Z", 11},
		{"/oai/day", "2024-01-10", "2024-01-10", 10},
		{"/oai/day", "2024-01-10", "2024-01-11", 20},
	} {
		var pairs []string
		if c.from != "" {
			pairs = append(pairs, "from", c.from)
		}
		if c.until != "" {
			pairs = append(pairs, "until", c.until)
		}
		if n := oaiCount(t, s, c.path, pairs...); n != c.want {
			t.Errorf("%+v: %d", c, n)
		}
	}
	if n := len(slices.Collect(s.OAI().Truth(newYear.Add(time.Second), newYear.AddDate(0, 0, 1).Add(-time.Second)))); n != 8 {
		t.Errorf("truth to the second has %d", n)
	}
}

func TestOAITokensAreStatelessAndExpire(t *testing.T) {
	c, now := small(40), newClock()
	c.Now, c.TokenTTL = now.now, time.Minute
	s := New(c)
	first := oaiGet(t, s, "/oai", "verb", "ListRecords", "metadataPrefix", "oai_dc")
	tok := first.Token
	if tok.Size != 400 || tok.Cursor != 0 || tok.Expires != "2026-05-04T12:01:00Z" || len(first.Records) != 54 {
		t.Fatalf("%+v", tok)
	}
	if !strings.Contains(tok.Text, "+") || !strings.Contains(tok.Text, "/") || !strings.Contains(tok.Text, "=") {
		t.Errorf("nothing to encode in %q", tok.Text)
	}
	next := func() oaiPageXML { return oaiGet(t, s, "/oai", "verb", "ListRecords", "resumptionToken", tok.Text) }
	a, b := next(), next()
	if a.raw != b.raw || a.Token.Cursor != 54 || a.Token.Size != 400 || len(a.Records) != 100 {
		t.Error("the same token gave two pages")
	}
	now.pass(seconds(60))
	if p := next(); len(p.Records) != 100 {
		t.Errorf("at the expiration date: %.300s", p.raw)
	}
	now.pass(seconds(1))
	if p := next(); p.Error.Code != "badResumptionToken" || p.status != 200 {
		t.Errorf("after the expiration date: %.300s", p.raw)
	}
}

func TestOAIDeclaresMoreThanItHasByDay(t *testing.T) {
	s := New(small(40))
	if p := oaiGet(t, s, "/oai/day", "verb", "ListRecords", "metadataPrefix", "oai_dc"); p.Token.Size <= 400 {
		t.Errorf("%+v", p.Token)
	}
	if n := oaiCount(t, s, "/oai/day"); n != 400 {
		t.Errorf("%d records", n)
	}
}

func TestOAIOnePageHasNoToken(t *testing.T) {
	p := oaiGet(t, New(small(3)), "/oai", "verb", "ListRecords", "metadataPrefix", "oai_dc")
	if len(p.Records) != 30 || p.Token != nil {
		t.Errorf("%d records, token %+v", len(p.Records), p.Token)
	}
}

func TestOAIErrors(t *testing.T) {
	s := New(small(40))
	tok := oaiGet(t, s, "/oai", "verb", "ListRecords", "metadataPrefix", "oai_dc").Token.Text
	list := []string{"verb", "ListRecords", "metadataPrefix", "oai_dc"}
	for _, c := range []struct {
		code  string
		pairs []string
	}{
		{"badVerb", []string{"verb", "Nonsense"}},
		{"badVerb", nil},
		{"badArgument", []string{"verb", "ListRecords"}},
		{"badArgument", []string{"verb", "Identify", "set", "x"}},
		{"badArgument", append(list, "nonsense", "1")},
		{"badArgument", append(list, "from", "2024")},
		{"badArgument", append(list, "from", "2024-01-02", "until", "2024-01-01")},
		{"badArgument", append(list, "from", "2024-01-01", "until", "2024-01-02T00:00:00Z")},
		{"badArgument", append(list, "resumptionToken", tok)},
		{"badArgument", []string{"verb", "ListRecords", "resumptionToken", tok, "from", "2024-01-01"}},
		{"badResumptionToken", []string{"verb", "ListRecords", "resumptionToken", tok + "x"}},
		{"badResumptionToken", []string{"verb", "ListRecords", "resumptionToken", strings.Replace(tok, "oai_dc/", "oai_dc/1", 1)}},
		{"badResumptionToken", []string{"verb", "ListIdentifiers", "resumptionToken", tok}},
		{"badResumptionToken", []string{"verb", "ListSets", "resumptionToken", "x"}},
		{"cannotDisseminateFormat", []string{"verb", "ListRecords", "metadataPrefix", "marc"}},
		{"noRecordsMatch", append(list, "from", "2030-01-01")},
		{"noRecordsMatch", append(list, "set", "nonsense")},
		{"idDoesNotExist", []string{"verb", "GetRecord", "metadataPrefix", "oai_dc", "identifier", "oai:sim.example:zzz"}},
		{"idDoesNotExist", []string{"verb", "ListMetadataFormats", "identifier", "x"}},
	} {
		for path, status := range map[string]int{"/oai": 200, "/oai/422": 422} {
			if path == "/oai/422" && slices.Contains(c.pairs, tok) && c.code == "badArgument" {
				continue
			}
			p := oaiGet(t, s, path, c.pairs...)
			if p.Error.Code != c.code || p.status != status || len(p.Records) != 0 {
				t.Errorf("%s %v: %d %s, want %d %s", path, c.pairs, p.status, p.Error.Code, status, c.code)
			}
		}
	}
	if p := oaiGet(t, s, "/oai/day", append(list, "from", "2024-01-01T00:00:00Z")...); p.Error.Code != "badArgument" {
		t.Errorf("an archive of days accepts seconds: %.300s", p.raw)
	}
	if p := oaiGet(t, s, "/oai/422", "verb", "ListRecords", "resumptionToken", tok); p.Error.Code != "badResumptionToken" {
		t.Error("a token of another archive is accepted")
	}
	if w := do(s.Handler(), "/oai?verb=Identify&verb=Identify"); !strings.Contains(w.Body.String(), "badVerb") {
		t.Errorf("%s", w.Body)
	}
	if w := do(s.Handler(), "/oai/nonsense"); w.Code != http.StatusNotFound {
		t.Errorf("%d", w.Code)
	}
}

func TestOAISetsPartTheRecords(t *testing.T) {
	s := New(uneven(20, 40))
	sets := oaiGet(t, s, "/oai", "verb", "ListSets").Sets
	if sets[0] != "type" || len(sets) != len(kindShares)+1 {
		t.Fatalf("%v", sets)
	}
	all, sum := oaiCount(t, s, "/oai"), 0
	for _, spec := range sets[1:] {
		got, _, _ := oaiWalk(t, s, "/oai", "ListRecords", "set", spec)
		for _, r := range got {
			if !strings.Contains(r, "<setSpec>"+spec+"</setSpec>") {
				t.Fatalf("%s: %s", spec, r)
			}
		}
		sum += len(got)
	}
	if sum != all || oaiCount(t, s, "/oai", "set", "type") != all {
		t.Errorf("the sets hold %d of %d", sum, all)
	}
}

func TestOAIDescribesItself(t *testing.T) {
	s := New(small(3))
	for path, want := range map[string][]string{
		"/oai":     {"<granularity>YYYY-MM-DDThh:mm:ssZ</granularity>", "<earliestDatestamp>2024-01-01T00:00:00Z</earliestDatestamp>"},
		"/oai/day": {"<granularity>YYYY-MM-DD</granularity>", "<earliestDatestamp>2024-01-01</earliestDatestamp>", "<baseURL>http://example.com/oai/day</baseURL>"},
	} {
		p := oaiGet(t, s, path, "verb", "Identify")
		for _, text := range append(want, "<deletedRecord>persistent</deletedRecord>", "<protocolVersion>2.0</protocolVersion>") {
			if !strings.Contains(p.raw, text) {
				t.Errorf("%s: no %s in %s", path, text, p.raw)
			}
		}
	}
	if p := oaiGet(t, s, "/oai", "verb", "ListMetadataFormats"); !slices.Equal(p.Prefix, []string{"oai_dc"}) {
		t.Errorf("%v", p.Prefix)
	}
	get := do(s.Handler(), "/oai?verb=ListRecords&metadataPrefix=oai_dc").Body.String()
	if posted := post(s.Handler(), "/oai", "verb", "ListRecords", "metadataPrefix", "oai_dc").Body.String(); posted != get {
		t.Errorf("POST: %.300s", posted)
	}
}

func TestOAIFaults(t *testing.T) {
	c := small(40)
	calm := New(c)
	tok := oaiGet(t, calm, "/oai", "verb", "ListRecords", "metadataPrefix", "oai_dc").Token.Text
	target := "/oai?verb=ListRecords&resumptionToken=" + url.QueryEscape(tok)
	c.Faults = Faults{ServerError: 1}
	if w := do(New(c).Handler(), target); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	c.Faults = Faults{Throttle: 1}
	if w := do(New(c).Handler(), target); w.Code != http.StatusTooManyRequests || w.Body.String() != "Rate exceeded." {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	c.Faults = Faults{ExpireToken: 1}
	s := New(c)
	if p := oaiGet(t, s, "/oai", "verb", "ListRecords", "resumptionToken", tok); p.Error.Code != "badResumptionToken" || s.Stats().Expired != 1 {
		t.Errorf("%s %+v", p.raw, s.Stats())
	}
	if p := oaiGet(t, s, "/oai", "verb", "ListRecords", "metadataPrefix", "oai_dc"); len(p.Records) != 54 || s.Stats().Expired != 1 {
		t.Errorf("a first page expired: %.300s", p.raw)
	}
	if p := oaiGet(t, calm, "/oai", "verb", "ListRecords", "resumptionToken", tok); len(p.Records) != 100 {
		t.Errorf("after the faults: %.300s", p.raw)
	}
}
