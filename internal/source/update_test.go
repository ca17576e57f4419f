package source_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"patra"
	"patra/internal/source"
)

func TestASourceSaysWhenARefusedRecordIsGone(t *testing.T) {
	for said, want := range map[string]patra.GoneRule{
		"": patra.DefaultGoneRule,
		"update: {gone: {refusals: 5, over: P30D}}\n": {Refusals: 5, Over: patra.Period{Days: 30}},
		"update: {gone: {refusals: 2}}\n":             {Refusals: 2, Over: patra.DefaultGoneRule.Over},
		"update: {gone: {over: PT0S}}\n":              {Refusals: patra.DefaultGoneRule.Refusals},
	} {
		p := compile(t, write(get, offset, standing, noFields)+said)
		if got := p.Gone(); got != want {
			t.Errorf("%q is %+v, want %+v", said, got, want)
		}
		snap, err := p.Spec.Snapshot()
		if err != nil || strings.Contains(string(snap.Body), `"update"`) != (said != "") {
			t.Errorf("%q is kept as %s, %v", said, snap.Body, err)
		}
		back, err := source.FromSnapshot(snap.Fingerprint, snap.Body)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := back.Compile(); err != nil || again.Gone() != want {
			t.Errorf("%q came back as %+v, %v", said, back.Update, err)
		}
	}
}

func TestBrokenRulesOfGoneRecords(t *testing.T) {
	for said, want := range map[string]string{
		"update: {gone: {refusals: 0}}\n":   "BAD_VALUE update.gone.refusals",
		"update: {gone: {refusals: 101}}\n": "BAD_VALUE update.gone.refusals",
		"update: {gone: {refusals: -1}}\n":  "BAD_VALUE update.gone.refusals",
		"update: {gone: {over: 7d}}\n":      "BAD_VALUE update.gone.over",
		"update: {gone: {days: 7}}\n":       "UNKNOWN_KEY update.gone.days",
	} {
		_, err := source.Load("broken.yaml", []byte(write(get, offset, standing, noFields)+said))
		var found patra.Problems
		if !errors.As(err, &found) || len(found) != 1 || !strings.HasPrefix(found[0].Code+" "+found[0].Path, want) {
			t.Errorf("%s: %s", said, fmt.Sprint(err))
		}
	}
}

func TestTheSchemaHasTheRuleOfGoneRecords(t *testing.T) {
	b, err := json.Marshal(source.Schema())
	if err != nil || !strings.Contains(string(b), `"Gone":{"additionalProperties":false,"properties":{"over":{"type":"string"},"refusals":{"type":"integer"}}`) {
		t.Errorf("%v, %s", err, b)
	}
}
