package planner_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"patra"
	"patra/internal/blob"
	"patra/internal/evidence"
	"patra/internal/planner"
	"patra/internal/registry"
	"patra/internal/relay"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
	"patra/sources"
)

// hashesGolden has what is stored under a hash or a key that is made of other things, each with what it is made of.
var hashesGolden = filepath.Join("testdata", "hashes.golden")

// hashes writes down keys and hashes, one a line.
type hashes struct {
	strings.Builder
	t *testing.T
}

func (h *hashes) line(format string, args ...any) { fmt.Fprintf(h, format+"\n", args...) }

func (h *hashes) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// TestWhatIsStoredUnderAHashStays: stores are years old, and a program that makes another key of the same thing finds
// nothing of what is in them: it plans again what is covered, and takes every record for a new version. UPDATE=1 writes
// the file anew, which is right only for what no store has: a new source, or a source file that says something else.
func TestWhatIsStoredUnderAHashStays(t *testing.T) {
	h := &hashes{t: t}
	h.canonical()
	h.keys()
	h.windows()
	h.items()
	h.tables()
	for _, code := range codes(t) {
		h.source(code)
	}
	h.plans()
	got := []byte(h.String())
	if os.Getenv("UPDATE") != "" {
		h.must(os.WriteFile(hashesGolden, got, 0o644))
		return
	}
	again := fmt.Sprintf("UPDATE=1 go test -run %s ./internal/planner", t.Name())
	want, err := os.ReadFile(hashesGolden)
	if err != nil {
		t.Fatalf("%v. Write it with %s, and read it", err, again)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("what is stored has other keys than before: stores that are there would not know it any more. "+
			"If that is meant, write them anew with %s\n%s", again, diff.Diff("hashes.golden", want, "now", got))
	}
}

// canonical shows the one form that a value of ours has, and its hash.
func (h *hashes) canonical() {
	h.line("======== canonical form")
	for _, v := range []any{
		nil, true, "", "\x00\b\t\n\f\r\x1f\"\\/<>&\u007f\u2028é\U0001f600", 0, -1, int64(1) << 53, 1e21, 1e-7, 0.1,
		map[string]any{},
		map[string]any{"b": []any{1, 2.5, nil}, "a": "é", "\U0001f600": 1, "\ufb33": 2, "10": 3, "9": 4},
		json.RawMessage(` {"b" : 1.0 , "a" : "\u0041\/", "b2": 10e-1 } `),
		patra.Date(2026, time.May, 1), patra.Window{From: 0, To: patra.Day},
		patra.Period{Months: 1, Days: 2, Clock: time.Hour},
		patra.IDRange{From: 1, To: 9}, patra.Problem{Code: "BAD", Line: 3, Text: "no"},
	} {
		text, err := patra.Canonical(v)
		h.must(err)
		h.line("%s %s", patra.Hash(v), text)
	}
}

