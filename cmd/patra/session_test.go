package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"patra/internal/sim"
	"patra/sources"
)

// TestMain lets every test run the real program as `patra`.
func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"patra": main}) }

// quickSource is a shipped file without its politeness, so that tests need not wait.
func quickSource(t testing.TB, code string) string {
	data, err := sources.Files.ReadFile(code + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.Replace(string(data), "pageSize: 200", "pageSize: 50", 1), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "  rate:"):
			lines[i] = "  rate: {perSecond: 5000, burst: 100}\n  retry: {maxAttempts: 5, backoff: {initial: 5ms, max: 20ms}}"
		case strings.HasPrefix(line, "  retry:"):
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// TestSessions plays the sessions in testdata: what a person types and sees. Each has a simulated provider at $SIM
// with 120 works a day in May 2026, a folder `quick` with a fast source file, and the command `provider up|down|picky|broken [TIME]`:
// one that is down refuses us, one that is picky does not want this question, and one that is broken does not answer.
func TestSessions(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			down := &atomic.Int64{}
			provider := sim.New(sim.Config{Seed: 1, From: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), PerDay: 120, Exact: true}).Handler()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if status := down.Load(); status != 0 {
					http.Error(w, "closed today", int(status))
					return
				}
				provider.ServeHTTP(w, r)
			}))
			env.Defer(server.Close)
			env.Setenv("SIM", server.URL)
			env.Values["down"] = down
			brittle := strings.Replace(quickSource(t, "crossref"), "\n  rate:", "\n  breaker: {failures: 2, cooldown: 1s..2s}\n  rate:", 1)
			for folder, text := range map[string]string{"quick": quickSource(t, "crossref"), "brittle": brittle} {
				if err := os.Mkdir(env.WorkDir+"/"+folder, 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(env.WorkDir+"/"+folder+"/crossref.yaml", []byte(text), 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// exits CODE COMMAND... runs a command and asks for its exit code.
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				err = ts.Exec(args[1], args[2:]...)
				got := 0
				if e, ok := errors.AsType[*exec.ExitError](err); ok {
					got = e.ExitCode()
				} else {
					ts.Check(err)
				}
				if got != want {
					ts.Fatalf("exit code %d, want %d", got, want)
				}
			},
			"provider": func(ts *testscript.TestScript, _ bool, args []string) {
				down := ts.Value("down").(*atomic.Int64)
				down.Store(map[string]int64{"down": http.StatusForbidden, "picky": http.StatusTeapot, "broken": http.StatusBadGateway}[args[0]])
				if len(args) > 1 { // only for a while
					wait, err := time.ParseDuration(args[1])
					ts.Check(err)
					time.AfterFunc(wait, func() { down.Store(0) })
				}
			},
		},
	})
}
