package sim

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

type searchResult struct {
	Result struct {
		Count       string   `json:"count"`
		Max         string   `json:"retmax"`
		Start       string   `json:"retstart"`
		Key         string   `json:"querykey"`
		Env         string   `json:"webenv"`
		IDs         []string `json:"idlist"`
		Translation string   `json:"querytranslation"`
		Error       string   `json:"ERROR"`
		Errors      struct {
			Phrases []string `json:"phrasesnotfound"`
			Fields  []string `json:"fieldsnotfound"`
		} `json:"errorlist"`
		Warnings struct {
			Messages []string `json:"outputmessages"`
		} `json:"warninglist"`
	} `json:"esearchresult"`
	header http.Header
}

func eutil(tool string, pairs ...string) string {
	return address(pubmedPath+tool+".fcgi", append([]string{"db", "pubmed"}, pairs...)...)
}

func searchPubMed(t *testing.T, s *Server, pairs ...string) searchResult {
	t.Helper()
	w := do(s.Handler(), eutil("esearch", append([]string{"retmode", "json"}, pairs...)...))
	r := searchResult{header: w.Header()}
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %v: %.300s", w.Code, err, w.Body)
	}
	return r
}

type articleSet struct {
	Items []articleXML `xml:",any"`
	ids   []string
	texts []string
	raw   string
}

type articleXML struct {
	XMLName xml.Name
	Inner   string `xml:",innerxml"`
	PMID    string `xml:"MedlineCitation>PMID"`
	Book    string `xml:"BookDocument>PMID"`
	Title   struct {
		Inner string `xml:",innerxml"`
	} `xml:"MedlineCitation>Article>ArticleTitle"`
	History []struct{ Year, Month, Day int } `xml:"PubmedData>History>PubMedPubDate"`
	Revised struct{ Year, Month, Day int }   `xml:"MedlineCitation>DateRevised"`
	Labels  []struct {
		Label string `xml:"Label,attr"`
	} `xml:"MedlineCitation>Article>Abstract>AbstractText"`
	IDs []struct {
		Type string `xml:"IdType,attr"`
		Text string `xml:",chardata"`
	} `xml:"PubmedData>ArticleIdList>ArticleId"`
}

func readArticles(t *testing.T, body string) articleSet {
	t.Helper()
	var a articleSet
	if err := xml.Unmarshal([]byte(body), &a); err != nil || !strings.Contains(body, "<PubmedArticleSet>") {
		t.Fatalf("%v: %.300s", err, body)
	}
	a.raw = body
	for _, it := range a.Items {
		a.ids = append(a.ids, it.PMID+it.Book)
		a.texts = append(a.texts, "<"+it.XMLName.Local+">"+it.Inner+"</"+it.XMLName.Local+">")
	}
	return a
}

func fetchPubMed(t *testing.T, s *Server, pairs ...string) articleSet {
	t.Helper()
	w := do(s.Handler(), eutil("efetch", append([]string{"retmode", "xml"}, pairs...)...))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %.300s", w.Code, w.Body)
	}
	return readArticles(t, w.Body.String())
}

var everyPaper = []string{"term", "all[sb]"}

func TestPubMedPagesToTheEndAreTheTruth(t *testing.T) {
	s := New(uneven(30, 20))
	for field := range entrezDates {
		window := []string{"term", "all[sb]", "datetype", field, "mindate", "2024/01/11", "maxdate", "2024/01/13"}
		var ids, articles []string
		for start := 0; ; {
			r := searchPubMed(t, s, append(window, "retstart", itoa(start), "retmax", "7")...)
			if len(r.Result.IDs) == 0 {
				break
			}
			if r.Result.Max != itoa(len(r.Result.IDs)) || r.Result.Start != itoa(start) {
				t.Fatalf("%+v", r.Result)
			}
			ids, start = append(ids, r.Result.IDs...), start+len(r.Result.IDs)
			w := post(s.Handler(), pubmedPath+"efetch.fcgi", "db", "pubmed", "retmode", "xml", "id", strings.Join(r.Result.IDs, ","))
			set := readArticles(t, w.Body.String())
			if !slices.Equal(set.ids, r.Result.IDs) {
				t.Fatalf("fetched %v, want %v", set.ids, r.Result.IDs)
			}
			articles = append(articles, set.texts...)
		}
		p := s.PubMed().By(field)
		sameSet(t, ids, recordIDs(records(p, 10, 13)))
		sameSet(t, articles, texts(records(p, 10, 13)))
	}
}

