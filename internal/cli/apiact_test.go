package cli

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"patra"
	"patra/internal/api"
	"patra/internal/store"
)

// Every action does what its command does, is written down with the name of whoever called, and is refused to a viewer.
func TestActionsDoWhatCommandsDo(t *testing.T) {
	o := newOffice(t, true)
	viewer, ada := o.token("vera", patra.Viewer, false), o.token("ada", patra.Admin, true)
	items, err := o.store.Quarantine(t.Context(), store.QuarantineFilter{Limit: 10})
	if err != nil || len(items) < 2 {
		t.Fatalf("%+v, %v", items, err)
	}
	cursors, err := o.store.Cursors(t.Context(), store.Filter{Source: "locked", Limit: 10})
	if err != nil || len(cursors) != 1 {
		t.Fatalf("%+v, %v", cursors, err)
	}
	harvested, err := o.store.Cursors(t.Context(), store.Filter{Source: "crossref", Limit: 10})
	if err != nil || len(harvested) == 0 {
		t.Fatalf("%+v, %v", harvested, err)
	}
	var waiver int64
	type body map[string]any
	for _, c := range []struct {
		path   string
		body   body
		action patra.AuditAction
		said   string // in the answer
		is     func(answer map[string]any) bool
	}{
		{"/controls/pause", body{"target": "crossref", "reason": "maintenance"}, patra.AuditPause, "crossref is paused", func(map[string]any) bool { return len(controls(t, o)) == 1 }},
		{"/controls/resume", body{"target": "crossref"}, patra.AuditResume, "crossref goes on", func(map[string]any) bool { return len(controls(t, o)) == 0 }},
		{"/controls/cancel", body{"target": "plan:4", "reason": "not now"}, patra.AuditCancel, "called off", func(a map[string]any) bool { return a["ended"].(float64) >= 1 }},
		{"/controls/retry", body{"target": "plan:4", "reason": "again"}, patra.AuditRetry, "queued again", func(a map[string]any) bool { return a["revived"].(float64) >= 1 }},
		{"/controls/priority", body{"target": "plan:4", "priority": 1}, patra.AuditPriority, "priority 1", func(map[string]any) bool {
			tasks, err := o.store.Tasks(t.Context(), store.Filter{Plan: 4})
			return err == nil && len(tasks) > 0 && tasks[0].Priority == 1
		}},
		{"/plans", body{"source": "crossref", "operation": "BACKFILL", "campaign": "more", "from": "2026-04-28", "to": "2026-04-30", "dry_run": true}, "", "would be read", func(a map[string]any) bool {
			plans, err := o.store.Plans(t.Context(), store.Filter{Limit: 100})
			return err == nil && len(plans) == 4 && a["price"].(map[string]any)["slices"].(float64) > 0
		}},
		{"/plans", body{"source": "crossref", "operation": "BACKFILL", "campaign": "more", "from": "2026-04-28", "to": "2026-04-30"}, patra.AuditPlan, "Plan 5 has", func(a map[string]any) bool {
			plan := a["plan"].(map[string]any)
			return plan["base_url"] == o.sim && a["added"].(float64) > 0
		}},
		{"/plans", body{"source": "crossref", "operation": "BACKFILL", "campaign": "more", "from": "2026-04-28", "to": "2026-04-30"}, patra.AuditPlan, "made before", func(a map[string]any) bool {
			return a["added"] == 0.0 && a["plan"].(map[string]any)["id"] == 5.0
		}},
		{"/waivers", body{"cursor": cursors[0].ID, "from": "2026-05-04", "to": "2026-05-06", "reason": "they lost it"}, patra.AuditWaive, "is waived", func(map[string]any) bool {
			gaps, err := o.store.Gaps(t.Context(), cursors[0].ID, patra.Window{From: patra.Date(2026, 5, 4), To: patra.Date(2026, 5, 6)})
			if err != nil || len(gaps) != 1 || gaps[0].Kind != patra.GapWaived {
				return false
			}
			waiver = gaps[0].Waiver.ID
			return gaps[0].Waiver.By == "ada"
		}},
		{"/waivers/1/revoke", body{"reason": "it is back"}, patra.AuditRevoke, "1 waiver", func(map[string]any) bool {
			w, err := o.store.Waiver(t.Context(), waiver)
			return err == nil && w.RevokedAt != nil
		}},
		{"/gaps/fill", body{"cursor": cursors[0].ID, "from": "2026-05-04", "to": "2026-05-06"}, patra.AuditFill, "Plan 6 has", func(a map[string]any) bool { return a["added"].(float64) > 0 }},
		{fmt.Sprintf("/quarantine/%d/retry", items[0].ID), nil, patra.AuditRetry, "", func(a map[string]any) bool { return a["way"] == wayWindow && a["plan_id"].(float64) > 6 }},
		{fmt.Sprintf("/quarantine/%d/discard", items[1].ID), body{"reason": "a test of theirs"}, patra.AuditDiscard, "is discarded", func(map[string]any) bool {
			q, err := o.store.QuarantineItem(t.Context(), items[1].ID)
			return err == nil && q.Status == patra.Discarded
		}},
		{"/coverage/check", body{"cursor": harvested[len(harvested)-1].ID, "compare": "ids"}, patra.AuditInspect, "", func(a map[string]any) bool {
			return a["by_ids"].(float64) > 0 && len(a["differences"].([]any)) == 0
		}},
		{"/signals", body{"source": "crossref", "ids": []string{"10.5555/a", "10.5555/b"}, "kind": "RETRACTED"}, patra.AuditSignal, "2 signals noted", func(a map[string]any) bool { return a["added"] == 2.0 }},
		{"/gates/crossref/set", body{"per_second": "1", "reason": "they asked"}, patra.AuditGate, "Not more than 1 a second", func(a map[string]any) bool { return a["gate"].(map[string]any)["per_second"] == 1.0 }},
		{"/gates/" + url.PathEscape("locked#acme-key") + "/set", body{"cooldown": "1s"}, patra.AuditGate, "Nobody sends", func(map[string]any) bool { return true }},
		{"/sinks/feed/rewind", body{"to": "START", "reason": "lost"}, patra.AuditRewind, "goes back", func(a map[string]any) bool { return a["to"] == 0.0 }},
		{"/replays", body{"run": 1, "reason": "a question"}, patra.AuditReplay, "", func(a map[string]any) bool { return a["same"].(float64) > 0 && a["differs"] == 0.0 }},
		{"/replays", body{"run": 1, "live": true, "reason": "a question"}, patra.AuditReplay, "", func(a map[string]any) bool { return a["asked"].(float64) > 0 }},
	} {
		before, err := o.store.AuditLog(t.Context(), store.AuditFilter{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		o.want(http.StatusForbidden, "POST", c.path, viewer, c.body)
		var sent any
		if c.body != nil {
			sent = c.body
		}
		got := o.want(http.StatusOK, "POST", c.path, ada, sent)
		if said, _ := got["said"].(string); !strings.Contains(said, c.said) || !c.is(got) {
			t.Errorf("%s %v: %v", c.path, c.body, got)
		}
		after, err := o.store.AuditLog(t.Context(), store.AuditFilter{Limit: 1})
		switch {
		case err != nil:
			t.Fatal(err)
		case c.action == "": // of a dry run
		case len(after) == 0 || len(before) > 0 && after[0].Seq == before[0].Seq || after[0].Action != c.action || after[0].Actor != "ada":
			t.Errorf("%s %v is written down as %+v", c.path, c.body, after)
		case c.body["reason"] != nil && after[0].Reason != c.body["reason"]:
			t.Errorf("%s: the reason is %q", c.path, after[0].Reason)
		}
	}
	o.sound()
}

func controls(t *testing.T, o *office) []patra.Control {
	t.Helper()
	all, err := o.store.Controls(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What has no token needs none of its own: one server for all of it, and the last holds work back.
func TestTheDesk(t *testing.T) {
	o := newOffice(t, false)
	for _, c := range []struct {
		name string
		test func(*testing.T, *office)
	}{{"words", anActionIsRefusedInTheWordsOfTheCommand}, {"elsewhere", aCallerCannotSendUsElsewhere}, {"gaps", theGapsAreThoseOfTheCommand}, {"export", anExportIsThatOfTheCommand}, {"cut off", anExportThatIsCutOffBreaks}, {"at once", soManyExportsAreReadAtOnce}, {"tried", aTriedPageIsShownWhole}} {
		t.Run(c.name, func(t *testing.T) { c.test(t, o) })
	}
	o.sound()
}

// What is wrong is said in the words of the command.
func anActionIsRefusedInTheWordsOfTheCommand(t *testing.T, o *office) {
	for _, c := range []struct {
		path   string
		body   any
		status int
		said   string
	}{
		{"/controls/pause", map[string]any{"target": "task:999"}, 404, "there is no task 999; see patra tasks"},
		{"/controls/pause", map[string]any{"target": "nobody"}, 404, "nobody"},
		{"/controls/cancel", map[string]any{"target": "crossref"}, 422, "crossref cannot be called off"},
		{"/controls/pause", map[string]any{"target": "x:y"}, 422, "names nothing that can be steered"},
		{"/plans", map[string]any{"source": "crossref", "from": "2026-05-03", "to": "2026-05-01"}, 422, "from 2026-05-03 does not lie before to 2026-05-01"},
		{"/plans", map[string]any{"source": "crossref", "from": "soon"}, 422, "from: "},
		{"/plans", map[string]any{"source": "crossref", "ids_of": "pubmed", "ids": []string{"1"}}, 422, "ids_of takes all ids"},
		{"/plans", map[string]any{"source": "crossref", "query": "titel:x"}, 422, "no field titel"},
		{"/plans", map[string]any{"source": "nobody"}, 404, "nobody"},
		{"/gates/nobody/set", map[string]any{"per_second": "1"}, 404, `the gate has no key "nobody"`},
		{"/gates/crossref/set", map[string]any{"per_second": "1000000"}, 422, "is more than crossref permits"},
		{"/waivers", map[string]any{"cursor": 1, "from": "2026-05-02", "to": "2026-05-03", "reason": "x"}, 422, "nothing of 2026-05-02~2026-05-03 is missing"},
		{"/waivers/99/revoke", map[string]any{"reason": "x"}, 404, "there is no waiver 99"},
		{"/quarantine/99/discard", map[string]any{"reason": "x"}, 404, "there is no item 99"},
		{"/sinks/nobody/rewind", map[string]any{"to": "START"}, 404, "no events were ever sent"},
		{"/replays", map[string]any{"run": 99, "reason": "x"}, 404, "there is no run 99"},
		{"/bundles", map[string]any{"run": 99, "reason": "x"}, 404, "there is no run 99"},
		{"/sources/" + url.PathEscape("../patra.yaml") + "/test", map[string]any{}, 422, ""},
	} {
		got := o.want(c.status, "POST", c.path, "", c.body)
		if text, _ := got["detail"].(string); !strings.Contains(text, c.said) || got["code"] == "" {
			t.Errorf("%s %v: %v", c.path, c.body, got)
		} else if before, _, ok := strings.Cut(text, "--"); ok && !strings.Contains(before, "patra ") {
			t.Errorf("%s %v is answered with a flag: %s", c.path, c.body, text)
		}
	}
	got := o.want(http.StatusUnprocessableEntity, "POST", "/plans", "", map[string]any{"source": "crossref", "from": "2026-05-03", "to": "2026-05-01"})
	if first, _ := got["errors"].([]any); len(first) != 1 || first[0].(map[string]any)["location"] != "from" {
		t.Errorf("the field at fault is not named: %v", got)
	}
	for _, path := range []string{"/sources/" + url.PathEscape(o.dir+"/locked.yaml") + "/spec", "/sources/" + url.PathEscape(o.dir+"/locked.yaml") + "/diff", "/politeness?since=32d", "/records/export?format=parquet"} {
		o.want(http.StatusUnprocessableEntity, "GET", path, "", nil)
	}
}

// Nobody who calls can make this machine ask what it was not set up to ask.
func aCallerCannotSendUsElsewhere(t *testing.T, o *office) {
	var came atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came.Add(1) }))
	defer inside.Close()
	for _, address := range []string{inside.URL, inside.URL + "/", strings.Replace(inside.URL, "127.0.0.1", "localhost", 1), o.sim + ".evil.example", o.sim + "@evil.example", "http://169.254.169.254", "file:///etc/passwd", "https://example.org/other", "http://example.org", o.sim + "/admin"} {
		for path, body := range map[string]map[string]any{"/sources/locked/test": {}, "/plans": {"source": "locked", "from": "2026-05-05", "to": "2026-05-06"}} {
			body["base_url"] = address
			o.want(http.StatusForbidden, "POST", path, "", body)
			body["dry_run"] = true
			if path == "/plans" {
				o.want(http.StatusForbidden, "POST", path, "", body)
			}
		}
	}
	if came.Load() > 0 {
		t.Errorf("%d requests came to an address that a caller named", came.Load())
	}
	for _, address := range []string{"", o.sim, o.sim + "/"} {
		got := o.want(http.StatusOK, "POST", "/sources/locked/test", "", map[string]any{"base_url": address})
		if u := got["request"].(map[string]any)["url"].(string); !strings.HasPrefix(u, o.sim+"/works") {
			t.Errorf("%q leads to %s", address, u)
		}
	}
	// The source's own address is asked as always, with all that guards the way out.
	defer func(mirror string) { o.app.mirror = mirror }(o.app.mirror)
	o.app.mirror = ""
	got := o.want(http.StatusOK, "POST", "/plans", "", map[string]any{"source": "locked", "from": "2026-05-05", "to": "2026-05-06", "base_url": "https://example.org/", "dry_run": true})
	if plan := got["plan"].(map[string]any); plan["base_url"] != nil {
		t.Errorf("%v", plan)
	}
}

// A page that is tried goes through the gate of the store, and is shown with what was asked and what came.
func aTriedPageIsShownWhole(t *testing.T, o *office) {
	before, _, err := o.store.SentCount(t.Context(), "crossref", 0)
	if err != nil {
		t.Fatal(err)
	}
	got := o.want(http.StatusOK, "POST", "/sources/crossref/test", "", map[string]any{"from": "2026-05-03", "to": "2026-05-04"})
	request, response := got["request"].(map[string]any), got["response"].(map[string]any)
	if request["method"] != "GET" || response["status"] != 200.0 || response["truncated"] != false || !json.Valid([]byte(response["body"].(string))) || len(got["records"].([]any)) != 12 {
		t.Errorf("%.2000v", got)
	}
	log, err := o.store.AuditLog(t.Context(), store.AuditFilter{Limit: 1})
	if err != nil || len(log) != 1 || log[0].Action != patra.AuditInspect || log[0].Actor != "local" || log[0].Target != "crossref" || !strings.Contains(string(log[0].Detail), "works") {
		t.Errorf("it is not written down who asked: %+v, %v", log, err)
	}
	if after, _, err := o.store.SentCount(t.Context(), "crossref", 0); err != nil || after != before+1 {
		t.Errorf("%d requests are written down, and %d were before, %v", after, before, err)
	}
	o.want(http.StatusOK, "POST", "/controls/pause", "", map[string]any{"target": "crossref"})
	if got := o.want(http.StatusConflict, "POST", "/sources/crossref/test", "", map[string]any{"from": "2026-05-03", "to": "2026-05-04"}); got["code"] != api.CodeConflict {
		t.Errorf("%v", got)
	}
}

// Evidence takes the grant, and to ask a provider again takes an operator.
func TestEvidenceTakesItsGrant(t *testing.T) {
	o := newOffice(t, true)
	eve, admin := o.token("eve", patra.Viewer, true), o.token("ada", patra.Admin, false)
	for _, path := range []string{"/replays", "/bundles"} {
		o.want(http.StatusForbidden, "POST", path, admin, map[string]any{"run": 1, "reason": "x"})
	}
	o.want(http.StatusOK, "POST", "/replays", eve, map[string]any{"run": 1, "reason": "x"})
	o.want(http.StatusForbidden, "POST", "/replays", eve, map[string]any{"run": 1, "reason": "x", "live": true})
	w := o.call("POST", api.Prefix+"/bundles", eve, map[string]any{"run": 1, "reason": "they ask"})
	if w.Code != http.StatusOK || w.Header().Get("Content-Disposition") != `attachment; filename="run-1.zip"` || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Content-Type") != "application/zip" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil || !slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == "snapshot.json" }) {
		t.Errorf("%v, %v", z, err)
	}
	log, err := o.store.AuditLog(t.Context(), store.AuditFilter{Limit: 1})
	if err != nil || log[0].Action != patra.AuditExport || log[0].Actor != "eve" || log[0].Reason != "they ask" {
		t.Errorf("%+v, %v", log, err)
	}
}

