package sim

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

type europePage struct {
	Hits    int    `json:"hitCount" xml:"hitCount"`
	Mark    string `json:"nextCursorMark" xml:"nextCursorMark"`
	Next    string `json:"nextPageUrl" xml:"nextPageUrl"`
	Code    int    `json:"errCode" xml:"errCode"`
	Message string `json:"errMsg" xml:"errMsg"`
	Request struct {
		Query string `json:"queryString" xml:"queryString"`
		Mark  string `json:"cursorMark" xml:"cursorMark"`
		Size  int    `json:"pageSize" xml:"pageSize"`
	} `json:"request" xml:"request"`
	List struct {
		Result []json.RawMessage `json:"result" xml:"-"`
		XML    []struct {
			Inner string `xml:",innerxml"`
		} `json:"-" xml:"result"`
	} `json:"resultList" xml:"resultList"`
	raw string
}

func readEurope(t *testing.T, w *httptest.ResponseRecorder) europePage {
	t.Helper()
	p := europePage{raw: w.Body.String()}
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var err error
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		err = json.Unmarshal(w.Body.Bytes(), &p)
	} else {
		err = xml.Unmarshal(w.Body.Bytes(), &p)
	}
	if err != nil {
		t.Fatalf("%v: %.500s", err, p.raw)
	}
	return p
}

func europe(t *testing.T, s *Server, pairs ...string) europePage {
	t.Helper()
	return readEurope(t, do(s.Handler(), address(europePath+"search", append([]string{"format", "json"}, pairs...)...)))
}

// europeWalk follows the marks to the end and gives every item.
func europeWalk(t *testing.T, s *Server, pairs ...string) []string {
	t.Helper()
	var items []string
	for mark := "*"; ; {
		p := europe(t, s, append(pairs, "cursorMark", mark)...)
		for _, r := range p.List.Result {
			items = append(items, string(r))
		}
		for _, r := range p.List.XML {
			items = append(items, "<result>"+r.Inner+"</result>")
		}
		if p.Mark == mark || p.Mark == "" {
			return items
		}
		mark = p.Mark
	}
}

func texts(list []Record) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = string(r.Bytes)
	}
	return out
}

func TestEuropePagesToTheEndAreTheTruth(t *testing.T) {
	s := New(uneven(30, 20))
	for field := range europeDates {
		query := field + ":[2024-01-11 TO 2024-01-13]"
		for _, form := range []string{"core", "lite", "idlist"} {
			p := s.EuropePMC().By(field).As(form)
			sameSet(t, europeWalk(t, s, "query", query, "resultType", form, "pageSize", "7"), texts(records(p, 10, 13)))
			got := europeWalk(t, s, "query", query, "resultType", form, "pageSize", "7", "format", "xml")
			sameSet(t, got, texts(records(p.As(form+"-xml"), 10, 13)))
		}
	}
	asc := europeWalk(t, s, "query", "FIRST_IDATE:[2024-01-11 TO 2024-01-13]", "resultType", "core", "sort", "FIRST_IDATE_D asc")
	if want := texts(records(s.EuropePMC(), 10, 13)); !slices.Equal(asc, want) {
		t.Errorf("sorted: %d items, want %d", len(asc), len(want))
	}
}

func TestEuropeWindowsIncludeBothDays(t *testing.T) {
	s := New(small(10))
	for query, want := range map[string]int{
		"FIRST_IDATE:[2024-01-03 TO 2024-01-03]":                                      10,
		"FIRST_IDATE:[2024-01-03 TO 2024-01-04]":                                      20,
		"first_idate:[2024-01-03 TO *]":                                               80,
		"FIRST_IDATE:{2024-01-03 TO 2024-01-05}":                                      10,
		"FIRST_IDATE:2024-01-03":                                                      10,
		"FIRST_IDATE:[2024-01-04 TO 2024-01-03]":                                      0,
		"(FIRST_IDATE:[2024-01-01 TO 2024-01-02]) OR FIRST_IDATE:2024-01-09":          30,
		"FIRST_IDATE:[2024-01-01 TO 2024-01-05] NOT FIRST_IDATE:2024-01-02":           40,
		"FIRST_IDATE:[2024-01-01 TO 2024-01-05] AND FIRST_IDATE:[2024-01-05 TO *]":    10,
		"FIRST_IDATE:2024-01-01 OR FIRST_IDATE:2024-01-02 AND FIRST_IDATE:2024-01-03": 10,
	} {
		if p := europe(t, s, "query", query); p.Hits != want || p.Request.Query != query {
			t.Errorf("%s: %d hits, want %d (echo %q)", query, p.Hits, want, p.Request.Query)
		}
	}
}

