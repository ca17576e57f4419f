package observe_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"patra/internal/observe"
)

// rules are those for Prometheus, as far as anybody here looks at them.
type rules struct {
	Groups []struct {
		Rules []struct {
			Record, Alert, Expr, For string
			Labels, Annotations      map[string]string
		}
	}
}

func readRules(t *testing.T) (r rules) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/prometheus/patra.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

var (
	quoted  = regexp.MustCompile(`"[^"]*"`)
	matched = regexp.MustCompile(`([a-z0-9_:]+)\{([^}]*)\}`)
	word    = regexp.MustCompile(`[a-z][a-z0-9_:]*`)
	grouped = regexp.MustCompile(`\b(?:by|on|without|ignoring) \(([^)]*)\)`)
	// labelsAlways are those that Prometheus adds, and that histograms have.
	labelsAlways = []string{"le", "job", "instance"}
)

// known are the numbers that an expression may name, with their labels: those of a process, and those that rules record.
type known map[string][]string

func allKnown(t *testing.T) known {
	m := observe.NewMetrics("test")
	m.WatchStore(&full)
	k := known{"up": nil}
	for name, labels := range registered(m) {
		for _, suffix := range []string{"", "_bucket", "_count", "_sum"} {
			k[name+suffix] = labels
		}
	}
	for line := range strings.Lines(scrape(m)) { // those of the runtime and the process
		if f := strings.Fields(line); len(f) == 4 && f[1] == "TYPE" && !strings.HasPrefix(f[2], "patra_") {
			k[f[2]] = nil
		}
	}
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				k[r.Record] = nil
			}
		}
	}
	return k
}

// wrong is what an expression names that is not there.
func (k known) wrong(expr string) (found []string) {
	labels := slices.Concat(labelsAlways, []string{})
	for _, w := range word.FindAllString(quoted.ReplaceAllString(expr, ""), -1) {
		if !strings.HasPrefix(w, "patra") && !strings.HasPrefix(w, "go_") && !strings.HasPrefix(w, "process_") && w != "up" {
			continue
		}
		has, ok := k[w]
		if !ok {
			found = append(found, "there is no "+w)
		}
		if labels = append(labels, has...); strings.Contains(w, ":") {
			labels = append(labels, "source", "endpoint", "op", "key", "window", "action")
		}
	}
	for _, m := range matched.FindAllStringSubmatch(expr, -1) {
		for _, l := range word.FindAllString(quoted.ReplaceAllString(m[2], ""), -1) {
			if has := k[m[1]]; has != nil && !slices.Contains(has, l) && !slices.Contains(labelsAlways, l) {
				found = append(found, m[1]+" has no label "+l)
			}
		}
	}
	for _, m := range grouped.FindAllStringSubmatch(expr, -1) {
		for _, l := range word.FindAllString(m[1], -1) {
			if !slices.Contains(labels, l) {
				found = append(found, "nothing there has a label "+l)
			}
		}
	}
	return found
}

// kinds are those of docs/alerts.md that a metric knows: PLAN and REFUSED are read from the tables.
var kinds = []string{"HALTED", "BREAKER", "FAILED", "STALLED", "ERRORS", "THROTTLED", "SURGE", "IDLE", "QUOTA", "DISPUTED", "VOLUME", "QUARANTINE", "SINK"}

// Every kind of alert has a rule, and no rule names a number or a label that is not there. Which alert uses a number is
// described with it.
func TestRulesNameWhatIsThere(t *testing.T) {
	k, ruled := allKnown(t), map[string]bool{}
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			for _, why := range k.wrong(r.Expr) {
				t.Errorf("%s%s: %s", r.Record, r.Alert, why)
			}
			if r.Alert == "" {
				continue
			}
			kind := r.Labels["kind"]
			ruled[kind] = true
			if r.For == "" || !slices.Contains([]string{"critical", "warning", "notice"}, r.Labels["severity"]) || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s is not whole: %+v", r.Alert, r)
			}
			if slices.Contains(kinds, kind) && r.Annotations["runbook_url"] != "docs/alerts.md#"+strings.ToLower(kind) {
				t.Errorf("%s: what to do is said to be at %s", r.Alert, r.Annotations["runbook_url"])
			}
		}
	}
	for _, kind := range kinds {
		if !ruled[kind] {
			t.Errorf("there is no rule for %s", kind)
		}
	}
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `(patra_[a-z0-9_]+)`.*\\|([^|]*)\\|$").FindAllSubmatch(text, -1) {
		for _, kind := range strings.FieldsFunc(string(row[2]), func(r rune) bool { return r == ' ' || r == ',' }) {
			if !ruled[kind] {
				t.Errorf("%s is said to be used by %s", row[1], kind)
			}
		}
	}
}

// The dashboard names only numbers and labels that are there.
func TestTheDashboardNamesWhatIsThere(t *testing.T) {
	text, err := os.ReadFile("../../deploy/grafana/patra.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID          int
			Type, Title string
			Targets     []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	k, rows, ids := allKnown(t), []string{}, map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] {
			t.Errorf("two panels are %d", p.ID)
		}
		ids[p.ID] = true
		if p.Type == "row" {
			rows = append(rows, p.Title)
		} else if len(p.Targets) == 0 {
			t.Errorf("%s shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			if target.Expr == "" {
				t.Errorf("%s asks for nothing", p.Title)
			}
			for _, why := range k.wrong(target.Expr) {
				t.Errorf("%s: %s", p.Title, why)
			}
		}
	}
	if want := []string{"Overview", "Sources", "Rate gate and quotas", "Queue", "Watermarks", "Errors", "Events for others", "Store and evidence", "Processes"}; !slices.Equal(rows, want) {
		t.Errorf("the rows are %q", rows)
	}
}

// What looks for names that are not there finds them.
func TestWrongNamesAreFound(t *testing.T) {
	k := allKnown(t)
	for expr, want := range map[string]string{
		`sum by (source) (rate(patra_ingest_batches_total[5m]))`: "",
		`rate(patra_ingest_batch_total[5m])`:                     "there is no patra_ingest_batch_total",
		`patra:no_such:rate5m > 1`:                               "there is no patra:no_such:rate5m",
		`max by (sauce) (patra_ingest_tasks_failed)`:             "nothing there has a label sauce",
		`patra_ingest_items_total{actoin="insert"}`:              "patra_ingest_items_total has no label actoin",
		`go_gorutines`: "there is no go_gorutines",
		`histogram_quantile(0.9, rate(patra_ingest_http_latency_ms_buckt[5m]))`: "there is no patra_ingest_http_latency_ms_buckt",
	} {
		if got := strings.Join(k.wrong(expr), "; "); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	if len(slices.Collect(maps.Keys(k))) < 100 {
		t.Error("this knows too little")
	}
}
