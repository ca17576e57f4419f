package sim

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

type alexPage struct {
	Meta struct {
		Count   int
		Page    *int
		PerPage int     `json:"per_page"`
		Next    *string `json:"next_cursor"`
		Cost    float64 `json:"cost_usd"`
	}
	Results []json.RawMessage
	raw     string
}

func alex(t *testing.T, s *Server, path string, pairs ...string) alexPage {
	t.Helper()
	w := do(s.Handler(), address(path, pairs...))
	p := alexPage{raw: w.Body.String()}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %v: %.300s", w.Code, err, w.Body)
	}
	return p
}

// alexWalk reads pages until one has no cursor and gives the works and the size of each page.
func alexWalk(t *testing.T, s *Server, path string, pairs ...string) (items []string, sizes []int) {
	t.Helper()
	for cursor := "*"; ; {
		p := alex(t, s, path, append(slices.Clone(pairs), "cursor", cursor)...)
		for _, r := range p.Results {
			items = append(items, string(r))
		}
		sizes = append(sizes, len(p.Results))
		if p.Meta.Next == nil {
			return items, sizes
		}
		cursor = *p.Meta.Next
	}
}

func published(first, last string) string {
	return "from_publication_date:" + first + ",to_publication_date:" + last
}

func TestOpenAlexPagesToTheEndAreTheTruth(t *testing.T) {
	s := New(uneven(60, 30))
	var want []string
	for d := 10; d < 15; d++ { // the order is that of the days of publication
		want = append(want, texts(records(s.OpenAlex(), d, d+1))...)
	}
	for _, path := range []string{"/works", "/openalex/works"} {
		got, sizes := alexWalk(t, s, path, "filter", published("2024-01-11", "2024-01-15"), "sort", "publication_date:asc", "per_page", "20")
		if !slices.Equal(got, want) || len(want) < 100 {
			t.Errorf("%s: %d works, want %d", path, len(got), len(want))
		}
		if n := len(sizes); sizes[n-1] != 0 || sizes[n-2] == 0 || slices.ContainsFunc(sizes[:n-2], func(n int) bool { return n != 20 }) {
			t.Errorf("%s: pages of %v; the end is one page without works", path, sizes)
		}
		back, _ := alexWalk(t, s, path, "filter", published("2024-01-11", "2024-01-15"), "sort", "publication_date:desc", "per-page", "7")
		slices.Reverse(back)
		if !slices.Equal(back, want) {
			t.Errorf("%s descending: %d works", path, len(back))
		}
	}
	any, _ := alexWalk(t, s, "/works", "filter", published("2024-01-11", "2024-01-15"))
	sameSet(t, any, want)
	if slices.Equal(any, want) {
		t.Error("there is an order that was not asked for")
	}
}

func TestOpenAlexDaysOfPublicationAreIncluded(t *testing.T) {
	s := New(uneven(60, 20))
	at := func(d int) string { return newYear.AddDate(0, 0, d).Format(time.DateOnly) }
	for _, c := range []struct{ first, last int }{{10, 10}, {10, 11}, {-40, -39}, {-60, 90}, {0, 59}, {59, 59}, {70, 80}, {12, 11}} {
		p := alex(t, s, "/works", "filter", published(at(c.first), at(c.last)), "per_page", "1")
		if n := len(records(s.OpenAlex(), c.first, max(c.last+1, c.first))); p.Meta.Count != n {
			t.Errorf("%v: %d, want %d", c, p.Meta.Count, n)
		}
	}
	// The first and the last of a day are dated that day by every field.
	one := records(s.OpenAlex(), 10, 11)
	for _, r := range one {
		if !strings.Contains(string(r.Bytes), `"publication_date":"2024-01-11"`) || !r.At.Equal(newYear.AddDate(0, 0, 10)) {
			t.Errorf("%s %s", r.At, r.Bytes)
		}
	}
	empty := alex(t, s, "/works", "filter", published("2030-01-01", "2030-01-01"), "per_page", "1", "cursor", "*")
	if len(empty.Results) != 0 || empty.Meta.Next != nil || !strings.Contains(empty.raw, `"next_cursor":null`) || !strings.Contains(empty.raw, `"page":null`) {
		t.Errorf("%s", empty.raw)
	}
}