// What is missing is what the command says, part by part, with the same next steps.
func theGapsAreThoseOfTheCommand(t *testing.T, o *office) {
	var want, got []patra.GapView
	if err := json.Unmarshal([]byte(o.patra(exitOK, "coverage", "gaps", "-o", "json")), &want); err != nil || len(want) < 2 {
		t.Fatalf("%v, %v", want, err)
	}
	for path, parts := "/gaps?limit=1", 0; path != ""; parts++ {
		var part api.GapList
		w := o.call("GET", api.Prefix+path, "", nil)
		if err := json.Unmarshal(w.Body.Bytes(), &part); err != nil || parts > len(want) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		got, path = append(got, part.Items...), ""
		if part.Next != "" {
			path = "/gaps?limit=1&cursor=" + part.Next
		}
	}
	key := func(g patra.GapView) string { return fmt.Sprint(g.CursorID, g.Window, g.Kind, g.Why, g.Next) }
	byKey := func(a, b patra.GapView) int { return strings.Compare(key(a), key(b)) }
	slices.SortFunc(want, byKey)
	slices.SortFunc(got, byKey)
	if !slices.EqualFunc(want, got, func(a, b patra.GapView) bool { return key(a) == key(b) }) {
		t.Errorf("the command says\n%+v\nand we\n%+v", want, got)
	}
}

