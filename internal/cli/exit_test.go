package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"patra"
	"patra/internal/api"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// meaning is what an error means: to a script and a person at a terminal, and to a caller of the API.
type meaning struct {
	name    string
	err     error
	exit    int
	printed string // without "patra: " before and the line's end behind
	answer  string // status, code and sentence, and the next step behind an arrow
}

// These are the answers where the reason is for the log.
const (
	brokenHere  = "500 INTERNAL: something went wrong here -> look for this id in the log of patra serve"
	unavailable = "503 UNAVAILABLE: the store cannot be used now -> look for this id in the log of patra serve"
)

// meanings are one for each kind of error. noStore is what a file that is no store says.
func meanings(noStore error) []meaning {
	wrong := patra.Problem{Code: "BAD_VALUE", File: "patra.yaml", Line: 2, Col: 3, Path: "api.listen",
		Text: "that is no address", Hint: "write 127.0.0.1:8080"}
	secret := patra.Problem{Code: patra.CodeSecretMissing, Text: "the secret plos_key is not set"}
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	const running = "See that the database is running, and that store.url is right"
	return []meaning{
		{"nothing", nil, 0, "", ""},
		{"any other", errors.New("it did not work"), 1, "it did not work", brokenHere},

		{"usage", patra.Invalid("limit", "{limit} is %d", 0), 2, "--limit is 0", "422 BAD_REQUEST: limit is 0"},
		{"usage further inside", fmt.Errorf("list: %w", patra.Invalid("limit", "{limit} is %d", 0)), 2,
			"list: --limit is 0", "422 BAD_REQUEST: list: limit is 0"},
		{"no such thing", patra.Absent("there is no plan %d", 7), 2,
			"there is no plan 7", "404 NOT_FOUND: there is no plan 7"},
		{"the environment", patra.Environment(errors.New("no answers are kept here")), 3,
			"no answers are kept here", brokenHere},
		{"something is missing", patra.Incomplete("%d tasks failed", 2), 4,
			"2 tasks failed", "422 BAD_REQUEST: 2 tasks failed"},
		{"a failure with a sentence", errors.New("1 finding needs attention"), 1,
			"1 finding needs attention", brokenHere},
		{"a conflict", patra.Conflict("crossref is held back (PAUSED)"), 1,
			"crossref is held back (PAUSED)", "409 CONFLICT: crossref is held back (PAUSED) -> patra controls"},

		{"problems", patra.Problems{wrong}, 2,
			"patra.yaml:2:3: that is no address (BAD_VALUE at api.listen). Write 127.0.0.1:8080",
			"422 BAD_VALUE: that is no address -> write 127.0.0.1:8080"},
		{"two problems", fmt.Errorf("read: %w", patra.Problems{secret, wrong}), 2,
			"the secret plos_key is not set (SECRET_MISSING)\n" +
				"patra: patra.yaml:2:3: that is no address (BAD_VALUE at api.listen). Write 127.0.0.1:8080",
			"422 SECRET_MISSING: the secret plos_key is not set"},
		{"a missing secret", patra.Problems{secret}, 3,
			"the secret plos_key is not set (SECRET_MISSING)",
			"422 SECRET_MISSING: the secret plos_key is not set"},
		{"an unreadable secret",
			patra.Problems{{Code: patra.CodeSecretUnreadable, Text: "the secret cannot be read"}}, 3,
			"the secret cannot be read (SECRET_UNREADABLE)", "422 SECRET_UNREADABLE: the secret cannot be read"},
		{"an answer that could not be kept",
			patra.Problems{{Code: patra.CodeNotKept, Text: "the disk is full"}}, 3,
			"the disk is full (NOT_KEPT)", "422 NOT_KEPT: the disk is full"},
		{"a newer program's task", patra.Problems{{Code: patra.CodeNewer, Text: "use that version"}}, 3,
			"use that version (NEWER)", "422 NEWER: use that version"},
		{"halted", patra.Problems{{Code: patra.WaitHalted, Text: "crossref is halted"}}, 1,
			"crossref is halted (HALTED)", "422 HALTED: crossref is halted"},
		{"no such source", patra.Problems{{Code: patra.CodeUnknownSource, Text: "there is no source x"}}, 2,
			"there is no source x (UNKNOWN_SOURCE)", "404 UNKNOWN_SOURCE: there is no source x"},

		{"called off", fmt.Errorf("read: %w", context.Canceled), 4,
			"stopped before the end; give the same command again",
			"503 UNAVAILABLE: it was stopped before its end"},
		{"called off, and said what is missing",
			patra.Incomplete("2 tasks are left: %w", context.Canceled), 4,
			"2 tasks are left: context canceled", "422 BAD_REQUEST: 2 tasks are left: context canceled"},
		{"usage, but called off", patra.Invalid("", "%w", context.Canceled), 4,
			"stopped before the end; give the same command again", "422 BAD_REQUEST: context canceled"},
		{"too late", fmt.Errorf("read: %w", context.DeadlineExceeded), 1,
			"read: context deadline exceeded", "504 UNAVAILABLE: it took too long"},

		{"not found", fmt.Errorf("plan 7: %w", patra.ErrNotFound), 1,
			"plan 7: not found", "404 NOT_FOUND: there is no such thing"},
		{"an illegal move", fmt.Errorf("end: %w", patra.ErrIllegalMove), 1,
			"end: the state machine does not allow this step",
			"409 CONFLICT: end: the state machine does not allow this step"},
		{"another planner", patra.ErrPlanMoved, 1,
			"another planner changed the plans of this cursor",
			"409 CONFLICT: another planner changed the plans of this cursor"},
		{"a lost lease", patra.ErrLeaseLost, 1,
			"the lease was taken over by another worker; nothing was written",
			"409 CONFLICT: the lease was taken over by another worker; nothing was written"},
		{"fired before", patra.ErrFired, 1,
			"this fire of the schedule was accepted before", brokenHere},
		{"no proof", patra.ErrNoProof, 1,
			"the ledger does not prove that the scan was exhausted", brokenHere},
		{"look again", patra.ErrLookAgain, 1,
			"whether the parts of this window are all of it must be looked at once more", brokenHere},

		{"marked as unavailable, without a reason", patra.ErrUnavailable, 3,
			"the store cannot be used now", unavailable},
		{"a store without tables", store.ErrNoTables, 3,
			"the store has no tables yet: it needs a migration; run `patra migrate`", unavailable},
		{"a newer store", store.ErrTooNew, 3,
			"the store was made by a newer patra: use that version or a newer one", unavailable},
		{"damaged versions", store.ErrVersionsDamaged, 3,
			store.ErrVersionsDamaged.Error(), unavailable},
		{"no store", noStore, 3,
			noStore.Error() + ". Name another file in store.url", unavailable},
		{"no server", fmt.Errorf("begin: %w", refused), 3,
			"begin: dial tcp: connection refused. " + running, unavailable},
		{"usage, as there is no server", patra.Invalid("", "%w", refused), 2,
			"dial tcp: connection refused. " + running, "422 BAD_REQUEST: dial tcp: connection refused"},
		{"no entry", &mysql.MySQLError{Number: 1045, Message: "Access denied"}, 3,
			"Error 1045: Access denied. Name a user who may use the database, and the password, in store.url",
			unavailable},
		{"no database", &mysql.MySQLError{Number: 1049, Message: "Unknown database"}, 3,
			"Error 1049: Unknown database. Make the database, or name another one in store.url; then run patra migrate",
			unavailable},
		{"a deadlock", &mysql.MySQLError{Number: 1213, Message: "Deadlock found"}, 3,
			"Error 1213: Deadlock found", unavailable},

		{"a provider",
			&patra.Fault{Level: patra.LevelRetry, Code: patra.CodeHTTP, Status: 500, Text: "no luck"}, 1,
			"HTTP 500: no luck", brokenHere},
		{"a provider that is not there",
			&patra.Fault{Level: patra.LevelRetry, Code: patra.CodeNetwork, Text: "no answer", Err: refused}, 3,
			"NETWORK: no answer", brokenHere},

		{"an answer of the API itself", api.Refuse(http.StatusTeapot, "not %s", "here"), 1,
			"not here", "418 BAD_REQUEST: not here"},
		{"what the API does not have", api.NotFound("plan", 7), 1,
			"there is no plan 7", "404 NOT_FOUND: there is no plan 7"},
	}
}

