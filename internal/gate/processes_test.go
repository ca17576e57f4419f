package gate_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"patra"
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// counted tells how often the state was changed.
type counted struct {
	gate.Rows
	turns int
}

func (c *counted) TurnGate(ctx context.Context, key string, turn func(patra.Instant, time.Duration, patra.RateState) patra.RateState) error {
	c.turns++
	return c.Rows.TurnGate(ctx, key, turn)
}

const (
	playVariable   = "PATRA_TEST_GATE_STORE" // makes the test binary one process at the gate of that store
	playPerSecond  = 100.0
	playBurst      = 40
	playFor        = 4 * time.Second
	playProcesses  = 8
	playGoroutines = 4
)

// TestMain lets the binary play a process that sends.
func TestMain(m *testing.M) {
	if url := os.Getenv(playVariable); url != "" {
		if err := play(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// play sends until it is told to stop by the end of its input, and says when each request left. All processes are on one
// machine, so the times of their wall clocks can be compared; the gate does not look at them.
func play(url string) error {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		stop()
	}()
	s, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	defer s.Close()
	g := gate.NewShared(s)
	failed := make(chan error, playGoroutines)
	for range playGoroutines {
		go func() { failed <- playOne(ctx, g) }()
	}
	for range playGoroutines {
		if err := <-failed; err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func playOne(ctx context.Context, g *gate.Shared) error {
	for {
		wait, err := g.Reserve(ctx, patra.RateLimit{Key: "source", PerSecond: playPerSecond, Burst: playBurst}, 1)
		if err != nil {
			return err
		}
		at := time.Now().Add(wait)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		left, err := g.Remaining(ctx, "source")
		if err != nil {
			return err
		}
		if left > 0 {
			continue
		}
		if now := time.Now(); now.Sub(at) <= g.Patience(patra.RateLimit{PerSecond: playPerSecond, Burst: playBurst}) {
			fmt.Printf("%d\n", now.UnixMicro()) // one write, so that a kill leaves no half of it
		}
	}
}

// sender is one process at the gate.
type sender struct {
	cmd  *exec.Cmd
	sent chan []patra.Instant
}

func startSender(t *testing.T, url string) *sender {
	t.Helper()
	s := &sender{cmd: exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$"), sent: make(chan []patra.Instant, 1)}
	s.cmd.Env, s.cmd.Stderr = append(os.Environ(), playVariable+"="+url), os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(playFor, func() { in.Close() })
	go func() {
		var all []patra.Instant
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if us, err := strconv.ParseInt(strings.TrimSpace(lines.Text()), 10, 64); err == nil {
				all = append(all, patra.Instant(us))
			}
		}
		s.sent <- all
	}()
	return s
}

// Eight processes share a gate. Some are killed and replaced, one is stopped for a while and wakes up with old grants; and
// a process that comes after all of them goes on where they stopped.
func TestEightProcessesAndSomeOfThemDie(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		url := e.URL(t)
		st := e.Connect(t, url)
		if _, err := st.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		var all []*sender
		for range playProcesses {
			all = append(all, startSender(t, url))
		}
		signal := func(n int, s syscall.Signal) {
			if err := all[n].cmd.Process.Signal(s); err != nil {
				t.Error(err)
			}
		}
		for n := range 3 {
			<-time.After(time.Duration(400+rand.IntN(300)) * time.Millisecond)
			signal(n, syscall.SIGKILL)
			all = append(all, startSender(t, url))
		}
		signal(4, syscall.SIGSTOP)
		<-time.After(700 * time.Millisecond)
		signal(4, syscall.SIGCONT)
		var sent []patra.Instant
		for _, s := range all {
			sent = append(sent, <-s.sent...)
			_ = s.cmd.Wait() // some were killed
		}
		if err := gatetest.Judge(sent, playPerSecond, playBurst); err != nil {
			t.Error(err)
		}
		span := float64(slices.Max(sent)-slices.Min(sent)) / float64(patra.Second)
		used := float64(len(sent)) / (span * playPerSecond)
		t.Logf("%d requests in %.2f s: %.1f %% of what is permitted", len(sent), span, 100*used)
		if used < 0.5 { // one that is stopped inside a transaction stops all of them
			t.Errorf("only %.1f %% of what is permitted was used", 100*used)
		}
		is, now, err := st.GateState(t.Context(), "source")
		if err != nil || is.Arrival < slices.Max(sent) || now < slices.Max(sent) {
			t.Errorf("the state ends at %s, the last request was at %s: %v", is.Arrival, slices.Max(sent), err)
		}
	})
}