// What is taken out over HTTP is what the command takes out.
func anExportIsThatOfTheCommand(t *testing.T, o *office) {
	w := o.call("GET", api.Prefix+"/records/export?raw=true", "", nil)
	if want := o.patra(exitOK, "records", "export"); w.Code != 200 || w.Body.String() != want || want == "" || !w.Flushed || w.Header().Get("ETag") != "" {
		t.Errorf("%d, %d bytes, and the command gives %d; %v", w.Code, w.Body.Len(), len(want), w.Header())
	}
	w = o.call("GET", api.Prefix+"/records/export?format=csv&columns=id,title&source=crossref", "", nil)
	if want := o.patra(exitOK, "records", "export", "--format", "csv", "--columns", "id,title", "--source", "crossref"); w.Body.String() != want {
		t.Errorf("%.200s\n%.200s", w.Body, want)
	}
	if rows, err := csv.NewReader(w.Body).ReadAll(); err != nil || len(rows) < 37 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	// What a caller writes is no line of our log.
	var said bytes.Buffer
	defer func(to io.Writer) { o.app.stderr = to }(o.app.stderr)
	o.app.stderr = &said
	if w := o.call("GET", api.Prefix+"/records/export?format=csv&limit=1&columns=id,"+url.QueryEscape("x\nlevel=ERROR msg=forged"), "", nil); w.Code != http.StatusOK || said.Len() > 0 {
		t.Errorf("%d, and the log has %q", w.Code, &said)
	}
	o.want(http.StatusNotFound, "GET", "/records/export?source=nobody", "", nil)
	o.want(http.StatusUnprocessableEntity, "GET", "/records/export?where=nonsense", "", nil)
}

