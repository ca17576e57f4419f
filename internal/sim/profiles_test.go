package sim

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// walker is a client that knows how one provider pages and nothing about faults.
type walker struct {
	first string         // query of the first request
	path  string         // where it goes
	next  *regexp.Regexp // finds what goes into the parameter of the second
	param string
	alone string // what else a request with a token may have
}

var walkers = map[string]walker{
	"crossref": {"filter=from-index-date:2024-01-02,until-index-date:2024-01-03&rows=3&cursor=*", "/works", regexp.MustCompile(`"next-cursor":"([^"]+)"`), "cursor", "filter=from-index-date:2024-01-02,until-index-date:2024-01-03&rows=3"},
	"europe":   {"query=FIRST_IDATE:[2024-01-02 TO 2024-01-03]&format=json&pageSize=3", europePath + "search", regexp.MustCompile(`"nextCursorMark":"([^"]+)"`), "cursorMark", "query=FIRST_IDATE:[2024-01-02 TO 2024-01-03]&format=json&pageSize=3"},
	"esearch":  {"db=pubmed&retmode=json&term=all[sb]&datetype=edat&mindate=2024/01/02&maxdate=2024/01/03&retmax=3", pubmedPath + "esearch.fcgi", nil, "", ""},
	"efetch":   {"db=pubmed&retmode=xml&id=1,2,3,4", pubmedPath + "efetch.fcgi", nil, "", ""},
	"oai":      {"verb=ListRecords&metadataPrefix=oai_dc", oaiPath, regexp.MustCompile(`<resumptionToken[^>]*>([^<]+)</`), "resumptionToken", "verb=ListRecords"},
}

// query encodes what is readable above.
func query(text string) string {
	q, err := url.ParseQuery(strings.NewReplacer("+", "%2B", ";", "%3B").Replace(text))
	if err != nil {
		panic(err)
	}
	return q.Encode()
}

// stroll sends so many requests, one after the other, each with the last token that came.
func (w walker) stroll(t *testing.T, base string, requests int) {
	t.Helper()
	// On a connection used before, the client's transport would repeat a lost GET by itself.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	at := w.first
	for i := range requests {
		if i%4 == 0 {
			at = w.first
		}
		res, err := client.Get(base + w.path + "?" + query(at))
		if err != nil {
			continue
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if w.next == nil {
			continue
		}
		if m := w.next.FindSubmatch(body); m != nil {
			at = w.alone + "&" + w.param + "=" + url.QueryEscape(strings.ReplaceAll(string(m[1]), `\/`, "/"))
		}
	}
}

// faultsOf lets a client ask a provider under a profile; pauses are left out.
func faultsOf(t *testing.T, profile, provider string, requests int) (map[string]int64, []Entry) {
	t.Helper()
	c, log := small(20), &lines{}
	c.Log = log
	var err error
	if c.Faults, err = Profile(profile); err != nil {
		t.Fatal(err)
	}
	c.Faults.Latency, c.Faults.AbsurdWait = 0, c.Faults.AbsurdWait*6
	for _, field := range reflect.ValueOf(&c.Faults).Elem().Fields() { // more often, so that fewer requests will do
		if field.CanFloat() {
			field.SetFloat(field.Float() * 4)
		}
	}
	s := New(c)
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	walkers[provider].stroll(t, web.URL, requests)
	return s.Stats().Faults, log.entries
}

// Every fault of a profile that a provider can have happens to it, is counted and stands in the access log, and the same
// seed does the same again.
func TestProfilesDoWhatTheySay(t *testing.T) {
	said := []string{"throttle", "unavailable", "absurd-wait", "retry-after-seconds", "retry-after-date", "retry-after-none", "retry-after-past", "retry-after-garbage", "retry-after-negative", "retry-after-absurd"}
	broken := []string{"server-error", "reset", "cut-body", "cut-chunked", "cut-plain", "half-gzip", "slow-body"}
	lied := []string{"html-page", "error-body", "empty-body", "duplicate-id", "damaged-page"}
	list := append(slices.Clone(lied), "wrong-total", "short-page")
	for _, tt := range []struct {
		profile string
		want    map[string][]string
	}{
		{"throttle", map[string][]string{"crossref": said, "europe": said, "esearch": said, "efetch": said, "oai": said}},
		{"flaky", map[string][]string{"crossref": append(slices.Clone(broken), "expire-token"), "europe": append(slices.Clone(broken), "transient-error"),
			"esearch": append(slices.Clone(broken), "transient-error"), "efetch": append(slices.Clone(broken), "timeout"), "oai": append(slices.Clone(broken), "expire-token")}},
		// One question about a count that is trusted hears one lie, and these clients ask only one.
		{"lying", map[string][]string{"crossref": append(slices.Clone(lied), "short-page"), "europe": list, "esearch": {"html-page", "error-body", "empty-body", "short-page"}, "efetch": lied, "oai": append(slices.Clone(list), "empty-page")}},
	} {
		for provider, want := range tt.want {
			t.Run(tt.profile+" "+provider, func(t *testing.T) {
				t.Parallel()
				got, entries := faultsOf(t, tt.profile, provider, 120)
				again, _ := faultsOf(t, tt.profile, provider, 120)
				if !maps.Equal(got, again) {
					t.Errorf("the same seed did %v, and then %v", got, again)
				}
				for _, name := range want {
					if got[name] == 0 {
						t.Errorf("%s never happened: %v", name, got)
					}
				}
				logged := map[string]int64{}
				for _, e := range entries {
					if e.Fault != "" {
						logged[e.Fault]++
					}
				}
				for name, n := range got {
					if !strings.HasPrefix(name, "retry-after-") && logged[name] != n {
						t.Errorf("%s happened %d times and is logged %d times", name, n, logged[name])
					}
				}
			})
		}
	}
}

func TestThePromiseIsInTheLog(t *testing.T) {
	_, entries := faultsOf(t, "throttle", "oai", 120)
	for _, e := range entries {
		wait := e.RetryUntilUS - e.AnsweredUS
		switch {
		case e.RetryAfter == "", e.RetryAfter == "-30", strings.HasPrefix(e.RetryAfter, "soon"), strings.HasSuffix(e.RetryAfter, "GMT") && e.RetryUntilUS == 0:
			if e.RetryUntilUS != 0 {
				t.Errorf("%+v", e)
			}
		case len(e.RetryAfter) > 6 && !strings.HasSuffix(e.RetryAfter, "GMT"):
			if wait < 9*365*24*3600*1e6 {
				t.Errorf("%+v", e)
			}
		case wait <= 0 || wait > 2e6:
			t.Errorf("%+v", e)
		}
	}
}