func TestPubMedHistoryPagesToTheEndAreTheTruth(t *testing.T) {
	s := New(uneven(30, 20))
	r := searchPubMed(t, s, "term", `("2024/01/11"[EDAT] : "2024/01/13"[EDAT])`, "usehistory", "y", "retmax", "0")
	if r.Result.Env == "" || r.Result.Key != "1" || len(r.Result.IDs) != 0 {
		t.Fatalf("%+v", r.Result)
	}
	want := records(s.PubMed(), 10, 13)
	if r.Result.Count != itoa(len(want)) {
		t.Errorf("count %s, want %d", r.Result.Count, len(want))
	}
	var got, ids []string
	for start := 0; start < len(want); start += 9 {
		page := []string{"WebEnv", r.Result.Env, "query_key", "1", "retstart", itoa(start), "retmax", "9"}
		set := fetchPubMed(t, s, page...)
		again := fetchPubMed(t, s, page...)
		if set.raw != again.raw {
			t.Fatal("a page of the history changed")
		}
		got, ids = append(got, set.texts...), append(ids, set.ids...)
	}
	sameSet(t, got, texts(want))
	if direct := searchPubMed(t, s, "term", `2024/01/11:2024/01/13[edat]`, "retmax", "1000"); !slices.Equal(ids, direct.Result.IDs) {
		t.Error("history and search differ in order")
	}
	if beyond := fetchPubMed(t, s, "WebEnv", r.Result.Env, "query_key", "1", "retstart", "5000"); len(beyond.ids) != 0 {
		t.Errorf("%d papers after the end", len(beyond.ids))
	}
	second := searchPubMed(t, s, "term", "kelp", "usehistory", "y", "WebEnv", r.Result.Env)
	if second.Result.Key != "2" || second.Result.Env != r.Result.Env || s.Stats().Histories != 1 {
		t.Errorf("%+v %+v", second.Result, s.Stats())
	}
}

func TestPubMedWindowsIncludeBothDays(t *testing.T) {
	s := New(small(40))
	for _, c := range []struct {
		want  string
		pairs []string
	}{
		{"10", []string{"datetype", "edat", "mindate", "2024/01/10", "maxdate", "2024/01/10"}},
		{"20", []string{"datetype", "edat", "mindate", "2024/01/10", "maxdate", "2024/01/11"}},
		{"10", []string{"datetype", "EDAT", "mindate", "2024/1/9", "maxdate", "2024/01/9"}},
		{"0", []string{"datetype", "edat", "mindate", "2024/01/11", "maxdate", "2024/01/10"}},
		{"310", []string{"datetype", "edat", "mindate", "2024/01", "maxdate", "2024/01"}},
		{"400", []string{"datetype", "edat", "mindate", "2024", "maxdate", "2024"}},
		{"10", []string{"term", "2024/01/10[edat]"}},
		{"20", []string{"term", `("2024/01/10"[EDAT] : "2024/01/11"[EDAT])`}},
		{"20", []string{"term", `2024/01/10:2024/01/11[Date - Entry]`}},
		{"30", []string{"term", `2024/01/10[edat] OR 2024/01/12:2024/01/13[edat]`}},
		{"10", []string{"term", `2024/01/10:2024/01/11[edat] NOT 2024/01/11[edat]`}},
		{"0", []string{"term", `2024/01/10[edat] 2024/01/11[edat]`}},
		// from left to right: (10 OR 11) AND 11
		{"10", []string{"term", `2024/01/10[edat] OR 2024/01/11[edat] AND 2024/01/11[edat]`}},
		{"20", []string{"term", `2024/01/10[edat] OR (2024/01/11[edat] AND 2024/01/11[edat])`}},
	} {
		pairs := c.pairs
		if !slices.Contains(pairs, "term") {
			pairs = append(pairs, everyPaper...)
		}
		if r := searchPubMed(t, s, pairs...); r.Result.Count != c.want || r.Result.Error != "" {
			t.Errorf("%v: %s %s, want %s", pairs, r.Result.Count, r.Result.Error, c.want)
		}
	}
}

