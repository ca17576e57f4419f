package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patra"
	"patra/internal/store/storetest"
)

// A provider gives the place of one study to another: the one names the other as an alias, or says itself who has taken
// its place. Both come to a sink as merged, with the other's id, and the pages can be read again.
func TestMergedRecordsAreTold(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		study := func(n int, day, more string) string {
			return fmt.Sprintf(`{"protocolSection":{"identificationModule":{"nctId":"NCT%08d","briefTitle":"Study %d"%s},"statusModule":{"lastUpdatePostDateStruct":{"date":"%s"}}}}`, n, n, more, day)
		}
		pages := map[string][]string{
			"2026-05-01": {study(1, "2026-05-01", ""), study(2, "2026-05-01", ""), study(3, "2026-05-01", ""), study(4, "2026-05-01", "")},
			// One names a number that we never had, and itself; neither is news.
			"2026-05-02": {study(1, "2026-05-02", `,"nctIdAliases":["NCT00000002","NCT00000099","NCT00000001"]`), study(3, "2026-05-02", `,"replacedBy":"NCT00000001"`)},
			// What is merged comes back, and goes on.
			"2026-05-03": {study(2, "2026-05-03", "")},
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var items []string
			for day, all := range pages {
				if strings.Contains(r.URL.Query().Get("filter.advanced"), "RANGE["+day) {
					items = all
				}
			}
			fmt.Fprintf(w, `{"totalCount":%d,"studies":[%s]}`, len(items), strings.Join(items, ","))
		}))
		t.Cleanup(server.Close)
		dir, place := t.TempDir(), e.URL(t)
		t.Chdir(dir)
		file := strings.Replace(quickSource(t, "clinicaltrials"), "      mergedFrom:", "      mergedInto: \"$.protocolSection.identificationModule.replacedBy\"\n      mergedFrom:", 1)
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("clinicaltrials.yaml", file)
		write("patra.yaml", fmt.Sprintf("store: {url: %q}\ncontact: me@example.org\nsources: {dir: .}\nplanner: {probes: 0}\nsinks:\n  - {name: feed, type: FILE, url: \"file:events.jsonl\", events: [record.*]}\n", place))
		patraRuns := func(args ...string) string {
			t.Helper()
			var out, said bytes.Buffer
			if code := run(t.Context(), args, os.Environ(), &out, &said); code != 0 {
				t.Fatalf("%v: %d\n%s%s", args, code, &out, &said)
			}
			return out.String()
		}
		patraRuns("migrate")
		for day := 1; day <= 3; day++ {
			patraRuns("harvest", "clinicaltrials", "--base-url", server.URL, "--from", fmt.Sprintf("2026-05-%02d", day), "--to", fmt.Sprintf("2026-05-%02d", day+1))
		}
		patraRuns("relay", "run", "--once")
		raw, err := os.ReadFile("events.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]string{}
		for line := range strings.Lines(string(raw)) {
			var event struct {
				Type string
				Data patra.RecordEvent
			}
			if err := json.Unmarshal([]byte(line), &event); err != nil {
				t.Fatal(err)
			}
			said := strings.TrimPrefix(event.Type, "patra.record.")
			if event.Data.MergedInto != "" {
				said += " into " + event.Data.MergedInto
			}
			got[event.Data.ID] = append(got[event.Data.ID], said)
		}
		want := map[string]string{"NCT00000001": "upserted, upserted", "NCT00000002": "upserted, merged into NCT00000001, upserted", "NCT00000003": "upserted, merged into NCT00000001", "NCT00000004": "upserted"}
		for id, line := range want {
			if strings.Join(got[id], ", ") != line {
				t.Errorf("%s: %q, want %s", id, got[id], line)
			}
		}
		if len(got) != len(want) {
			t.Errorf("told of %v", got)
		}
		if text := patraRuns("records", "get", "clinicaltrials", "NCT00000003"); !strings.Contains(text, "merged it into NCT00000001") {
			t.Errorf("%s", text)
		}
		if text := patraRuns("replay", "2", "-o", "json"); !strings.Contains(text, `"same": 1`) {
			t.Errorf("%s", text)
		}
		storetest.CheckInvariants(t, storetest.Inspect(t, place))
	})
}