func TestOpenAlexTimesOfChangeAreExactAndIncluded(t *testing.T) {
	s := New(small(10))
	changed := func(from, to string) []string {
		items, _ := alexWalk(t, s, "/works", "filter", "from_updated_date:"+from+",to_updated_date:"+to, "sort", "updated_date:asc", "api_key", "k")
		return items
	}
	by := s.OpenAlex().By("updated_date")
	if got := changed("2024-01-03", "2024-01-05"); !slices.Equal(got, texts(records(by, 2, 5))) || len(got) != 30 {
		t.Errorf("days: %d", len(got))
	}
	for _, c := range []struct {
		from, to string
		want     int
	}{
		{"2024-01-03T00:00:00", "2024-01-04T00:00:00", 11},
		{"2024-01-03T00:00:00Z", "2024-01-03T23:59:59.999999Z", 10},
		{"2024-01-03T00:00:00", "2024-01-03T23:59:59.999998", 9},
		{"2024-01-03T00:00:00.000001", "2024-01-04", 19},
	} {
		if n := len(changed(c.from, c.to)); n != c.want {
			t.Errorf("%+v: %d", c, n)
		}
	}
	for r := range by.Truth(newYear, newYear.AddDate(0, 0, 10)) {
		stamp := r.At.Format("2006-01-02T15:04:05.000000")
		if !strings.Contains(string(r.Bytes), `"updated_date":"`+stamp+`"`) {
			t.Fatalf("%s is not in %s", stamp, r.Bytes)
		}
		if got := changed(stamp, stamp); len(got) != 1 || got[0] != string(r.Bytes) {
			t.Fatalf("at %s there are %d", stamp, len(got))
		}
	}
}

// A 429 that no waiting helps with: nothing says when to come back, and it does not count as a matter of rate.
func TestOpenAlexPlanIsNotARateLimit(t *testing.T) {
	s := New(small(3))
	for _, name := range []string{"from_updated_date", "to_updated_date", "from_created_date"} {
		target := address("/works", "filter", name+":2024-01-01", "cursor", "*")
		w := do(s.Handler(), target)
		if w.Code != http.StatusTooManyRequests || !strings.HasPrefix(w.Body.String(), `{"error":"Plan upgrade required",`) || w.Header().Get("Retry-After") != "" {
			t.Errorf("%s: %d %v %s", name, w.Code, w.Header(), w.Body)
		}
		if w := do(s.Handler(), target+"&api_key=k"); w.Code != http.StatusOK {
			t.Errorf("%s with a key: %d %s", name, w.Code, w.Body)
		}
		if w := send(s.Handler(), http.MethodGet, target, map[string]string{"Authorization": "Bearer k"}); w.Code != http.StatusOK {
			t.Errorf("%s with a token: %d %s", name, w.Code, w.Body)
		}
	}
	if st := s.Stats(); st.RateLimited != 0 || st.BadRequests != 3 {
		t.Errorf("%+v", st)
	}
	c := small(3)
	c.Faults = Faults{Throttle: 1}
	target := address("/works", "filter", published("2024-01-01", "2024-01-01"), "per_page", "5")
	if w := do(New(c).Handler(), target); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), `"error":"Rate limit exceeded"`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	c.Faults = Faults{ServerError: 1}
	if w := do(New(c).Handler(), target); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"error":"Search temporarily`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestOpenAlexErrors(t *testing.T) {
	s := New(small(3))
	other := *alex(t, s, "/openalex/works", "cursor", "*").Meta.Next
	for _, pairs := range [][]string{
		{"filter", "doesntexist:1"}, {"filter", "from_publication_date:yesterday"}, {"filter", "from_publication_date:2024-01-01T00:00:00"},
		{"filter", "from_publication_date"}, {"per_page", "0"}, {"per_page", "201"}, {"per-page", "x"}, {"nonsense", "1"}, {"sort", "title"},
		{"sort", "publication_date:up"}, {"page", "0"}, {"page", "101", "per_page", "100"}, {"page", "1", "cursor", "*"}, {"cursor", "nonsense"},
		{"cursor", other, "filter", published("2024-01-01", "2024-01-02")}, {"filter", "from_updated_date:x", "api_key", "k"},
	} {
		w := do(s.Handler(), address("/openalex/works", pairs...))
		if w.Code != http.StatusBadRequest || !strings.HasPrefix(w.Body.String(), `{"error":"Invalid query parameters error.","message":"`) {
			t.Errorf("%v: %d %s", pairs, w.Code, w.Body)
		}
	}
	if w := post(s.Handler(), "/openalex/works"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("%d", w.Code)
	}
}

