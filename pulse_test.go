package patra_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

func TestAPulseIsItsOwnPosition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int64 { return rapid.Int64Min(0).Draw(t, name) }
		p := patra.ChangeToken{Plans: n("plans"), Runs: n("runs"), Pages: n("pages"), Moves: n("moves"), Events: n("events"), Records: n("records"), Quarantine: n("quarantine"),
			Healing: n("healing"), Audit: n("audit"), Signals: n("signals"), Requests: n("requests"), Controls: n("controls"), Running: n("running")}
		again, ok := patra.ParseChangeToken(p.String())
		if !ok || again != p {
			t.Fatalf("%s became %s, %v", p, again, ok)
		}
		if topics := p.ChangedTopics(again); topics != nil {
			t.Fatalf("nothing happened, and %v changed", topics)
		}
	})
	for _, text := range []string{"", "1", "1-2", "x", "1-2-3-4-5-6-7-8-9-a-b-c", "1-2-3-4-5-6-7-8-9-a-b-c--d", "-1-2-3-4-5-6-7-8-9-a-b-c-d"} {
		if p, ok := patra.ParseChangeToken(text); ok {
			t.Errorf("%q was read as %s", text, p)
		}
	}
}

func TestAPulseTellsWhatChanged(t *testing.T) {
	was := patra.ChangeToken{Pages: 3, Running: 1}
	is := was
	is.Pages++
	if got := is.ChangedTopics(was); !slices.Equal(got, []string{patra.TopicBatches, patra.TopicGates}) {
		t.Errorf("a page came, and %v changed", got)
	}
	is.Running = 0
	if got := is.ChangedTopics(was); !slices.Contains(got, patra.TopicTasks) {
		t.Errorf("a task ended, and %v changed", got)
	}
}