// keys shows every key that the rules make, of fixed things.
func (h *hashes) keys() {
	const hash, spec = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", "f11264510c0bc9fa"
	from, to := patra.Date(2026, time.May, 1), patra.Date(2026, time.May, 4)
	window := patra.Window{From: from, To: to}
	params := map[string]string{"set": "a", "baseUrl": "https://example.org/oai"}
	h.line("\n======== keys")
	p := patra.Plan{Source: "demo", Endpoint: "works", Operation: patra.Harvest, ExprProtoHash: hash, Spec: spec,
		Window: window}
	h.line("plan                 %s", patra.PlanKey(p))
	p.Operation, p.Campaign, p.Generation = patra.Backfill, "main", 2
	h.line("plan, again          %s", patra.PlanKey(p))
	p.Operation, p.Campaign, p.Strategy = patra.Update, "ids", patra.StrategyIDRange
	p.Window = patra.Window{From: from + patra.Hour, To: to + patra.Second}
	h.line("plan, by id          %s", patra.PlanKey(p))
	for _, given := range []json.RawMessage{nil, json.RawMessage(`{"b": 1, "a": 2}`)} {
		key := patra.TaskKey(patra.PlanKey(p), hash, spec, patra.Harvest, patra.TriggerManual, given)
		h.line("task                 %s %s", key, given)
	}
	for _, given := range []map[string]string{nil, params} {
		for _, ns := range []patra.Namespace{
			patra.HarvestNamespace("demo", "works", "indexed_at", hash, given),
			patra.BackfillNamespace("demo", "works", "indexed_at", hash, "main", given),
			patra.UpdateNamespace("demo", "works", hash, "main", given),
		} {
			h.line("cursor               %s %s %s %s", ns.Operation, ns.Key, ns.Scope, ns.ScopeKey)
			h.line("cursor event         %s", patra.EventKey(ns, from, to, window, 7))
		}
	}
	h.line("event                %s", patra.EventID("01J", "demo", "work", "10.5555/x", 3, hash))
	h.line("quarantined          %s", patra.RejectedItem{ID: "1", Code: patra.CodeBadTime, Path: "$.at",
		Fragment: []byte(`{"at":"x"}`)}.Key("demo", "work", ""))
	h.line("token                %s", patra.TokenHash("patra_AAAAAAAAAAAAAAAAAAAAAAAAAA"))
	h.line("named ids            %s", patra.RecordSelector{By: patra.PickNamed, IDs: []string{"b", "a"}}.Campaign())
	for _, o := range (patra.Observation{ID: "new", MergedFrom: []string{"old"}}).MergedFromRecords() {
		h.line("forerunner           %s %s", o.Hash, o.Raw)
	}
	var buckets, sampled []string
	for n := range int64(12) {
		buckets = append(buckets, fmt.Sprint(patra.Bucket(fmt.Sprint("id ", n), 1000)))
	}
	for n := range int64(200) {
		if patra.InLogSample(0.05, 7, n) {
			sampled = append(sampled, fmt.Sprint(n))
		}
	}
	h.line("buckets              %s", strings.Join(buckets, " "))
	h.line("sampled              %s", strings.Join(sampled, " "))
	h.line("signed               %s", relay.Sign("secret", "2026-05", from.Time(), []byte(`{"a":1}`)))
	h.slices(window)
	h.audit(from)
	h.evidence()
}

// slices shows the signature of each kind of slice. Budget and hints do not change it.
func (h *hashes) slices(w patra.Window) {
	byTime := patra.NewTimeSlice(w, patra.UnitDay, patra.Hints{})
	hinted := patra.NewTimeSlice(w, patra.UnitHour, patra.Hints{PageSize: 10, Whole: true})
	hinted.Budget = &patra.Budget{MaxRecords: 5}
	ids := patra.SliceRange{Kind: patra.RangeNumber, Key: "pmid", IDRange: patra.IDRange{From: 1, To: 50},
		Of: patra.IDRange{From: 1, To: 100}}
	part := byTime
	part.Strategy, part.Range = patra.StrategyHybrid, &ids
	buckets := patra.NewRangeSlice(patra.SliceRange{Kind: patra.RangeBucket, Key: patra.OwnIDs,
		IDRange: patra.IDRange{From: 0, To: 1}, Of: patra.IDRange{From: 0, To: 4}})
	landmark := byTime
	landmark.Strategy = patra.StrategyLandmark
	landmark.Cursor = &patra.SliceCursor{Type: "TOKEN", Stop: patra.StopExhausted}
	volume := byTime
	volume.Strategy, volume.Budget = patra.StrategyVolume, &patra.Budget{MaxRecords: 5}
	for _, s := range []patra.SliceSpec{byTime, hinted, part, buckets, landmark, volume} {
		text, err := json.Marshal(s)
		h.must(err)
		h.line("slice                %s %s", s.Signature(), text)
	}
}