func TestOpenAlexCursorsAreStateless(t *testing.T) {
	s, again := New(small(30)), New(small(30))
	pairs := []string{"filter", published("2024-01-03", "2024-01-09"), "per_page", "20", "sort", "publication_date:asc"}
	next := *alex(t, s, "/works", append(pairs, "cursor", "*")...).Meta.Next
	one, two := alex(t, s, "/works", append(pairs, "cursor", next)...), alex(t, again, "/works", append(pairs, "cursor", next)...)
	if one.raw != two.raw || len(one.Results) != 20 || *one.Meta.Next == next {
		t.Error("the same cursor gave two pages, or no progress")
	}
	second := alex(t, s, "/works", append(pairs, "page", "2")...)
	if string(second.Results[0]) != string(one.Results[0]) || *second.Meta.Page != 2 || strings.Contains(second.raw, "next_cursor") {
		t.Errorf("%.300s", second.raw)
	}
}

func TestOpenAlexWorks(t *testing.T) {
	s := New(uneven(10, 40))
	indexed, sourceless := 0, 0
	for _, r := range records(s.OpenAlex().By("updated_date"), 0, 10) {
		w := do(s.Handler(), "/openalex/works/"+strings.TrimPrefix(r.ID, "https://openalex.org/"))
		if w.Code != http.StatusOK || w.Body.String() != string(r.Bytes) {
			t.Fatalf("%s: %d %.300s", r.ID, w.Code, w.Body)
		}
		var work struct {
			ID, DOI, Title string
			IDs            struct{ PMID, PMCID string }
			Abstract       map[string][]int `json:"abstract_inverted_index"`
			Location       struct {
				Source *struct {
					Name string `json:"display_name"`
				}
			} `json:"primary_location"`
			Authorships []struct {
				Author struct {
					Name string `json:"display_name"`
				}
			}
		}
		if err := json.Unmarshal(r.Bytes, &work); err != nil {
			t.Fatalf("%v: %s", err, r.Bytes)
		}
		p, ok := s.world.find(strings.TrimPrefix(work.DOI, "https://doi.org/"))
		if !ok || work.ID != r.ID || work.Title != p.Title || len(work.Authorships) != len(p.Authors) || work.Authorships[0].Author.Name != p.Authors[0].Given+" "+p.Authors[0].Family {
			t.Fatalf("%s", r.Bytes)
		}
		if slices.ContainsFunc(r.Bytes, func(c byte) bool { return c >= 0x80 }) {
			t.Fatalf("not ASCII: %s", r.Bytes)
		}
		words := make([]string, len(strings.Fields(p.Abstract)))
		for word, places := range work.Abstract {
			for _, i := range places {
				words[i] = word
			}
		}
		if strings.Join(words, " ") != p.Abstract {
			t.Fatalf("%q\n%q", words, p.Abstract)
		}
		if work.Abstract != nil {
			indexed++
		}
		if work.Location.Source == nil {
			sourceless++
		} else if work.Location.Source.Name != p.journal.title {
			t.Fatalf("%s", r.Bytes)
		}
	}
	if indexed < 100 || indexed > 350 || sourceless < 10 || sourceless > 100 {
		t.Errorf("%d abstracts, %d without a source", indexed, sourceless)
	}
	for _, id := range []string{"W1", "x", "W9999999999", "W-1"} {
		if w := do(s.Handler(), "/openalex/works/"+id); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", id, w.Code)
		}
	}
}