func TestPubMedUIDRangesPartTheList(t *testing.T) {
	s := New(uneven(10, 30))
	all := searchPubMed(t, s, "term", "all[sb]", "retmax", "1000").Result.IDs
	var parts []string
	for n := 1; n < 1000; n += 37 {
		parts = append(parts, searchPubMed(t, s, "term", fmt.Sprintf("%d:%d[uid]", n, n+36), "retmax", "1000").Result.IDs...)
	}
	sameSet(t, parts, all)
	if one := searchPubMed(t, s, "term", all[3]+"[uid]").Result.IDs; !slices.Equal(one, all[3:4]) {
		t.Errorf("%v", one)
	}
	if !slices.IsSortedFunc(all, func(a, b string) int { return number(t, b) - number(t, a) }) {
		t.Error("the newest do not come first")
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPubMedReachesTenThousandLessOne(t *testing.T) {
	c := small(3)
	c.PerDay = 5000
	s := New(c)
	at := func(start, most string, more ...string) searchResult {
		return searchPubMed(t, s, append([]string{"term", "all[sb]", "retstart", start, "retmax", most}, more...)...)
	}
	if r := at("0", "100000"); r.Result.Count != "15000" || len(r.Result.IDs) != 9999 {
		t.Errorf("%s found, %d given", r.Result.Count, len(r.Result.IDs))
	}
	if r := at("9998", "1000"); len(r.Result.IDs) != 1 || r.Result.Max != "1" {
		t.Errorf("%+v", r.Result)
	}
	if r := at("9999", "1"); !strings.Contains(r.Result.Error, "'retstart' cannot be larger than 9998") || r.Result.Count != "" {
		t.Errorf("%+v", r.Result)
	}
	small := []string{"datetype", "edat", "mindate", "2024/01/01", "maxdate", "2024/01/01"}
	if r := at("9999", "1", small...); r.Result.Error != "" || len(r.Result.Warnings.Messages) != 1 || r.Result.Count != "5000" {
		t.Errorf("%+v", r.Result)
	}
	env := searchPubMed(t, s, "term", "all[sb]", "usehistory", "y").Result.Env
	if w := do(s.Handler(), eutil("efetch", "retmode", "xml", "WebEnv", env, "query_key", "1", "retstart", "9999")); w.Code != http.StatusBadRequest {
		t.Errorf("efetch beyond the reach: %d", w.Code)
	}
	if set := fetchPubMed(t, s, "WebEnv", env, "query_key", "1", "retstart", "9998", "retmax", "20"); len(set.ids) != 1 {
		t.Errorf("%d papers at the end of the reach", len(set.ids))
	}
}

func TestPubMedSaysErrorsWith200(t *testing.T) {
	s := New(small(3))
	for _, pairs := range [][]string{
		{"term", ""}, {"term", "(kelp"}, {"term", "kelp AND"}, {"term", `"kelp`}, {"term", "kelp[ti"}, {"term", "a:b[ti]"},
		{"term", "kelp", "mindate", "2024/01/01"}, {"term", "kelp", "mindate", "2024/01/01", "maxdate", "2024/01/02"},
		{"term", "kelp", "datetype", "edat", "mindate", "2024/01/01", "maxdate", "soon"}, {"term", "kelp", "retstart", "-1"},
		{"term", "kelp", "nonsense", "1"}, {"term", "kelp", "db", "pmc"}, {"term", "kelp", "sort", "nonsense"},
		{"term", "kelp", "usehistory", "y", "WebEnv", "nonsense"},
	} {
		if r := searchPubMed(t, s, pairs...); r.Result.Error == "" || r.Result.Count != "" {
			t.Errorf("%v: %+v", pairs, r.Result)
		}
		w := do(s.Handler(), eutil("esearch", append([]string{"retmode", "xml"}, pairs...)...))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "<eSearchResult><ERROR>") {
			t.Errorf("%v: %d %s", pairs, w.Code, w.Body)
		}
	}
	r := searchPubMed(t, s, "term", "xyzzy[tiab] OR kelp[nonsense]")
	if !slices.Equal(r.Result.Errors.Phrases, []string{"xyzzy"}) || !slices.Equal(r.Result.Errors.Fields, []string{"nonsense"}) || r.Result.Count != "0" {
		t.Errorf("%+v", r.Result)
	}
	if body := do(s.Handler(), eutil("esearch", "term", "xyzzy")).Body.String(); !strings.Contains(body, "<PhraseNotFound>xyzzy</PhraseNotFound>") || !strings.Contains(body, "<OutputMessage>No items found.</OutputMessage>") {
		t.Errorf("%s", body)
	}
}

func TestPubMedCounts(t *testing.T) {
	s := New(small(3))
	if body := do(s.Handler(), eutil("esearch", "term", "all[sb]", "rettype", "count", "retmode", "json")).Body.String(); body != `{"header":{"type":"esearch","version":"0.3"},"esearchresult":{"count":"30"}}`+"\n" {
		t.Errorf("%s", body)
	}
	if body := do(s.Handler(), eutil("esearch", "term", "all[sb]", "rettype", "count")).Body.String(); !strings.Contains(body, "<eSearchResult><Count>30</Count></eSearchResult>") {
		t.Errorf("%s", body)
	}
	body := do(s.Handler(), eutil("esearch", "term", "all[sb]", "usehistory", "y", "retmax", "2")).Body.String()
	for _, part := range []string{"<Count>30</Count><RetMax>2</RetMax><RetStart>0</RetStart><QueryKey>1</QueryKey><WebEnv>MCID_", "</Id></IdList>"} {
		if !strings.Contains(body, part) {
			t.Errorf("no %s in %s", part, body)
		}
	}
}

func TestPubMedArticles(t *testing.T) {
	s := New(uneven(30, 40))
	books, mixed, labelled, pmc := 0, 0, 0, 0
	for _, r := range records(s.PubMed(), 0, 30) {
		set := fetchPubMed(t, s, "id", r.ID)
		if set.texts[0] != string(r.Bytes) || set.ids[0] != r.ID {
			t.Fatalf("%s\nwant %s", set.raw, r.Bytes)
		}
		it := set.Items[0]
		if it.Book != "" {
			books++
			if it.XMLName.Local != "PubmedBookArticle" {
				t.Fatal(it.XMLName)
			}
			continue
		}
		entered := it.History[0]
		if at := time.Date(entered.Year, time.Month(entered.Month), entered.Day, 0, 0, 0, 0, time.UTC); !at.Equal(r.At) {
			t.Fatalf("entered %s, want %s", at, r.At)
		}
		if it.Revised.Year == 0 || it.IDs[0].Text != r.ID || it.IDs[1].Type != "doi" {
			t.Fatalf("%+v", it)
		}
		if strings.Contains(it.Title.Inner, "</sub>") || strings.Contains(it.Title.Inner, "</i>") {
			mixed++
		}
		if len(it.Labels) == 3 && it.Labels[0].Label == "BACKGROUND" {
			labelled++
		}
		if len(it.IDs) == 3 && strings.HasPrefix(it.IDs[2].Text, "PMC") {
			pmc++
		}
	}
	if books == 0 || mixed == 0 || labelled == 0 || pmc == 0 {
		t.Errorf("%d books, %d titles with markup, %d labelled abstracts, %d with full text", books, mixed, labelled, pmc)
	}
}

func TestPubMedLeavesUnknownIDsOut(t *testing.T) {
	s := New(small(3))
	id := records(s.PubMed(), 0, 3)[4].ID
	if set := fetchPubMed(t, s, "id", "99999999,"+id+",x"); !slices.Equal(set.ids, []string{id}) {
		t.Errorf("%v", set.ids)
	}
	if set := fetchPubMed(t, s, "id", "99999999"); len(set.ids) != 0 {
		t.Errorf("%v", set.ids)
	}
	var sum struct {
		Result map[string]json.RawMessage `json:"result"`
	}
	body := do(s.Handler(), eutil("esummary", "retmode", "json", "id", "99999999,"+id)).Body.Bytes()
	if err := json.Unmarshal(body, &sum); err != nil {
		t.Fatal(err)
	}
	want := records(s.PubMed().As("summary"), 0, 3)[4]
	if string(sum.Result["uids"]) != `["99999999","`+id+`"]` || !strings.Contains(string(sum.Result["99999999"]), `"error"`) || string(sum.Result[id]) != string(want.Bytes) {
		t.Errorf("%s", body)
	}
	docsum := records(s.PubMed().As("docsum"), 0, 3)[4]
	if body := do(s.Handler(), eutil("esummary", "id", id)).Body.String(); !strings.Contains(body, "<eSummaryResult>"+string(docsum.Bytes)) {
		t.Errorf("%s", body)
	}
}

func TestPubMedRefusesLongAddresses(t *testing.T) {
	s := New(small(3))
	ids := strings.Repeat("12345678,", 1200)
	if w := do(s.Handler(), eutil("efetch", "retmode", "xml", "id", ids)); w.Code != http.StatusRequestURITooLong || w.Header().Get("Content-Type") != "text/html" {
		t.Errorf("%d", w.Code)
	}
	if w := post(s.Handler(), pubmedPath+"efetch.fcgi", "db", "pubmed", "retmode", "xml", "id", ids); w.Code != http.StatusOK {
		t.Errorf("%d", w.Code)
	}
	for _, pairs := range [][]string{{"retmode", "json", "id", "1"}, {"retmode", "xml"}, {"retmode", "xml", "id", "1", "rettype", "medline"}} {
		if w := do(s.Handler(), eutil("efetch", pairs...)); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "<ERROR>") {
			t.Errorf("%v: %d", pairs, w.Code)
		}
	}
}

