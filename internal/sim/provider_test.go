package sim

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// address builds a request from a path, names and values.
func address(path string, pairs ...string) string {
	return path + strings.TrimPrefix(worksURL(pairs...), "/works")
}

func post(h http.Handler, path string, pairs ...string) *httptest.ResponseRecorder {
	_, form, _ := strings.Cut(worksURL(pairs...), "?")
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// records lists the truth of the days from the first-th after newYear up to, not including, the end-th.
func records(p *Provider, first, end int) []Record {
	return slices.Collect(p.Truth(newYear.AddDate(0, 0, first), newYear.AddDate(0, 0, end)))
}

func recordIDs(list []Record) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.Source + r.ID
	}
	return out
}

// sameSet compares without order and finds what is there twice.
func sameSet(t *testing.T, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("got %d, want %d: %.300v\n%.300v", len(got), len(want), got, want)
	}
}

func uneven(days, perDay int) Config {
	c := small(days)
	c.Exact, c.PerDay = false, perDay
	return c
}

func providers(s *Server) map[string]*Provider {
	return map[string]*Provider{
		"Europe PMC": s.EuropePMC(), "OAI": s.OAI(), "OAI by day": s.OAIDay(), "PubMed": s.PubMed(), "DataCite": s.DataCite(),
		"OpenAlex": s.OpenAlex(), "arXiv": s.ArXiv(),
	}
}

func TestEveryProviderIsSharpAtBothEndsOfADayByEveryField(t *testing.T) {
	s := New(uneven(60, 20))
	for name, p := range providers(s) {
		for field, by := range p.fields {
			if by == byCreated {
				continue // not a time to harvest by: most papers are old by it
			}
			ends := map[int64]bool{}
			for _, d := range []int{41, 42, 43} {
				k := p.By(field).walk(newYear.AddDate(0, 0, d), newYear.AddDate(0, 0, d+1))
				for sk, ok := k.next(); ok; sk, ok = k.next() {
					ends[by.at(&subject{world: s.world, sketch: sk})] = true
				}
				midnight := newYear.AddDate(0, 0, d).UnixMilli()
				if !ends[midnight] || !ends[midnight+msPerDay-1] {
					t.Errorf("%s by %s: day %d lacks its first or last millisecond", name, field, d)
				}
			}
		}
	}
}

// A record's date does not depend on the window it was asked for in, and windows side by side hold every record once.
func TestTruthTiles(t *testing.T) {
	s := New(uneven(30, 20))
	for name, p := range providers(s) {
		for field := range p.fields {
			q := p.By(field)
			var parts []string
			for d := -50; d < 60; d++ {
				from := newYear.AddDate(0, 0, d)
				for r := range q.Truth(from, from.AddDate(0, 0, 1)) {
					if r.At.Before(from) || !r.At.Before(from.AddDate(0, 0, 1)) {
						t.Fatalf("%s by %s: %s is dated %s on %s", name, field, r.ID, r.At, from)
					}
					parts = append(parts, r.Source+r.ID)
				}
			}
			whole := recordIDs(records(q, -50, 60))
			sameSet(t, parts, whole)
			if n := q.Count(newYear.AddDate(0, 0, -50), newYear.AddDate(0, 0, 60)); n != len(whole) {
				t.Errorf("%s by %s: counted %d, there are %d", name, field, n, len(whole))
			}
		}
	}
}

func TestTruthIsRepeatable(t *testing.T) {
	a, b := New(uneven(5, 20)), New(uneven(5, 20))
	other := providers(b)
	for name, p := range providers(a) {
		for form := range p.forms {
			one, two := records(p.As(form), -40, 5), records(other[name].As(form), -40, 5)
			if len(one) < 50 || !slices.EqualFunc(one, two, func(x, y Record) bool { return string(x.Bytes) == string(y.Bytes) && x.ID == y.ID }) {
				t.Errorf("%s as %s differs between two servers of one seed (%d records)", name, form, len(one))
			}
		}
	}
}

func TestUnknownFieldsAndFormsPanic(t *testing.T) {
	for _, f := range []func(*Provider){func(p *Provider) { p.By("nonsense") }, func(p *Provider) { p.As("nonsense") }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f(New(small(1)).EuropePMC())
		}()
	}
}

