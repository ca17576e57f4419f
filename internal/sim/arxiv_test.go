package sim

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// arxivWalk follows the tokens to the end and gives all items and the size of each page.
func arxivWalk(t *testing.T, s *Server, verb string, pairs ...string) (items []string, sizes []int, last oaiPageXML) {
	t.Helper()
	p := oaiGet(t, s, "/oai", append([]string{"verb", verb, "metadataPrefix", "arXiv"}, pairs...)...)
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
		if token == nil {
			return items, sizes, p
		}
		p = oaiGet(t, s, "/oai", "verb", verb, "resumptionToken", token.Text)
	}
}

func TestArXivPagesToTheEndAreTheTruth(t *testing.T) {
	s := New(uneven(30, 90))
	for verb, form := range map[string]string{"ListRecords": "record", "ListIdentifiers": "header"} {
		s.oai.arxivPage = map[string]int{"ListRecords": arxivPage, "ListIdentifiers": 9}[verb]
		full := map[string]int{"ListRecords": 200, "ListIdentifiers": 72}[verb]
		got, sizes, last := arxivWalk(t, s, verb, "from", "2024-01-11", "until", "2024-01-16")
		if want := texts(records(s.ArXiv().As(form), 10, 16)); !slices.Equal(got, want) {
			t.Errorf("%s: %d items, want %d", verb, len(got), len(want))
		}
		if len(sizes) < 3 || slices.ContainsFunc(sizes[:len(sizes)-1], func(n int) bool { return n != full }) {
			t.Errorf("%s: pages of %v", verb, sizes)
		}
		if strings.Contains(last.raw, "resumptionToken/>") || strings.Contains(last.raw, "</resumptionToken>") {
			t.Errorf("%s: the last page has a token", verb)
		}
	}
}

// A full page that is the last has no token either.
func TestArXivEndsWithAFullPage(t *testing.T) {
	s := New(small(5))
	s.oai.arxivPage = 10
	if _, sizes, _ := arxivWalk(t, s, "ListRecords", "from", "2024-01-02", "until", "2024-01-03"); !slices.Equal(sizes, []int{10, 10}) {
		t.Errorf("pages of %v", sizes)
	}
	p := oaiGet(t, s, "/oai", "verb", "ListRecords", "metadataPrefix", "arXiv", "from", "2024-01-02", "until", "2024-01-02")
	if len(p.Records) != 10 || p.Token != nil {
		t.Errorf("%d records, token %+v", len(p.Records), p.Token)
	}
}

func TestArXivDaysAreIncluded(t *testing.T) {
	s := New(small(40))
	for _, c := range []struct {
		from, until string
		want        int
	}{
		{"2024-01-10", "2024-01-10", 10}, {"2024-01-10", "2024-01-12", 30}, {"2024-02-08", "", 20}, {"", "2024-01-02", 20}, {"2024-02-08", "2026-05-05", 20},
	} {
		var pairs []string
		if c.from != "" {
			pairs = append(pairs, "from", c.from)
		}
		if c.until != "" {
			pairs = append(pairs, "until", c.until)
		}
		if got, _, _ := arxivWalk(t, s, "ListRecords", pairs...); len(got) != c.want {
			t.Errorf("%+v: %d", c, len(got))
		}
	}
}

func TestArXivRecords(t *testing.T) {
	s := New(uneven(40, 20))
	gone, dois, previous := 0, 0, ""
	for _, r := range records(s.ArXiv(), 0, 40) {
		text, day := string(r.Bytes), r.At.Format(time.DateOnly)
		if strings.Contains(text, `<header status="deleted">`) != r.Deleted || strings.Contains(text, "<metadata>") == r.Deleted || !strings.Contains(text, "<datestamp>"+day+"</datestamp>") {
			t.Fatalf("%s", text)
		}
		if day+r.ID <= previous {
			t.Fatalf("%s %s comes after %s", day, r.ID, previous)
		}
		previous = day + r.ID
		p := oaiGet(t, s, "/oai", "verb", "GetRecord", "metadataPrefix", "arXiv", "identifier", r.ID)
		if "<record>"+p.Single[0].Inner+"</record>" != text {
			t.Fatalf("GetRecord: %s\nwant %s", p.raw, text)
		}
		if r.Deleted {
			gone++
			continue
		}
		number := strings.TrimPrefix(r.ID, "oai:arXiv.org:")
		for _, part := range []string{`<arXiv xmlns="http://arxiv.org/OAI/arXiv/" `, "<id>" + number + "</id><created>", "<authors><author><keyname>", "<forenames>", "<title>", "<categories>", "<license>http", "<abstract>"} {
			if !strings.Contains(text, part) {
				t.Fatalf("no %s in %s", part, text)
			}
		}
		if strings.Contains(text, "<doi>") {
			dois++
		}
	}
	if gone < 10 || dois < 300 || dois > 700 {
		t.Errorf("%d deleted, %d with a DOI", gone, dois)
	}
}