func TestPubMedHistoriesExpire(t *testing.T) {
	c, now := small(5), newClock()
	c.Now, c.TokenTTL = now.now, time.Hour
	s := New(c)
	env := searchPubMed(t, s, "term", "all[sb]", "usehistory", "y").Result.Env
	target := eutil("efetch", "retmode", "xml", "WebEnv", env, "query_key", "1")
	for range 3 { // use keeps it alive
		now.pass(time.Hour)
		if w := do(s.Handler(), target); w.Code != http.StatusOK {
			t.Fatalf("%d", w.Code)
		}
	}
	now.pass(time.Hour + time.Second)
	if w := do(s.Handler(), target); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "Unable to obtain query #1") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if s.Stats().Histories != 0 {
		t.Errorf("%+v", s.Stats())
	}
	if w := do(New(small(5)).Handler(), target); w.Code != http.StatusBadRequest {
		t.Errorf("another server knows the history: %d", w.Code)
	}
}

func TestPubMedLimitsByKey(t *testing.T) {
	c, now := small(2), newClock()
	c.Now, c.Rate = now.now, 3
	s := New(c)
	for key, limit := range map[string]int{"": 3, "k": 10} {
		for n := range limit {
			r := searchPubMed(t, s, "term", "kelp", "api_key", key)
			if r.header.Get("X-RateLimit-Limit") != itoa(limit) || r.header.Get("X-RateLimit-Remaining") != itoa(limit-n-1) {
				t.Errorf("request %d with key %q: %v", n, key, r.header)
			}
		}
		w := do(s.Handler(), eutil("esearch", "term", "kelp", "api_key", key))
		var body map[string]string
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusTooManyRequests {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if body["error"] != "API rate limit exceeded" || body["limit"] != itoa(limit) || w.Header().Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("%v %v", body, w.Header())
		}
	}
	now.pass(time.Second)
	if r := searchPubMed(t, s, "term", "kelp"); r.Result.Error != "" {
		t.Errorf("%+v", r)
	}
}

