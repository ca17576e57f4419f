package config_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/config"
)

func TestSchedules(t *testing.T) {
	cfg, err := load(t, `schedules:
  - {name: pubmed-daily, cron: "15 2 * * *", source: pubmed, endpoint: search, query: 'tiab:"heart failure"', origin: 2026-01-01}
  - name: 1
    cron: "@daily"
    source: ${env:SOURCE}
    operation: BACKFILL
    origin: 2026-01-01T12:30:00Z
    campaign: first
    params: {set: physics, year: 2026}
    paused: true
`, "SOURCE=arxiv")
	if err != nil {
		t.Fatal(err)
	}
	daily, first := cfg.Schedules[0].Cron, cfg.Schedules[1].Cron
	if daily.String() != "15 2 * * *" || first.String() != "@daily" {
		t.Errorf("got %s and %s", daily, first)
	}
	want := []config.Schedule{
		{Name: "pubmed-daily", Cron: daily, Source: "pubmed", Endpoint: "search", Operation: patra.Harvest, Query: `tiab:"heart failure"`,
			Origin: new(patra.Date(2026, time.January, 1))},
		{Name: "1", Cron: first, Source: "arxiv", Operation: patra.Backfill, Origin: new(patra.Date(2026, time.January, 1) + 12*patra.Hour + 30*patra.Minute),
			Campaign: "first", Params: map[string]string{"set": "physics", "year": "2026"}, Paused: true},
	}
	if !reflect.DeepEqual(cfg.Schedules, want) {
		t.Errorf("got  %+v\nwant %+v", cfg.Schedules, want)
	}
	data, err := json.Marshal(cfg.Schedules[0])
	if want := `{"name":"pubmed-daily","cron":"15 2 * * *","source":"pubmed","endpoint":"search","operation":"HARVEST",` +
		`"query":"tiab:\"heart failure\"","origin":"2026-01-01T00:00:00.000Z"}`; err != nil || string(data) != want {
		t.Errorf("got  %s, %v\nwant %s", data, err, want)
	}
}