func TestEuropeMarksAreStateless(t *testing.T) {
	s := New(small(10))
	query := []string{"query", "FIRST_IDATE:[2024-01-01 TO 2024-01-10]", "pageSize", "15"}
	first := europe(t, s, query...)
	if first.Hits != 100 || len(first.List.Result) != 15 || first.Request.Mark != "*" {
		t.Fatalf("%+v", first)
	}
	second := europe(t, s, append(query, "cursorMark", first.Mark)...)
	again := europe(t, New(small(10)), append(query, "cursorMark", first.Mark)...)
	if second.raw != again.raw || second.raw == first.raw || second.Mark == first.Mark {
		t.Error("the same mark gave another page, or the next mark the same")
	}
	if ignored := europe(t, s, append(query, "page", "3")...); string(ignored.List.Result[0]) != string(first.List.Result[0]) {
		t.Error("page is not ignored")
	}
	if p := europe(t, s, "query", "kelp", "cursorMark", first.Mark); p.Code == 0 {
		t.Error("a mark of another search is accepted")
	}
}

func TestEuropeEndsWithTheMarkThatWasSent(t *testing.T) {
	s := New(small(3))
	mark, pages := "*", 0
	for {
		p := europe(t, s, "query", "FIRST_IDATE:[2024-01-01 TO 2024-01-03]", "pageSize", "10", "cursorMark", mark)
		pages++
		if p.Mark == mark {
			if len(p.List.Result) != 0 || p.Hits != 30 || p.Next != "" || pages != 4 {
				t.Errorf("page %d: %+v", pages, p)
			}
			break
		}
		mark = p.Mark
	}
	if p := europe(t, s, "query", "FIRST_IDATE:2030-01-01"); p.Hits != 0 || strings.Contains(p.raw, "nextCursorMark") || !strings.Contains(p.raw, `"result":[]`) {
		t.Errorf("%s", p.raw)
	}
}

func TestEuropeNextPageURLHasBareSpaces(t *testing.T) {
	s := New(small(3))
	p := europe(t, s, "query", "FIRST_IDATE:[2024-01-01 TO 2024-01-03] AND NOT TITLE:xyzzy", "pageSize", "4", "resultType", "core")
	if !strings.HasPrefix(p.Next, "http://example.com"+europePath+"search?") || strings.Count(p.Next, " ") < 5 {
		t.Fatalf("%q", p.Next)
	}
	next := do(s.Handler(), strings.ReplaceAll(p.Next, " ", "%20"))
	same := europe(t, s, "query", p.Request.Query, "pageSize", "4", "resultType", "core", "cursorMark", p.Mark)
	if next.Body.String() != same.raw {
		t.Errorf("%s\n%s", next.Body, same.raw)
	}
}