func TestPubMedFaults(t *testing.T) {
	c, log := small(5), &lines{}
	calm := New(c)
	r := searchPubMed(t, calm, "term", "all[sb]", "usehistory", "y")
	target := eutil("efetch", "retmode", "xml", "WebEnv", r.Result.Env, "query_key", "1")
	faulty := func(f Faults) *Server {
		c.Faults, c.Log = f, log
		s := New(c)
		s.pubmed = calm.pubmed
		return s
	}
	s := faulty(Faults{Timeout: 1})
	w := do(s.Handler(), target)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "<ERROR>") || !strings.Contains(w.Body.String(), "Status: Timeout") || s.Stats().Timeouts != 1 {
		t.Errorf("%d %s %+v", w.Code, w.Body, s.Stats())
	}
	if r := searchPubMed(t, s, "term", "kelp"); r.Result.Error != "" || s.Stats().Timeouts != 1 {
		t.Errorf("only efetch times out: %+v", r.Result)
	}
	if log.entries[0].Fault != "timeout" || log.entries[1].Fault != "" {
		t.Errorf("%+v", log.entries)
	}
	if w := do(faulty(Faults{ServerError: 1}).Handler(), target); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "WWW Error 500 Diagnostic") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := do(faulty(Faults{Throttle: 1}).Handler(), target); w.Code != http.StatusTooManyRequests || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := do(calm.Handler(), target); w.Code != http.StatusOK {
		t.Fatalf("faults consumed the history: %d", w.Code)
	}
	s = faulty(Faults{ExpireToken: 1})
	if w := do(s.Handler(), target); w.Code != http.StatusBadRequest || s.Stats().Expired != 1 || s.Stats().Histories != 0 {
		t.Errorf("%d %+v", w.Code, s.Stats())
	}
}