func TestArXivTokensLiveUntilMidnight(t *testing.T) {
	c, now := small(40), newClock()
	c.Now = now.now
	s := New(c)
	tok := oaiGet(t, s, "/oai", "verb", "ListRecords", "metadataPrefix", "arXiv", "set", "physics").Token
	if tok.Expires != "2026-05-05T00:00:00Z" {
		t.Errorf("%+v", tok)
	}
	first := do(s.Handler(), "/oai?verb=ListRecords&metadataPrefix=arXiv").Body.String()
	if strings.Contains(first, "completeListSize") || strings.Contains(first, "cursor=") {
		t.Error("the size of the list is told")
	}
	encoded := do(s.Handler(), "/oai?verb=ListRecords&resumptionToken="+url.QueryEscape(tok.Text)).Body.String()
	bare := do(s.Handler(), "/oai?verb=ListRecords&resumptionToken="+tok.Text).Body.String()
	body := func(s string) string { _, after, _ := strings.Cut(s, "</request>"); return after }
	if body(encoded) != body(bare) || !strings.Contains(encoded, "<record>") {
		t.Errorf("%.600s\n%.600s", encoded, bare)
	}
	now.pass(12 * time.Hour)
	if p := oaiGet(t, s, "/oai", "verb", "ListRecords", "resumptionToken", tok.Text); len(p.Records) == 0 {
		t.Errorf("at midnight: %.300s", p.raw)
	}
	now.pass(time.Second)
	if p := oaiGet(t, s, "/oai", "verb", "ListRecords", "resumptionToken", tok.Text); p.Error.Code != "badResumptionToken" || p.status != http.StatusOK {
		t.Errorf("after midnight: %.300s", p.raw)
	}
}

func TestArXivSets(t *testing.T) {
	s := New(uneven(20, 40))
	all := len(records(s.ArXiv(), 0, 20))
	physics, _, _ := arxivWalk(t, s, "ListRecords", "set", "physics")
	theory, _, _ := arxivWalk(t, s, "ListRecords", "set", "physics:hep-th")
	if len(theory) == 0 || len(theory) >= len(physics) || len(physics) >= all {
		t.Errorf("%d of %d of %d", len(theory), len(physics), all)
	}
	for _, r := range theory {
		if !strings.Contains(r, "<setSpec>physics:hep-th</setSpec>") {
			t.Fatal(r)
		}
	}
	if got, _, _ := arxivWalk(t, s, "ListRecords", "set", ""); len(got) != all {
		t.Errorf("no set: %d of %d", len(got), all)
	}
}

func TestArXivErrors(t *testing.T) {
	s := New(small(40))
	list := []string{"verb", "ListRecords", "metadataPrefix", "arXiv"}
	tok := oaiGet(t, s, "/oai", list...).Token.Text
	for _, c := range []struct {
		code  string
		pairs []string
	}{
		{"badArgument", append(list, "from", "2024-01-01T00:00:00Z")},
		{"badArgument", append(list, "until", "2024-01-01T00:00:00Z")},
		{"badArgument", append(list, "from", "2005-09-15")},
		{"badArgument", append(list, "until", "2026-05-06")},
		{"badArgument", append(list, "from", "2024-01-02", "until", "2024-01-01")},
		{"badArgument", append(list, "resumptionToken", tok)},
		{"badArgument", append(list, "nonsense", "1")},
		{"noRecordsMatch", append(list, "from", "2025-01-01", "until", "2025-01-01")},
		{"noRecordsMatch", append(list, "set", "nonsense")},
		{"badResumptionToken", []string{"verb", "ListRecords", "resumptionToken", tok + "x"}},
		{"badResumptionToken", []string{"verb", "ListRecords", "resumptionToken", strings.Replace(tok, "n%3D", "n%3D1", 1)}},
		{"badResumptionToken", []string{"verb", "ListIdentifiers", "resumptionToken", tok}},
		{"idDoesNotExist", []string{"verb", "GetRecord", "metadataPrefix", "arXiv", "identifier", "oai:arXiv.org:2401.99999"}},
		{"idDoesNotExist", []string{"verb", "GetRecord", "metadataPrefix", "arXiv", "identifier", "oai:arXiv.org:x"}},
	} {
		if p := oaiGet(t, s, "/oai", c.pairs...); p.Error.Code != c.code || p.status != http.StatusOK || len(p.Records) != 0 {
			t.Errorf("%v: %d %s, want %s", c.pairs, p.status, p.Error.Code, c.code)
		}
	}
	c := small(40)
	c.Faults = Faults{ExpireToken: 1}
	s = New(c)
	if p := oaiGet(t, s, "/oai", "verb", "ListRecords", "resumptionToken", tok); p.Error.Code != "badResumptionToken" || s.Stats().Expired != 1 {
		t.Errorf("%.300s %+v", p.raw, s.Stats())
	}
}

// The archive that arXiv shares its path with is as it was.
func TestArXivLeavesTheOtherArchivesAlone(t *testing.T) {
	s := New(uneven(10, 40))
	got, sizes, _ := oaiWalk(t, s, "/oai", "ListRecords", "from", "2024-01-02T00:00:00Z", "until", "2024-01-08T23:59:59Z")
	if want := texts(records(s.OAI(), 1, 8)); !slices.Equal(got, want) || sizes[0] != 54 {
		t.Errorf("%d of %d, pages of %v", len(got), len(want), sizes)
	}
	for _, path := range []string{"/oai/day", "/oai/422"} {
		if p := oaiGet(t, s, path, "verb", "ListRecords", "metadataPrefix", "arXiv"); p.Error.Code != "cannotDisseminateFormat" {
			t.Errorf("%s: %.300s", path, p.raw)
		}
	}
	if p := oaiGet(t, s, "/oai", "verb", "Identify"); !strings.Contains(p.raw, "YYYY-MM-DDThh:mm:ssZ") {
		t.Errorf("%s", p.raw)
	}
}
