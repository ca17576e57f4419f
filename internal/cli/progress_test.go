package cli

import (
	"bytes"
	"strings"
	"testing"

	"patra"
	"patra/internal/executor"
)

func TestWhoWaitsHearsOfAProviderThatAsksForPatienceAgainAndAgain(t *testing.T) {
	var out bytes.Buffer
	p := (&app{stderr: &out}).progress(&summary{runTally: runTally{Faults: map[string]int64{}}}, "crossref/works", 3)
	claim := &patra.Claim{Lease: patra.Lease{TaskID: 7}}
	refuse := func(n int) {
		for range n {
			p.observe(executor.Event{Kind: executor.EventHeal, Claim: claim, Healing: &patra.Healing{Source: "crossref", Endpoint: "works", Action: patra.HealCooldown}})
		}
	}
	refuse(2)
	p.observe(executor.Event{Kind: executor.EventPage, Claim: claim})
	refuse(2)
	if out.Len() > 0 {
		t.Errorf("a refusal now and then is nothing to say: %s", &out)
	}
	refuse(5)
	if n := strings.Count(out.String(), "crossref/works asks us to slow down again and again. This waits as long as it says; patra why 7 tells until when."); n != 1 {
		t.Errorf("said %d times: %s", n, &out)
	}
}