func TestPostedFormsAreLogged(t *testing.T) {
	c, log := small(2), &lines{}
	c.Log = log
	post(New(c).Handler(), pubmedPath+"esearch.fcgi", "db", "pubmed", "term", "kelp")
	if e := log.entries[0]; e.Form != "db=pubmed&term=kelp" || e.Method != http.MethodPost || e.Query != "" {
		t.Errorf("%+v", e)
	}
}

func TestPubMedQueriesSelectWhatTheySay(t *testing.T) {
	s := New(uneven(15, 30))
	has := func(text, words string) bool { return strings.Contains(strings.ToLower(stripTags(text)), words) }
	for query, want := range map[string]func(*subject) bool{
		`kelp[ti]`: func(s *subject) bool { return has(s.paper().Title, "kelp") },
		`"kelp forests"[tiab]`: func(s *subject) bool {
			return has(s.paper().Title, "kelp forests") || has(s.paper().Abstract, "kelp forests")
		},
		`kelp forests[Title]`:  func(s *subject) bool { return has(s.paper().Title, "kelp forests") },
		`"Sleep Medicine"[mh]`: func(s *subject) bool { return slices.Contains(s.headings(), "Sleep Medicine") },
		`Humans[MeSH Terms]`:   func(s *subject) bool { return slices.Contains(s.headings(), "Humans") },
		`(kelp[ti] OR peat[ti]) NOT drift[ti]`: func(s *subject) bool {
			t := s.paper().Title
			return (has(t, "kelp") || has(t, "peat")) && !has(t, "drift")
		},
	} {
		var wanted []string
		for _, r := range records(s.PubMed(), 0, 15) {
			sk, _ := s.world.entered(int64(number(t, r.ID)))
			if want(&subject{world: s.world, sketch: sk}) {
				wanted = append(wanted, r.ID)
			}
		}
		if len(wanted) == 0 {
			t.Errorf("%s: nothing to find", query)
		}
		sameSet(t, searchPubMed(t, s, "term", query, "retmax", "5000").Result.IDs, wanted)
	}
}
