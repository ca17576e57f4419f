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
	crowd := func(n, samples int64, mean, sigma float64) patra.AlertFacts {
		return patra.AlertFacts{Queue: []patra.QueueState{{Key: "demo/works/HARVEST", Source: "demo", Later: n}}, Crowds: []patra.QueueAverage{{Key: "demo/works/HARVEST", Samples: samples, Mean: mean, Sigma: sigma}}}
	}
	quota := func(used int64) patra.AlertFacts {
		return patra.AlertFacts{Quotas: []patra.QuotaUse{{Key: "demo", Window: patra.QuotaDay, From: now, To: now + patra.Day, Limit: 1000, Usable: 1000, Used: used}}}
	}
	volume := func(n int64, before ...int64) patra.AlertFacts {
		return patra.AlertFacts{Volumes: []patra.VolumeFacts{{Cursor: patra.Cursor{ID: 3, Namespace: patra.Namespace{Source: "demo", Endpoint: "works", Operation: patra.Harvest}}, Day: now - 2*patra.Day, Records: n, Before: before}}}
	}
	untouched := []patra.UnstartedPlan{{Plan: patra.Plan{ID: 4, Source: "demo", Endpoint: "works", Operation: patra.Backfill}, Due: now - 31*patra.Minute}}
	met := map[patra.AlertKind]bool{}
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
		{"a plan that could not be cut", patra.AlertFacts{Broken: []patra.Plan{{ID: 4, Source: "demo", Endpoint: "works", Operation: patra.Update, Reason: "DEPTH"}}}, patra.AlertPlan, patra.SeverityWarning, "Plan 4 of demo/works/UPDATE failed (DEPTH): nothing was read of what it was made for."},
		{"a schedule that is refused", patra.AlertFacts{Schedules: []patra.ScheduleState{{Name: "nightly", Source: "demo", Operation: patra.Backfill, Refused: 2, Since: at(now - patra.Day), Why: "the secret key is not set"}}}, patra.AlertRefused, patra.SeverityWarning,
			"The schedule nightly of demo BACKFILL was refused 2 times in a row, since 2026-11-14T00:00:00.000Z: the secret key is not set."},
		{"a schedule that planned", patra.AlertFacts{Schedules: []patra.ScheduleState{{Name: "nightly", Source: "demo"}}}, "", "", ""},
		{"a dispute", cursor(patra.Harvest, 0, patra.CursorFacts{Disputed: 1}), patra.AlertDisputed, patra.SeverityWarning, "Of demo/works HARVEST, 1 stretch is in dispute: the provider counts or has shown something else than was read."},
		{"it stands with a gap", cursor(patra.Harvest, 2*patra.Day, patra.CursorFacts{Gaps: 2}), patra.AlertStalled, patra.SeverityWarning, "The watermark of demo/works HARVEST has stood at 2026-11-06T00:00:00.000Z since 2026-11-13T00:00:00.000Z: 2 stretches are missing before it."},
		{"it stands with work", cursor(patra.Harvest, 2*patra.Day, patra.CursorFacts{Waiting: true}), patra.AlertStalled, patra.SeverityWarning, "The watermark of demo/works HARVEST has stood at 2026-11-06T00:00:00.000Z since 2026-11-13T00:00:00.000Z, although there is work before it."},
		{"it stands, and nothing is asked of it", cursor(patra.Harvest, 20*patra.Day, patra.CursorFacts{}), "", "", ""},
		{"it moved today", cursor(patra.Harvest, patra.Hour, patra.CursorFacts{Waiting: true, Gaps: 1}), "", "", ""},
		{"a campaign goes backwards", cursor(patra.Backfill, 20*patra.Day, patra.CursorFacts{Waiting: true}), "", "", ""},
		{"much in quarantine", patra.AlertFacts{Quarantined: []patra.QuarantineShare{{Source: "demo", Items: 100, Quarantined: 5}}}, patra.AlertQuarantine, patra.SeverityWarning, "5 of the last 100 items of demo could not become records."},
		{"little in quarantine", patra.AlertFacts{Quarantined: []patra.QuarantineShare{{Source: "demo", Items: 100, Quarantined: 4}, {Source: "few", Items: 9, Quarantined: 9}}}, "", "", ""},
		{"a sink that fails", patra.AlertFacts{Sinks: []patra.SinkState{{Name: "lake", Notes: &patra.SinkHealth{Failures: 3, LastError: "refused"}}}}, patra.AlertSink, patra.SeverityWarning, "Nothing reaches the sink lake: refused."},
		{"a sink that failed once", patra.AlertFacts{Sinks: []patra.SinkState{{Name: "lake", Notes: &patra.SinkHealth{Failures: 1, LastError: "refused"}}}}, "", "", ""},
		{"a sink that did not take much", patra.AlertFacts{Sinks: []patra.SinkState{{Name: "lake", Aside: 10_000, Capped: true}}}, patra.AlertSink, patra.SeverityWarning, "The sink lake did not take more than 10000 events, and nobody tries any more."},
		{"a sink that did not take something", patra.AlertFacts{Sinks: []patra.SinkState{{Name: "lake", Aside: 1}}}, patra.AlertSink, patra.SeverityWarning, "The sink lake did not take 1 event, and nobody tries any more."},
		{"nobody works", patra.AlertFacts{Queue: due}, patra.AlertIdle, patra.SeverityCritical, "4 tasks are due, and nobody takes one."},
		{"somebody works", patra.AlertFacts{Queue: due, LastClaim: at(now - patra.Second)}, "", "", ""},
		{"many pages fail", patra.AlertFacts{Pages: []patra.PageShare{{Source: "demo", Pages: 100, Errors: 6}}}, patra.AlertErrors, patra.SeverityWarning, "6 of the last 100 pages of demo failed, which is more than 5%."},
		{"as many fail as may", patra.AlertFacts{Pages: []patra.PageShare{{Source: "demo", Pages: 100, Errors: 5, Throttled: 5}}}, "", "", ""},
		{"too few pages to say", patra.AlertFacts{Pages: []patra.PageShare{{Source: "demo", Pages: 19, Errors: 19, Throttled: 19}}}, "", "", ""},
		{"throttled", patra.AlertFacts{Pages: []patra.PageShare{{Source: "demo", Pages: 20, Throttled: 2}}}, patra.AlertThrottled, patra.SeverityWarning, "demo asked us to slow down at 2 of the last 20 pages, which is more than 5%."},
		{"a surge", crowd(700, 12, 100, 150), patra.AlertSurge, patra.SeverityNotice, "700 tasks of demo/works/HARVEST wait; within a day it were 100 on the average, give or take 150."},
		{"within three sigmas", crowd(550, 12, 100, 150), "", "", ""},
		{"a steady queue that has a few more", crowd(20, 144, 1, 0), "", "", ""},
		{"too few samples", crowd(7000, 11, 0, 0), "", "", ""},
		{"a plan that nobody takes", patra.AlertFacts{Plans: untouched, LastClaim: at(now - patra.Second)}, patra.AlertIdle, patra.SeverityWarning, "Plan 4 of demo/works/BACKFILL is ready since 2026-11-14T23:29:00.000Z, and nobody has taken anything of it."},
		{"a plan that is paused", patra.AlertFacts{Plans: untouched, Controls: []patra.Control{{Target: patra.Target{Scope: patra.ScopePlan, Key: "4"}, Kind: patra.KindPause, State: patra.Paused}}}, "", "", ""},
		{"a plan that waits its turn", patra.AlertFacts{Plans: untouched, Queue: []patra.QueueState{{Key: "demo/works/BACKFILL", Running: 1}}}, "", "", ""},
		{"a plan of a moment ago", patra.AlertFacts{Plans: []patra.UnstartedPlan{{Plan: patra.Plan{ID: 4}, Due: now - patra.Minute}}}, "", "", ""},
		{"nobody works, and a plan waits: one alert", patra.AlertFacts{Plans: untouched, Queue: due}, patra.AlertIdle, patra.SeverityCritical, "4 tasks are due, and nobody takes one."},
		{"a quota that is nearly used up", quota(901), patra.AlertQuota, patra.SeverityNotice, "Of the quota of demo for today, 99 of 1,000 are left; it begins anew at 2026-11-16T00:00:00.000Z."},
		{"a quota with a tenth left", quota(900), "", "", ""},
		{"a quota of which a control tells", patra.AlertFacts{Quotas: quota(1000).Quotas, Controls: []patra.Control{{Target: patra.Target{Scope: patra.ScopeSource, Key: "demo"}, Kind: patra.KindQuota, State: patra.UsedUp, Until: now + patra.Hour, Detail: patra.ControlDetail{Quota: &patra.QuotaError{Key: "demo"}}}}}, patra.AlertQuota, patra.SeverityNotice, "A quota of demo is used up; it goes on by itself at 2026-11-15T01:00:00.000Z."},
		{"its schedule fired, and it did not follow", cursor(patra.Harvest, 2*patra.Day, patra.CursorFacts{Schedule: "daily", Fired: at(now - patra.Hour), Due: now - patra.Day}), patra.AlertStalled, patra.SeverityWarning, "The watermark of demo/works HARVEST stands at 2026-11-06T00:00:00.000Z, although the schedule daily should have moved it on at 2026-11-14T23:00:00.000Z."},
		{"it is on its way", cursor(patra.Harvest, patra.Minute, patra.CursorFacts{Schedule: "daily", Fired: at(now - patra.Hour), Due: now - patra.Day}), "", "", ""},
		{"a weekly schedule, just before its day", cursor(patra.Harvest, 8*patra.Day, patra.CursorFacts{Schedule: "weekly", Fired: at(now - 8*patra.Day), Due: now - 9*patra.Day}), "", "", ""},
		{"a source with a long safety lag", cursor(patra.Harvest, 2*patra.Day, patra.CursorFacts{Schedule: "daily", Fired: at(now - patra.Hour), Due: now - 10*patra.Day}), "", "", ""},
		{"a fire of a moment ago", cursor(patra.Harvest, 2*patra.Day, patra.CursorFacts{Schedule: "daily", Fired: at(now - patra.Minute), Due: now - patra.Day}), "", "", ""},
		{"few records", volume(10, 100, 110, 90, 105), patra.AlertVolume, patra.SeverityWarning, "2026-11-13 of demo/works HARVEST had 10 records, far fewer than the 103 that such a day has (Friday)."},
		{"many records", volume(1000, 100, 110, 90, 105), patra.AlertVolume, patra.SeverityWarning, "2026-11-13 of demo/works HARVEST had 1,000 records, far more than the 103 that such a day has (Friday)."},
		{"half as many may be", volume(52, 100, 110, 90, 105), "", "", ""},
		{"small numbers jump", volume(0, 9, 12, 7, 15, 8), "", "", ""},
		{"days that always jump", volume(900, 100, 2000, 30, 700, 1500, 90), "", "", ""},
		{"one odd day is no rule", volume(10, 100, 110, 0, 105, 98), patra.AlertVolume, patra.SeverityWarning, "2026-11-13 of demo/works HARVEST had 10 records, far fewer than the 100 that such a day has (Friday)."},
		{"too few such days", volume(0, 100, 110, 90), "", "", ""},
		{"a receiver that is not reached", patra.AlertFacts{Receivers: []patra.ReceiverState{{Name: "chat", Failures: 3, Error: "status 500"}}}, patra.AlertSink, patra.SeverityWarning, "Notices of alerts do not reach chat: status 500."},
		{"a receiver that is not in the settings any more", patra.AlertFacts{Receivers: []patra.ReceiverState{{Name: "chat", Failures: 3, Error: "status 500", Gone: true}}}, "", "", ""},
		{"a receiver that was not reached once", patra.AlertFacts{Receivers: []patra.ReceiverState{{Name: "chat", Failures: 1, Error: "status 500"}}}, "", "", ""},
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
		met[c.kind] = true
	}
	for _, k := range patra.AlertKinds {
		if !met[k] {
			t.Errorf("there is no case of %s", k)
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
