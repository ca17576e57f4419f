package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"patra"
	"patra/internal/sim"
	"patra/internal/store"
	"patra/internal/store/storetest"
	"patra/internal/verifier"
	"patra/sources"
)

// TestMain lets every test run the real program as `patra`.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"patra": func() { os.Exit(Main("dev")) }, "patra-check": judge})
}

// run is the program in the process of the test.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	return execute(ctx, "dev", args, environ, stdout, stderr)
}

// judge is the program that looks from outside, which is built into the tests so that nobody has to build it first.
func judge() { os.Exit(verifier.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

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

// parrot is a provider at /locked that wants to know who is asking, and says in its answer what it was told.
func parrot(w http.ResponseWriter, r *http.Request) {
	said := r.Header.Get("Authorization")
	if said != "Bearer swordfish-0815" {
		http.Error(w, "I do not know "+said, http.StatusUnauthorized)
		return
	}
	items := ""
	if r.URL.Query().Get("offset") == "0" {
		items = fmt.Sprintf(`{"id":"1","title":%q},{"title":%q}`, said, said)
	}
	fmt.Fprintf(w, `{"items":[%s]}`, items)
}

// farZone is a place where no hour begins or ends within a quarter of an hour. A session about quotas is played there at any
// time of the day.
func farZone(now time.Time) string {
	if m := now.UTC().Minute(); m >= 15 && m < 45 {
		return "Etc/UTC"
	}
	return "Asia/Kolkata" // five hours and a half from UTC
}

// TestSessions plays the sessions in testdata: what a person types and sees. Each has a simulated provider at $SIM
// with 120 works a day in May 2026 and one that asks for a password at $SIM/locked, a folder `quick` with a fast source file, and the command `provider
// up|down|picky|broken|miscounts [TIME]`: one that is down refuses us, one that is picky does not want this question, one that is
// broken does not answer, and one that miscounts has one work too many in its count. Whatever a session did, the stores that it leaves keep every promise; only those
// that are named broken need not.
func TestSessions(t *testing.T) { testscript.Run(t, sessions(t, "testdata")) }

// A session that leaves a damaged store must fail, or the check at the end of all others proves nothing.
func TestASessionThatLeavesDamageFails(t *testing.T) {
	r := &recorder{T: t}
	func() {
		defer func() {
			p := recover()
			if _, is := p.(over); p != nil && !is {
				panic(p)
			}
		}()
		testscript.RunT(r, sessions(t, "testdata/damage"))
	}()
	if all := strings.Join(r.said, "\n"); !strings.Contains(all, "broken: no watermark stands beyond what is covered") {
		t.Errorf("the session ended as if nothing were wrong:\n%s", all)
	}
}

// over is how a recorded session ends.
type over struct{}

// recorder is a test that only writes down what is said.
type recorder struct {
	*testing.T
	said []string
}

func (r *recorder) note(args ...any) { r.said = append(r.said, fmt.Sprint(args...)) }

// Log implements testscript.T.
func (r *recorder) Log(args ...any) { r.note(args...) }

// Fatal implements testscript.T.
func (r *recorder) Fatal(args ...any) { r.note(args...); panic(over{}) }

// Skip implements testscript.T.
func (r *recorder) Skip(args ...any) { r.note(args...) }

// FailNow implements testscript.T.
func (r *recorder) FailNow() { panic(over{}) }

// Parallel implements testscript.T.
func (r *recorder) Parallel() {}

// Run implements testscript.T.
func (r *recorder) Run(_ string, f func(testscript.T)) { f(r) }

// Verbose implements testscript.T.
func (r *recorder) Verbose() bool { return false }

// total is the count in an answer of Crossref.
var total = regexp.MustCompile(`"total-results":\s*(\d+)`)

// overcount passes answers on with one more in their count than there is.
func overcount(w http.ResponseWriter, r *http.Request, provider http.Handler) {
	r.Header.Del("Accept-Encoding") // what is packed cannot be changed
	answer := httptest.NewRecorder()
	provider.ServeHTTP(answer, r)
	body := total.ReplaceAllFunc(answer.Body.Bytes(), func(m []byte) []byte {
		n, _ := strconv.Atoi(string(total.FindSubmatch(m)[1]))
		return fmt.Appendf(nil, `"total-results":%d`, n+1)
	})
	w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body)
}

// leaveNoDamage looks at the stores that a session leaves.
func leaveNoDamage(t testing.TB, env *testscript.Env) {
	files, err := filepath.Glob(filepath.Join(env.WorkDir, "*.db"))
	if err != nil {
		t.Error(err)
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "broken") {
			continue
		}
		s, err := store.Open(context.Background(), "sqlite:"+file)
		if err != nil {
			env.T().Fatal(err)
		}
		broken, err := s.Verify(context.Background(), nil)
		if err := errors.Join(err, s.Close()); err != nil {
			env.T().Fatal(err)
		}
		for _, v := range broken {
			if v.Verdict == patra.VerdictFail {
				env.T().Fatal(fmt.Sprintf("%s: broken: %s: %v", filepath.Base(file), v.Promise, v.Rows))
			}
		}
	}
}

