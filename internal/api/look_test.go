package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"patra"
	"patra/internal/alert"
	"patra/internal/api"
	"patra/internal/store"
	"patra/internal/store/storetest"
	"patra/internal/view"
)

// get asks for something that is there.
func get[T any](r *room, path string) (v T) {
	r.t.Helper()
	res, body := r.call("GET", api.Prefix+path, "")
	if err := json.Unmarshal([]byte(body), &v); err != nil || res.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %d %s (%v)", path, res.StatusCode, body, err)
	}
	return v
}

func TestHowEverythingStands(t *testing.T) {
	r, _ := peopled(t) // whoever takes a task takes any: which days were read is not said
	o := get[api.Overview](r, "/overview")
	if len(o.Sources) != 1 || o.Totals.Records != 7 || o.Totals.Failed != 1 || o.Totals.Quarantine != 1 || len(o.Recent) != 1 {
		t.Errorf("%+v", o)
	}
	s := o.Sources[0]
	if s.Code != "demo" || s.Health != view.HealthFailed || s.Gaps != 1 || s.Running != 1 || s.Queued != 5 || s.CompleteThrough == nil || *s.CompleteThrough < storetest.Origin || s.LagSeconds == nil || s.LastPageAt == nil {
		t.Errorf("%+v", s)
	}
	kinds := map[patra.AlertKind]bool{}
	alerts := get[alert.Status](r, "/alerts")
	for _, a := range alerts.Items {
		kinds[a.Kind] = true
	}
	if !kinds[patra.AlertFailed] || !kinds[patra.AlertStalled] || alerts.Watched || !strings.Contains(alerts.Said, "nobody is told") {
		t.Errorf("%v %+v", kinds, alerts)
	}
	top := get[api.TopErrors](r, "/errors/top?since=2026-01-01")
	if len(top.Items) != 1 || top.Items[0].Code != patra.CodeHTTP || top.Items[0].Endpoint != "works" || top.Items[0].Example.Batch == 0 || !strings.Contains(top.Items[0].Example.Text, "refuses") {
		t.Errorf("%+v", top)
	}
	l := get[api.PlanLineage](r, "/plans/1/lineage")
	if l.States[patra.Failed] != 1 || l.Slices[0].Status != patra.Failed || l.Tasks[0].Status != patra.Failed || l.Tasks[1].Status != patra.Running || len(l.Batches) != 1 || len(l.Runs) != 7 || l.Events == nil {
		t.Errorf("%v, %d slices, %d tasks, %d runs, %d pages", l.States, len(l.Slices), len(l.Tasks), len(l.Runs), len(l.Batches))
	}
	m := get[api.CoverageMap](r, "/cursors/1/coverage?to=2026-03-13")
	states := map[patra.MapState]int{}
	for _, s := range m.Segments {
		states[s.State]++
	}
	if states[patra.MapSealed] != 5 || states[patra.MapFailed] != 1 || states[patra.MapRunning] != 1 || states[patra.MapQueued] != 5 || len(m.Days) != 12 || m.Cut || m.Merged != 0 {
		t.Errorf("%v, %d days", states, len(m.Days))
	}
	gaps := get[api.GapList](r, "/gaps?to=2026-03-13")
	if len(gaps.Items) != 1 || gaps.Items[0].Kind != patra.GapFailed || gaps.Items[0].Next == "" || gaps.Items[0].Why == "" {
		t.Errorf("%+v", gaps)
	}
}

// A state that nothing can be in is refused: an empty list would say that there is nothing in it.
func TestAStateThatThereIsNot(t *testing.T) {
	r, _ := peopled(t)
	for list, state := range map[string]string{"plans": "READY", "slices": "SPLIT", "tasks": "QUEUED", "runs": "LOST", "batches": "SKIPPED", "quarantine": "DISCARDED", "signals": "PLANNED"} {
		if res, body := r.call("GET", api.Prefix+"/"+list+"?status="+state, ""); res.StatusCode != http.StatusOK {
			t.Errorf("%s %s: %d %s", list, state, res.StatusCode, body)
		}
		res, body := r.call("GET", api.Prefix+"/"+list+"?status=RUNING", "")
		if res.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "RUNING") || !strings.Contains(body, state) {
			t.Errorf("%s: %d %s", list, res.StatusCode, body)
		}
	}
}

