package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/sim"
	"patra/internal/store"
)

const doubted = `apiVersion: patra/v1
code: mine
name: Mine
recordType: work
defaults:
  http: {baseUrl: https://example.org}
  rate: {perSecond: 1000, burst: 100}
endpoints:
  works:
    role: SEARCH
    request: {method: GET, path: /works}
    pagination: {type: OFFSET, positionParam: offset, end: [EMPTY_PAGE]}
    response: {format: JSON, items: "$.items", id: "$.id", updatedAt: "$.changed", deleted: {path: "$.gone"}, total: {trust: NONE}}
    window: {field: changed, mode: CALENDAR, align: DAY, size: P1D, precision: DAY, upper: INCLUSIVE_DAY}
query:
  fields: {changed: {type: DATE, ops: [RANGE]}}
  render: [{field: changed, op: RANGE, params: {from: "{{from}}", to: "{{to}}"}}]
  params: {from: {name: from}, to: {name: to}}
mapping: {title: "$.title"}
`

// What is wrong with a source file is often no mistake that can be refused: a path that finds nothing, a filter that is off by
// a day. Whoever tries the file is told.
func TestDoubts(t *testing.T) {
	shift := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var items []string
		from, err := time.Parse("2006-01-02", r.URL.Query().Get("from"))
		if day := from.AddDate(0, 0, shift); err == nil && r.URL.Query().Get("offset") == "0" && day.Year() == 2026 {
			for n := range 3 {
				items = append(items, fmt.Sprintf(`{"id":"%s-%d","title":"T","changed":"%[1]s"}`, day.Format("2006-01-02"), n))
			}
			items = append(items, fmt.Sprintf(`{"id":"%s-gone","gone":true}`, day.Format("2006-01-02")))
		}
		fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(items, ","))
	}))
	t.Cleanup(server.Close)
	t.Chdir(t.TempDir())
	exit := exitOK
	says := func(file string, args ...string) string {
		t.Helper()
		if err := os.WriteFile("mine.yaml", []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, said bytes.Buffer
		env := []string{"PATRA_SOURCES_DIR=."}
		if code := run(t.Context(), slices.Concat(args, []string{"--base-url", server.URL}), env, &out, &said); code != exit {
			t.Fatalf("%v: %d\n%s%s", args, code, &out, &said)
		}
		return strings.Join(strings.Fields(out.String()), " ")
	}
	try := []string{"source", "test", "mine", "--from", "2026-05-02"}
	holds := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	if got := says(doubted, try...); strings.Contains(got, "Doubt") {
		t.Errorf("%q doubts what is right", got)
	}
	holds(says(strings.NewReplacer("$.title", "$.titel", "$.changed", "$.chanced").Replace(doubted), try...), "Doubt Found in none of 4 items: response.updatedAt ($.chanced), mapping.title ($.titel).")
	holds(says(strings.Replace(doubted, "$.id", "$.ident", 1), try...), "4 of 4 items cannot become records, the first of them is item 1: MISSING_ID at $.ident")
	holds(says(doubted, "source", "test", "mine", "--from", "2027-05-02"), "Doubt Nothing came")
	if got := says(doubted, "harvest", "mine", "--store", "sqlite:right.db", "--from", "2026-05-02", "--to", "2026-05-04"); strings.Contains(got, "outside") {
		t.Errorf("%q doubts what is right", got)
	}
	shift = 1
	holds(says(doubted, try...), "Doubt 3 of 4 items changed outside of the window that was asked for, 2026-05-02~2026-05-03.")
	exit = exitIncomplete // the first day showed the records of the second, whose own answer has them not
	holds(says(doubted, "harvest", "mine", "--store", "sqlite:wrong.db", "--from", "2026-05-02", "--to", "2026-05-04"), "outside 12 of them changed outside of the window that they were asked by")
	other := strings.Replace(doubted, "window: {field", "window: {otherDate: true, field", 1)
	exit = exitOK
	if got := says(other, "harvest", "mine", "--store", "sqlite:other.db", "--from", "2026-05-02", "--to", "2026-05-04"); strings.Contains(got, "outside") {
		t.Errorf("%q doubts what the source says", got)
	}
}

// The shipped PubMed is asked by the day of entry, and an article says when it was revised: that is right, and no summary doubts it.
func TestPubMedIsNotDoubted(t *testing.T) {
	server := sim.New(sim.Config{Seed: 7, From: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC), PerDay: 20, Exact: true})
	provider := httptest.NewServer(server.Handler())
	t.Cleanup(provider.Close)
	s := session{t, "sqlite:" + filepath.Join(t.TempDir(), "patra.db")}
	said := s.run("harvest", "pubmed", "--base-url", provider.URL, "--contact", "you@example.org", "--from", "2026-05-01", "--to", "2026-05-03", "--no-probe")
	if !strings.Contains(said, "stored") || strings.Contains(said, "outside") {
		t.Error(said)
	}
}

