package cli

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
)

// When nothing happens for a few seconds the reason is said, once; again when it is another one, and after something happened.
func TestNothingWaitsInSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		reason := waitReason{}
		s := newSilence(func(line string) { said = append(said, line) }, 0, func(context.Context) (waitReason, error) { return reason, nil })
		ctx, stop := context.WithCancelCause(t.Context())
		go s.watch(ctx, stop)
		after := func(d time.Duration, want int) {
			t.Helper()
			<-time.After(d)
			synctest.Wait()
			if len(said) != want {
				t.Fatalf("%d things were said, want %d: %q", len(said), want, said)
			}
		}
		reason = waitReason{"COOLDOWN", "until 12:00:00"}
		after(4500*time.Millisecond, 0)
		after(time.Second, 1)
		reason.text = "until 12:00:03"
		after(20*time.Second, 1)
		reason = waitReason{"BREAKER", "until 12:01:00"}
		after(2*time.Second, 2)
		after(time.Minute, 3) // whoever looks again still sees why
		s.observe(executor.Event{Kind: executor.EventPage})
		after(4500*time.Millisecond, 3)
		after(time.Second, 4)
		s.observe(executor.Event{Kind: executor.EventRetry, Fault: &patra.Fault{Status: 503}}) // a failure is no progress
		reason = waitReason{"GATE", "much is asked"}
		after(time.Second, 5)
		stop(nil)
	})
}

// A provider that was never reached is given up after a while, and one that has answered once is not.
func TestAProviderThatWasNeverReachedIsGivenUp(t *testing.T) {
	refused := executor.Event{Kind: executor.EventRetry, Fault: &patra.Fault{Code: patra.CodeNetwork, Text: "refused", Err: syscall.ECONNREFUSED}}
	for name, c := range map[string]struct {
		before []executor.Event
		ends   bool
	}{
		"never":             {nil, true},
		"it gave a page":    {[]executor.Event{{Kind: executor.EventPage}}, false},
		"it refused a page": {[]executor.Event{{Kind: executor.EventRetry, Fault: &patra.Fault{Code: patra.CodeHTTP, Status: 503}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSilence(func(string) {}, 0, func(context.Context) (waitReason, error) { return waitReason{}, nil })
				ctx, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				go s.watch(ctx, stop)
				for _, e := range c.before {
					s.observe(e)
				}
				s.observe(refused)
				<-time.After(reachWithin - time.Second)
				if ctx.Err() != nil {
					t.Error("it was given up too early")
				}
				<-time.After(3 * time.Second)
				if _, ok := errors.AsType[*unreachedError](context.Cause(ctx)); ok != c.ends {
					t.Errorf("it was given up: %v", ok)
				}
			})
		})
	}
}

// The end of a harvest that reaches nobody is that of source test: exit code 3, and the same sentence. So is the end of one that finds
// a breaker which an earlier one has opened.
func TestAHarvestThatReachesNobody(t *testing.T) {
	t.Chdir(t.TempDir())
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, args := range [][]string{
		{"harvest", "crossref", "--from", "2026-11-01", "--to", "2026-11-02", "--no-probe", "--reach-within", "1s"},
		{"harvest", "crossref", "--from", "2026-11-01", "--to", "2026-11-02", "--no-probe", "--reach-within", "1s"},
		{"source", "test", "crossref"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append(args, "--base-url", gone.URL), append(os.Environ(), "PATRA_CONTACT=me@example.org", "PATRA_STORE_URL=sqlite:patra.db"), &stdout, &stderr)
		said := stderr.String()
		for _, want := range []string{"connection refused", gone.URL, "See that this address can be reached from here; another one is named with --base-url"} {
			if code != exitEnvironment || !strings.Contains(said, want) {
				t.Errorf("%v: exit code %d, and it does not say %q: %s", args, code, want, said)
			}
		}
	}
}

// Whoever waits because the provider said so reads until when, also where the words go to a file.
func TestAWaitThatTheProviderAskedForIsSaid(t *testing.T) {
	t.Chdir(t.TempDir())
	var asked atomic.Int64
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer provider.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx, stop := context.WithCancel(t.Context())
	said := make(chan string, 1)
	go func() { // a person who reads it, and has seen enough
		defer stop()
		for ctx.Err() == nil {
			<-time.After(50 * time.Millisecond)
			text, _ := os.ReadFile(file.Name())
			if i := strings.Index(string(text), "crossref asked to be left alone until"); i >= 0 {
				said <- string(text[i:])
				return
			}
		}
	}()
	timer := time.AfterFunc(30*time.Second, stop)
	defer timer.Stop()
	run(ctx, []string{"harvest", "crossref", "--from", "2026-11-01", "--to", "2026-11-02", "--no-probe", "--base-url", provider.URL},
		append(os.Environ(), "PATRA_CONTACT=me@example.org", "PATRA_STORE_URL=sqlite:patra.db"), &bytes.Buffer{}, file)
	if len(said) == 0 {
		text, _ := os.ReadFile(file.Name())
		t.Errorf("after %d requests nothing was said of the wait: %s", asked.Load(), text)
	}
}
