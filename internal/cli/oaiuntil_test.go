package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patra/sources"
)

// oaiServer is an OAI-PMH repository that shares nothing with the simulator. What is odd about one is a field of it.
type oaiServer struct {
	exclusive bool // the moment that `until` names is not part of the answer
	seconds   bool // stamps and arguments have seconds
	coy       int  // after so many lists it has no records at all

	mu     sync.Mutex
	stamps []time.Time // of its records
	asked  []string    // all requests, in their order
	lists  int
}

const oaiServerPage = 50

// newOAIServer has records on ten days of November 2026, some of them at the first and in the last second of a day.
func newOAIServer() *oaiServer {
	r := &oaiServer{}
	for day := range 10 {
		begin := time.Date(2026, 11, 1+day, 0, 0, 0, 0, time.UTC)
		r.stamps = append(r.stamps, begin, begin.Add(24*time.Hour-time.Second))
		for n := range 50 + day {
			r.stamps = append(r.stamps, begin.Add(time.Duration(n+1)*20*time.Minute+time.Duration(n)*time.Second))
		}
	}
	return r
}

func (r *oaiServer) stamp(at time.Time) string {
	if r.seconds {
		return at.Format(time.RFC3339)
	}
	return at.Format(time.DateOnly)
}

// moment reads an argument. A day in a repository of seconds is its midnight.
func moment(text string) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// in reports whether a record is in [from, until], in the sense of this repository. One that includes a day includes all of it.
func (r *oaiServer) in(at time.Time, from, until string) bool {
	first, _ := moment(from)
	last, given := moment(until)
	if !r.seconds {
		at = at.Truncate(24 * time.Hour)
	}
	if at.Before(first) || !given {
		return !at.Before(first)
	}
	if r.exclusive {
		return at.Before(last)
	}
	if len(until) == len(time.DateOnly) {
		last = last.Add(24*time.Hour - time.Nanosecond)
	}
	return !at.After(last)
}

func (r *oaiServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := req.URL.Query()
	r.asked = append(r.asked, req.URL.RawQuery)
	body := ""
	switch q.Get("verb") {
	case "Identify":
		grain := "YYYY-MM-DD"
		if r.seconds {
			grain = "YYYY-MM-DDThh:mm:ssZ"
		}
		body = "<Identify><repositoryName>R</repositoryName><granularity>" + grain + "</granularity></Identify>"
	case "ListRecords":
		body = r.list(q)
	case "ListIdentifiers":
		body = r.identifiers(q)
	default:
		body = `<error code="badVerb">no</error>`
	}
	w.Header().Set("Content-Type", "text/xml")
	fmt.Fprintf(w, `<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">%s</OAI-PMH>`, body)
}

// identifiers are all headers of a window in one answer, as many repositories give them.
func (r *oaiServer) identifiers(q url.Values) string {
	var found strings.Builder
	for n, at := range r.stamps {
		if r.in(at, q.Get("from"), q.Get("until")) {
			fmt.Fprintf(&found, "<header><identifier>oai:r:%d</identifier><datestamp>%s</datestamp></header>", n, r.stamp(at))
		}
	}
	return "<ListIdentifiers>" + found.String() + "</ListIdentifiers>"
}

func (r *oaiServer) list(q url.Values) string {
	from, until, skip := q.Get("from"), q.Get("until"), 0
	if token := q.Get("resumptionToken"); token != "" {
		if _, err := fmt.Sscanf(strings.ReplaceAll(token, "|", " "), "%s %s %d", &from, &until, &skip); err != nil {
			return `<error code="badResumptionToken">no</error>`
		}
	} else if r.lists++; !r.seconds && len(from)+len(until) > 2*len(time.DateOnly) {
		return `<error code="badArgument">days only</error>`
	}
	var found []string
	for n, at := range r.stamps {
		if r.in(at, from, until) && (r.coy == 0 || r.lists <= r.coy) {
			found = append(found, fmt.Sprintf(`<record><header><identifier>oai:r:%d</identifier><datestamp>%s</datestamp></header>`+
				`<metadata><dc xmlns="http://purl.org/dc/elements/1.1/"><title>T %d</title></dc></metadata></record>`, n, r.stamp(at), n))
		}
	}
	if len(found) == 0 {
		return `<error code="noRecordsMatch">nothing</error>`
	}
	end := min(skip+oaiServerPage, len(found))
	token := ""
	if end < len(found) {
		token = fmt.Sprintf(`<resumptionToken>%s|%s|%d</resumptionToken>`, from, until, end)
	}
	return "<ListRecords>" + strings.Join(found[skip:end], "") + token + "</ListRecords>"
}

// oaiFast writes the shipped file without its politeness to where patra looks for sources.
func oaiFast(t *testing.T) {
	t.Helper()
	data, err := sources.Files.ReadFile("oai.yaml")
	if err != nil {
		t.Fatal(err)
	}
	fast := strings.Replace(string(data), "rate: {perSecond: 1, burst: 1, share: HOST}", "rate: {perSecond: 100000, burst: 1000, share: HOST}", 1)
	if err := os.WriteFile("oai.yaml", []byte(fast), 0o600); err != nil {
		t.Fatal(err)
	}
}

// oaiWorld is patra before a repository.
type oaiWorld struct {
	*testing.T
	repo   *oaiServer
	server *httptest.Server
}