func TestProblemsOfSchedules(t *testing.T) {
	const good = `cron: "@daily", source: crossref`
	tests := []struct {
		name, file string
		want       []string
	}{
		{"an empty one", "schedules:\n  - {}\n", []string{
			`patra.yaml:2:5: a schedule needs a name (BAD_VALUE at schedules[0].name). Write one such as pubmed-daily`,
			`patra.yaml:2:5: a schedule needs times (BAD_VALUE at schedules[0].cron). Write cron: "15 2 * * *" for a quarter past two each day, in UTC`,
			"patra.yaml:2:5: a schedule needs a source (BAD_VALUE at schedules[0].source). `patra source list` shows them"}},
		{"no item", "schedules:\n  -\n  - {name: a, " + good + "}\n", []string{
			`patra.yaml:2:4: expected a value, found nothing (WRONG_TYPE at schedules[0]). Remove the empty item`}},
		{"a word", "schedules: [daily]\n", []string{
			`patra.yaml:1:13: expected a mapping, found a single value (WRONG_TYPE at schedules[0])`}},
		{"no list", "schedules: {name: a, " + good + "}\n", []string{
			`patra.yaml:1:1: expected a list, found a mapping (WRONG_TYPE at schedules)`}},
		{"a misspelt key", "schedules:\n  - {name: a, " + good + ", orign: 2026-01-01}\n", []string{
			`patra.yaml:2:49: unknown key "orign" (UNKNOWN_KEY at schedules[0].orign). Did you mean "origin"?`}},
		{"a name", "schedules:\n  - {name: Daily harvest, " + good + "}\n", []string{
			`patra.yaml:2:12: the name "Daily harvest" is not made of small letters, digits and hyphens, at most 63 (BAD_VALUE at schedules[0].name). Write one such as pubmed-daily`}},
		{"a name twice", "schedules:\n  - {name: a, " + good + "}\n  - {name: b, " + good + "}\n  - {name: a, " + good + "}\n", []string{
			`patra.yaml:4:12: the name "a" is that of schedules[0] already (BAD_VALUE at schedules[2].name). Give each schedule a name of its own`}},
		{"times", "schedules:\n  - name: a\n    source: crossref\n    cron: 0 15 2 * * *\n", []string{
			`patra.yaml:4:11: "0 15 2 * * *" is not a schedule: it has 6 fields instead of 5, and neither seconds nor years can be given; write minute, hour, day, month and weekday in UTC, as in "15 2 * * *" (BAD_VALUE at schedules[0].cron)`}},
		{"an operation", "schedules:\n  - {name: a, " + good + ", operation: harvest}\n", []string{
			`patra.yaml:2:60: schedules[0].operation is "harvest", and must be one of HARVEST, BACKFILL, UPDATE (BAD_VALUE at schedules[0].operation). Did you mean "HARVEST"?`}},
		{"an origin", "schedules:\n  - {name: a, " + good + ", origin: last year}\n", []string{
			`patra.yaml:2:57: "last year" is not a date or time; write 2026-01-31 or 2026-01-31T09:30:00Z (BAD_VALUE at schedules[0].origin)`}},
		{"a campaign of a harvest", "schedules:\n  - {name: a, " + good + ", campaign: x}\n", []string{
			`patra.yaml:2:59: a HARVEST has no campaign (BAD_VALUE at schedules[0].campaign). Leave it out, or write operation: BACKFILL`}},
		{"a long campaign", "schedules:\n  - {name: a, " + good + ", operation: UPDATE, campaign: " + strings.Repeat("x", 65) + "}\n", []string{
			`patra.yaml:2:78: the campaign's name has more than 64 bytes (BAD_VALUE at schedules[0].campaign)`}},
		{"records of a harvest", "schedules:\n  - {name: a, " + good + ", by: STALE, every: 30d}\n", []string{
			`patra.yaml:2:53: only an UPDATE says which records it is for (BAD_VALUE at schedules[0].by). Leave it out, or write operation: UPDATE`}},
		{"records of some kind", "schedules:\n  - {name: a, " + good + ", operation: UPDATE, by: AGE}\n", []string{
			`patra.yaml:2:72: schedules[0].by is "AGE", and must be one of TIME, ALL, STALE, SIGNALS, MAPPING (BAD_VALUE at schedules[0].by)`}},
		{"stale records of any age", "schedules:\n  - {name: a, " + good + ", operation: UPDATE, by: STALE}\n", []string{
			`patra.yaml:2:5: an update of stale records needs to know how old is too old (BAD_VALUE at schedules[0].every). Write every: 30d`}},
		{"an age", "schedules:\n  - {name: a, " + good + ", operation: UPDATE, by: STALE, every: soon}\n", []string{
			`patra.yaml:2:86: "soon" is not a duration (BAD_VALUE at schedules[0].every). Write one such as 30d, 2w or 12h`}},
		{"an age of signals", "schedules:\n  - {name: a, " + good + ", operation: UPDATE, by: SIGNALS, every: 30d}\n", []string{
			`patra.yaml:2:88: only an update of stale records has an age (BAD_VALUE at schedules[0].every). Leave it out, or write by: STALE`}},
		{"a variable that is not set", "schedules:\n  - {name: a, cron: \"@daily\", source: \"${env:GONE}\"}\n", []string{
			`patra.yaml:2:39: the environment variable "GONE" is not set (MISSING_ENV at schedules[0].source). Set it, or write the value here`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, tt.file)
			if err == nil {
				t.Fatal("no problem was found")
			}
			if got := strings.Split(err.Error(), "\n"); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tt.want, "\n  "))
			}
		})
	}
}

// The example in the template is one that works: without the marks in front of it, it is a list with one schedule, and one with a sink of each kind.
func TestTheExampleOfTheTemplateLoads(t *testing.T) {
	var example []string
	for line := range strings.Lines(config.Template()) {
		text, comment := strings.CutPrefix(line, "# ")
		if comment && (text == "schedules:\n" || text == "sinks:\n" || len(example) > 0 && strings.HasPrefix(text, "  ")) {
			example = append(example, text)
		}
	}
	cfg, err := load(t, "secrets: {nats: \"env:A\", hook: \"env:B\"}\n"+strings.Join(example, ""))
	if err != nil || len(cfg.Schedules) != 1 || len(cfg.Sinks) != 4 {
		t.Fatalf("got %+v, %v, from\n%s", cfg.Schedules, err, strings.Join(example, ""))
	}
	s := cfg.Schedules[0]
	if s.Name != "pubmed-daily" || s.Operation != patra.Harvest || s.Cron.IsZero() || s.Origin == nil || s.Paused {
		t.Errorf("got %+v", s)
	}
}
