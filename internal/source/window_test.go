package source_test

import (
	"cmp"
	"errors"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// windowed is a source file whose window says just this; day is a date, number a whole number, both parameters.
func windowed(window string) string {
	return strings.NewReplacer(
		"window: {field: day, mode: CALENDAR, align: DAY, size: P1D, precision: DAY, upper: INCLUSIVE_DAY, order: ASC}", "window:\n      "+strings.ReplaceAll(window, "; ", "\n      "),
		"{day: {type: DATE, ops: [RANGE]}}", "{day: {type: DATE, ops: [RANGE]}, number: {type: NUMBER, ops: [RANGE], integer: true}, share: {type: NUMBER, ops: [RANGE]}, word: {type: KEYWORD, ops: [TERM]}}",
		`to: ["{{to}}"]}}]`, `to: ["{{to}}"]}}, {field: number, op: RANGE, params: {ids: "{{from}}-{{to}}"}}, {field: share, op: RANGE, params: {share: "{{from}}-{{to}}"}}, {field: word, op: TERM, params: {word: "{{v}}"}}]`,
		"to: {name: to}}", "to: {name: to}, ids: {name: ids}, share: {name: share}, word: {name: word}}",
	).Replace(write(get, offset, jsonList, noFields))
}

const byDay = "field: day; mode: CALENDAR; align: DAY; size: P7D; precision: DAY; upper: INCLUSIVE_DAY"

func TestTheShortestStepFollowsFromTheRest(t *testing.T) {
	sliding := func(size, precision string) string {
		return strings.NewReplacer("type: DATE,", "type: DATETIME,").Replace(windowed("field: day; mode: SLIDING; size: " + size + "; precision: " + precision + "; upper: EXCLUSIVE"))
	}
	for _, tt := range []struct {
		name, text string
		want       patra.Period
	}{
		{"the one that is written", windowed(byDay + "; minStep: P2D"), patra.Period{Days: 2}},
		{"also where the platform's is longer", strings.Replace(sliding("P1D", "SECOND"), "size: P1D", "size: P1D\n      minStep: PT1S", 1), patra.Period{Clock: time.Second}},
		{"the unit of the filter, where it is longer than the platform's", windowed(byDay), patra.Period{Days: 1}},
		{"a month", strings.Replace(windowed("field: day; mode: CALENDAR; align: MONTH; size: P3M; precision: MONTH; upper: INCLUSIVE_DAY"), "ops: [RANGE]}, number", "ops: [RANGE], format: ISO_MONTH}, number", 1), patra.Period{Months: 1}},
		{"an hour", sliding("P1D", "HOUR"), patra.Period{Clock: time.Hour}},
		{"the platform's, where the filter is finer", sliding("P1D", "MILLISECOND"), patra.Period{Clock: time.Minute}},
		{"never more than a slice", sliding("PT10S", "SECOND"), patra.Period{Clock: 10 * time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := compile(t, tt.text).Spec.MinStep(time.Minute); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
	if got := compile(t, sliding("P1D", "MILLISECOND")).Spec.MinStep(0); got != (patra.Period{Clock: time.Millisecond}) {
		t.Errorf("without a platform: %s", got)
	}
}

func TestTheLongestSpanIsAYearOrASlice(t *testing.T) {
	for text, want := range map[string]string{
		windowed(byDay): "P1Y", windowed(byDay + "; maxSpan: P3M"): "P3M", windowed(strings.Replace(byDay, "P7D", "P2Y", 1)): "P2Y", windowed(byDay + "; maxSpan: P999999Y"): "P999999Y",
	} {
		if got := compile(t, text).Spec.MaxSpan(); got.String() != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestTheStrategyFollowsFromTheWindow(t *testing.T) {
	for window, want := range map[string]patra.Strategy{
		byDay:                      patra.StrategyTime,
		byDay + "; strategy: TIME": patra.StrategyTime,
		byDay + "; split: {field: number, from: 1, to: 100}":                 patra.StrategyHybrid,
		byDay + "; strategy: TIME; split: {field: number, from: 1, to: 100}": patra.StrategyHybrid,
		byDay + "; strategy: VOLUME_BUDGET":                                  patra.StrategyVolume,
		landmark:                                                             patra.StrategyLandmark,
	} {
		if got := compile(t, windowed(window)).Spec.Strategy(); got != want {
			t.Errorf("%s: %s, want %s", window, got, want)
		}
	}
	if got := shippedProgram(t, "pubmed", "modified").Spec.Strategy(); got != patra.StrategyHybrid {
		t.Errorf("pubmed: %s", got)
	}
}

const landmark = "strategy: CURSOR_LANDMARK; field: position; mode: CALENDAR; align: DAY; size: P7D"

// A provider without a date filter is asked for everything, and a field of the same name is left alone.
func TestALandmarkSourceIsAskedWithoutItsWindow(t *testing.T) {
	for _, text := range []string{windowed(landmark), windowed(strings.Replace(landmark, "field: position", "field: day", 1))} {
		spec := compile(t, text).Spec
		call, err := spec.Build(query.All(), day, "2", "", source.Vars{})
		if err != nil || call.URL != "https://example.org/api/works?rows=2&start=2" {
			t.Errorf("%s, %v", call.URL, err)
		}
		word := query.Term("word", "x", query.MatchExact)
		call, err = spec.BuildCount(word, day, "", source.Vars{})
		if err != nil || call.URL != "https://example.org/api/works?rows=1&word=x" {
			t.Errorf("%s, %v", call.URL, err)
		}
		if err := spec.CheckQuery(word); err != nil {
			t.Error(err)
		}
		if err := spec.CheckQuery(query.Not(word)); err == nil {
			t.Error("a question was accepted that cannot be asked")
		}
		if got := spec.Query.Fields["day"].Precision; got != "" {
			t.Errorf("the window made the field as fine as the %s", got)
		}
		if got := spec.Bind(word, day); got.Hash() != word.Hash() {
			t.Errorf("bound to %s", got)
		}
	}
	// A source that can be asked for nothing but everything needs no query block.
	text := windowed(landmark)
	from, to := strings.Index(text, "query:\n"), strings.Index(text, "mapping:")
	if call, err := compile(t, text[:from]+text[to:]).Spec.Build(query.All(), day, "0", "", source.Vars{}); err != nil || call.URL != "https://example.org/api/works?rows=2&start=0" {
		t.Errorf("%s, %v", call.URL, err)
	}
}

// A request without parameters would ask for everything, so a question without an answer is no request.
func TestWhatMatchesNothingIsNotAsked(t *testing.T) {
	spec := compile(t, windowed(byDay)).Spec
	for _, n := range []query.Node{query.Const(false), query.BindRange(query.All(), "number", patra.IDRange{From: 5, To: 5})} {
		if call, err := spec.Build(n, day, "0", "", source.Vars{}); err == nil || !strings.Contains(err.Error(), "MATCHES_NOTHING") {
			t.Errorf("%s became %s, %v", n, call.URL, err)
		}
	}
}

func TestAPartOfAWindowIsAskedFor(t *testing.T) {
	spec := compile(t, windowed(byDay+"; split: {field: number, to: 1000}")).Spec
	if got := spec.Window.Split.Range(); got != (patra.IDRange{From: 0, To: 1000}) {
		t.Errorf("all ids: %s", got)
	}
	call, err := spec.Build(query.BindRange(query.All(), "number", patra.IDRange{From: 500, To: 1000}), day, "0", "", source.Vars{})
	if err != nil || call.URL != "https://example.org/api/works?from=2026-05-01&ids=500-999&rows=2&start=0&to=2026-05-02" {
		t.Errorf("%s, %v", call.URL, err)
	}
}

// TestBrokenWindows: every kind of mistake is named with its code, its line and, where it helps, the next step.
func TestBrokenWindows(t *testing.T) {
	for _, tt := range []struct{ window, code, path string }{
		{byDay + "; minStep: PT0S", "BAD_VALUE", "minStep"},
		{byDay + "; minStep: P8D", "BAD_VALUE", "minStep"},
		{byDay + "; minStep: P1M", "BAD_VALUE", "minStep"},
		{byDay + "; minStep: 1d", "BAD_VALUE", "minStep"},
		{byDay + "; maxSpan: PT0S", "BAD_VALUE", "maxSpan"},
		{byDay + "; maxSpan: P6D", "BAD_VALUE", "maxSpan"},
		{byDay + "; strategy: HYBRID", "BAD_VALUE", "strategy"},
		{byDay + "; strategy: VOLUME", "BAD_VALUE", "strategy"},
		{byDay + "; split: {field: numbers, from: 1, to: 9}", "UNKNOWN_FIELD", "split.field"},
		{byDay + "; split: {from: 1, to: 9}", "UNKNOWN_FIELD", "split.field"},
		{byDay + "; split: {field: word, from: 1, to: 9}", "CONFLICT", "split.field"},
		{byDay + "; split: {field: share, from: 1, to: 9}", "CONFLICT", "split.field"},
		{byDay + "; split: {field: number, from: 9, to: 9}", "BAD_VALUE", "split.to"},
		{byDay + "; split: {field: number, from: -1, to: 9}", "BAD_VALUE", "split.to"},
		{byDay + "; split: {field: number, from: 1}", "BAD_VALUE", "split.to"},
		{byDay + "; split: {field: number, from: 1, to: 9007199254740992}", "BAD_VALUE", "split.to"},
		{byDay + "; split: {field: number, from: 1.5, to: 9}", "WRONG_TYPE", "split.from"},
		{byDay + "; split: {fields: number, from: 1, to: 9}", "UNKNOWN_KEY", "split.fields"},
		{byDay + "; strategy: VOLUME_BUDGET; split: {field: number, from: 1, to: 9}", "CONFLICT", "split"},
		{landmark + "; split: {field: number, from: 1, to: 9}", "CONFLICT", "split"},
		{strings.Replace(landmark, "field: position; ", "", 1), "REQUIRED", "field"},
		{strings.Replace(landmark, "mode: CALENDAR; ", "", 1), "REQUIRED", "mode"},
		{landmark + "; precision: WEEK", "BAD_VALUE", "precision"},
		{landmark + "; upper: NEVER", "BAD_VALUE", "upper"},
		{strings.Replace(byDay, "precision: DAY", "strategy: VOLUME_BUDGET", 1), "REQUIRED", "precision"},
		{strings.Replace(byDay, "field: day", "field: position; strategy: VOLUME_BUDGET", 1), "UNKNOWN_FIELD", "field"},
	} {
		refusedFile(t, windowed(tt.window), tt.code, tt.path)
	}
	noRule := strings.Replace(windowed(byDay+"; split: {field: number, from: 1, to: 9}"), `{field: number, op: RANGE, params: {ids: "{{from}}-{{to}}"}}, `, "", 1)
	refusedFile(t, noRule, "NO_RENDER_RULE", "split.field")
	onePlace := strings.Replace(windowed(byDay+"; split: {field: number, from: 1, to: 9}"), `{ids: "{{from}}-{{to}}"}`, `{from: "{{from}}-{{to}}"}`, 1)
	refusedFile(t, onePlace, "CONFLICT", "split")
	byTime := strings.Replace(windowed(landmark+"; order: ASC"), offset, `{type: TIME, pageSize: 2, maxPageSize: 9, sizeParam: rows, end: [EMPTY_PAGE]}`, 1)
	refusedFile(t, byTime, "CONFLICT", "strategy")
}

// refusedFile loads a file that must be refused with the code at a path inside its window, and on that line. What is
// absent is reported where it should stand.
func refusedFile(t *testing.T, text, code, path string) {
	t.Helper()
	key, _, _ := strings.Cut(path, ".")
	line, window := 0, 0
	for i, l := range strings.Split(text, "\n") {
		if l = strings.TrimSpace(l); l == "window:" {
			window = i + 1
		} else if window > 0 && strings.HasPrefix(l, key+":") && line == 0 {
			line = i + 1
		}
	}
	_, err := source.Load("broken.yaml", []byte(text))
	found, _ := errors.AsType[patra.Problems](err)
	for _, p := range found {
		if p.Code == code && p.Path == "endpoints.works.window."+path && p.Line == cmp.Or(line, window) && p.Text != "" {
			return
		}
	}
	t.Errorf("no %s at %s on line %d in\n%v\n%s", code, path, cmp.Or(line, window), err, text)
}

// A cap is no gap where a window can be cut further, and what is read whole every time needs no look-back.
func TestWarningsKnowTheWindow(t *testing.T) {
	warned := func(spec *source.Spec) map[string]string {
		texts := map[string]string{}
		for _, p := range spec.Warnings() {
			texts[p.Code] = p.Text
		}
		return texts
	}
	if got := warned(shippedProgram(t, "pubmed", "search").Spec)["CAPPED"]; !strings.HasSuffix(got, "at most 9998 records of a window; a fuller one is cut by uid, and is read whole") {
		t.Error(got)
	}
	if got := warned(shippedProgram(t, "arxiv", "search").Spec)["CAPPED"]; !strings.HasSuffix(got, "a fuller one fails and stays a gap") {
		t.Error(got)
	}
	if got := warned(compile(t, windowed(byDay)).Spec)["NO_LOOKBACK"]; got == "" {
		t.Error("nothing is said about late records")
	}
	if got := warned(compile(t, windowed(landmark)).Spec)["NO_LOOKBACK"]; got != "" {
		t.Error(got)
	}
}