func TestEveryProviderHasItsOwnRateLimit(t *testing.T) {
	c := small(2)
	c.Rate, c.Burst = 1, 1
	h := New(c).Handler()
	for _, path := range []string{"/works", europePath + "search?query=kelp&format=json", "/oai?verb=Identify", pubmedPath + "esearch.fcgi?db=pubmed&term=kelp", "/dois", "/openalex/works", "/oai?verb=ListRecords&metadataPrefix=arXiv"} {
		if w := do(h, path); w.Code != http.StatusOK {
			t.Errorf("%s: the first request got %d", path, w.Code)
		}
		if w := do(h, path); w.Code != http.StatusTooManyRequests {
			t.Errorf("%s: the second request got %d", path, w.Code)
		}
	}
}

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// Windows of any two seconds hold what the truth says, at every provider that knows seconds.
func TestAnyWindowOfSecondsIsTheTruth(t *testing.T) {
	s := New(uneven(6, 30))
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		from := newYear.Add(seconds(rapid.IntRange(-4000, 6*86400).Draw(t, "from")))
		to := from.Add(seconds(rapid.IntRange(1, 2*86400).Draw(t, "length")))
		until := to.Add(-time.Second)
		want := slices.Collect(s.OAI().Truth(from, to))
		got, _, _ := oaiWalk(outer, s, "/oai", "ListRecords", "from", from.Format(time.RFC3339), "until", until.Format(time.RFC3339))
		if !slices.Equal(got, texts(want)) {
			t.Fatalf("OAI has %d of %d records of %s..%s", len(got), len(want), from, to)
		}
		for _, query := range []string{
			"updated:[" + from.Format(time.RFC3339) + " TO " + until.Format(time.RFC3339) + "]",
			"updated:[" + from.Format(time.RFC3339) + " TO " + to.Format(time.RFC3339) + "}",
		} {
			p := dois(outer, s, "query", query, "page[size]", "11", "page[cursor]", "1")
			items, _ := follow(outer, s, p, leave)
			if n := s.DataCite().Count(from, to); len(items) != n || p.Meta.Total != n || n != len(want) {
				t.Fatalf("DataCite has %d of %d for %s", len(items), n, query)
			}
		}
	})
}

// Windows of any two days hold what the truth says, at every provider that knows days, by every field.
func TestAnyWindowOfDaysIsTheTruth(t *testing.T) {
	s := New(uneven(10, 8))
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.IntRange(-45, 35).Draw(t, "first")
		end := first + rapid.IntRange(1, 20).Draw(t, "days")
		from, last := newYear.AddDate(0, 0, first), newYear.AddDate(0, 0, end-1)
		for field := range europeDates {
			query := field + ":[" + from.Format(time.DateOnly) + " TO " + last.Format(time.DateOnly) + "]"
			if got, want := europe(outer, s, "query", query).Hits, s.EuropePMC().By(field).Count(from, last.AddDate(0, 0, 1)); got != want {
				t.Fatalf("%s: %d hits, want %d", query, got, want)
			}
		}
		for field := range entrezDates {
			r := searchPubMed(outer, s, "term", "all[sb]", "retmax", "9999", "datetype", field, "mindate", from.Format("2006/01/02"), "maxdate", last.Format("2006/01/02"))
			sameSet(outer, r.Result.IDs, recordIDs(records(s.PubMed().By(field), first, end)))
		}
	})
}

// Under the roughest faults a client that asks again gets every record, and two runs of one seed see the same faults.
func TestRoughWalksOfStatelessProvidersArriveWhole(t *testing.T) {
	c := small(30)
	c.Faults, _ = Profile("rough")
	c.Faults.Latency = 0
	run := func() (*Server, []string) {
		s := New(c)
		var items []string
		for token := ""; ; {
			target := "/oai?verb=ListRecords&metadataPrefix=oai_dc"
			if token != "" {
				target = "/oai?verb=ListRecords&resumptionToken=" + url.QueryEscape(token)
			}
			w, arrived := tryDo(s.Handler(), target)
			if !arrived || w.Code != http.StatusOK || strings.Contains(w.Body.String(), "badResumptionToken") {
				continue
			}
			var p oaiPageXML
			if err := xml.Unmarshal(w.Body.Bytes(), &p); err != nil {
				t.Fatal(err)
			}
			for _, r := range p.Records {
				items = append(items, "<record>"+r.Inner+"</record>")
			}
			if token = p.Token.Text; token == "" {
				return s, items
			}
		}
	}
	one, items := run()
	two, _ := run()
	if want := texts(records(one.OAI(), 0, 30)); !slices.Equal(items, want) {
		t.Errorf("%d records, want %d", len(items), len(want))
	}
	if !reflect.DeepEqual(one.Stats(), two.Stats()) || one.Stats().Requests < 5 {
		t.Errorf("%+v\n%+v", one.Stats(), two.Stats())
	}
}
