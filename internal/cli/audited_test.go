package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"patra"
	"patra/internal/store/storetest"
)

// Whatever a person does to the work of others is in the audit log: one line for each command, with who and to what.
func TestEverySteeringCommandIsAudited(t *testing.T) {
	studies := `{"protocolSection":{"identificationModule":{"nctId":"NCT00000001","briefTitle":"One"}}},{"protocolSection":{"x":1}},{"protocolSection":{"x":2}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"totalCount":3,"studies":[%s]}`, studies)
	}))
	t.Cleanup(server.Close)
	t.Chdir(t.TempDir())
	place := "sqlite:patra.db"
	config := "store: {url: \"" + place + "\"}\ncontact: me@example.org\nsources: {dir: .}\nplanner: {probes: 0}\n"
	for name, text := range map[string]string{"clinicaltrials.yaml": quickSource(t, "clinicaltrials"), "patra.yaml": config + "sinks: [{name: feed, type: FILE, url: \"file:events.jsonl\"}]\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	does := func(line string) string {
		t.Helper()
		var out, said bytes.Buffer
		args := strings.Fields(strings.ReplaceAll(line, "URL", server.URL))
		if code := run(t.Context(), args, append(os.Environ(), "USER=ada"), &out, &said); code != 0 && code != exitIncomplete {
			t.Fatalf("%s: %d\n%s%s", line, code, &out, &said)
		}
		return out.String()
	}
	log := func() (all []patra.AuditEntry) {
		t.Helper()
		if err := json.Unmarshal([]byte(does("audit list -o json --limit 1000")), &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	does("migrate")
	s := storetest.Engines()[0].Connect(t, place)
	if err := s.EnsureSink(t.Context(), "gone", true); err != nil { // somebody took it out of the settings
		t.Fatal(err)
	}
	for _, tt := range []struct {
		line, target string
		action       patra.AuditAction // none: it changes nothing that others did
	}{
		{"harvest clinicaltrials --base-url URL --from 2026-05-01 --to 2026-05-02", "", ""},
		{"plan HARVEST clinicaltrials --base-url URL --from 2026-05-02 --to 2026-05-03", "", ""},
		{"pause clinicaltrials --reason lunch", "clinicaltrials", patra.AuditPause},
		{"resume clinicaltrials", "clinicaltrials", patra.AuditResume},
		{"priority 1 plan:2", "plan:2", patra.AuditPriority},
		{"cancel plan:2 --yes", "plan:2", patra.AuditCancel},
		{"retry plan:2", "plan:2", patra.AuditRetry},
		{"cancel plan:2 --yes", "plan:2", patra.AuditCancel},
		{"coverage waive clinicaltrials --from 2026-05-02 --to 2026-05-03 --reason lost", "cursor:1", patra.AuditWaive},
		{"coverage waive clinicaltrials --from 2026-05-02 --to 2026-05-03 --reason found --revoke", "cursor:1", patra.AuditRevoke},
		{"coverage fill clinicaltrials --base-url URL --to 2026-05-03", "cursor:1", patra.AuditFill},
		{"gate set clinicaltrials --per-second 2", "clinicaltrials", patra.AuditGate},
		{"relay run --once", "", ""},
		{"relay rewind feed --from START --reason lost", "feed", patra.AuditRewind},
		{"relay forget gone", "gone", patra.AuditForget},
		{"quarantine discard 1 --reason theirs", "quarantine:1", patra.AuditDiscard},
		{"quarantine retry 2", "quarantine:2", patra.AuditRetry},
		{"signal add clinicaltrials NCT00000001", "clinicaltrials", patra.AuditSignal},
		{"records export --cursor nightly --out all.jsonl", "", ""},
		{"export reset nightly", "export:nightly", patra.AuditReset},
		{"blackbox export 1 --reason asked --out b.zip", "run:1", patra.AuditExport},
		{"replay 1", "run:1", patra.AuditReplay},
		{"archive run --older-than 0s", "", patra.AuditArchive},
	} {
		before := len(log())
		does(tt.line)
		all := log()
		switch made := all[:len(all)-before]; {
		case tt.action == "" && len(made) != 0, tt.action != "" && len(made) != 1:
			t.Errorf("%s: %+v", tt.line, made)
		case tt.action == "":
		case made[0].Action != tt.action || made[0].Actor == "" || tt.target != "" && made[0].Target != tt.target:
			t.Errorf("%s: %s of %s by %q", tt.line, made[0].Action, made[0].Target, made[0].Actor)
		}
	}
	does("audit verify")
	storetest.CheckInvariants(t, storetest.Inspect(t, place))
}
