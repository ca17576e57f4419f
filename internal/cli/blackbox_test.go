package cli

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"patra"
	"patra/internal/blob"
	"patra/internal/evidence"
	"patra/internal/replay"
	"patra/internal/sim"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// booth is a folder of its own with a store in it, and the program run in this process.
type booth struct {
	t   *testing.T
	dir string
}

func newBooth(t *testing.T, files map[string]string) *booth {
	b := &booth{t, t.TempDir()}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(b.dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b *booth) url() string { return "sqlite:" + filepath.Join(b.dir, "patra.db") }

// says runs a command and gives what it said and how it ended.
func (b *booth) says(environ []string, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	environ = append([]string{"PATRA_STORE_URL=" + b.url(), "PATRA_CONTACT=me@example.org", "PATRA_SOURCES_DIR=" + filepath.Join(b.dir, "quick")}, environ...)
	code = run(b.t.Context(), args, environ, &out, &errs)
	return out.String(), errs.String(), code
}

// must runs a command that ends with a code.
func (b *booth) must(code int, args ...string) string {
	b.t.Helper()
	stdout, stderr, got := b.says(nil, args...)
	if got != code {
		b.t.Fatalf("patra %s: exit code %d, want %d\n%s\n%s", strings.Join(args, " "), got, code, stdout, stderr)
	}
	return stdout
}

func (b *booth) open() *store.Store {
	b.t.Helper()
	s, err := store.Open(b.t.Context(), b.url())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { s.Close() })
	return s
}

// rows counts the rows of every table.
func (b *booth) rows() map[string]int64 {
	b.t.Helper()
	db := storetest.Inspect(b.t, b.url())
	names, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
	if err != nil {
		b.t.Fatal(err)
	}
	defer names.Close()
	all := map[string]int64{}
	for names.Next() {
		var name string
		var n int64
		if err := names.Scan(&name); err != nil {
			b.t.Fatal(err)
		}
		if err := db.QueryRow(`SELECT COUNT(*) FROM "` + name + `"`).Scan(&n); err != nil {
			b.t.Fatal(err)
		}
		all[name] = n
	}
	return all
}

// fickle is a provider that notes every body that it sends, and can change its mind.
type fickle struct {
	*httptest.Server
	mu      sync.Mutex
	sent    map[string]bool
	asked   atomic.Int64
	another http.Handler // what it says today
}

func newFickle(t *testing.T, c sim.Config) *fickle {
	s := &fickle{sent: map[string]bool{}}
	provider := sim.New(c).Handler()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		s.mu.Lock()
		today := provider
		if s.another != nil {
			today = s.another
		}
		s.mu.Unlock()
		r.Header.Del("Accept-Encoding")
		rec := httptest.NewRecorder()
		today.ServeHTTP(rec, r)
		s.mu.Lock()
		s.sent[patra.HashBytes(rec.Body.Bytes())] = true
		s.mu.Unlock()
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *fickle) becomes(h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.another = h
}

var (
	mayFirst = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	world    = sim.Config{Seed: 1, From: mayFirst, To: mayFirst.AddDate(0, 1, 0), PerDay: 60, Exact: true}
)