// audit shows the sums of entries that follow each other.
func (h *hashes) audit(at patra.Instant) {
	prev := patra.AuditStart
	for n, e := range []patra.AuditEntry{
		{Actor: "Ada Lovelace", Action: patra.AuditExport, Target: "run:1",
			Reason: "because  of 'é' \"\\\" <b> \U0001f600 ",
			Detail: json.RawMessage(`{"b": 1.0, "a": [null, "x\u0000y"]}`)},
		{Actor: "me", Action: patra.AuditPause, Target: "crossref"},
	} {
		e = e.Truncate()
		e.Seq, e.At, e.Prev = int64(n+1), at+patra.Instant(n)*patra.Second, prev
		sum, err := e.Sum()
		h.must(err)
		h.line("audit                %s", sum)
		prev = sum
	}
}

// evidence shows under which hash and name a body is kept, with and without something taken out.
func (h *hashes) evidence() {
	place, err := blob.OpenFiles(h.t.TempDir())
	h.must(err)
	body := []byte(`{"items":[{"id":"1","title":"é"}]}`)
	came := patra.HashBytes(body)
	for _, now := range [][]byte{body, bytes.Replace(body, []byte("é"), []byte("***"), 1)} {
		kept, err := evidence.NewKeeper(place).Put(h.t.Context(), came, now, bytes.Equal(now, body))
		h.must(err)
		h.line("body                 %s %s %s", kept.Body, kept.Stored, kept.Location)
	}
}

// windows shows what the window of a plan is decided to be, as it is stored with the plan.
func (h *hashes) windows() {
	at := func(day int) *patra.Instant { i := patra.Date(2026, time.May, day); return &i }
	now := patra.Date(2026, time.May, 20) + 13*patra.Hour
	h.line("\n======== windows")
	for _, in := range []patra.WindowInputs{
		{Operation: patra.Harvest, Mode: patra.ModeCalendar, Align: patra.UnitDay},
		{Operation: patra.Harvest, Mode: patra.ModeSliding, Align: patra.UnitHour, Origin: at(3), Earliest: at(4)},
		{Operation: patra.Harvest, Mode: patra.ModeCalendar, Align: patra.UnitDay, Cursor: at(10), Began: at(1),
			Lookback: patra.Period{Days: 3}},
		{Operation: patra.Harvest, Mode: patra.ModeCalendar, Align: patra.UnitDay, Cursor: at(20), UserTo: at(19)},
		{Operation: patra.Backfill, Mode: patra.ModeCalendar, Align: patra.UnitDay, Forward: at(15), ForwardAt: at(12),
			UserFrom: at(1)},
		{Operation: patra.Update, Mode: patra.ModeCalendar, Align: patra.UnitDay, ByID: true},
		{Operation: patra.Harvest, Mode: patra.ModeCalendar, Align: patra.UnitMonth, UserFrom: at(1), UserTo: at(2),
			Force: true},
	} {
		in.Now, in.SafetyLag, in.Size = now, 10*time.Minute, patra.Period{Days: 1}
		text, err := json.Marshal(patra.PlanWindow(in))
		h.must(err)
		h.line("%s", text)
	}
}

// items shows the hash of what an item says, in other spellings of the same and of something else.
func (h *hashes) items() {
	const head = `"DOI":"10.5555/X","indexed":{"date-time":"2026-05-01T04:05:06Z"}`
	h.line("\n======== items, JSON")
	crossref := program(h.t, "crossref", "works", nil)
	for _, rest := range []string{
		``, `,"score":1.5`, `,"n":1`, `,"n":1.0`, `,"n":1e2,"m":12345678901234567890,"z":-0`, `,"b":1,"a":2`,
		`,"a":2, "b" : 1`, `,"t":"é"`, `,"t":"\u00e9"`, `,"t":"e\u0301"`, `,"t":"\ud83d\ude00 <&>\/ \u2028\n"`,
		`,"\ufb33":1,"\ud83d\ude00":2`,
		`,"l":[{"b":null,"a":[]},true, "x" ]`,
	} {
		o, err := crossref.Item([]byte(`{`+head+rest+`}`), 0)
		h.must(err)
		h.line("%s %s", o.Hash, rest)
	}
	const entry = `<entry><id>http://arxiv.org/abs/2605.1v2</id><updated>2026-05-01T17:59:59Z</updated>`
	changing := func(e *source.Endpoint) { e.Response.Volatile = []string{"//category"} }
	h.line("\n======== items, XML, the whole entry and then without its categories")
	for _, change := range []func(*source.Endpoint){nil, changing} {
		p := program(h.t, "arxiv", "search", change)
		for _, rest := range []string{
			``, ` `, `<category term="a"/>`, "<category\n term='a' ></category>", `<title>a &amp; é</title>`,
			`<title>a &#38; &#xe9;</title>`, `<title><![CDATA[a & é]]></title><!-- x -->`,
			`<x:a xmlns:x="urn:x">1</x:a>`,
		} {
			o, err := p.Item([]byte(entry+rest+`</entry>`), 0)
			h.must(err)
			h.line("%s %q", o.Hash, rest)
		}
	}
}