// sessions is how the sessions of a folder are played.
func sessions(t testing.TB, dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			env.Defer(func() { leaveNoDamage(t, env) })
			down, miscounts, lost := &atomic.Int64{}, &atomic.Bool{}, &atomic.Pointer[[]string]{}
			lost.Store(&[]string{})
			provider := sim.New(sim.Config{Seed: 1, From: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), PerDay: 120, Exact: true}).Handler()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if status := down.Load(); status != 0 {
					http.Error(w, "closed today", int(status))
					return
				}
				if strings.HasPrefix(r.URL.Path, "/locked/") {
					parrot(w, r)
					return
				}
				if _, id, _ := strings.Cut(r.URL.Path, "/works/"); id != "" && slices.Contains(*lost.Load(), id) {
					http.Error(w, "Resource not found.", http.StatusNotFound)
					return
				}
				if miscounts.Load() {
					overcount(w, r, provider)
					return
				}
				provider.ServeHTTP(w, r)
			}))
			env.Defer(server.Close)
			env.Setenv("SIM", server.URL)
			env.Setenv("FAR", farZone(time.Now()))
			env.Setenv("SIMHOST", strings.TrimPrefix(server.URL, "http://"))
			env.Values["down"], env.Values["miscounts"], env.Values["lost"] = down, miscounts, lost
			brittle := strings.Replace(quickSource(t, "crossref"), "\n  rate:", "\n  breaker: {failures: 2, cooldown: 1s..2s}\n  rate:", 1)
			slow := strings.Replace(quickSource(t, "crossref"), "perSecond: 5000, burst: 100", "perSecond: 20, burst: 5, concurrency: 4", 1)
			for folder, text := range map[string]string{"quick": quickSource(t, "crossref"), "brittle": brittle, "slow": slow, "hosted": strings.Replace(slow, "burst: 5", "burst: 5, share: HOST", 1)} {
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
				if args[0] == "loses" { // IDS: it refuses to give them by their ids, until it loses others or none
					lost := args[1:]
					ts.Value("lost").(*atomic.Pointer[[]string]).Store(&lost)
					return
				}
				ts.Value("miscounts").(*atomic.Bool).Store(args[0] == "miscounts")
				down := ts.Value("down").(*atomic.Int64)
				down.Store(map[string]int64{"down": http.StatusForbidden, "picky": http.StatusTeapot, "broken": http.StatusBadGateway}[args[0]])
				if len(args) > 1 { // only for a while
					wait, err := time.ParseDuration(args[1])
					ts.Check(err)
					time.AfterFunc(wait, func() { down.Store(0) })
				}
			},
			// damage FILE SQL... changes a store by hand, as nobody should.
			"damage": func(ts *testscript.TestScript, _ bool, args []string) {
				storetest.Damage(ts, ts.MkAbs(args[0]), strings.Join(args[1:], " "))
			},
		},
	}
}