// Pages of all kinds of walks are read again when the provider has long changed: the answers are what it sent, byte for
// byte, the requests are those that were sent, and what is read is what is stored. Nobody is asked, and no row is written
// but that of the audit log.
func TestAReplayNeedsNoProvider(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		args   []string
		phases []patra.Phase
	}{
		"tokens that are used up":   {"crossref", nil, []patra.Phase{patra.PhaseSearch}},
		"ids first, then records":   {"pubmed", nil, []patra.Phase{patra.PhaseSearch, patra.PhaseDetail}},
		"records by their ids":      {"pubmed-ids", nil, []patra.Phase{patra.PhaseDetail}},
		"OAI-PMH":                   {"arxiv-oai", nil, []patra.Phase{patra.PhaseSearch}},
		"positions, with a version": {"europepmc", nil, []patra.Phase{patra.PhaseSearch}},
	} {
		t.Run(name, func(t *testing.T) {
			code := strings.TrimSuffix(c.source, "-ids")
			p := newFickle(t, world)
			b := newBooth(t, map[string]string{"quick/" + code + ".yaml": quickSource(t, code)})
			b.must(0, append([]string{"harvest", code, "--base-url", p.URL, "--from", "2026-05-02", "--to", "2026-05-04"}, c.args...)...)
			after := int64(0)
			if code != c.source {
				for _, r := range b.runs() {
					after = max(after, r.ID)
				}
				b.must(0, "update", code, "--base-url", p.URL, "--by-id")
			}
			p.becomes(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("somebody asked the provider") }))
			asked, before := p.asked.Load(), b.rows()
			phases := map[patra.Phase]bool{}
			replays := int64(0)
			for _, r := range b.runs() {
				if r.ID <= after {
					continue
				}
				var report replayReport
				replays++
				if err := json.Unmarshal([]byte(b.must(0, "replay", fmt.Sprint(r.ID), "-o", "json")), &report); err != nil {
					t.Fatal(err)
				}
				if report.Same != len(report.Pages) || report.Same == 0 {
					t.Fatalf("run %d: %+v", r.ID, report)
				}
				for _, page := range report.Pages {
					phases[page.Phase] = true
					if got := b.body(page.Body); !p.sent[patra.HashBytes(got)] || patra.HashBytes(got) != page.Body {
						t.Errorf("page %d is not what was sent", page.Page)
					}
				}
			}
			for _, phase := range c.phases {
				if !phases[phase] {
					t.Errorf("no page of phase %s was read again", phase)
				}
			}
			if p.asked.Load() != asked {
				t.Error("the provider was asked")
			}
			now := b.rows()
			if now["ing_audit"] != before["ing_audit"]+replays {
				t.Errorf("%d replays, and the log has %d entries more", replays, now["ing_audit"]-before["ing_audit"])
			}
			delete(now, "ing_audit")
			delete(before, "ing_audit")
			if fmt.Sprint(now) != fmt.Sprint(before) {
				t.Errorf("rows before %v, after %v", before, now)
			}
		})
	}
}

func (b *booth) runs() []patra.Run {
	b.t.Helper()
	runs, err := b.open().Runs(b.t.Context(), store.Filter{Limit: 1000})
	if err != nil || len(runs) == 0 {
		b.t.Fatalf("%d runs, %v", len(runs), err)
	}
	return runs
}

// body is a stored answer.
func (b *booth) body(hash string) []byte {
	b.t.Helper()
	place, err := blob.OpenFiles(filepath.Join(b.dir, "evidence"))
	if err != nil {
		b.t.Fatal(err)
	}
	k := evidence.NewKeeper(place)
	kept, err := b.open().Body(b.t.Context(), hash)
	if err != nil {
		b.t.Fatal(err)
	}
	body, err := k.Get(b.t.Context(), kept)
	if err != nil {
		b.t.Fatal(err)
	}
	return body
}

// A replay says what the ledger and the biographies have otherwise, field by field.
func TestAReplayFindsWhatWasChanged(t *testing.T) {
	p := newFickle(t, world)
	b := newBooth(t, map[string]string{"quick/crossref.yaml": quickSource(t, "crossref")})
	b.must(0, "harvest", "crossref", "--base-url", p.URL, "--from", "2026-05-02", "--to", "2026-05-03")
	b.must(0, "replay", "1")
	db := storetest.Inspect(t, b.url())
	for change, want := range map[string]string{
		`UPDATE ing_task_run_batch SET record_count = record_count + 1, n_same = n_same + 1 WHERE batch_no = 1`:                                       "items",
		`UPDATE ing_task_run_batch SET provider_total = 4711 WHERE batch_no = 1`:                                                                      "total",
		`UPDATE ing_task_run_batch SET after_token = 'elsewhere' WHERE batch_no = 1`:                                                                  "next_position",
		`UPDATE ing_task_run_batch SET has_next = 0 WHERE batch_no = 1`:                                                                               "has_next",
		`UPDATE ing_task_run_batch SET end_code = 'NULL_NEXT' WHERE batch_no = 1`:                                                                     "end",
		`UPDATE ing_task_run_batch SET ts_max = ts_max + 1 WHERE batch_no = 1`:                                                                        "ts_max",
		`UPDATE ing_task_run_batch SET response_digest = '{"status":500}' WHERE batch_no = 1`:                                                         "error",
		`UPDATE ing_task_run_batch SET request_digest = REPLACE(request_digest, '/works', '/journals') WHERE batch_no = 1`:                            "request.url",
		`UPDATE ing_task_run_batch SET request_digest = REPLACE(request_digest, '"GET"', '"POST"') WHERE batch_no = 1`:                                "request.method",
		`UPDATE ing_task_run_batch SET before_token = 'elsewhere' WHERE batch_no = 1`:                                                                 "request.url",
		`UPDATE ing_record_rev SET content_sha256 = hex(zeroblob(32)) WHERE batch_id = 1 AND record_id = (SELECT MIN(record_id) FROM ing_record_rev)`: "content_sha256",
		`UPDATE ing_record SET provider_id = 'another' WHERE id = (SELECT MIN(id) FROM ing_record)`:                                                   "record another",
		`DELETE FROM ing_record_rev WHERE record_id = (SELECT MIN(record_id) FROM ing_record_rev)`:                                                    "versions",
	} {
		file := filepath.Join(b.dir, "patra.db")
		if _, err := db.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hurt := newBooth(t, map[string]string{"patra.db": string(whole)})
		if err := os.CopyFS(filepath.Join(hurt.dir, "evidence"), os.DirFS(filepath.Join(b.dir, "evidence"))); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(hurt.dir, "quick"), 0o755); err != nil {
			t.Fatal(err)
		}
		storetest.Damage(checker{t}, filepath.Join(hurt.dir, "patra.db"), change)
		var report replayReport
		if err := json.Unmarshal([]byte(hurt.must(1, "replay", "1/1", "-o", "json")), &report); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(report.Pages[0].Differences, func(d replay.Difference) bool { return strings.Contains(d.Field, want) }) {
			t.Errorf("%s: found %+v, want %s", change, report.Pages[0].Differences, want)
		}
	}
}

