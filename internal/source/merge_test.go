package source_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"patra"
	"patra/internal/source"
)

const (
	standing = `{format: JSON, items: "$.items", id: "$.id", updatedAt: "$.at", total: {trust: NONE},
      deleted: {path: "$.gone"}, mergedInto: "$.now", mergedFrom: "$.once[*]", retracted: {path: "$.types[*]", equals: retracted},
      signals: [{path: "$.about[?@.type=='retraction']", reason: RETRACTED, target: "$.about[?@.type=='retraction'].doi | lower"}, {path: "$.abstract", equals: "n/a", reason: MISSING_FIELD, target: self}]}`
	merging = "merge: {equalTime: BY($.version), nulls: FILL}\n"
)

func TestAnItemSaysHowItStands(t *testing.T) {
	p := compile(t, write(get, offset, standing, noFields)+merging)
	if got := p.Merge(); got != (patra.Merge{EqualTime: patra.EqualBy, Nulls: patra.NullsFill}) {
		t.Errorf("merged by %+v", got)
	}
	for item, want := range map[string]string{
		`{"id":"a"}`:                                        `{"mark":"","deleted":false,"into":"","retracted":false,"signals":null}`,
		`{"id":"a","gone":true,"version":7}`:                `{"mark":"7","deleted":true,"into":"","retracted":false,"signals":null}`,
		`{"id":"a","gone":false,"types":["x","retracted"]}`: `{"mark":"","deleted":false,"into":"","retracted":true,"signals":null}`,
		`{"id":"a","now":"b"}`:                              `{"mark":"","deleted":true,"into":"b","retracted":false,"signals":null}`,
		`{"id":"a","abstract":"n/a"}`:                       `{"mark":"","deleted":false,"into":"","retracted":false,"signals":[{"id":"a","reason":"MISSING_FIELD","by":"a"}]}`,
		`{"id":"a","about":[{"type":"retraction","doi":"10.5/X"},{"type":"x","doi":"y"}]}`: `{"mark":"","deleted":false,"into":"","retracted":false,"signals":[{"id":"10.5/x","reason":"RETRACTED","by":"a"}]}`,
	} {
		o, err := p.Item([]byte(item), 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(struct {
			Mark      string         `json:"mark"`
			Deleted   bool           `json:"deleted"`
			Into      string         `json:"into"`
			Retracted bool           `json:"retracted"`
			Signals   []patra.Signal `json:"signals"`
		}{o.Mark, o.Deleted, o.MergedInto, o.Retracted, o.Signals})
		if err != nil || string(got) != want {
			t.Errorf("%s is %s, want %s, %v", item, got, want, err)
		}
	}
}

// A provider may name the records whose place one has taken.
func TestAnItemNamesThoseWhosePlaceItTook(t *testing.T) {
	p := compile(t, write(get, offset, standing, noFields)+merging)
	o, err := p.Item([]byte(`{"id":"a","once":["b",null,""," c ",7]}`), 5)
	if err != nil || !slices.Equal(o.MergedFrom, []string{"b", "c", "7"}) || o.Deleted {
		t.Errorf("%q, deleted %v, %v", o.MergedFrom, o.Deleted, err)
	}
	study := shippedProgram(t, "clinicaltrials", "studies")
	o, err = study.Item([]byte(`{"protocolSection":{"identificationModule":{"nctId":"NCT00000001","nctIdAliases":["NCT00000002"]}}}`), 5)
	if err != nil || !slices.Equal(o.MergedFrom, []string{"NCT00000002"}) {
		t.Errorf("%q, %v", o.MergedFrom, err)
	}
}

func TestHowVersionsMergeIsKeptWithThePlan(t *testing.T) {
	spec := compile(t, write(get, offset, standing, noFields)+merging).Spec
	snap, err := spec.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := source.FromSnapshot(snap.Fingerprint, snap.Body); err != nil || back.Merge != spec.Merge || !reflect.DeepEqual(back.Response, spec.Response) {
		t.Errorf("came back as %+v, %v", back, err)
	}
}

func TestBrokenMergesAndNotices(t *testing.T) {
	good := write(get, offset, standing, noFields) + merging
	for _, c := range []struct{ old, new, code, path string }{
		{"BY($.version)", "LATEST", "BAD_VALUE", "merge.equalTime"},
		{"BY($.version)", "BY(version)", "BAD_PATH", "merge.equalTime"},
		{"BY($.version)", "BY()", "BAD_VALUE", "merge.equalTime"},
		{"nulls: FILL", "nulls: MAYBE", "BAD_VALUE", "merge.nulls"},
		{`mergedInto: "$.now"`, `mergedInto: "now"`, "BAD_PATH", "endpoints.works.response.mergedInto"},
		{`mergedFrom: "$.once[*]"`, `mergedFrom: "once"`, "BAD_PATH", "endpoints.works.response.mergedFrom"},
		{`path: "$.types[*]"`, `path: "types"`, "BAD_PATH", "endpoints.works.response.retracted.path"},
		{"reason: RETRACTED", "reason: SAD", "BAD_VALUE", "endpoints.works.response.signals[0].reason"},
		{".doi | lower", ".doi | shout", "BAD_MAPPING", "endpoints.works.response.signals[0].target"},
		{`path: "$.abstract"`, `path: ""`, "BAD_PATH", "endpoints.works.response.signals[1].path"},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("%q is not in the file", c.old)
		}
		_, err := source.Load("broken.yaml", []byte(strings.Replace(good, c.old, c.new, 1)))
		var found patra.Problems
		if !errors.As(err, &found) || len(found) != 1 || found[0].Code != c.code || found[0].Path != c.path {
			t.Errorf("%s: %s", c.new, fmt.Sprint(err))
		}
	}
}