// tables shows the keys and hashes that a small harvest leaves in the tables.
func (h *hashes) tables() {
	w := storetest.NewWorld(h.t, storetest.Engines()[0], 1)
	ctx, c := h.t.Context(), w.Take()
	for n := range int64(2) {
		page, err := w.OpenAt(c, n+1, c.Task.ScanNo, n+1)
		h.must(err)
		res := w.Result(n == 0, w.Record("1", storetest.Origin+patra.Instant(n), fmt.Sprint("é ", n)),
			w.Record(fmt.Sprint("it's ", n), storetest.Origin, "x"))
		res.Quarantined = []patra.RejectedItem{{ItemNo: 3, ID: "bad", Code: patra.CodeBadTime, Path: "$.at",
			Fragment: []byte(`{"at":"x"}`)}}
		res.BodySHA256 = patra.HashBytes([]byte{byte(n)})
		_, _, err = w.CommitPage(ctx, c, w.Clock.Instant(), "work", page, res, nil)
		h.must(err)
		w.Clock.Move(time.Second)
	}
	h.must(w.Succeed(c, patra.StateSealed))
	next := patra.Window{From: storetest.Origin + patra.Day, To: storetest.Origin + 2*patra.Day}
	lost := patra.Waiver{CursorID: w.Cursor.ID, Window: next, By: "me", Reason: "lost"}
	_, err := w.Waive(ctx, w.Clock.Instant(), lost)
	h.must(err)
	_, err = w.AddSignals(ctx, w.Clock.Instant(), "demo", "work", "", []string{"1"}, patra.SignalManual, "", "me")
	h.must(err)
	_, err = w.Audit(ctx, patra.AuditEntry{Actor: "me", Action: patra.AuditPause, Target: "demo", Reason: "é"})
	h.must(err)
	h.line("\n======== tables")
	for _, of := range []struct{ table, columns string }{
		{"ing_plan", "plan_key, expr_proto_hash, spec_fingerprint"},
		{"ing_plan_slice", "slice_signature_hash, expr_hash, slice_spec"},
		{"ing_task", "idempotent_key, expr_hash, partition_key"},
		{"ing_task_run_batch", "idempotent_key, before_token_hash, after_token_hash, body_sha256"},
		{"ing_cursor", "cursor_key, namespace_scope_code, namespace_key, expr_proto_hash"},
		{"ing_cursor_event", "idempotent_key, namespace_key"},
		{"ing_record", "content_sha256, provider_id, rev, expr_hash, spec_fingerprint"},
		{"ing_record_rev", "content_sha256, rev, change_code"},
		{"ing_quarantine_seen", "open_key, quarantine_id"},
		{"ing_signal", "open_key, provider_id"},
		{"ing_outbox", "event_key, event_type, subject, payload"},
		{"ing_audit", "hash, prev_hash, created_at, detail"},
	} {
		for _, row := range h.rows(w.URL, "SELECT "+of.columns+" FROM "+of.table+" ORDER BY 1, 2") {
			h.line("%s  %s", of.table, row)
		}
	}
}