type checker struct{ *testing.T }

func (c checker) Check(err error) {
	if err != nil {
		c.Fatal(err)
	}
}

// Asked again, a provider says something else: the report says what, and nothing is written but that it was asked.
func TestALiveReplayWritesNothing(t *testing.T) {
	p := newFickle(t, world)
	b := newBooth(t, map[string]string{"quick/europepmc.yaml": quickSource(t, "europepmc")})
	b.must(0, "harvest", "europepmc", "--base-url", p.URL, "--from", "2026-05-02", "--to", "2026-05-03")
	asked, before := p.asked.Load(), b.rows()
	b.must(2, "replay", "1/1", "--live") // nobody said yes
	if p.asked.Load() != asked {
		t.Error("the provider was asked before somebody said yes")
	}
	b.must(0, "replay", "1/1", "--live", "--yes")
	other := world
	other.Seed = 7
	p.becomes(sim.New(other).Handler())
	var report replayReport
	if err := json.Unmarshal([]byte(b.must(1, "replay", "1/1", "--live", "--yes", "-o", "json")), &report); err != nil {
		t.Fatal(err)
	}
	if live := report.Pages[0].Live; live == nil || live.SameBody || len(live.Added) == 0 || len(live.Removed) == 0 || report.Pages[0].Verdict != replaySame {
		t.Errorf("%+v", report.Pages[0])
	}
	p.becomes(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "gone", http.StatusGone) }))
	b.must(1, "replay", "1/1", "--live", "--yes")
	if got := p.asked.Load() - asked; got != 3 {
		t.Errorf("%d requests, want 3", got)
	}
	after := b.rows()
	if after["ing_request"]-before["ing_request"] != 3 || after["ing_audit"]-before["ing_audit"] != 3 {
		t.Errorf("%d requests and %d entries of the log are new", after["ing_request"]-before["ing_request"], after["ing_audit"]-before["ing_audit"])
	}
	for _, may := range []string{"ing_request", "ing_audit", "ing_rate_gate"} {
		delete(after, may)
		delete(before, may)
	}
	if fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("rows before %v, after %v", before, after)
	}
	var kinds int
	if err := storetest.Inspect(t, b.url()).QueryRow(`SELECT COUNT(*) FROM ing_request WHERE kind_code = 'REPLAY' AND run_id IS NULL AND batch_id IS NULL AND finished_at IS NOT NULL`).Scan(&kinds); err != nil || kinds != 3 {
		t.Errorf("%d requests are known as replays, %v", kinds, err)
	}
	// Where somebody holds the source back, nobody asks.
	b.must(0, "pause", "europepmc")
	b.must(1, "replay", "1/1", "--live", "--yes")
	if got := p.asked.Load() - asked; got != 3 {
		t.Error("a source that is paused was asked")
	}
}

