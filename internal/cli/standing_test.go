package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patra"
	"patra/internal/config"
	"patra/internal/observe"
	"patra/internal/schedule"
	"patra/internal/store"
	"patra/internal/store/storetest"
	"patra/internal/view"
)

// nightly are settings with one schedule that updates known records.
func nightly(t *testing.T, op patra.Operation) config.Config {
	t.Helper()
	cron, err := schedule.Parse("0 2 * * *")
	if err != nil {
		t.Fatal(err)
	}
	return config.Config{Schedules: []config.Schedule{{Name: "nightly", Cron: cron, Source: "demo", Operation: op}}}
}

// refuse fires the schedule nightly in vain.
func refuse(t *testing.T, w *storetest.World, op patra.Operation) {
	t.Helper()
	now := patra.InstantOf(w.Clock.Now())
	id, err := w.AcceptTrigger(t.Context(), now, patra.Trigger{Scheduler: patra.SchedulerCron, JobID: "nightly", LogID: store.NewOwner(), Trigger: patra.TriggerScheduled, TriggeredAt: now, Params: json.RawMessage(`{}`),
		Source: "demo", Operation: op})
	if err == nil {
		err = w.RejectTrigger(t.Context(), id, json.RawMessage(`{"error":"the secret demo-key is not set"}`))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A schedule of any operation that is refused at every fire is seen by the verdict and by doctor, though all that was ever planned is read.
func TestARefusedScheduleIsSeen(t *testing.T) {
	for _, op := range patra.Operations {
		w := storetest.NewWorld(t, storetest.Engines()[0], 1)
		w.Work(w.Take())
		refuse(t, w, op)
		refuse(t, w, op)
		cfg := nightly(t, op)
		v, sources, err := verdict(t.Context(), cfg, w.Store)
		if err != nil || v.Health != view.HealthFailed || !v.Complete || sources["demo"].Health != view.HealthFailed || v.Reasons[0].Kind != view.ReasonRefused || v.Reasons[0].Count != 2 {
			t.Errorf("%s: %+v, %v", op, v, err)
		}
		found, err := examineSchedules(t.Context(), cfg, w.Store)
		if err != nil || len(found) != 1 || found[0].Verdict != patra.VerdictWarn || !strings.Contains(found[0].Text, "the secret demo-key is not set") {
			t.Errorf("%s: %+v, %v", op, found, err)
		}
	}
}

// How things stand is told at an address of its own: a process with a gap in its store is alive and ready all the same.
func TestAGapIsNoReasonToRestart(t *testing.T) {
	w := storetest.NewWorld(t, storetest.Engines()[0], 1)
	c := w.Take()
	w.Page(c, 1, false)
	if err := w.Succeed(c, patra.StateDisputed); err != nil {
		t.Fatal(err)
	}
	health := &observe.Health{Drains: t.Context(), Checks: []observe.Check{{Name: "store", Do: w.Ping}}}
	server := httptest.NewServer(opsHandler(observe.NewMetrics("test"), health, newVerdicts(config.Config{}, w.Store), true))
	defer server.Close()
	for path, want := range map[string]int{"/healthz": http.StatusNoContent, "/readyz": http.StatusOK, "/verdict": http.StatusOK} {
		resp, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s answers %s", path, resp.Status)
		}
		if path == "/healthz" && (resp.Header.Get("Patra-Health") != "DISPUTED" || resp.Header.Get("Patra-Complete") != "false") {
			t.Errorf("%s says %v", path, resp.Header)
		}
	}
	var stdout, stderr strings.Builder
	a := &app{stdout: &stdout, stderr: &stderr}
	err := a.healthVerdict(t.Context(), server.URL+"/verdict", "table")
	if exitCode(err) != exitIncomplete || !strings.HasPrefix(stdout.String(), "DISPUTED") || !strings.Contains(stdout.String(), "patra coverage fill demo") {
		t.Errorf("%v\n%s", err, &stdout)
	}
	if err := a.healthVerdict(t.Context(), server.URL+"/readyz", "table"); err == nil || !strings.Contains(err.Error(), "no verdict") {
		t.Errorf("%v", err)
	}
}
