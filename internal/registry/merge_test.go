package registry_test

import (
	"reflect"
	"testing"

	"patra"
	"patra/internal/registry"
	"patra/internal/source"
)

// What a source says about its versions and notices survives being taken apart, and reaches the spec.
func TestMergeRulesAndNoticesComeBack(t *testing.T) {
	f := detailed(t)
	f.Merge = source.Merge{EqualTime: "BY(MedlineCitation/@VersionID)", Nulls: "FILL"}
	f.Update = source.Update{Gone: source.Gone{Refusals: 4, Over: &patra.Period{Days: 30}}}
	e := f.Endpoints["fetch"]
	e.Response.MergedInto, e.Response.Retracted = "//Into", &source.FlagPath{Path: "//Type", Equals: "x"}
	e.Response.Signals = []source.Notice{{Path: "//Ref", Reason: "ERRATUM", Target: "//Ref/PMID"}}
	f.Endpoints["fetch"] = e
	rows := live(rowsOf(t, f), 10)
	back, err := registry.File(rows, 10)
	if err != nil || !reflect.DeepEqual(f, back) {
		t.Fatalf("became %+v, %v", back, err)
	}
	spec, _, err := registry.Explain(rows, registry.CompileRequest{At: 10, Options: source.Options{Endpoint: "search", Operation: patra.Harvest, Contact: "me@example.org"}})
	if err != nil {
		t.Fatal(err)
	}
	if second := spec.Second; second.Merge != f.Merge || !reflect.DeepEqual(second.Response.Signals, e.Response.Signals) {
		t.Errorf("compiled to %+v", second.Merge)
	}
	if !reflect.DeepEqual(spec.Update, f.Update) || !reflect.DeepEqual(spec.Second.Update, f.Update) {
		t.Errorf("compiled to %+v and %+v", spec.Update, spec.Second.Update)
	}
}
