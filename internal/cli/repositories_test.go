package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/config"
	"patra/internal/store"
)

// repository is a small OAI-PMH repository: it answers at one path only, and lists the records of 2026-05-01.
type repository struct {
	url    string
	path   string
	label  string // stands in the title of each record
	down   atomic.Bool
	asked  atomic.Int64
	locals []string // the local ids
}

func newRepository(t *testing.T, path, label string, locals ...string) *repository {
	r := &repository{path: path, label: label, locals: locals}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL + path
	return r
}

// ServeHTTP implements http.Handler.
func (r *repository) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.asked.Add(1)
	switch {
	case r.down.Load():
		http.Error(w, "closed today", http.StatusServiceUnavailable)
		return
	case q.URL.Path != r.path:
		http.NotFound(w, q)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	fmt.Fprint(w, `<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">`)
	from, until := q.URL.Query().Get("from"), q.URL.Query().Get("until")
	if from > "2026-05-01" || until != "" && until < "2026-05-01" {
		fmt.Fprint(w, `<error code="noRecordsMatch">nothing</error></OAI-PMH>`)
		return
	}
	fmt.Fprint(w, `<ListRecords>`)
	for _, id := range r.locals {
		fmt.Fprintf(w, `<record><header><identifier>%s</identifier><datestamp>2026-05-01</datestamp></header><metadata>
<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>%s at %s</dc:title></oai_dc:dc></metadata></record>`, id, id, r.label)
	}
	fmt.Fprint(w, `</ListRecords></OAI-PMH>`)
}

// asks runs a command and gives its exit code and all that it said.
func (s session) asks(environ []string, args ...string) (code int, said string) {
	s.t.Helper()
	var out, errs bytes.Buffer
	code = run(s.t.Context(), append(args, "--store", s.url), environ, &out, &errs)
	return code, out.String() + errs.String()
}

// theDay is the window of the records of a repository.
var theDay = []string{"--from", "2026-05-01", "--to", "2026-05-02", "--contact", "me@example.org", "--no-probe"}

// A base address is asked exactly as it was given: some repositories answer only with the last slash, others only without it.
func TestABaseAddressKeepsItsLastSlash(t *testing.T) {
	for _, path := range []string{"/oai/", "/oai"} {
		for _, other := range []bool{false, true} {
			r := newRepository(t, path, "here", "1", "2")
			s, address := session{t, "sqlite:" + filepath.Join(t.TempDir(), "patra.db")}, r.url
			want := 0
			if other { // the other spelling is not ours to mend
				want, address = 4, strings.TrimSuffix(address, "/")
				if path == "/oai" {
					address += "/"
				}
			}
			code, said := s.asks(nil, append([]string{"harvest", "oai", "--param", "baseUrl=https://archive.example/oai", "--base-url", address}, theDay...)...)
			if code != want {
				t.Errorf("%s asked at %s ends with %d:\n%s", path, address, code, said)
			}
		}
	}
}

// harvestBoth reads two repositories with the same local ids into one store: 8 records.
func harvestBoth(t *testing.T) (s session, a, b *repository) {
	a, b = newRepository(t, "/oai", "A", "1", "2", "3", "4"), newRepository(t, "/oai/", "B", "1", "2", "3", "4")
	s = session{t, "sqlite:" + filepath.Join(t.TempDir(), "patra.db")}
	for name, r := range map[string]*repository{nameA: a, nameB: b} {
		s.run(append([]string{"harvest", "oai", "--param", "baseUrl=" + name, "--base-url", r.url}, theDay...)...)
	}
	return s, a, b
}

const (
	nameA = "https://a.example.org/oai"
	nameB = "https://b.example.org/oai/"
)

