package patra_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"patra"
)

func TestTargetsReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]patra.Target{
		"crossref":               {Scope: patra.ScopeSource, Key: "crossref"},
		"crossref/works":         {Scope: patra.ScopeEndpoint, Key: "crossref/works"},
		"crossref/works/HARVEST": {Scope: patra.ScopeOperation, Key: "crossref/works/HARVEST"},
		"crossref/*/BACKFILL":    {Scope: patra.ScopeOperation, Key: "crossref/*/BACKFILL"},
		"oai/records/HARVEST/https://x.example/oai": {Scope: patra.ScopeOperation, Key: "oai/records/HARVEST/https://x.example/oai"},
		"oai/records/*/https://x.example/oai/":      {Scope: patra.ScopeEndpoint, Key: "oai/records/*/https://x.example/oai/"},
		"oai/*/*/https://x.example/oai":             {Scope: patra.ScopeEndpoint, Key: "oai/*/*/https://x.example/oai"},
		"plan:3":                                    {Scope: patra.ScopePlan, Key: "3"},
		"slice:7":                                   {Scope: patra.ScopeSlice, Key: "7"},
		"task:9":                                    {Scope: patra.ScopeTask, Key: "9"},
		"cursor:2":                                  {Scope: patra.ScopeCursor, Key: "2"},
	} {
		got, err := patra.ParseTarget(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s became %+v, written %s, %v", text, got, got, err)
		}
	}
	if got, err := patra.ParseTarget("crossref/works/harvest"); err != nil || got.Key != "crossref/works/HARVEST" {
		t.Errorf("small letters: %+v, %v", got, err)
	}
	for _, bad := range []string{"", "/", "crossref/", "/works", "*", "*/works", "crossref/*", "crossref/works/EAT", "crossref/works/EAT/https://x.example/oai", "crossref/works/HARVEST/", "plan:", "plan:x", "plan:0", "plan:-1", "run:3", "plan: 3"} {
		if got, err := patra.ParseTarget(bad); err == nil || !strings.Contains(err.Error(), "SOURCE/ENDPOINT") {
			t.Errorf("%q became %+v, %v", bad, got, err)
		}
	}
}

