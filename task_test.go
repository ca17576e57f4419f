package patra_test

import (
	"encoding/json"
	"testing"

	"patra"
)

func TestEveryIngredientOfATaskIsInItsKey(t *testing.T) {
	params := json.RawMessage(`{"a":1}`)
	requireDistinct(t, map[string]string{
		"as it is":              patra.TaskKey("plan", "sig", "expr", patra.Harvest, "MANUAL", params),
		"another plan":          patra.TaskKey("plan#1", "sig", "expr", patra.Harvest, "MANUAL", params),
		"another slice":         patra.TaskKey("plan", "gis", "expr", patra.Harvest, "MANUAL", params),
		"another query":         patra.TaskKey("plan", "sig", "rpxe", patra.Harvest, "MANUAL", params),
		"another operation":     patra.TaskKey("plan", "sig", "expr", patra.Backfill, "MANUAL", params),
		"another trigger":       patra.TaskKey("plan", "sig", "expr", patra.Harvest, "CRON", params),
		"other parameters":      patra.TaskKey("plan", "sig", "expr", patra.Harvest, "MANUAL", json.RawMessage(`{"a":2}`)),
		"no parameters":         patra.TaskKey("plan", "sig", "expr", patra.Harvest, "MANUAL", nil),
		"neighbours that merge": patra.TaskKey("plans", "ig", "expr", patra.Harvest, "MANUAL", params),
	})
}

func TestHowParametersAreSpelledDoesNotMatter(t *testing.T) {
	one := patra.TaskKey("plan", "sig", "expr", patra.Harvest, "MANUAL", json.RawMessage(`{"a":1,"b":"x"}`))
	two := patra.TaskKey("plan", "sig", "expr", patra.Harvest, "MANUAL", json.RawMessage(` { "b" : "\u0078", "a" : 1.0 } `))
	if one != two {
		t.Errorf("the same parameters give %s and %s", one, two)
	}
}

// The key is stored and unique. It was computed with sha256sum from ["plan","sig","expr","HARVEST","MANUAL",{"a":1}].
func TestTheKeyOfATaskNeverChanges(t *testing.T) {
	const want = "f9d59cbafc29a9aba9a3b40873d55694669caee6df85615558799454828c0790"
	if got := patra.TaskKey("plan", "sig", "expr", patra.Harvest, "MANUAL", json.RawMessage(`{"a":1}`)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
