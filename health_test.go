package patra_test

import (
	"testing"

	"patra"
)

func TestASourceIsJudgedByTheGravestThing(t *testing.T) {
	now := patra.Date(2026, 11, 15)
	at := func(i patra.Instant) *patra.Instant { return &i }
	works := func(running, due, later int64) []patra.QueueState {
		return []patra.QueueState{{Source: "demo", Running: running, Due: due, Later: later, NextAt: at(now + patra.Hour)}}
	}
	control := func(key string, scope patra.ControlScope, kind patra.ControlKind, state patra.Status) patra.Control {
		return patra.Control{Target: patra.Target{Scope: scope, Key: key}, Kind: kind, State: state, Until: now + patra.Minute, Actor: "ada", Reason: "AUTH 401: who are you?", Detail: patra.ControlDetail{Since: now - patra.Hour}}
	}
	halt := control("demo/works", patra.ScopeEndpoint, patra.KindHalt, patra.Halted)
	breaker := control("demo/works", patra.ScopeEndpoint, patra.KindBreaker, patra.Open)
	for _, c := range []struct {
		name  string
		facts patra.SourceFacts
		want  patra.Health
		said  string
	}{
		{"nothing", patra.SourceFacts{}, patra.HealthIdle, "Nothing was read yet."},
		{"all is read", patra.SourceFacts{LastPage: at(now - patra.Hour), Complete: at(now - patra.Day)}, patra.HealthOK, "Everything is read that was asked for, complete through 2026-11-14T00:00:00.000Z."},
		{"running", patra.SourceFacts{Partitions: works(3, 17, 0)}, patra.HealthRunning, "3 tasks are running, and 17 wait."},
		{"the last one runs", patra.SourceFacts{Partitions: works(1, 0, 0)}, patra.HealthRunning, "1 task is running."},
		{"nobody works", patra.SourceFacts{Partitions: works(0, 2, 0)}, patra.HealthWaiting, "2 tasks are due, and nobody takes one: is patra serve running?"},
		{"it is not its turn", patra.SourceFacts{Partitions: works(0, 2, 0), LastClaim: at(now - patra.Second)}, patra.HealthWaiting, "2 tasks wait for their turn."},
		{"due later", patra.SourceFacts{Partitions: works(0, 0, 1)}, patra.HealthWaiting, "1 task is due later, the first at 2026-11-15T01:00:00.000Z."},
		{"a breaker", patra.SourceFacts{Partitions: works(0, 0, 4), Controls: []patra.Control{breaker}}, patra.HealthWaiting, "4 tasks wait; demo/works does not answer and is left alone until 2026-11-15T00:01:00.000Z."},
		{"a breaker of somebody else", patra.SourceFacts{Partitions: works(0, 4, 0), LastClaim: at(now), Controls: []patra.Control{control("other/works", patra.ScopeEndpoint, patra.KindBreaker, patra.Open)}}, patra.HealthWaiting, "4 tasks wait for their turn."},
		{"a quota", patra.SourceFacts{Partitions: works(0, 0, 4), Controls: []patra.Control{control("demo", patra.ScopeSource, patra.KindQuota, patra.UsedUp)}}, patra.HealthWaiting, "4 tasks wait; a quota of demo is used up until 2026-11-15T00:01:00.000Z."},
		{"a failure since", patra.SourceFacts{Partitions: works(1, 1, 0), Failed: 2, FailedAt: at(now - patra.Minute), LastPage: at(now - patra.Hour)}, patra.HealthFailed, "2 tasks have failed, the last at 2026-11-14T23:59:00.000Z."},
		{"a failure before", patra.SourceFacts{Failed: 2, FailedAt: at(now - patra.Day), LastPage: at(now - patra.Hour)}, patra.HealthOK, "Everything is read that was asked for, the last page at 2026-11-14T23:00:00.000Z."},
		{"a gap", patra.SourceFacts{Failed: 1, FailedAt: at(now - patra.Day), LastPage: at(now), Gaps: 1}, patra.HealthFailed, "1 task has failed, the last at 2026-11-14T00:00:00.000Z, and 1 stretch is missing."},
		{"a halt", patra.SourceFacts{Partitions: works(3, 1, 0), Gaps: 1, Controls: []patra.Control{breaker, halt}}, patra.HealthStopped, "demo/works is halted since 2026-11-14T23:00:00.000Z, because only a person can mend this: AUTH 401: who are you?"},
		{"a pause", patra.SourceFacts{Partitions: works(3, 1, 0), Controls: []patra.Control{control("demo", patra.ScopeSource, patra.KindPause, patra.Paused)}}, patra.HealthStopped, "demo is paused by ada since 2026-11-14T23:00:00.000Z: AUTH 401: who are you?"},
		{"a part is paused", patra.SourceFacts{Partitions: works(3, 1, 0), Controls: []patra.Control{control("demo/works", patra.ScopeEndpoint, patra.KindPause, patra.Paused)}}, patra.HealthRunning, "3 tasks are running, and 1 waits."},
	} {
		c.facts.Source, c.facts.Now = "demo", now
		if got, said := c.facts.Judge(); got != c.want || said != c.said {
			t.Errorf("%s: %s, %s", c.name, got, said)
		}
	}
}

func TestWhatGoesWrongMostOftenComesFirst(t *testing.T) {
	fail := func(source, code string, at patra.Instant, batch int64) patra.Failure {
		return patra.Failure{Source: source, Endpoint: "works", Fault: patra.Fault{Code: code, Level: patra.LevelRetry, Text: "no"}, At: at, BatchID: batch}
	}
	top := patra.TopFailures([]patra.Failure{fail("a", "HTTP", 5, 50), fail("b", "HTTP", 9, 90), fail("a", "NETWORK", 3, 30), fail("a", "HTTP", 7, 70), fail("a", "HTTP", 1, 10)}, 2)
	if len(top) != 2 || top[0].Count != 3 || top[0].FirstAt != 1 || top[0].LastAt != 7 || top[0].Example.Batch != 70 || top[1].Source != "b" {
		t.Errorf("%+v", top)
	}
	if none := patra.TopFailures(nil, 5); none == nil || len(none) != 0 {
		t.Errorf("%v", none)
	}
}
