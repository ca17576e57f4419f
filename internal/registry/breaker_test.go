package registry_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"patra"
	"patra/internal/registry"
	"patra/internal/source"
)

// What a source and its endpoint say about breakers comes back from the rows, exported and compiled.
func TestBreakersComeBack(t *testing.T) {
	f := detailed(t)
	f.Defaults.Breaker = source.Breaker{Failures: 7, Cooldown: source.DurationRange{From: source.Duration(10 * time.Second), To: source.Duration(time.Minute)}}
	search := f.Endpoints["search"]
	search.Breaker.Failures = 2
	f.Endpoints["search"] = search
	rows := live(rowsOf(t, f), 10)
	back, err := registry.File(rows, 10)
	if err != nil || !reflect.DeepEqual(f, back) {
		t.Fatalf("became %+v, %v", back, err)
	}
	text, err := json.Marshal(back) // which is YAML too
	if err != nil {
		t.Fatal(err)
	}
	if exported, err := source.Load("pubmed.yaml", text); err != nil || !reflect.DeepEqual(f, exported) {
		t.Errorf("exported as %s, %v", text, err)
	}
	spec, fields, err := registry.Explain(rows, registry.CompileRequest{At: 10, Options: source.Options{Endpoint: "search", Operation: patra.Harvest, Contact: "me@example.org"}})
	if err != nil || spec.Breaker.Rule() != (patra.BreakerRule{Failures: 2, Shortest: 10 * time.Second, Longest: time.Minute}) {
		t.Errorf("compiled to %+v, %v", spec.Breaker, err)
	}
	layers := map[string]string{}
	for _, field := range fields {
		layers[field.Path] = field.Layer.Name
	}
	if layers["breaker.failures"] != "endpoint" || layers["breaker.cooldown"] != "source" {
		t.Errorf("failures are from %q, cooldown from %q", layers["breaker.failures"], layers["breaker.cooldown"])
	}
}