func atOAIServer(t *testing.T, r *oaiServer) oaiWorld {
	t.Helper()
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	t.Chdir(t.TempDir())
	oaiFast(t)
	return oaiWorld{t, r, server}
}

// says runs a command and gives its exit code and all that it says.
func (w oaiWorld) says(args ...string) (int, string) {
	w.Helper()
	var out bytes.Buffer
	code := run(w.Context(), args, []string{"PATRA_SOURCES_DIR=.", "PATRA_CONTACT=you@example.org"}, &out, &out)
	return code, out.String()
}

func (w oaiWorld) harvest(more ...string) (int, string) {
	w.Helper()
	return w.says(slices.Concat([]string{"harvest", "oai", "--base-url", w.server.URL, "--param", "baseUrl=https://r.example/oai", "--from", "2026-11-01", "--to", "2026-11-11"}, more)...)
}

// records are the ids of all that is stored.
func (w oaiWorld) records() (found []string) {
	w.Helper()
	code, text := w.says("records", "export", "--source", "oai")
	if code != 0 {
		w.Fatal(text)
	}
	for line := range strings.Lines(text) {
		var r struct {
			ID string `json:"id"`
		}
		if json.Unmarshal([]byte(line), &r) == nil && r.ID != "" {
			found = append(found, r.ID)
		}
	}
	return found
}

// A repository says with Identify how finely it stamps. Whether the moment of `until` is part of an answer, it says nowhere, and
// repositories differ. The shipped file harvests all of them whole.
func TestOAIRepositoriesOfAllBounds(t *testing.T) {
	for _, exclusive := range []bool{false, true} {
		for _, seconds := range []bool{false, true} {
			t.Run(fmt.Sprintf("exclusive=%v,seconds=%v", exclusive, seconds), func(t *testing.T) {
				r := newOAIServer()
				r.exclusive, r.seconds = exclusive, seconds
				w := atOAIServer(t, r)
				code, said := w.harvest()
				if got := w.records(); code != 0 || len(got) != len(r.stamps) {
					t.Errorf("exit code %d, %d of %d records\n%s\n%s", code, len(got), len(r.stamps), said, strings.Join(r.asked, "\n"))
				}
			})
		}
	}
}

// A repository shows fifty records, and then has none at all.
func TestShownRecordsThatAreNotFoundAreADispute(t *testing.T) {
	r := newOAIServer()
	r.seconds, r.coy = true, 2 // the short form and the plan ask
	w := atOAIServer(t, r)
	code, said := w.harvest()
	if code != 4 || !strings.Contains(said, "oai:r:0") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	code, gaps := w.says("coverage", "gaps", "oai")
	if gaps = strings.Join(strings.Fields(gaps), " "); !strings.Contains(gaps, "The provider has shown oai:r:0, oai:r:1, oai:r:2 and 47 more within it, which the scan did not find") {
		t.Errorf("%d %s", code, gaps)
	}
	for _, command := range []string{"show", "gaps"} {
		if _, said := w.says("coverage", command, "oai"); strings.Contains(said, "unknown number") || !strings.Contains(strings.Join(strings.Fields(said), " "), "he provider has shown oai:r:0, oai:r:1, oai:r:2 and 47 more within it") {
			t.Errorf("coverage %s: %s", command, said)
		}
	}
	r.coy = 0
	if code, said := w.says("coverage", "fill", "oai", "--disputed", "--base-url", w.server.URL); code != 0 {
		t.Errorf("exit code %d\n%s", code, said)
	}
}

// A repository is asked once how it reads the ends of a window, and every process goes by that; it is asked again when what it
// shows contradicts that.
func TestBoundsAreKeptAndDoubted(t *testing.T) {
	r := newOAIServer()
	w := atOAIServer(t, r)
	asks := func(what string) (n int) {
		for _, q := range r.asked {
			if strings.Contains(q, what) {
				n++
			}
		}
		r.asked = nil
		return n
	}
	if code, said := w.harvest(); code != 0 {
		t.Fatal(code, said)
	}
	if n := asks("verb=Identify"); n != 1 {
		t.Errorf("Identify was asked for %d times", n)
	}
	_, shown := w.says("source", "show", "oai")
	for _, want := range []string{"INCLUSIVE", w.server.URL, "DAY"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s\nlacks %s", shown, want)
		}
	}
	for n := range 60 { // of days to come
		r.stamps = append(r.stamps, time.Date(2026, 11, 11+n%4, 12, n, 0, 0, time.UTC))
	}
	r.exclusive = true
	next := []string{"harvest", "oai", "--base-url", w.server.URL, "--param", "baseUrl=https://r.example/oai", "--to", "2026-11-15"}
	code, said := w.says(next...)
	if code == 4 { // windows that were read before the first doubt say so
		code, said = w.says("coverage", "fill", "oai", "--disputed", "--base-url", w.server.URL)
	}
	if got := w.records(); code != 0 || len(got) != len(r.stamps) {
		t.Errorf("exit code %d, %d of %d records\n%s\n%s", code, len(got), len(r.stamps), said, strings.Join(r.asked, "\n"))
	}
	if n := asks("verb=Identify"); n != 0 {
		t.Errorf("Identify was asked for %d times more", n)
	}
	if _, shown := w.says("source", "show", "oai"); !strings.Contains(shown, "oai:r:") || strings.Contains(shown, "INCLUSIVE") && !strings.Contains(shown, "EXCLUSIVE") {
		t.Errorf("nothing is said of the doubt:\n%s", shown)
	}
}
