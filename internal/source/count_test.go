package source_test

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/query"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/sources"
)

// countRequests is the cheapest question of every endpoint that can be searched. Without a position no walk is begun at the
// provider; one record is the least that all of them give, and where no size can be asked for, the first page comes along.
var countRequests = map[string]string{
	"arxiv search":           "GET /api/query?max_results=1&search_query=lastUpdatedDate:[202605010000 TO 202605022359]&sortBy=lastUpdatedDate&sortOrder=ascending",
	"arxiv-oai records":      "",
	"biorxiv details":        "GET /details/biorxiv/2026-05-01/2026-05-02/0/json",
	"clinicaltrials studies": "GET /api/v2/studies?countTotal=true&filter.advanced=AREA[LastUpdatePostDate]RANGE[2026-05-01,2026-05-02]&format=json&pageSize=1&sort=LastUpdatePostDate:asc",
	"crossref works":         "GET /works?filter=from-index-date:2026-05-01,until-index-date:2026-05-02&order=asc&rows=1&sort=indexed",
	"datacite dois":          "GET /dois?affiliation=true&disable-facets=true&page[cursor]=1&page[size]=1&query=updated:[2026-05-01T00:00:00Z TO 2026-05-02T23:59:59Z]",
	"doaj articles":          "GET /api/search/articles/last_updated:[2026-05-01T00:00:00Z TO 2026-05-02T23:59:59Z]?pageSize=1&sort=last_updated:asc",
	"europepmc search":       "GET /europepmc/webservices/rest/search?email=me@example.org&format=json&pageSize=1&query=UPDATE_DATE:[2026-05-01 TO 2026-05-02]&resultType=core&synonym=false",
	"medrxiv details":        "GET /details/medrxiv/2026-05-01/2026-05-02/0/json",
	"oai records":            "GET /oai?from=2026-05-01&metadataPrefix=oai_dc&until=2026-05-03&verb=ListRecords",
	"openalex changed":       "GET /works?filter=from_updated_date:2026-05-01T00:00:00Z,to_updated_date:2026-05-03T00:00:00Z&per_page=1&sort=updated_date:asc",
	"openalex published":     "GET /works?filter=from_publication_date:2026-05-01,to_publication_date:2026-05-02&per_page=1&sort=publication_date:asc",
	"plos search":            "GET /search?fl=id,title_display,journal,publisher,publication_date,article_type,author_display,abstract,subject,eissn,received_date,accepted_date&fq=doc_type:full&q=publication_date:[2026-05-01T00:00:00Z TO 2026-05-03T00:00:00Z}&rows=1&sort=publication_date asc,id asc&wt=json",
	"pmc-oai records":        "",
	"pubmed created":         "POST /entrez/eutils/esearch.fcgi datetype=crdt&db=pubmed&email=me@example.org&maxdate=2026/05/02&mindate=2026/05/01&retmax=1&retmode=json&term=all[sb]&tool=patra",
	"pubmed modified":        "POST /entrez/eutils/esearch.fcgi datetype=mdat&db=pubmed&email=me@example.org&maxdate=2026/05/02&mindate=2026/05/01&retmax=1&retmode=json&term=all[sb]&tool=patra",
	"pubmed search":          "POST /entrez/eutils/esearch.fcgi datetype=edat&db=pubmed&email=me@example.org&maxdate=2026/05/02&mindate=2026/05/01&retmax=1&retmode=json&term=all[sb]&tool=patra",
	"semanticscholar papers": "GET /graph/v1/paper/search/bulk?fields=paperId,externalIds,url,title,abstract,venue,year,publicationDate,publicationTypes,journal,authors,citationCount,isOpenAccess,openAccessPdf&publicationDateOrYear=2026-05-01:2026-05-02&sort=publicationDate:asc",
	"zenodo records":         "GET /api/records?all_versions=true&q=updated:[2026-05-01T00:00:00Z TO 2026-05-03T00:00:00Z]&size=1&sort=oldest",
}

func TestCountRequestsAreExactlyThese(t *testing.T) {
	names, err := fs.Glob(sources.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		code := strings.TrimSuffix(name, ".yaml")
		for endpoint, e := range shippedFile(t, code).Endpoints {
			spec := shippedProgram(t, code, endpoint).Spec
			want, known := countRequests[code+" "+endpoint]
			if searched := e.Role == "SEARCH"; known != searched || spec.CanCount() != (want != "") {
				t.Errorf("%s %s: can be searched %v, can be counted %v", code, endpoint, searched, spec.CanCount())
			}
			if want == "" {
				continue
			}
			call, err := spec.BuildCount(query.All(), day, "", source.Vars{Contact: "me@example.org", Version: "1"})
			if err != nil {
				t.Errorf("%s %s: %v", code, endpoint, err)
			} else if got := readable(t, spec, call); got != want {
				t.Errorf("%s %s: asked\n%s\nwant\n%s", code, endpoint, got, want)
			}
		}
	}
}