func TestEuropeSaysErrorsWith200(t *testing.T) {
	s := New(small(3))
	for _, pairs := range [][]string{
		{"query", "kelp", "pageSize", "1001"}, {"query", "kelp", "pageSize", "0"}, {"query", ""}, {"query", "(kelp"},
		{"query", "kelp", "resultType", "full"}, {"query", "kelp", "cursorMark", "x"}, {"query", "NOSUCH:kelp"},
		{"query", "FIRST_IDATE:[2024-01-01 TO soon]"}, {"query", "kelp", "nosuch", "1"}, {"query", "kelp", "sort", "CITED"},
		{"query", `"kelp`}, {"query", "TITLE:[a TO b]"}, {"query", "kelp AND"}, {"query", "kelp)"}, {"query", "FIRST_IDATE:[2024-01-01]"},
	} {
		for _, format := range []string{"json", "xml"} {
			p := europe(t, s, append(pairs, "format", format)...)
			if p.Code != 404 || p.Message == "" || p.Hits != 0 {
				t.Errorf("%v: %.200s", pairs, p.raw)
			}
		}
	}
	if st := s.Stats(); st.BadRequests != 30 || st.Pages != 0 {
		t.Errorf("%+v", st)
	}
	if w := post(s.Handler(), europePath+"search", "query", "kelp"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
	if w := do(s.Handler(), europePath+"fields"); w.Code != http.StatusNotFound {
		t.Errorf("another route: %d", w.Code)
	}
}

type europeItem struct {
	ID, Source, Pmid, Doi, Title, AuthorString, AbstractText string
	FirstIndexDate, DateOfRevision                           string
}

func TestEuropeQueriesSelectWhatTheySay(t *testing.T) {
	s := New(uneven(20, 30))
	var items []europeItem
	for _, r := range records(s.EuropePMC(), 0, 20) {
		var it europeItem
		if err := json.Unmarshal(r.Bytes, &it); err != nil || it.ID != r.ID || it.Source != r.Source || it.FirstIndexDate != r.At.Format("2006-01-02") {
			t.Fatalf("%v %+v %+v", err, it, r)
		}
		items = append(items, it)
	}
	has := func(text string, words string) bool { return strings.Contains(strings.ToLower(stripTags(text)), words) }
	for query, want := range map[string]func(europeItem) bool{
		`TITLE:kelp`:                 func(i europeItem) bool { return has(i.Title, "kelp") },
		`TITLE:"kelp forests in"`:    func(i europeItem) bool { return has(i.Title, "kelp forests in") },
		`TITLE:"co2 plumes"`:         func(i europeItem) bool { return has(i.Title, "co2 plumes") },
		`ABSTRACT:"blinded samples"`: func(i europeItem) bool { return has(i.AbstractText, "blinded samples") },
		`AUTH:"Müller"`:              func(i europeItem) bool { return has(i.AuthorString, "müller ") },
		`kelp AND (drift OR TITLE:peat)`: func(i europeItem) bool {
			all := i.Title + i.AbstractText
			return has(all, "kelp") && (has(all, "drift") || has(i.Title, "peat"))
		},
		`TITLE:kelp NOT ABSTRACT:pathway`: func(i europeItem) bool { return has(i.Title, "kelp") && !has(i.AbstractText, "pathway") },
		`SRC:PPR`:                         func(i europeItem) bool { return i.Source == "PPR" },
		`SRC:PMC`:                         func(i europeItem) bool { return i.Source == "PMC" },
		fmt.Sprintf(`EXT_ID:%s AND SRC:MED`, items[0].Pmid): func(i europeItem) bool { return i.Pmid == items[0].Pmid },
		`TITLE:kel`:  func(europeItem) bool { return false },
		`TITLE:kel*`: func(i europeItem) bool { return has(i.Title, "kelp") },
	} {
		var wanted []string
		for _, it := range items {
			if want(it) {
				wanted = append(wanted, it.Source+it.ID)
			}
		}
		var got []string
		for _, raw := range europeWalk(t, s, "query", query, "pageSize", "50") {
			var it europeItem
			if err := json.Unmarshal([]byte(raw), &it); err != nil {
				t.Fatal(err)
			}
			got = append(got, it.Source+it.ID)
		}
		if len(wanted) == 0 && query != "TITLE:kel" {
			t.Errorf("%s: nothing to find", query)
		}
		sameSet(t, got, wanted)
	}
}

func TestEuropeFaults(t *testing.T) {
	target := address(europePath+"search", "query", "kelp", "format", "json")
	c := small(3)
	c.Faults = Faults{ServerError: 1}
	if w := do(New(c).Handler(), target); w.Code != http.StatusServiceUnavailable || w.Header().Get("Content-Type") != "text/plain" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	c.Faults = Faults{Throttle: 1}
	if w := do(New(c).Handler(), target); w.Code != http.StatusTooManyRequests {
		t.Errorf("%d", w.Code)
	}
	c.Faults = Faults{CutBody: 1}
	if _, arrived := tryDo(New(c).Handler(), target); arrived {
		t.Error("the body was not cut")
	}
	c.Faults = Faults{ExpireToken: 1, Timeout: 1}
	s := New(c)
	if got, want := europeWalk(t, s, "query", "FIRST_IDATE:[2024-01-01 TO *]", "pageSize", "4"), 30; len(got) != want || s.Stats().Expired+s.Stats().Timeouts != 0 {
		t.Errorf("marks expire: %d items, %+v", len(got), s.Stats())
	}
}