// Many stored pages are read with another mapping: every record counts once, nobody is asked, and what would change is known
// field by field. REMAP_DAYS=25 is the long form, a thousand pages.
func TestARemapOfManyPages(t *testing.T) {
	const perDay = 120 // three records a page
	days := int64(5)
	if text := os.Getenv("REMAP_DAYS"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		days = n
	}
	p := newFickle(t, sim.Config{Seed: 1, From: mayFirst, To: mayFirst.AddDate(0, 1, 0), PerDay: perDay, Exact: true})
	small := strings.Replace(quickSource(t, "crossref"), "pageSize: 50", "pageSize: 3", 1)
	b := newBooth(t, map[string]string{"quick/crossref.yaml": small, "new.yaml": "mapping:\n  title: $.title[0]\n  type: $.type | upper\n  shout: $.DOI | upper\n"})
	b.must(0, "harvest", "crossref", "--base-url", p.URL, "--from", "2026-05-01", "--to", mayFirst.AddDate(0, 0, int(days)).Format("2006-01-02"), "--workers", "4")
	b.must(0, "harvest", "crossref", "--base-url", p.URL, "--from", "2026-05-01", "--to", "2026-05-02", "--force") // the same versions again
	p.becomes(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("somebody asked the provider") }))
	asked := p.asked.Load()
	ids := filepath.Join(b.dir, "ids.txt")
	var done remapped
	if err := json.Unmarshal([]byte(b.must(0, "remap", "crossref", "--since", "2026-01-01", "--mapping", filepath.Join(b.dir, "new.yaml"), "--ids", ids, "--signal", "-o", "json")), &done); err != nil {
		t.Fatal(err)
	}
	if done.Pages < days*perDay/3 || done.Records != days*perDay || done.Changed != done.Records || done.Signals != done.Records || done.NoBody+done.Refused+done.Unreadable != 0 {
		t.Errorf("%+v %+v", done, done.Remap)
	}
	if done.Older != perDay {
		t.Errorf("%d versions were read twice, want %d", done.Older, perDay)
	}
	fields := map[string]int64{}
	for _, f := range done.Fields {
		fields[f.Field] = f.Appeared
		if sum := f.Same + f.Changed + f.Appeared + f.Vanished; sum != done.Records {
			t.Errorf("%s accounts for %d of %d records", f.Field, sum, done.Records)
		}
		switch {
		case f.Field == "title" && (f.Same != done.Records || len(f.Examples) != 0),
			f.Field == "type" && (f.Changed != done.Records || len(f.Examples) == 0),
			f.Field == "doi" && f.Vanished != done.Records,
			f.Field == "shout" && (f.Appeared != done.Records || f.Nulls != [2]int64{done.Records, 0}):
			t.Errorf("%+v", f)
		}
	}
	if fields["shout"] == 0 {
		t.Errorf("the new field is not there: %v", fields)
	}
	text, err := os.ReadFile(ids)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(text))
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); int64(n) != days*perDay || len(all) != n {
		t.Errorf("%d ids, %d of them different", len(all), n)
	}
	if p.asked.Load() != asked {
		t.Error("the provider was asked")
	}
	// The mapping in force reads what is stored; fewer pages are read if somebody wants that.
	if err := json.Unmarshal([]byte(b.must(0, "remap", "crossref", "--since", "2026-01-01", "--limit", "40", "-o", "json")), &done); err != nil || done.Pages != 40 || done.Changed != 0 {
		t.Errorf("%+v, %v", done.Remap, err)
	}
	if out := b.must(0, "check", "--read-data"); !strings.Contains(out, ", 0 damaged") {
		t.Error(out)
	}
}

// spellings are the ways in which a secret may be written. They are written down here, and not taken from the program.
func spellings(secret string) []string {
	quoted, _ := json.Marshal(secret)
	inJSON := string(quoted[1 : len(quoted)-1])
	all := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.ToLower(url.QueryEscape(secret)), inJSON, strings.ReplaceAll(inJSON, "/", `\/`), hex.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)), strings.ReplaceAll(strings.ReplaceAll(secret, "&", "&amp;"), "<", "&lt;")}
	slices.Sort(all)
	return slices.Compact(all)
}

