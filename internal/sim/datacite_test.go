package sim

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

type datacitePage struct {
	Data  []json.RawMessage `json:"data"`
	Meta  struct{ Total, TotalPages, Page int }
	Links struct{ Self, Next string }
	raw   string
}

func readDatacite(t *testing.T, w *httptest.ResponseRecorder) datacitePage {
	t.Helper()
	p := datacitePage{raw: w.Body.String()}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %v: %.300s", w.Code, err, w.Body)
	}
	return p
}

func dois(t *testing.T, s *Server, pairs ...string) datacitePage {
	t.Helper()
	return readDatacite(t, do(s.Handler(), address("/dois", pairs...)))
}

// follow reads pages by their links; mend is what a careful client does to them.
func follow(t *testing.T, s *Server, p datacitePage, mend func(url.Values)) (items []string, pages int) {
	t.Helper()
	for {
		pages++
		for _, d := range p.Data {
			items = append(items, string(d))
		}
		if p.Links.Next == "" {
			return items, pages
		}
		u := mustParse(t, p.Links.Next)
		q := u.Query()
		mend(q)
		u.RawQuery = q.Encode()
		p = readDatacite(t, do(s.Handler(), u.String()))
	}
}

func leave(url.Values) {}

const threeDays = "updated:[2024-01-11T00:00:00Z TO 2024-01-13T23:59:59Z]"

func TestDataCitePagesToTheEndAreTheTruth(t *testing.T) {
	s := New(uneven(30, 20))
	want := texts(records(s.DataCite(), 10, 13))
	got, _ := follow(t, s, dois(t, s, "query", threeDays, "page[size]", "7", "page[cursor]", "1"), leave)
	sameSet(t, got, want)
	got, _ = follow(t, s, dois(t, s, "query", threeDays, "page[size]", "7"), leave)
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		t.Errorf("by number: %d items, want %d in descending order", len(got), len(want))
	}
	got, _ = follow(t, s, dois(t, s, "query", "created:[2024-01-11 TO 2024-01-13]", "page[size]", "7", "page[cursor]", "1"), leave)
	sameSet(t, got, texts(records(s.DataCite().By("created"), 10, 13)))
}

func TestDataCiteWindows(t *testing.T) {
	s := New(small(10))
	for query, want := range map[string]int{
		"updated:[2024-01-03T00:00:00Z TO 2024-01-03T23:59:59Z]":               10,
		"updated:[2024-01-03T00:00:00Z TO 2024-01-04T00:00:00Z]":               11,
		"updated:[2024-01-03T00:00:00Z TO 2024-01-04T00:00:00Z}":               10,
		"updated:{2024-01-03T00:00:00Z TO 2024-01-04T00:00:00Z}":               9,
		"updated:[2024-01-03T00:00:00Z TO 2024-01-03T23:59:59Z}":               9,
		"updated:[2024-01-03T00:00:00Z TO 2024-01-03T00:00:00Z]":               1,
		"updated:[2024-01-03T23:59:59Z TO 2024-01-04T00:00:00Z]":               2,
		"updated:[2024-01-03 TO 2024-01-04]":                                   20,
		"updated:[2024-01-09 TO *]":                                            20,
		"updated:[2024-01-03T01:00:00+01:00 TO 2024-01-03T23:59:59Z]":          10,
		"updated:[2024-01-01 TO 2024-01-05] AND NOT updated:[2024-01-02 TO *]": 10,
		"": 100,
	} {
		if p := dois(t, s, "query", query, "page[size]", "0"); p.Meta.Total != want || len(p.Data) != 0 || p.Links.Next != "" {
			t.Errorf("%s: %+v, want %d", query, p.Meta, want)
		}
	}
}

// The link to the next page asks for less than the first request did.
func TestDataCiteLinksLoseAParameter(t *testing.T) {
	s := New(uneven(30, 20))
	first := dois(t, s, "query", threeDays, "page[size]", "5", "page[cursor]", "1", "exclude_registration_agencies", "true", "affiliation", "true")
	next := mustParse(t, first.Links.Next)
	q := next.Query()
	if next.Host != "example.com" || next.Path != "/dois" || q.Get("query") != threeDays || q.Get("page[size]") != "5" || q.Get("affiliation") != "true" {
		t.Errorf("%s", first.Links.Next)
	}
	if q.Has("exclude_registration_agencies") || !strings.Contains(first.Links.Self, "exclude_registration_agencies=true") {
		t.Errorf("nothing is lost: %s", first.Links.Next)
	}
	if !strings.Contains(first.raw, `\u0026`) {
		t.Error("links are not escaped for HTML")
	}
	var ours, all []string
	for _, r := range records(s.DataCite(), 10, 13) {
		all = append(all, string(r.Bytes))
		if !r.Foreign {
			ours = append(ours, string(r.Bytes))
		}
	}
	if len(ours) == len(all) {
		t.Fatal("no foreign records")
	}
	mended, _ := follow(t, s, first, func(q url.Values) { q.Set("exclude_registration_agencies", "true") })
	sameSet(t, mended, ours)
	if careless, _ := follow(t, s, first, leave); len(careless) <= len(ours) {
		t.Errorf("a client that follows the link as it is gets %d, the right number is %d", len(careless), len(ours))
	}
}

