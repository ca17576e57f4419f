package api_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/alert"
	"patra/internal/api"
	"patra/internal/store"
)

// What somebody looked for is shown as it is remembered, and an operator acknowledges it, with a reason.
func TestAlertsAreAcknowledged(t *testing.T) {
	r, w := peopled(t)
	watch := &alert.EvaluatorLoop{Evaluator: alert.Evaluator{Store: w.Store, Rules: patra.DefaultAlertRules}, Owner: store.NewOwner(), Every: 30 * time.Second, Group: 5, Log: slog.New(slog.DiscardHandler)}
	role, ok, err := watch.AcquireLease(t.Context())
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, err := watch.EvaluateOnce(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	st, err := watch.Status(t.Context(), watch.Every)
	if err != nil || !st.Watched || len(st.Items) == 0 || st.Items[0].ID == 0 {
		t.Fatalf("%+v, %v", st, err)
	}
	path := api.Prefix + "/alerts/1/ack"
	for body, want := range map[string]int{`{}`: 422, `{"reason":""}`: 422, `{"reason":"x","for":"soon"}`: 422, `{"reason":"x","for":"-1h"}`: 422} {
		if res, text := r.call("POST", path, body); res.StatusCode != want {
			t.Errorf("%s: %d %s", body, res.StatusCode, text)
		}
	}
	if res, _ := r.call("POST", api.Prefix+"/alerts/99/ack", `{"reason":"x"}`); res.StatusCode != http.StatusNotFound {
		t.Errorf("nothing: %d", res.StatusCode)
	}
	if res, text := r.call("POST", path, `{"reason":"on it","for":"4h"}`); res.StatusCode != http.StatusOK || !strings.Contains(text, "nobody is told of it again until") {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	live, err := w.LiveAlerts(t.Context())
	if err != nil || !live[0].Silenced || live[0].Ack.Reason != "on it" || live[0].Ack.By == "" {
		t.Errorf("%+v, %v", live, err)
	}
	// What is over cannot be acknowledged, and is in the history.
	for range 2 {
		w.Clock.Move(30 * time.Second)
		if _, err := w.JudgeAlerts(t.Context(), role, w.Clock.Instant(), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if res, text := r.call("POST", path, `{"reason":"late"}`); res.StatusCode != http.StatusConflict {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	if past := get[api.List[patra.StoredAlert]](r, "/alerts/history"); len(past.Items) == 0 || past.Items[0].ResolvedAt == nil {
		t.Errorf("%+v", past)
	}
}

// Who may only look may not acknowledge.
func TestAViewerDoesNotAcknowledge(t *testing.T) {
	r := open(t, withTokens)
	viewer := r.token(api.TokenRequest{Name: "eve", Rank: patra.Viewer})
	if res, _ := r.call("POST", api.Prefix+"/alerts/1/ack", `{"reason":"x"}`, as(viewer)); res.StatusCode != http.StatusForbidden {
		t.Errorf("%d", res.StatusCode)
	}
}
