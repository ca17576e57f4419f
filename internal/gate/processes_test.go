package gate_test

import (
	"bufio"
	"context"
	"errors"
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

func (c *counted) UpdateGateState(ctx context.Context, key string, turn func(patra.Instant, time.Duration, patra.RateState) patra.RateState) error {
	c.turns++
	return c.Rows.UpdateGateState(ctx, key, turn)
}

const (
	playVariable   = "PATRA_TEST_GATE_STORE" // makes the test binary one process at the gate of that store
	playRedis      = "PATRA_TEST_GATE_REDIS" // lends it to that Redis
	playPerSecond  = 100.0
	playBurst      = 40
	playGrace      = 50 * time.Millisecond
	playProcesses  = 8
	playGoroutines = 4
)

// playTerms make loans short, as the play is.
var playTerms = gate.LeaseTerms{Span: time.Second, HoldDown: 1500 * time.Millisecond, Probe: 200 * time.Millisecond}

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
	if keeper := os.Getenv(playRedis); keeper != "" {
		r, err := gate.OpenRedis(keeper)
		if err != nil {
			return err
		}
		defer r.Close()
		g = gate.NewShared(gate.NewLent(s, r, playTerms, nil))
	}
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
		left, err := g.CooldownRemaining(ctx, "source")
		if err != nil {
			return err
		}
		if left > 0 {
			continue
		}
		if now := time.Now(); now.Sub(at) <= g.MaxLateness(patra.RateLimit{PerSecond: playPerSecond, Burst: playBurst}) {
			fmt.Printf("%d\n", now.UnixMicro()) // one write, so that a kill leaves no half of it
		}
	}
}

// sender is one process at the gate.
type sender struct {
	cmd  *exec.Cmd
	sent chan []patra.Instant
}

func startSender(t *testing.T, url, keeper string, lasts time.Duration) *sender {
	t.Helper()
	s := &sender{cmd: exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$"), sent: make(chan []patra.Instant, 1)}
	s.cmd.Env, s.cmd.Stderr = append(os.Environ(), playVariable+"="+url, playRedis+"="+keeper), os.Stderr
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
	time.AfterFunc(lasts, func() { in.Close() })
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
		eightProcesses(t, e, "", 4*time.Second, func() {})
	})
}

// The same with a gate that is lent to Redis.
func TestEightProcessesWithRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	if is := eightProcesses(t, server(), gatetest.RedisURL(t), 4*time.Second, func() {}); is.Loan.Epoch == 0 {
		t.Errorf("nothing was lent: %+v", is.Loan)
	}
}

// server is the engine that several processes would use: a database server, if there is one at hand.
func server() storetest.Engine {
	all := storetest.Engines()
	return all[len(all)-1]
}

// The same, and Redis is killed with all it knew, and comes back empty. Requests go on without it, and later with it.
func TestEightProcessesAndRedisDies(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	s := gatetest.StartRedis(t)
	is := eightProcesses(t, server(), s.URL, 7*time.Second, func() {
		<-time.After(time.Second)
		s.Kill()
		<-time.After(time.Second)
		if err := s.Start(t); err != nil {
			t.Error(err)
		}
	})
	if is.Loan.Epoch < 2 {
		t.Errorf("it was not lent again: %+v", is.Loan)
	}
}

// eightProcesses plays until all have ended, and gives the state that they leave in the store.
func eightProcesses(t *testing.T, e storetest.Engine, keeper string, lasts time.Duration, trouble func()) patra.RateState {
	url := e.URL(t)
	st := e.Connect(t, url)
	if _, err := st.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all []*sender
	for range playProcesses {
		all = append(all, startSender(t, url, keeper, lasts))
	}
	signal := func(n int, s syscall.Signal) {
		if err := all[n].cmd.Process.Signal(s); err != nil {
			t.Error(err)
		}
	}
	for n := range 3 {
		<-time.After(time.Duration(400+rand.IntN(300)) * time.Millisecond)
		signal(n, syscall.SIGKILL)
		all = append(all, startSender(t, url, keeper, lasts))
	}
	trouble()
	signal(4, syscall.SIGSTOP)
	<-time.After(700 * time.Millisecond)
	signal(4, syscall.SIGCONT)
	var sent []patra.Instant
	for _, s := range all {
		sent = append(sent, <-s.sent...)
		_ = s.cmd.Wait() // some were killed
	}
	// Between the look at the clock and the reading of it that is written down a process may be put aside.
	if err := errors.Join(gatetest.Judge(sent, playPerSecond, playBurst), gatetest.JudgeSeconds(sent, playPerSecond, playGrace)); err != nil {
		t.Error(err)
	}
	span := float64(slices.Max(sent)-slices.Min(sent)) / float64(patra.Second)
	used := float64(len(sent)) / (span * playPerSecond)
	t.Logf("%d requests in %.2f s: %.1f %% of what is permitted", len(sent), span, 100*used)
	if used < 0.5 { // one that is stopped inside a transaction stops all of them
		t.Errorf("only %.1f %% of what is permitted was used", 100*used)
	}
	is, now, err := st.GateState(t.Context(), "source")
	if charged := max(is.Arrival, is.Loan.Until); err != nil || charged < slices.Max(sent) || now < slices.Max(sent) {
		t.Errorf("the state ends at %s, the last request was at %s: %v", charged, slices.Max(sent), err)
	}
	return is
}