// slow is a reader who takes nothing until it is time.
type slow struct {
	*httptest.ResponseRecorder
	began, goOn chan struct{}
}

func (s slow) Write(b []byte) (int, error) {
	s.began <- struct{}{}
	<-s.goOn
	return s.ResponseRecorder.Write(b)
}

// Exports that nobody reads hold memory: there are only so many at once, and as many again when they are done.
func soManyExportsAreReadAtOnce(t *testing.T, o *office) {
	goOn, began, done := make(chan struct{}), make(chan struct{}, 10*mostExports), make(chan int, mostExports)
	for range mostExports {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+api.Prefix+"/records/export?limit=1", nil)
		w := slow{httptest.NewRecorder(), began, goOn}
		go func() {
			o.http.ServeHTTP(w, r)
			done <- w.Code
		}()
	}
	for range mostExports {
		<-began
	}
	refused := o.call("GET", api.Prefix+"/records/export?limit=1", "", nil)
	close(goOn)
	for range mostExports {
		if code := <-done; code != http.StatusOK {
			t.Errorf("one of those that are in is told %d", code)
		}
	}
	if after := o.call("GET", api.Prefix+"/records/export?limit=1", "", nil); refused.Code != http.StatusTooManyRequests || after.Code != http.StatusOK {
		t.Errorf("one more is told %d, and when all are done %d", refused.Code, after.Code)
	}
}

