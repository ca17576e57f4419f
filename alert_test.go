package patra_test

import (
	"testing"

	"patra"
)

func TestAlertsAreWhatNeedsAPerson(t *testing.T) {
	now := patra.Date(2026, 11, 15)
	at := func(i patra.Instant) *patra.Instant { return &i }
	control := func(kind patra.ControlKind, state patra.Status, since patra.Instant) patra.AlertFacts {
		return patra.AlertFacts{Controls: []patra.Control{{Target: patra.Target{Scope: patra.ScopeEndpoint, Key: "demo/works"}, Kind: kind, State: state, Until: now + patra.Hour, Reason: "HTTP 500",
			Detail: patra.ControlDetail{Since: now - since, Trips: 2}}}}
	}
	cursor := func(op patra.Operation, stood patra.Instant, f patra.CursorFacts) patra.AlertFacts {
		f.Cursor = patra.Cursor{ID: 3, Namespace: patra.Namespace{Source: "demo", Endpoint: "works", Operation: op}, Value: now - 9*patra.Day, UpdatedAt: now - stood}
		return patra.AlertFacts{Cursors: []patra.CursorFacts{f}}
	}
	fault := &patra.Fault{Code: patra.CodeHTTP, Status: 400, Text: "bad"}
	due := []patra.QueueState{{Source: "demo", Due: 4, Oldest: at(now - patra.Hour)}}
	for _, c := range []struct {
		name     string
		facts    patra.AlertFacts
		kind     patra.AlertKind // none if empty
		severity patra.Severity
		said     string
	}{
		{"nothing", patra.AlertFacts{}, "", "", ""},
		{"a halt", control(patra.KindHalt, patra.Halted, patra.Second), patra.AlertHalted, patra.SeverityCritical, "demo/works is halted, because only a person can mend this: HTTP 500."},
		{"a pause is somebody's will", control(patra.KindPause, patra.Paused, patra.Day), "", "", ""},
		{"a breaker that has just opened", control(patra.KindBreaker, patra.Open, patra.Minute), "", "", ""},
		{"a breaker that is open for long", control(patra.KindBreaker, patra.Open, patra.Hour), patra.AlertBreaker, patra.SeverityWarning, "demo/works does not answer (HTTP 500); it is tried again at 2026-11-15T01:00:00.000Z."},
		{"a quota", control(patra.KindQuota, patra.UsedUp, patra.Second), patra.AlertQuota, patra.SeverityNotice, "A quota of demo/works is used up; it goes on by itself at 2026-11-15T01:00:00.000Z."},
		{"failed tasks", patra.AlertFacts{Failed: []patra.FailedWork{{Source: "demo", Count: 2, Last: patra.Task{ID: 7, PlanID: 1}, Fault: fault}}}, patra.AlertFailed, patra.SeverityWarning, "demo: 2 tasks have failed, the last of them with HTTP 400: bad."},
		{"none failed", patra.AlertFacts{Failed: []patra.FailedWork{{Source: "demo"}}}, "", "", ""},
		{"a dispute", cursor(patra.Harvest, 0, patra.CursorFacts{Disputed: 1}), patra.AlertDisputed, patra.SeverityWarning, "Of demo/works HARVEST, 1 stretch is in dispute: the provider counts differently than was read."},
		{"it stands with a gap", cursor(patra.Harvest, 2*patra.Day, patra.CursorFacts{Gaps: 2}), patra.AlertStalled, patra.SeverityWarning, "The watermark of demo/works HARVEST has stood at 2026-11-06T00:00:00.000Z since 2026-11-13T00:00:00.000Z: 2 stretches are missing before it."},
		{"it stands with work", cursor(patra.Harvest, 2*patra.Day, patra.CursorFacts{Waiting: true}), patra.AlertStalled, patra.SeverityWarning, "The watermark of demo/works HARVEST has stood at 2026-11-06T00:00:00.000Z since 2026-11-13T00:00:00.000Z, although there is work before it."},
		{"it stands, and nothing is asked of it", cursor(patra.Harvest, 20*patra.Day, patra.CursorFacts{}), "", "", ""},
		{"it moved today", cursor(patra.Harvest, patra.Hour, patra.CursorFacts{Waiting: true, Gaps: 1}), "", "", ""},
		{"a campaign goes backwards", cursor(patra.Backfill, 20*patra.Day, patra.CursorFacts{Waiting: true}), "", "", ""},
		{"much in quarantine", patra.AlertFacts{Quarantined: []patra.QuarantineShare{{Source: "demo", Items: 100, Quarantined: 5}}}, patra.AlertQuarantine, patra.SeverityWarning, "5 of the last 100 items of demo could not become records."},
		{"little in quarantine", patra.AlertFacts{Quarantined: []patra.QuarantineShare{{Source: "demo", Items: 100, Quarantined: 4}, {Source: "few", Items: 9, Quarantined: 9}}}, "", "", ""},
		{"a sink that fails", patra.AlertFacts{Sinks: []patra.SinkState{{Name: "lake", Notes: &patra.SinkNotes{Failures: 3, LastError: "refused"}}}}, patra.AlertSink, patra.SeverityWarning, "Nothing reaches the sink lake: refused."},
		{"a sink that failed once", patra.AlertFacts{Sinks: []patra.SinkState{{Name: "lake", Notes: &patra.SinkNotes{Failures: 1, LastError: "refused"}}}}, "", "", ""},
		{"a sink that did not take something", patra.AlertFacts{Sinks: []patra.SinkState{{Name: "lake", Aside: 1}}}, patra.AlertSink, patra.SeverityWarning, "The sink lake did not take 1 event, and nobody tries any more."},
		{"nobody works", patra.AlertFacts{Queue: due}, patra.AlertIdle, patra.SeverityCritical, "4 tasks are due, and nobody takes one."},
		{"somebody works", patra.AlertFacts{Queue: due, LastClaim: at(now - patra.Second)}, "", "", ""},
		{"they are held back", patra.AlertFacts{Queue: []patra.QueueState{{Due: 4, Oldest: at(now - patra.Hour), Held: patra.WaitPaused}}}, "", "", ""},
	} {
		c.facts.Now = now
		got := patra.DefaultAlertRules.Alerts(c.facts)
		switch {
		case got == nil || c.kind == "" && len(got) > 0 || c.kind != "" && len(got) != 1:
			t.Errorf("%s: %+v", c.name, got)
		case c.kind != "" && (got[0].Kind != c.kind || got[0].Severity != c.severity || got[0].Said != c.said || got[0].Next == "" || got[0].Target == ""):
			t.Errorf("%s: %+v", c.name, got[0])
		}
	}
	// The gravest comes first, and of those that are as grave the oldest.
	both := control(patra.KindBreaker, patra.Open, patra.Day)
	both.Controls = append(both.Controls, control(patra.KindQuota, patra.UsedUp, 2*patra.Day).Controls[0], control(patra.KindHalt, patra.Halted, patra.Hour).Controls[0])
	both.Now, both.Failed = now, []patra.FailedWork{{Source: "demo", Count: 1, At: at(now - 2*patra.Day)}}
	var kinds []patra.AlertKind
	for _, a := range patra.DefaultAlertRules.Alerts(both) {
		kinds = append(kinds, a.Kind)
	}
	if want := []patra.AlertKind{patra.AlertHalted, patra.AlertFailed, patra.AlertBreaker, patra.AlertQuota}; len(kinds) != 4 || kinds[0] != want[0] || kinds[1] != want[1] || kinds[2] != want[2] || kinds[3] != want[3] {
		t.Errorf("%v", kinds)
	}
}