// A secret that a provider says back in every way is nowhere afterwards: not in the files of the store, not in what is
// kept of the answers, not in what commands and logs say, not in a bundle, and not in the numbers.
func TestNoSecretIsInEvidence(t *testing.T) {
	const secret = `sword/fish+0815="&<x>\y`
	said := strings.Join(spellings(secret), " ") + " " + base64.StdEncoding.EncodeToString([]byte("xy"+secret+"tail")) + " ada@example.net +49 30 1234567"
	quoted, _ := json.Marshal(said)
	n := atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Said", strings.ReplaceAll(said, "\n", " "))
		w.Header().Set("Location", "https://example.net/?key="+url.QueryEscape(secret))
		switch k := n.Add(1); {
		case k%5 == 1:
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, said)
		case k%5 == 2:
			w.WriteHeader(http.StatusFound)
			fmt.Fprint(w, said)
		case r.URL.Query().Get("day") == "2026-05-02":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, said)
		case r.URL.Query().Get("offset") == "0":
			fmt.Fprintf(w, `{"items":[{"id":"1","title":%s},{"title":%s}]}`, quoted, quoted)
		default:
			fmt.Fprintf(w, `{"items":[],"said":%s}`, quoted)
		}
	}))
	t.Cleanup(server.Close)
	for name, auth := range map[string]string{"query": "{type: API_KEY, in: QUERY, name: key, secret: s}", "header": "{type: API_KEY, in: HEADER, name: x-key, secret: s}", "bearer": "{type: BEARER, secret: s}"} {
		t.Run(name, func(t *testing.T) {
			b := newBooth(t, map[string]string{"quick/parrot.yaml": strings.Replace(parrotSource, "AUTH", auth, 1), "patra.yaml": "secrets: {s: \"env:PARROT\"}\n"})
			environ := []string{"PARROT=" + secret, "PATRA_CONFIG=" + filepath.Join(b.dir, "patra.yaml"), "PATRA_LOG_LEVEL=debug"}
			places := map[string]string{}
			do := func(args ...string) {
				stdout, stderr, _ := b.says(environ, args...)
				places["stdout of "+strings.Join(args, " ")], places["stderr of "+strings.Join(args, " ")] = stdout, stderr
			}
			do("harvest", "parrot", "--base-url", server.URL, "--from", "2026-05-01", "--to", "2026-05-03")
			for _, args := range [][]string{{"check", "--read-data"}, {"tasks", "-o", "json"}, {"batches", "-o", "json"}, {"quarantine", "list", "-o", "json"}, {"records", "export"}, {"healing", "-o", "json"},
				{"remap", "parrot", "--since", "2026-01-01"}, {"audit", "list", "-o", "json"}} {
				do(args...)
			}
			for _, r := range b.runs() {
				id := fmt.Sprint(r.ID)
				do("replay", id)
				do("replay", id, "--live", "--yes", "-o", "json")
				bundleFile := filepath.Join(b.dir, "run-"+id+".zip")
				do("blackbox", "export", id, "--reason", "test", "--out", bundleFile)
				do("blackbox", "verify", bundleFile, "-o", "json")
				for name, text := range unzipped(t, bundleFile) {
					places["run-"+id+".zip "+name] = text
				}
			}
			for name, text := range files(t, b.dir) {
				if !strings.HasSuffix(name, ".zip") && name != "patra.key" {
					places[name] = text
				}
			}
			heard := 0
			for where, text := range places {
				for _, form := range append(spellings(secret), "fish+0815", "fish%2B0815", "fish%2b0815", base64.StdEncoding.EncodeToString([]byte("fish+0815"))[1:11]) {
					if strings.Contains(text, form) {
						t.Errorf("%s is in %s: %.200s", form, where, text[max(0, strings.Index(text, form)-80):])
					}
				}
				if strings.Contains(text, "REDACTED") {
					heard++
				}
				if people := strings.HasPrefix(where, "stderr") || strings.Contains(where, "report.html"); people && strings.Contains(text, "ada@example.net") {
					t.Errorf("somebody's address is in %s", where)
				}
			}
			if heard < 5 {
				t.Errorf("only %d places hold the words of the parrot; this proves nothing", heard)
			}
		})
	}
}

const parrotSource = `apiVersion: patra/v1
code: parrot
name: A parrot
recordType: work
defaults:
  http: {baseUrl: "https://example.org", headers: {User-Agent: "patra-test"}}
  auth: AUTH
  rate: {perSecond: 100000, burst: 1000}
  retry: {maxAttempts: 20, backoff: {initial: 1ms, max: 2ms}}
  breaker: {failures: 50}
endpoints:
  works:
    role: SEARCH
    request: {method: GET, path: /works}
    pagination: {type: OFFSET, pageSize: 2, maxPageSize: 2, sizeParam: size, positionParam: offset, end: [EMPTY_PAGE]}
    response: {format: JSON, items: "$.items", id: "$.id", total: {trust: NONE}}
    window: {field: day, mode: CALENDAR, align: DAY, size: P1D, maxSpan: P1D, precision: DAY, upper: INCLUSIVE_DAY, earliest: 2002-01-01}
query:
  fields: {day: {type: DATE, ops: [RANGE]}}
  render: [{field: day, op: RANGE, params: {day: "{{from}}", until: "{{to}}"}}]
  params: {day: {name: day}, until: {name: until}}
mapping: {title: "$.title"}
`

// unzipped is what is in a bundle.
func unzipped(t *testing.T, file string) map[string]string {
	t.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	all := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = string(data)
	}
	return all
}

// files is what is in a folder, unpacked where it is packed.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	open, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	all := map[string]string{}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && strings.HasSuffix(name, ".zst") {
			data, err = open.DecodeAll(data, nil)
		}
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