func TestOpenAlexHeaders(t *testing.T) {
	h := do(New(small(2)).Handler(), address("/works", "filter", published("2024-01-01", "2024-01-01"), "per_page", "1")).Header()
	if h.Get("X-RateLimit-Reset") != "43200" || h.Get("X-RateLimit-Limit") == "" || h.Get("X-RateLimit-Remaining-USD") == "" || h.Get("X-Api-Pool") != "" {
		t.Errorf("%v", h)
	}
}

// Whatever Crossref can serve, or refuses in its own way, is still its own; what went to OpenAlex is what it refused.
func TestOpenAlexLeavesCrossrefItsPath(t *testing.T) {
	s := New(small(5))
	plain := func(query string) (ours bool, alone answer) {
		c := newCall(mustRequest("/works?"+query), s.cfg.Now())
		c.world, c.lies = s.world, s.lies
		return s.profile(c) == profile(s.crossref), (&crossref{scrolls: newScrolls(7, time.Minute), limit: newGate(0, 1)}).answer(c)
	}
	day := "from-index-date:2024-01-02,until-index-date:2024-01-02"
	for _, query := range []string{
		"", "rows=3", "cursor=*", "cursor=*&rows=5&filter=" + day, "filter=" + day + "&sort=indexed&order=asc&rows=5", "cursor=nonsense&filter=" + day,
		"filter=from_publication_date:2024-01-02", "per_page=5", "per_page=5&cursor=*", "per_page=5&filter=" + day, "cursor=*&filter=from_index_date:2024-01-02",
		"cursor=*&rows=5&filter=from_publication_date:2024-01-02", "filter=nonsense&cursor=*", "select=DOI&mailto=a@example.org&cursor=*",
	} {
		ours, alone := plain(query)
		if !ours {
			t.Errorf("%q went to OpenAlex", query)
		}
		w := do(New(small(5)).Handler(), "/works?"+query)
		if w.Code != alone.status || !sameButCursor(w.Body.String(), string(alone.body)) {
			t.Errorf("%q: %d %.300s", query, w.Code, w.Body)
		}
	}
	for _, query := range []string{"per_page=5&filter=from_publication_date:2024-01-02", "cursor=*&filter=to_publication_date:2024-01-02", "per-page=5&filter=from_updated_date:2024-01-02&api_key=k"} {
		if ours, alone := plain(query); ours || alone.status != http.StatusBadRequest {
			t.Errorf("%q: Crossref would have said %d", query, alone.status)
		}
	}
	if ours, _ := plain("x"); !ours || s.profile(newCall(mustRequest("/works/W1?cursor=*&filter=from_publication_date:2024-01-02"), s.cfg.Now())) != profile(s.crossref) {
		t.Error("a single work went to OpenAlex")
	}
}

// sameButCursor compares without the name of a scroll, which is drawn.
func sameButCursor(a, b string) bool {
	cut := func(s string) string {
		before, rest, found := strings.Cut(s, `"next-cursor":"`)
		if !found {
			return s
		}
		_, after, _ := strings.Cut(rest, `"`)
		return before + after
	}
	return cut(a) == cut(b)
}

func mustRequest(target string) *http.Request {
	u, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	return &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}, Host: "example.com"}
}