// impatient takes some of an answer and goes away.
type impatient struct {
	*httptest.ResponseRecorder
	gone func()
}

func (i impatient) Write(b []byte) (int, error) {
	if len(b) > 0 {
		i.gone()
		return 0, http.ErrHandlerTimeout
	}
	return 0, nil
}

// An export that is cut off must not look whole: its connection breaks.
func anExportThatIsCutOffBreaks(t *testing.T, o *office) {
	defer func() {
		broken := recover()
		if err, is := broken.(error); !is || !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("it ended with %v", broken)
		}
	}()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+api.Prefix+"/records/export", nil)
	o.http.ServeHTTP(impatient{httptest.NewRecorder(), func() {}}, r)
}

// What is no address on the network is refused with a sentence, and nothing is sent; and what is over stays as it is.
func TestWhatCannotBeMeantIsRefused(t *testing.T) {
	o := newOffice(t, true)
	ada := o.token("ada", patra.Operator, false)
	for _, address := range []string{"file:///", "file:///etc/passwd", "ftp://example.org/", "nonsense", "https://", "https://me:secret@example.org"} {
		p := o.want(http.StatusUnprocessableEntity, "POST", "/sources/oai/test", ada, map[string]any{"params": map[string]string{"baseUrl": address}, "from": "2026-05-01", "to": "2026-05-02"})
		if !strings.Contains(fmt.Sprint(p["detail"]), "is not an address that oai can be asked at") || p["next"] != "write https://host/path" {
			t.Errorf("%s: %v", address, p)
		}
	}
	for _, address := range []string{"https://example.org/oai?db=1", "https://example.org/oai#1"} { // it would be another provider that answers
		p := o.want(http.StatusUnprocessableEntity, "POST", "/sources/oai/test", ada, map[string]any{"params": map[string]string{"baseUrl": address}, "from": "2026-05-01", "to": "2026-05-02"})
		if !strings.Contains(fmt.Sprint(p["detail"]), "has more than a path") {
			t.Errorf("%s: %v", address, p)
		}
	}
	for _, word := range []string{"pause", "cancel"} {
		p := o.want(http.StatusUnprocessableEntity, "POST", "/controls/"+word, ada, map[string]any{"target": "plan:1"})
		if !strings.Contains(fmt.Sprint(p["detail"]), "plan:1 is over (done)") {
			t.Errorf("%s: %v", word, p)
		}
	}
	if plan := o.want(http.StatusOK, "GET", "/plans/1", ada, nil); plan["ended"] != "DONE" || len(controls(t, o)) != 0 {
		t.Errorf("%v", plan)
	}
	o.sound()
}