// What is planned goes by the source as it was. Who mends the file of a source that halted and resumes it is told how to go on:
// resuming alone would meet the same mistake again.
func TestResumeTellsThatTheSourceHasChanged(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		items := ""
		if r.URL.Query().Get("offset") == "0" {
			items = fmt.Sprintf(`{"id":"%s","title":"T","changed":"%[1]s"}`, r.URL.Query().Get("from"))
		}
		fmt.Fprintf(w, `{"items":[%s]}`, items)
	}))
	t.Cleanup(server.Close)
	t.Chdir(t.TempDir())
	patraSays := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := run(t.Context(), args, []string{"PATRA_SOURCES_DIR=."}, &out, &out); code != want {
			t.Fatalf("%v: %d, want %d\n%s", args, code, want, &out)
		}
		return out.String()
	}
	put := func(file string) {
		t.Helper()
		if err := os.WriteFile("mine.yaml", []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	quick := strings.Replace(doubted, "endpoints:", "  retry: {maxAttempts: 1}\nendpoints:", 1)
	put(strings.Replace(quick, "$.items", "$.itmes", 1))
	patraSays(4, "harvest", "mine", "--base-url", server.URL, "--from", "2026-05-02", "--to", "2026-05-03")
	if got := patraSays(0, "resume", "mine/works"); strings.Contains(got, "has changed") {
		t.Errorf("%q tells of a change that there was not", got)
	}
	patraSays(4, "harvest", "mine", "--base-url", server.URL, "--from", "2026-05-02", "--to", "2026-05-03")
	put(quick)
	if got := patraSays(0, "resume", "mine/works"); !strings.Contains(got, "mine has changed since plan:1 was planned") || !strings.Contains(got, "Next: patra cancel plan:1; patra coverage fill mine\n") {
		t.Errorf("%q does not say that what is planned goes by the old file", got)
	}
	patraSays(0, "cancel", "plan:1", "--yes")
	if got := patraSays(0, "coverage", "fill", "mine"); !strings.Contains(got, "Filled mine 2026-05-02~2026-05-03") || !strings.Contains(got, "1 new") {
		t.Errorf("%q did not read what was missing, and nothing else", got)
	}
	if got := patraSays(0, "coverage", "fill", "mine"); !strings.Contains(got, "nothing to fill") {
		t.Errorf("%q reads what lies ahead", got)
	}
}

// A search names ids that the provider has no record for. Whoever asks learns which, and what is known of each.
func TestIDsWithoutARecordAreNamed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/works" && r.URL.Query().Get("offset") != "0":
			fmt.Fprint(w, `{"items":[]}`)
		case r.URL.Path == "/works":
			fmt.Fprint(w, `{"items":[{"id":"here"},{"id":"lost"}]}`)
		case strings.Contains(r.URL.Query().Get("ids"), "here"):
			fmt.Fprint(w, `{"items":[{"id":"here","title":"T","changed":"2026-05-02"}]}`)
		default:
			fmt.Fprint(w, `{"items":[]}`)
		}
	}))
	t.Cleanup(server.Close)
	t.Chdir(t.TempDir())
	file := strings.Replace(doubted, "query:\n", `  get:
    role: DETAIL
    request: {method: GET, path: /get}
    response: {format: JSON, items: "$.items", id: "$.id", updatedAt: "$.changed", total: {trust: NONE}}
query:
`, 1)
	file = strings.Replace(file, "    role: SEARCH\n", "    role: SEARCH\n    detail: {endpoint: get, idsParam: ids, batch: 10}\n", 1)
	if err := os.WriteFile("mine.yaml", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ args, want string }{
		{"harvest mine --base-url " + server.URL + " --from 2026-05-02 --to 2026-05-03", "1 new"},
		{"coverage show mine", "known missing 1 record that the provider names and does not give lost"},
		{"records why mine lost --date 2026-05-02", "2 ids seen, 0 in quarantine, 1 known missing It was named by the search, and the provider has no record for it"},
		{"records why mine other --date 2026-05-02", "1 known missing It is not stored"},
	} {
		var out bytes.Buffer
		if code := run(t.Context(), strings.Fields(step.args), []string{"PATRA_SOURCES_DIR=."}, &out, &out); code != 0 {
			t.Fatalf("%s: %d\n%s", step.args, code, &out)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(got, step.want) {
			t.Errorf("%s: %q does not say %q", step.args, got, step.want)
		}
	}
}

// After a process was killed nothing happens until its leases have run out. Whoever waits is told for how long.
func TestWaitingForTheDeadIsTold(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items":[]}`) }))
	t.Cleanup(server.Close)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("mine.yaml", []byte(doubted), 0o600); err != nil {
		t.Fatal(err)
	}
	says := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		window := []string{"mine", "--base-url", server.URL, "--from", "2026-05-02", "--to", "2026-05-03"}
		if code := run(t.Context(), append(args, window...), []string{"PATRA_SOURCES_DIR=.", "PATRA_STORE_URL=sqlite:patra.db"}, &out, &out); code != 0 {
			t.Fatalf("%v: %d\n%s", args, code, &out)
		}
		return out.String()
	}
	says("plan", "HARVEST")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), "sqlite:"+filepath.Join(dir, "patra.db"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Claim(t.Context(), patra.ClaimRequest{Owner: "gone", Lease: 3 * time.Second})
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := says("harvest"); strings.Count(got, "Another process has 1 task that is left. If it is gone, it is taken over when the lease has run out, at ") != 1 {
		t.Errorf("%q does not say once what it waits for", got)
	}
}