// readable is a request without its host and its escapes.
func readable(t *testing.T, spec *source.Spec, call source.Call) string {
	t.Helper()
	base, err := url.Parse(spec.Address(source.Vars{}))
	if err != nil {
		t.Fatal(err)
	}
	text, err := url.QueryUnescape(strings.TrimPrefix(call.URL, base.Scheme+"://"+base.Host) + " " + string(call.Body))
	if err != nil {
		t.Fatal(err)
	}
	return call.Method + " " + strings.TrimSpace(text)
}

// Also where the first request of a walk would have an initial position, and a token refuses company.
func TestACountBeginsNoWalk(t *testing.T) {
	p := compile(t, write(`{method: GET, path: /works, query: {verb: List}}`,
		`{type: TOKEN, positionParam: token, initial: "*", next: "$.next", token: {state: STATEFUL, onSame: CONTINUE, alone: [verb]}, end: [EMPTY_PAGE]}`, jsonList, noFields))
	call, err := p.Spec.BuildCount(query.All(), day, "http://127.0.0.1:1/x", source.Vars{})
	if err != nil || call.URL != "http://127.0.0.1:1/x/works?from=2026-05-01&to=2026-05-02&verb=List" {
		t.Errorf("%s, %v", call.URL, err)
	}
}

func TestACountIsReadWithoutAWayOn(t *testing.T) {
	p := compile(t, shipped(t))
	for body, want := range map[string]int64{
		`{"message":{"items":[{}],"total-results":7}}`:   7,
		`{"message":{"items":[],"total-results":"0"}}`:   0,
		`{"message":{"items":[{}],"total-results":"?"}}`: -1,
		`{"message":{"items":[{}]}}`:                     -1,
	} {
		n, err := p.Count(200, []byte(body))
		if err != nil || (n == nil) != (want < 0) || n != nil && *n != want {
			t.Errorf("%s: %v, %v", body, n, err)
		}
	}
	for status, body := range map[int]string{503: ``, 404: `{"message":{"items":[]}}`, 200: `{"message":{"items":[`} {
		if n, err := p.Count(status, []byte(body)); err == nil {
			t.Errorf("%d %s was read as %v", status, body, n)
		}
	}
	// What is said in the words of an error is a count too.
	oai := compile(t, write(get, oaiPaging, oaiResponse, noFields))
	if n, err := oai.Count(200, []byte(`<OAI-PMH><error code="noRecordsMatch">nothing</error></OAI-PMH>`)); err != nil || n == nil || *n != 0 {
		t.Errorf("noRecordsMatch: %v, %v", n, err)
	}
	if n, err := oai.Count(200, []byte(oaiPage)); err != nil || n == nil || *n != 17 {
		t.Errorf("a list with a size: %v, %v", n, err)
	}
}

// TestTheProviderCounts: what the simulated providers say is what is there.
func TestTheProviderCounts(t *testing.T) {
	from := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	provider := sim.New(sim.Config{Seed: 4, From: from, To: from.AddDate(0, 0, 3), PerDay: 60, Exact: true}).Handler()
	window := patra.Window{From: patra.InstantOf(from.AddDate(-5, 0, 0)), To: patra.InstantOf(from.AddDate(5, 0, 0))}
	for code, base := range map[string]string{"crossref": "", "europepmc": "", "datacite": "", "pubmed": "", "openalex": "/openalex"} {
		p := shippedProgram(t, code, map[string]string{"openalex": "published"}[code])
		call, err := p.Spec.BuildCount(query.All(), window, "http://127.0.0.1:1"+base, source.Vars{Contact: "t@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		status, body := serve(provider, call)
		if n, err := p.Count(status, body); err != nil || n == nil || *n != 180 {
			t.Errorf("%s: %v, %v\n%.500s", code, n, err, body)
		}
	}
}

// serve sends a request to a handler.
func serve(provider http.Handler, call source.Call) (status int, body []byte) {
	r := httptest.NewRequest(call.Method, call.URL, bytes.NewReader(call.Body))
	for name, value := range call.Headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	provider.ServeHTTP(w, r)
	return w.Code, w.Body.Bytes()
}