// TestWhatAnErrorMeansStays: scripts go by the exit code and callers of the API by the status, so neither changes for
// an error that is made in another place or of another type.
func TestWhatAnErrorMeansStays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "patra.db")
	if err := os.WriteFile(file, []byte(strings.Repeat("no store ", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	noStore := notAStore(t, "sqlite:"+file)
	all := meanings(noStore)
	server := api.New(api.Options{Store: storetest.Engines()[0].Open(t)})
	type input struct {
		N int `path:"n" maximum:"1000"`
	}
	fails := func(_ context.Context, in *input) (api.EmptyInput, error) { return api.EmptyInput{}, all[in.N].err }
	api.Get(server, "/fail/{n}", api.Look, api.Doc{ID: "fail", Summary: "Fails"}, fails)
	for n, v := range all {
		t.Run(v.name, func(t *testing.T) {
			var stderr bytes.Buffer
			want := ""
			if v.printed != "" {
				want = "patra: " + v.printed + "\n"
			}
			if code := report(&stderr, v.err); code != v.exit || stderr.String() != want {
				t.Errorf("it ends with %d and says %q, and should end with %d and say %q", code, &stderr, v.exit, want)
			}
			if v.err == nil {
				return
			}
			if is := answerOf(t, server, n); is != v.answer {
				t.Errorf("the answer is  %q\nand should be  %q", is, v.answer)
			}
		})
	}
}

// notAStore is what a file with something else in it says.
func notAStore(t *testing.T, url string) error {
	t.Helper()
	s, err := store.Open(t.Context(), url)
	if err == nil {
		err = s.RequireSchema(t.Context())
		t.Cleanup(func() { _ = s.Close() })
	}
	if err == nil {
		t.Fatal("a file that is no store is taken for one")
	}
	return err
}

// answerOf is what a caller is told about an error.
func answerOf(t *testing.T, server *api.Server, n int) string {
	t.Helper()
	w := httptest.NewRecorder()
	url := fmt.Sprintf("http://127.0.0.1%s/fail/%d", api.Prefix, n)
	server.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
	var p struct {
		Type, Title, Detail, Code, Next, ID string
		Status                              int
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	kind, title := w.Header().Get("Content-Type"), http.StatusText(w.Code)
	if kind != "application/problem+json" || p.Status != w.Code || p.Type != "about:blank" || p.Title != title {
		t.Errorf("%d with %s: %s", w.Code, kind, w.Body)
	}
	if inLog := strings.Contains(p.Next, "in the log"); inLog != (p.ID != "") {
		t.Errorf("the id is %q, and the next step %q", p.ID, p.Next)
	}
	text := fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Detail)
	if p.Next != "" {
		text += " -> " + p.Next
	}
	return text
}

// TestSentencesNameFieldsThatHaveAFlag: a {field} in the text of a refusal is one that people can write, as a flag of a
// command, and every field that may be named is.
func TestSentencesNameFieldsThatHaveAFlag(t *testing.T) {
	flags := map[string]bool{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { flags["--"+f.Name] = true })
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit((&app{stdout: io.Discard, stderr: io.Discard}).root())
	for _, field := range patra.RequestFields {
		if !flags[flagName(field)] {
			t.Errorf("no command has a flag %s", flagName(field))
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	refusal := regexp.MustCompile(`patra\.(?:Invalid\("([a-z_]*)", |Absent\(|Conflict\(|Incomplete\()"((?:[^"\\]|\\.)*)"`)
	named := regexp.MustCompile(`\{([a-z_]+)\}`)
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range refusal.FindAllStringSubmatch(string(text), -1) {
			found++
			for _, f := range append(named.FindAllStringSubmatch(m[2], -1), []string{"", m[1]}) {
				if f[1] != "" && !slices.Contains(patra.RequestFields, f[1]) {
					t.Errorf("%s names the field %s, which is none of patra.RequestFields: %s", file, f[1], m[2])
				}
			}
		}
	}
	if found < 150 {
		t.Errorf("only %d refusals were found", found)
	}
}