func TestWorkBelongsToAllThatItIsPartOf(t *testing.T) {
	at := patra.Task{ID: 9, SliceID: 7, PlanID: 3, CursorID: 2, Source: "crossref", Endpoint: "works", Operation: patra.Harvest}.WorkScope()
	var got []string
	for _, target := range at.Targets() {
		got = append(got, target.String())
	}
	want := []string{"crossref", "crossref/works", "crossref/*/HARVEST", "crossref/works/HARVEST", "cursor:2", "plan:3", "slice:7", "task:9"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	for _, text := range want {
		target, err := patra.ParseTarget(text)
		if err != nil || !slices.Contains(at.Targets(), target) {
			t.Errorf("%s cannot be written, %v", text, err)
		}
	}
}

func TestWhatOnlyAPersonCanEndIsSaidFirst(t *testing.T) {
	now := patra.Date(2026, 6, 1)
	paused := patra.Control{Kind: patra.KindPause, State: patra.Paused}
	halted := patra.Control{Kind: patra.KindHalt, State: patra.Halted}
	open := patra.Control{Kind: patra.KindBreaker, State: patra.Open, Until: now.Add(time.Minute), Failures: 3}
	over := patra.Control{Kind: patra.KindBreaker, State: patra.Open, Until: now.Add(-time.Minute), Failures: 3}
	trying := patra.Control{Kind: patra.KindBreaker, State: patra.HalfOpen, Until: now.Add(time.Minute)}
	for _, c := range []struct {
		name     string
		controls []patra.Control
		code     string
		wait     time.Duration
		watch    bool
	}{
		{"nothing", nil, "", 0, false},
		{"all that is over", []patra.Control{{Kind: patra.KindPause, State: patra.Running}, {Kind: patra.KindHalt, State: patra.Running}, {Kind: patra.KindBreaker, State: patra.Closed}}, "", 0, false},
		{"failures that were counted", []patra.Control{{Kind: patra.KindBreaker, State: patra.Closed, Failures: 1}}, "", 0, true},
		{"a pause", []patra.Control{paused}, patra.WaitPaused, 0, false},
		{"a pause and a breaker", []patra.Control{open, paused}, patra.WaitPaused, 0, false},
		{"a pause and a halt", []patra.Control{halted, paused, open}, patra.WaitHalted, 0, false},
		{"a breaker", []patra.Control{open}, patra.WaitBreaker, time.Minute, false},
		{"one that may be tried", []patra.Control{over}, patra.WaitBreaker, -time.Minute, false},
		{"one that is tried", []patra.Control{trying}, patra.WaitBreaker, patra.HalfOpenRest, false},
	} {
		got := patra.Admit(c.controls, now)
		if got.Code != c.code || got.Wait != c.wait || got.Watch != c.watch || got.Allowed() != (c.code == "") {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestDoorsOfPartitions(t *testing.T) {
	now := patra.Date(2026, 6, 1)
	harvest := patra.WorkScope{Source: "crossref", Endpoint: "works", Operation: patra.Harvest}
	backfill, other := harvest, harvest
	backfill.Operation, other.Endpoint = patra.Backfill, "members"
	for _, c := range []struct {
		name                     string
		control                  patra.Control
		harvest, backfill, other bool // shut
	}{
		{"a source", patra.Control{Target: patra.Target{Scope: patra.ScopeSource, Key: "crossref"}, Kind: patra.KindPause, State: patra.Paused}, true, true, true},
		{"another source", patra.Control{Target: patra.Target{Scope: patra.ScopeSource, Key: "cross"}, Kind: patra.KindPause, State: patra.Paused}, false, false, false},
		{"an endpoint", patra.Control{Target: harvest.EndpointTarget(), Kind: patra.KindHalt, State: patra.Halted}, true, true, false},
		{"a partition", patra.Control{Target: harvest.PartitionTarget(), Kind: patra.KindPause, State: patra.Paused}, true, false, false},
		{"an operation everywhere", patra.Control{Target: patra.Target{Scope: patra.ScopeOperation, Key: "crossref/*/HARVEST"}, Kind: patra.KindPause, State: patra.Paused}, true, false, true},
		{"a breaker", patra.Control{Target: harvest.EndpointTarget(), Kind: patra.KindBreaker, State: patra.Open, Until: now + 1}, true, true, false},
		{"a breaker that may be tried", patra.Control{Target: harvest.EndpointTarget(), Kind: patra.KindBreaker, State: patra.Open, Until: now}, false, false, false},
		{"a breaker that is tried", patra.Control{Target: harvest.EndpointTarget(), Kind: patra.KindBreaker, State: patra.HalfOpen, Until: now + 1}, true, true, false},
	} {
		g := patra.AdmissionControls{c.control}
		if a, b, o := g.Blocked(harvest, now), g.Blocked(backfill, now), g.Blocked(other, now); a != c.harvest || b != c.backfill || o != c.other {
			t.Errorf("%s: shut %v, %v, %v", c.name, a, b, o)
		}
	}
	limited := patra.AdmissionControls{{Target: harvest.PartitionTarget(), Kind: patra.KindLimit, State: patra.Limited, Until: now.Add(time.Minute), Detail: patra.ControlDetail{Limit: 2, Of: 4}}}
	for _, c := range []struct{ configured, want int64 }{{0, 2}, {4, 2}, {1, 1}} {
		if got := limited.Limit(harvest, c.configured, now); got != c.want {
			t.Errorf("of %d may run %d, want %d", c.configured, got, c.want)
		}
	}
	if got := limited.Limit(backfill, 4, now); got != 4 {
		t.Errorf("another partition: %d", got)
	}
}

func TestHaltIsFoundWhereItCounts(t *testing.T) {
	target, err := patra.ParseTarget("crossref/works")
	if err != nil {
		t.Fatal(err)
	}
	controls := []patra.Control{{Target: target, Kind: patra.KindHalt, State: "HALTED"}}
	if patra.HaltAt(controls, patra.WorkScope{Source: "crossref", Endpoint: "works"}) == nil {
		t.Error("the halt of the endpoint is not found")
	}
	if patra.HaltAt(controls, patra.WorkScope{Source: "crossref", Endpoint: "work"}) != nil || patra.HaltAt(controls, patra.WorkScope{Source: "pubmed", Endpoint: "works"}) != nil {
		t.Error("a halt is found where it does not count")
	}
	controls[0].Kind = patra.KindPause
	if patra.HaltAt(controls, patra.WorkScope{Source: "crossref", Endpoint: "works"}) != nil {
		t.Error("a pause is no halt")
	}
}
