package sim

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"
)

// newYear is the first day of the worlds in these tests, a Monday.
var newYear = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// clock is a time that stands still until a test moves it.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func (c *clock) pass(d time.Duration) { c.t = c.t.Add(d) }

func newClock() *clock { return &clock{time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)} }

// small is a world of the given days with ten works on each.
func small(days int) Config {
	return Config{Seed: 7, From: newYear, To: newYear.AddDate(0, 0, days), PerDay: 10, Exact: true, Now: newClock().now}
}

type page struct {
	Status  string `json:"status"`
	Kind    string `json:"message-type"`
	Message struct {
		Total int               `json:"total-results"`
		Items []json.RawMessage `json:"items"`
		Rows  int               `json:"items-per-page"`
		Next  *string           `json:"next-cursor"`
	} `json:"message"`
}

func (p page) next() string {
	if p.Message.Next == nil {
		return ""
	}
	return *p.Message.Next
}

func (p page) ids(t testing.TB) []string {
	t.Helper()
	list := make([]string, len(p.Message.Items))
	for i, raw := range p.Message.Items {
		list[i] = decodeItem(t, raw).DOI
	}
	return list
}

type moment struct {
	Parts [][]int `json:"date-parts"`
	Text  string  `json:"date-time"`
	MS    int64   `json:"timestamp"`
}

type item struct {
	DOI       string   `json:"DOI"`
	Type      string   `json:"type"`
	Title     []string `json:"title"`
	Abstract  string   `json:"abstract"`
	Indexed   moment   `json:"indexed"`
	Created   moment   `json:"created"`
	Deposited moment   `json:"deposited"`
	Author    []struct {
		Given, Family, ORCID, Sequence string
	} `json:"author"`
}

func decodeItem(t testing.TB, raw []byte) item {
	t.Helper()
	var it item
	if err := json.Unmarshal(raw, &it); err != nil {
		t.Fatalf("item is no JSON: %v\n%s", err, raw)
	}
	return it
}

func do(h http.Handler, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w
}

// worksURL builds a request from names and values.
func worksURL(pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return "/works?" + q.Encode()
}

func decodePage(t testing.TB, w *httptest.ResponseRecorder) page {
	t.Helper()
	if w.Code != http.StatusOK {
		t.Fatalf("status %d, body %.300s", w.Code, w.Body)
	}
	var p page
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("page is no JSON: %v\n%.500s", err, w.Body)
	}
	return p
}

// get asks for a page of works that must succeed.
func get(t testing.TB, h http.Handler, pairs ...string) page {
	t.Helper()
	return decodePage(t, do(h, worksURL(pairs...)))
}

// truth lists the works of so many days from newYear on.
func truth(s *Server, days int) []Work {
	var list []Work
	for w := range s.Truth(newYear, newYear.AddDate(0, 0, days)) {
		list = append(list, w)
	}
	return list
}

func ids(works []Work) []string {
	list := make([]string, len(works))
	for i, w := range works {
		list[i] = w.ID
	}
	return list
}