// rows are those of a table, each on a line.
func (h *hashes) rows(url, text string, args ...any) (all []string) {
	rows, err := storetest.Inspect(h.t, url).QueryContext(h.t.Context(), text, args...)
	h.must(err)
	defer rows.Close()
	columns, err := rows.Columns()
	h.must(err)
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		h.must(rows.Scan(values...))
		var said []string
		for _, v := range values {
			v := *v.(*any)
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			said = append(said, fmt.Sprint(v))
		}
		all = append(all, strings.Join(said, "  "))
	}
	h.must(rows.Err())
	return all
}

// ownPages is where pages and queries of shipped sources are.
var ownPages = filepath.Join("..", "..", "sources", "testdata")

// codes are the shipped sources.
func codes(t *testing.T) (all []string) {
	t.Helper()
	entries, err := sources.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if code, ok := strings.CutSuffix(e.Name(), ".yaml"); ok {
			all = append(all, code)
		}
	}
	return all
}

func file(t *testing.T, code string) *source.File {
	t.Helper()
	f, err := source.Find(code, sources.Files)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const contact = "me@example.org"

// parameters are what a source needs to be told before it can be asked.
func parameters(code string) map[string]string {
	if code == "oai" {
		return map[string]string{"baseUrl": "https://example.org/oai"}
	}
	return nil
}

func options(code, endpoint string, op patra.Operation) source.Options {
	return source.Options{Endpoint: endpoint, Operation: op, Contact: contact, Parameters: parameters(code)}
}

// program is what reads the pages of an endpoint; change is what is other about it.
func program(t *testing.T, code, endpoint string, change func(*source.Endpoint)) *source.Program {
	t.Helper()
	f := file(t, code)
	if change != nil {
		e := f.Endpoints[endpoint]
		change(&e)
		f.Endpoints[endpoint] = e
	}
	spec, err := source.Compile(f, options(code, endpoint, patra.Harvest))
	if err != nil {
		t.Fatal(err)
	}
	if spec.Role == "DETAIL" && spec.Detail != nil { // its mapping is in the second phase
		spec = spec.Second
	}
	p, err := spec.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var operations = []patra.Operation{patra.Harvest, patra.Backfill, patra.Update}

// source shows what a shipped file is compiled to, what the registry has of it, and the hashes of the records on its
// pages.
func (h *hashes) source(code string) {
	f := file(h.t, code)
	h.line("\n======== %s", code)
	for _, endpoint := range slices.Sorted(maps.Keys(f.Endpoints)) {
		for _, op := range operations {
			spec, err := source.Compile(f, options(code, endpoint, op))
			h.must(err)
			snap, err := spec.Snapshot()
			h.must(err)
			h.line("spec      %s %s %s", snap.Fingerprint, endpoint, op)
		}
	}
	rows, err := registry.Rows(f)
	h.must(err)
	for _, r := range rows {
		h.line("registry  %s %s %s", patra.HashBytes(r.Body), r.Dimension, r.Endpoint)
	}
	for _, endpoint := range slices.Sorted(maps.Keys(f.Endpoints)) {
		p := program(h.t, code, endpoint, nil)
		h.line("rules     %q %s", p.Changes().Key, endpoint)
		for _, name := range h.pages(code, endpoint) {
			h.page(p, name)
		}
	}
}

// pages are the files with pages of an endpoint.
func (h *hashes) pages(code, endpoint string) (all []string) {
	for _, pattern := range []string{endpoint + ".json", endpoint + ".xml", endpoint + ".last.*"} {
		found, err := filepath.Glob(filepath.Join(ownPages, code, pattern))
		h.must(err)
		all = append(all, found...)
	}
	return all
}

func (h *hashes) page(p *source.Program, name string) {
	body, err := os.ReadFile(name)
	h.must(err)
	page, err := p.Read(200, body, p.Spec.First())
	h.must(err)
	for _, raw := range page.Items {
		o, err := p.Item(raw, 0)
		if err != nil {
			continue // quarantined
		}
		facts, err := json.Marshal(o.Facts)
		h.must(err)
		h.line("record    %s %s %s %s", o.Hash, filepath.Base(name), o.ID, facts)
	}
}

// plans shows the keys of one plan of each kind that a shipped source can be asked for, with its slices and tasks.
func (h *hashes) plans() {
	clock, engine := storetest.NewClock(), storetest.Engines()[0]
	url := engine.URL(h.t)
	s := engine.Migrated(h.t, url, store.WithClock(clock.Now))
	p := &planner.Planner{Store: s, Secrets: everySecret{}, Config: planner.Config{SafetyLag: 10 * time.Minute,
		TaskAttempts: 5, Target: 10_000, MaxPages: 1000, MinStep: time.Minute, Probes: 100}}
	for _, code := range codes(h.t) {
		f := file(h.t, code)
		for _, endpoint := range slices.Sorted(maps.Keys(f.Endpoints)) {
			for _, req := range requests(f, endpoint) {
				h.plan(url, p, clock.Instant(), req)
			}
		}
	}
}

// requests are for three days, of which a backfill has those before.
func requests(f *source.File, endpoint string) (all []planner.Request) {
	for _, op := range operations {
		from, to := patra.Date(2026, time.May, 1), patra.Date(2026, time.May, 4)
		if op == patra.Backfill {
			from, to = patra.Date(2026, time.April, 1), patra.Date(2026, time.April, 4)
		}
		req := planner.Request{Source: f, Endpoint: endpoint, Operation: op, Contact: contact,
			Params: parameters(f.Code), From: &from, To: &to}
		all = append(all, req)
		if query, err := os.ReadFile(filepath.Join(ownPages, f.Code, "query.txt")); err == nil && op == patra.Harvest {
			req.Query = strings.TrimSpace(string(query))
			all = append(all, req)
		}
		if op == patra.Update {
			req.ByID = true
			all = append(all, req)
		}
	}
	return all
}

// plan shows the keys of a plan, of its cursor, and of its slices and tasks.
func (h *hashes) plan(url string, p *planner.Planner, now patra.Instant, req planner.Request) {
	h.t.Helper()
	title := fmt.Sprintf("%s %s %s", req.Source.Code, req.Endpoint, req.Operation)
	if req.ByID {
		title += " by id"
	}
	if req.Query != "" {
		title += " asked for " + req.Query
	}
	h.line("\n---- %s", title)
	res, err := p.Plan(h.t.Context(), now, req)
	if found, ok := errors.AsType[patra.Problems](err); ok {
		h.line("refused   %s", found[0].Code)
		return
	}
	h.must(err)
	plan := res.Plan
	h.line("plan      %s\nquery     %s %s\nspec      %s", plan.Key, plan.ExprProtoHash, plan.ExprProto, plan.Spec)
	h.line("inputs    %s\ncut       %s", plan.Inputs, plan.SliceParams)
	if res.Cursor != nil {
		h.line("cursor    %s %s %s", res.Cursor.Key, res.Cursor.Scope, res.Cursor.ScopeKey)
	}
	const cuts = `SELECT slice_signature_hash, expr_hash, slice_spec FROM ing_plan_slice
		WHERE plan_id = ? ORDER BY slice_no`
	const tasks = `SELECT t.idempotent_key, t.partition_key FROM ing_task t JOIN ing_plan_slice s ON s.id = t.slice_id
		WHERE t.plan_id = ? ORDER BY s.slice_no`
	h.some("slice", h.rows(url, cuts, plan.ID))
	h.some("task", h.rows(url, tasks, plan.ID))
}

// some shows the first of some rows, and one hash of all.
func (h *hashes) some(what string, rows []string) {
	if len(rows) > 0 {
		h.line("%-9s %s", what, rows[0])
	}
	h.line("%-9s %s %d", what+"s", patra.HashBytes([]byte(strings.Join(rows, "\n"))), len(rows))
}

// everySecret is where every secret is set.
type everySecret struct{}

// Have implements planner.Secrets.
func (everySecret) Have(string) (bool, error) { return true, nil }