func TestDataCiteEnds(t *testing.T) {
	s := New(small(10))
	day := []string{"query", "updated:[2024-01-03 TO 2024-01-03]"}
	if items, pages := follow(t, s, dois(t, s, append(day, "page[size]", "5", "page[cursor]", "1")...), leave); len(items) != 10 || pages != 3 {
		t.Errorf("by cursor: %d items on %d pages; a full page is not the last", len(items), pages)
	}
	if items, pages := follow(t, s, dois(t, s, append(day, "page[size]", "5")...), leave); len(items) != 10 || pages != 2 {
		t.Errorf("by number: %d items on %d pages", len(items), pages)
	}
	if items, pages := follow(t, s, dois(t, s, append(day, "page[size]", "4", "page[cursor]", "1")...), leave); len(items) != 10 || pages != 3 {
		t.Errorf("by cursor: %d items on %d pages", len(items), pages)
	}
}

func TestDataCiteTraps(t *testing.T) {
	c := small(3)
	c.PerDay = 5000
	s := New(c)
	first := dois(t, s, "page[size]", "2", "page[cursor]", "1")
	if again := dois(t, s, "page[size]", "2", "page[cursor]", "nonsense"); !slices.EqualFunc(first.Data, again.Data, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
		t.Error("a cursor that cannot be read is not the beginning")
	}
	one, zero := dois(t, s, "page[size]", "2", "page[number]", "1"), dois(t, s, "page[size]", "2", "page[number]", "0")
	if string(one.Data[0]) != string(zero.Data[0]) {
		t.Error("page 0 is not page 1")
	}
	last, beyond := dois(t, s, "page[size]", "1000", "page[number]", "10"), dois(t, s, "page[size]", "1000", "page[number]", "11")
	if last.Meta.TotalPages != 10 || last.Meta.Total != 15000 || string(last.Data[0]) != string(beyond.Data[0]) || last.Links.Next != "" {
		t.Errorf("%+v %+v", last.Meta, beyond.Meta)
	}
	big := dois(t, s, "page[size]", "5000", "page[cursor]", "1")
	if len(big.Data) != 1000 {
		t.Errorf("%d on a page", len(big.Data))
	}
	if items, _ := follow(t, s, big, leave); len(items) != 15000 {
		t.Errorf("by cursor: %d", len(items))
	}
}

func TestDataCiteSingleDOIsAndErrors(t *testing.T) {
	s := New(small(3))
	for _, r := range records(s.DataCite(), 0, 3) {
		w := do(s.Handler(), "/dois/"+url.PathEscape(r.ID))
		if w.Code != http.StatusOK || w.Body.String() != `{"data":`+string(r.Bytes)+`}` {
			t.Fatalf("%s: %d %.300s", r.ID, w.Code, w.Body)
		}
	}
	for target, status := range map[string]int{
		"/dois/10.5555%2Fnothing":                 404,
		"/dois?nonsense=1":                        400,
		"/dois?sort=relevance":                    400,
		"/dois?query=nonsense:x":                  400,
		"/dois?query=updated:%5B2024%20TO%20x%5D": 400,
		"/dois?page%5Bsize%5D=x":                  400,
	} {
		w := do(s.Handler(), target)
		var body struct {
			Errors []struct{ Status, Title string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != status || len(body.Errors) != 1 || body.Errors[0].Status != itoa(status) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if n := dois(t, New(uneven(30, 40)), "resource-type-id", "dataset").Meta.Total; n == 0 || n > 100 {
		t.Errorf("%d datasets", n)
	}
}

func TestDataCiteFaults(t *testing.T) {
	c := small(3)
	c.Faults = Faults{Throttle: 1}
	if w := do(New(c).Handler(), "/dois"); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"status":"429"`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	c.Faults = Faults{ServerError: 1}
	if w := do(New(c).Handler(), "/dois"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Content-Type") != "text/html" {
		t.Errorf("%d", w.Code)
	}
}

// One paper is one paper at every provider: they agree about its DOI.
func TestProvidersDescribeTheSamePapers(t *testing.T) {
	s := New(small(3))
	crossref, europe, archive := truth(s, 3), records(s.EuropePMC(), 0, 3), records(s.OAI(), 0, 3)
	articles, doi := records(s.PubMed(), 0, 3), records(s.DataCite(), 0, 3)
	for i, w := range crossref {
		if doi[i].ID != w.ID || !strings.Contains(string(articles[i].Bytes), xmlEscapes.Replace(w.ID)) || !strings.Contains(string(europe[i].Bytes), `"doi":"`+w.ID+`"`) {
			t.Errorf("paper %d: %s", i, w.ID)
		}
		if !archive[i].Deleted && !strings.Contains(string(archive[i].Bytes), "https://doi.org/"+xmlEscapes.Replace(w.ID)) {
			t.Errorf("paper %d: %s not in %s", i, w.ID, archive[i].Bytes)
		}
		if europe[i].Source == "MED" && europe[i].ID != articles[i].ID {
			t.Errorf("paper %d: PMID %s and %s", i, europe[i].ID, articles[i].ID)
		}
	}
}
