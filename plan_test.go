package patra_test

import (
	"strings"
	"testing"
	"time"

	"patra"
)

func somePlan() patra.Plan {
	day := patra.Date(2026, time.January, 1)
	return patra.Plan{Source: "crossref", Endpoint: "works", Operation: patra.Harvest, ExprProtoHash: strings.Repeat("ab", 32), Spec: strings.Repeat("cd", 32),
		Window: patra.Window{From: day, To: day + patra.Day}}
}

func TestAPlansKeyCanBeReadByAPerson(t *testing.T) {
	p := somePlan()
	if got, want := patra.PlanKey(p), "crossref/works/HARVEST/abababab/cdcdcdcd/2026-01-01~2026-01-02"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p.Generation = 2
	p.Window.To += patra.Hour
	if got, want := patra.PlanKey(p), "crossref/works/HARVEST/abababab/cdcdcdcd/2026-01-01~2026-01-02T01:00:00.000Z#2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEveryIngredientOfAPlanIsInItsKey(t *testing.T) {
	keys := map[string]string{"as it is": patra.PlanKey(somePlan())}
	for name, change := range map[string]func(*patra.Plan){
		"source":            func(p *patra.Plan) { p.Source = "pubmed" },
		"endpoint":          func(p *patra.Plan) { p.Endpoint = "journals" },
		"operation":         func(p *patra.Plan) { p.Operation = patra.Update },
		"query":             func(p *patra.Plan) { p.ExprProtoHash = strings.Repeat("ef", 32) },
		"spec":              func(p *patra.Plan) { p.Spec = strings.Repeat("ef", 32) },
		"from":              func(p *patra.Plan) { p.Window.From -= patra.Millisecond },
		"to":                func(p *patra.Plan) { p.Window.To += patra.Millisecond },
		"generation":        func(p *patra.Plan) { p.Generation = 1 },
		"second generation": func(p *patra.Plan) { p.Generation = 2 },
	} {
		p := somePlan()
		change(&p)
		keys[name] = patra.PlanKey(p)
	}
	requireDistinct(t, keys)
}

func TestWhatHappensToAPlanIsNotInItsKey(t *testing.T) {
	p := somePlan()
	p.ID, p.InstanceID, p.CursorID, p.Status, p.SliceCount, p.CreatedAt, p.Reason, p.Priority = 7, 8, 9, patra.Ready, 3, 1, patra.ReasonUpToDate, 4
	if got, want := patra.PlanKey(p), patra.PlanKey(somePlan()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAPlanEndsWhenNothingOfItIsLeft(t *testing.T) {
	for _, c := range []struct {
		status                            patra.Status
		left, failed, cancelled, disputed bool
		want                              patra.PlanEnd
	}{
		{patra.Ready, false, false, false, false, patra.PlanDone},
		{patra.Ready, true, true, true, true, ""},
		{patra.Ready, false, true, true, true, patra.PlanFailed},
		{patra.Ready, false, false, true, true, patra.PlanCancelled},
		{patra.Ready, false, false, false, true, patra.PlanDisputed},
		{patra.Partial, false, true, false, true, ""}, // more of it is to be cut
		{patra.Draft, false, false, false, false, ""},
		{patra.Cancelled, false, false, true, true, ""}, // its status says so already
	} {
		if got := patra.PlanOutcome(c.status, c.left, c.failed, c.cancelled, c.disputed); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}