func TestRecordsOverHTTP(t *testing.T) {
	r, _ := peopled(t)
	var ids []string
	path := "/records?source=demo&id=10.5555/&limit=3"
	for next := ""; ; {
		part := get[api.RecordList](r, path+next)
		for _, rec := range part.Items {
			ids = append(ids, rec.ID)
		}
		if part.Next == "" {
			break
		}
		next = "&cursor=" + part.Next
	}
	if got := strings.Join(ids, " "); got != "10.5555/0 10.5555/1 10.5555/2 10.5555/3 10.5555/4 10.5555/same 10.5555/x" {
		t.Error(got)
	}
	if rec := get[patra.Record](r, "/records/demo/work/10.5555%2Fsame"); rec.ProviderID != "10.5555/same" || rec.Rev != 5 || rec.Lineage == nil {
		t.Errorf("%+v", rec)
	}
	if all := get[api.List[store.VersionEntry]](r, "/records/demo/work/10.5555%2Fsame/history"); len(all.Items) != 5 || all.Items[0].Why != "never seen before" {
		t.Errorf("%+v", all)
	}
	for path, want := range map[string]int{"/records/demo/work/nothing": 404, "/records?id=10": 422, "/records?changed_since=2026-01-01": 422, "/records?where=nonsense": 422, "/records?cursor=abc": 422, "/quarantine/9": 404,
		"/cursors/9/coverage": 404, "/cursors/1/coverage?from=tomorrow": 422, "/cursors/1/coverage?from=2026-02-01&to=2026-01-01": 422, "/plans/9/lineage": 404, "/events?type=nothing": 422, "/cursors/9/timeline": 404} {
		if res, body := r.call("GET", api.Prefix+path, ""); res.StatusCode != want {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
	if all := get[api.List[patra.CloudEvent]](r, "/events?source=%25"); len(all.Items) != 0 {
		t.Errorf("a source %%: %d events", len(all.Items))
	}
	if all := get[api.List[patra.CloudEvent]](r, "/events?source=demo&type=task.*"); len(all.Items) == 0 {
		t.Error("no events of tasks")
	}
	if q := get[api.QuarantinedItem](r, "/quarantine/1"); q.Fragment != `{"id":null}` || q.Path != "$.id" || q.Lineage == nil {
		t.Errorf("%+v", q)
	}
}

// bodies is a place with one body.
type bodies string

func (b bodies) Get(context.Context, patra.StoredBody) ([]byte, error) { return []byte(b), nil }

// Whoever looks at what a provider answered is written down, and before it is shown; and without the grant nobody looks.
func TestWhoLooksAtEvidenceIsWrittenDown(t *testing.T) {
	w := storetest.NewWorld(t, storetest.Engines()[0], 2)
	c := w.Take()
	page, err := w.OpenAt(c, 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("é", 1<<20)
	result := w.Result(false)
	result.BodySHA256, result.Response = patra.HashBytes([]byte(long)), json.RawMessage(`{"status":200,"headers":{"Content-Type":["application/json"]}}`)
	result.Kept = &patra.StoredBody{Body: result.BodySHA256, Stored: result.BodySHA256, Size: int64(len(long)), Codec: patra.CodecZstd, Location: "x"}
	if _, _, err := w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, result, nil); err != nil {
		t.Fatal(err)
	}
	r := open(t, withTokens, func(o *api.Options) { o.Store, o.Bodies = w.Store, bodies(long) })
	admin, ada := r.token(api.TokenRequest{Name: "root", Rank: patra.Admin}), r.token(api.TokenRequest{Name: "ada", Rank: patra.Viewer, Evidence: true})
	path := api.Prefix + "/batches/1/exchange"
	count := func() int {
		log, err := w.AuditLog(t.Context(), store.AuditFilter{Action: patra.AuditInspect, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return len(log)
	}
	if res, body := r.call("POST", path, `{"reason":"curious"}`, as(admin)); res.StatusCode != http.StatusForbidden || count() != 0 {
		t.Errorf("without the grant: %d %s", res.StatusCode, body)
	}
	if res, body := r.call("POST", path, `{"reason":""}`, as(ada)); res.StatusCode != http.StatusUnprocessableEntity || count() != 0 {
		t.Errorf("without a reason: %d %s", res.StatusCode, body)
	}
	if res, _ := r.call("POST", api.Prefix+"/batches/9/exchange", `{"reason":"x"}`, as(ada)); res.StatusCode != http.StatusNotFound || count() != 0 {
		t.Errorf("of nothing: %d", res.StatusCode)
	}
	res, body := r.call("POST", path, `{"reason":"the counts differ"}`, as(ada))
	var x api.Exchange
	if err := json.Unmarshal([]byte(body), &x); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d %.300s", res.StatusCode, body)
	}
	if !x.Kept || !x.Truncated || len(x.Body) > 1<<20 || !strings.HasPrefix(x.Body, "éé") || x.ContentType != "application/json" || x.SHA256 != result.BodySHA256 || x.Size != int64(len(long)) {
		t.Errorf("%+v", x.Batch)
	}
	log, err := w.AuditLog(t.Context(), store.AuditFilter{Action: patra.AuditInspect, Limit: 10})
	if err != nil || len(log) != 1 || log[0].Actor != "ada" || log[0].Target != "batch:1" || log[0].Reason != "the counts differ" {
		t.Errorf("%+v, %v", log, err)
	}
	if res.Header.Get("Cache-Control") != "no-store" {
		t.Error("it may be kept in a cache")
	}
}