// Two repositories behind one source are two providers: records with the same local ids stand side by side.
func TestTwoRepositoriesWithTheSameIDs(t *testing.T) {
	s, a, b := harvestBoth(t)
	seen := map[string]bool{}
	for line := range strings.Lines(s.run("records", "export", "--source", "oai", "--format", "jsonl")) {
		var r patra.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		seen[r.Repository+" "+r.ProviderID+" "+string(r.Fields)] = true
	}
	for _, name := range []string{nameA, nameB} {
		for _, id := range a.locals {
			want := fmt.Sprintf(`%s %s {"title":"%s at %s"}`, name, id, id, map[string]string{nameA: a.label, nameB: b.label}[name])
			if !seen[want] {
				t.Errorf("%s is not there", want)
			}
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d records of 8: %v", len(seen), seen)
	}
}

// Lists, exports and questions about one record name the repository; where an id says too little, they say so.
func TestListsNameTheRepository(t *testing.T) {
	s, _, _ := harvestBoth(t)
	for _, args := range [][]string{{"records", "export", "--source", "oai", "--format", "csv"}, {"coverage", "show", "oai"}, {"coverage", "gaps", "oai"}, {"coverage", "gaps", "oai", "-o", "json"}, {"coverage", "late"}, {"cursor", "list"}, {"plans"}, {"tasks"}, {"records", "query", "oai"}, {"records", "query", "oai", "-o", "jsonl"}, {"events", "list", "-o", "jsonl"}} {
		if said := s.run(args...); !strings.Contains(said, nameA) || !strings.Contains(said, nameB) {
			t.Errorf("patra %s does not tell the two apart:\n%s", strings.Join(args, " "), said)
		}
	}
	var cursors []struct {
		Cursor patra.Cursor `json:"cursor"`
	}
	if err := json.Unmarshal([]byte(s.run("coverage", "show", "oai", "-o", "json")), &cursors); err != nil || len(cursors) != 2 {
		t.Fatalf("%d coverage lines, %v", len(cursors), err)
	}
	if gates := s.run("gate", "status", "-o", "json"); strings.Count(gates, `"key": "host:127.0.0.1:`) != 2 {
		t.Errorf("the two do not have a rate each:\n%s", gates)
	}
	for _, args := range [][]string{{"records", "get", "oai", "3"}, {"records", "why", "oai", "3"}, {"records", "history", "oai", "3"}, {"lineage", "record/oai/work/3"}} {
		if code, said := s.asks(nil, args...); code != 2 || !strings.Contains(said, `oai has "3" in 2 repositories: `+nameA+", "+nameB+"; say which one with --repository") {
			t.Errorf("patra %s ends with %d: %s", strings.Join(args, " "), code, said)
		}
		if said := s.run(append(args, "--repository", nameB)...); args[1] != "history" && (!strings.Contains(said, nameB) || strings.Contains(said, nameA)) {
			t.Errorf("patra %s of one: %s", strings.Join(args, " "), said)
		}
	}
	if code, said := s.asks(nil, "coverage", "waive", "oai", "--from", "2026-05-02", "--to", "2026-05-03", "--reason", "lost"); code != 2 || !strings.Contains(said, nameA) || !strings.Contains(said, nameB) {
		t.Errorf("a waiver without a watermark ends with %d: %s", code, said)
	}
	if code, said := s.asks(nil, "signal", "add", "oai", "3"); code != 2 || !strings.Contains(said, "say which one with --repository") {
		t.Errorf("a signal without a repository ends with %d: %s", code, said)
	}
	if code, said := s.asks(nil, "update", "oai", "--ids", "3", "--contact", "me@example.org"); code != 2 || !strings.Contains(said, "needs the parameter baseUrl") {
		t.Errorf("an update without a repository ends with %d: %s", code, said)
	}
}

// A verdict, its reasons and the alerts say which repository they are about.
func TestAVerdictNamesTheRepository(t *testing.T) {
	s, a, b := harvestBoth(t)
	for name, r := range map[string]*repository{nameA: a, nameB: b} { // two days are left out
		if code, said := s.asks(nil, "harvest", "oai", "--param", "baseUrl="+name, "--base-url", r.url, "--from", "2026-05-04", "--to", "2026-05-05", "--contact", "me@example.org", "--no-probe"); code != 4 {
			t.Fatalf("%d: %s", code, said)
		}
	}
	st, err := store.Open(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	v, _, err := verdict(t.Context(), config.Config{}, st)
	if err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprintf("%+v", v.Reasons)
	if len(v.Reasons) < 2 || !strings.Contains(said, " of "+nameA) || !strings.Contains(said, " of "+nameB) {
		t.Errorf("%s", said)
	}
}

// A repository that is paused is not asked by a comparison either, and another one is.
func TestAPausedRepositoryIsNotCompared(t *testing.T) {
	s, a, b := harvestBoth(t)
	s.run("pause", "oai/*/*/"+nameA, "--reason", "they move")
	before := a.asked.Load()
	for id, want := range map[string]int{nameA: 1, nameB: 0} {
		code, said := s.asks([]string{"PATRA_CONTACT=me@example.org"}, "coverage", "check", "oai", "--cursor", cursorOf(t, s, id))
		if code != want || want == 1 && !strings.Contains(said, "PAUSED") {
			t.Errorf("the comparison of %s ends with %d: %s", id, code, said)
		}
	}
	if a.asked.Load() != before || b.asked.Load() == 0 {
		t.Errorf("the paused one was asked %d times more", a.asked.Load()-before)
	}
}

// cursorOf is the watermark of a repository.
func cursorOf(t *testing.T, s session, repository string) string {
	t.Helper()
	var cursors []patra.Cursor
	if err := json.Unmarshal([]byte(s.run("cursor", "list", "-o", "json")), &cursors); err != nil {
		t.Fatal(err)
	}
	for _, c := range cursors {
		if c.Repository == repository {
			return fmt.Sprint(c.ID)
		}
	}
	t.Fatalf("%s has no watermark", repository)
	return ""
}

// The commands that a summary and a list of gaps print ask the same repository: copied as they are, they are not refused for a
// parameter that they lack.
func TestPrintedCommandsNameTheRepository(t *testing.T) {
	r := newRepository(t, "/oai", "A", "1")
	s := session{t, "sqlite:" + filepath.Join(t.TempDir(), "patra.db")}
	said := s.run(append([]string{"harvest", "oai", "--param", "baseUrl=" + nameA, "--base-url", r.url}, theDay...)...)
	if want := "patra backfill oai --param baseUrl=" + nameA + " --from 1990-01-01"; !strings.Contains(said, want) {
		t.Errorf("no %q in\n%s", want, said)
	}
	if gaps := s.run("coverage", "gaps", "oai"); !strings.Contains(gaps, "ahead") || strings.Contains(gaps, "patra harvest oai") || !strings.Contains(gaps, "patra coverage fill oai --from 2026-05-02 --to ") {
		t.Errorf("what lies ahead is read by\n%s", gaps)
	}
	code, said := s.asks(nil, "harvest", "oai", "--param", "baseUrl="+nameA, "--base-url", r.url, "--from", "2026-04-01", "--to", "2026-04-02", "--contact", "me@example.org", "--no-probe")
	if want := "patra backfill oai --param baseUrl=" + nameA + " --from 2026-04-01"; code != 4 || !strings.Contains(said, want) {
		t.Errorf("it ends with %d, and no %q in\n%s", code, want, said)
	}
}

// A password in an address is refused, and neither shown nor kept; and so is what would not be asked for.
func TestAnAddressIsNoPlaceForMore(t *testing.T) {
	s := session{t, "sqlite:" + filepath.Join(t.TempDir(), "patra.db")}
	for address, want := range map[string]string{"https://me:hidden@example.org/oai": "is not an address", "https://me:hid%den@example.org/oai": "is not an address", "https://example.org/oai?db=1": "has more than a path", "https://example.org/oai#db": "has more than a path"} {
		for _, flag := range []string{"--param=baseUrl=" + address, "--base-url=" + address} {
			code, said := s.asks(nil, append([]string{"harvest", "oai", "--param=baseUrl=" + nameA, flag}, theDay...)...)
			if strings.HasPrefix(flag, "--base-url") {
				want = "is not an address"
			}
			if code != 2 || !strings.Contains(said, want) || strings.Contains(said, "hid") {
				t.Errorf("%s ends with %d: %s", flag, code, said)
			}
		}
	}
	if kept := s.run("triggers", "-o", "json"); !strings.Contains(kept, "xxxxx@example.org") || strings.Contains(kept, "hid") {
		t.Errorf("kept is %s", kept)
	}
}

// A breaker that is open for one repository does not hold the other back.
func TestABreakerIsOfOneRepository(t *testing.T) {
	a, b := newRepository(t, "/oai", "A", "1"), newRepository(t, "/oai", "B", "1")
	s := session{t, "sqlite:" + filepath.Join(t.TempDir(), "patra.db")}
	st, err := store.Open(t.Context(), s.url)
	if err == nil {
		_, err = st.Migrate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	at := patra.WorkScope{Source: "oai", Endpoint: "records", Operation: patra.Harvest, Repository: nameA}
	fault := patra.Fault{Level: patra.LevelRetry, Code: patra.CodeNetwork, Text: "nobody is there"}
	if _, err := st.RecordFailure(t.Context(), at, patra.BreakerRule{Failures: 1, Shortest: time.Hour, Longest: time.Hour}, patra.EndpointFailure{}, fault); err != nil {
		t.Fatal(err)
	}
	if code, said := s.asks(nil, append([]string{"harvest", "oai", "--param", "baseUrl=" + nameB, "--base-url", b.url}, theDay...)...); code != 0 {
		t.Errorf("the other one is held back: %d\n%s", code, said)
	}
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	var out, errs bytes.Buffer
	run(ctx, append([]string{"harvest", "oai", "--param", "baseUrl=" + nameA, "--base-url", a.url, "--store", s.url}, theDay...), nil, &out, &errs)
	if a.asked.Load() != 0 || b.asked.Load() == 0 {
		t.Errorf("asked %d and %d times", a.asked.Load(), b.asked.Load())
	}
	steered := s.run("resume", "oai/*/*/"+nameA)
	if code, said := s.asks(nil, append([]string{"harvest", "oai", "--param", "baseUrl=" + nameA, "--base-url", a.url}, theDay...)...); code != 0 {
		t.Errorf("after %q it ends with %d\n%s", steered, code, said)
	}
}

// Plain http is permitted for one repository by its whole address, and doctor says so. It stays as guarded as before: an address of
// this machine is named with --base-url.
func TestOneRepositoryWithoutEncryption(t *testing.T) {
	r := newRepository(t, "/oai", "here", "1")
	dir := t.TempDir()
	config := filepath.Join(dir, "patra.yaml")
	if err := os.WriteFile(config, []byte("sources:\n  insecure: ["+r.url+"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, environ := session{t, "sqlite:" + filepath.Join(dir, "patra.db")}, []string{"PATRA_CONFIG=" + config}
	ask := func(address string) (int, string) {
		return s.asks(environ, append([]string{"harvest", "oai", "--param", "baseUrl=" + address}, theDay...)...)
	}
	if code, said := ask(r.url + "/"); code != 2 || !strings.Contains(said, "which is without encryption") {
		t.Errorf("another address than the permitted one ends with %d: %s", code, said)
	}
	if code, said := ask(r.url); code == 2 || !strings.Contains(said, "is not public") {
		t.Errorf("the permitted one ends with %d: %s", code, said)
	}
	if _, said := s.asks(environ, "doctor"); !strings.Contains(said, r.url+" may be asked without encryption") {
		t.Errorf("doctor does not name it: %s", said)
	}
	if err := os.WriteFile(config, []byte("sources:\n  insecure: ['http://*.example.org/oai']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, said := ask(r.url); code != 2 && code != 3 || !strings.Contains(said, "sources.insecure[0]") {
		t.Errorf("a pattern ends with %d: %s", code, said)
	}
}
