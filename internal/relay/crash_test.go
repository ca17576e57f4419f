package relay_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"patra"
	"patra/internal/relay"
	"patra/internal/relay/relaytest"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// A child is this test program as a relay in a process of its own, which can be killed and stopped.
const childVariable = "PATRA_TEST_RELAY_CHILD"

type childOrders struct {
	Store, NATS string
	Once        bool
	DieAfter    int // dies by SIGKILL after so many waves are acknowledged, before they are marked
	StopBefore  int // stops by SIGSTOP before it sends a wave

	Again string // a file: while it is there, who was stopped and is woken stops again a little later
}

func TestMain(m *testing.M) {
	if raw := os.Getenv(childVariable); raw != "" {
		var o childOrders
		if err := json.Unmarshal([]byte(raw), &o); err != nil {
			os.Exit(2)
		}
		if err := o.run(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func (o childOrders) run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := store.Open(ctx, o.Store)
	if err != nil {
		return err
	}
	defer s.Close()
	d := &deadly{childOrders: o} // what it is ordered happens once, in whatever term
	r := newRelay(s, relay.Sink{Name: "bus", Filter: records, Open: func(context.Context) (out relay.Publisher, err error) {
		d.Publisher, err = relay.OpenNATS(relay.NATSOptions{URL: o.NATS, Prefix: "patra"})
		return d, err
	}})
	r.Config.Once = o.Once
	return r.Run(ctx)
}

// deadly is a way to a sink on which its process dies or stops, as ordered.
type deadly struct {
	relay.Publisher
	childOrders
	waves int
}

func (d *deadly) Publish(ctx context.Context, events []patra.Event) []error {
	if d.waves++; d.waves == d.StopBefore {
		for again := true; again; again = wanted(d.Again) {
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			<-time.After(20 * time.Millisecond) // it stops when it pleases, and not at once
		}
	}
	errs := d.Publisher.Publish(ctx, events)
	if d.waves == d.DieAfter {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return errs
}

func wanted(file string) bool {
	_, err := os.Stat(file)
	return file != "" && err == nil
}

// stopped waits until a child has stopped between two transactions. One that stops inside of one keeps an embedded store from
// everybody for as long as that takes: that is so, and not what this is about.
func stopped(t *testing.T, cmd *exec.Cmd, o childOrders) {
	t.Helper()
	for {
		var status syscall.WaitStatus
		for !status.Stopped() {
			if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil {
				t.Fatal(err)
			}
			if status.Exited() || status.Signaled() {
				t.Fatalf("it ended, and did not stop: %v", status)
			}
		}
		if free(t, o.Store) {
			must(t, os.Remove(o.Again))
			return
		}
		must(t, cmd.Process.Signal(syscall.SIGCONT))
	}
}

// free tells whether somebody else can write into a store.
func free(t *testing.T, url string) bool {
	if !strings.HasPrefix(url, "sqlite:") {
		return true // there it is rows that are locked
	}
	conn, err := storetest.Inspect(t, url).Conn(t.Context())
	must(t, err)
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "PRAGMA busy_timeout = 200; BEGIN IMMEDIATE"); err != nil {
		t.Logf("it stopped in the middle of a transaction, and is woken once more: %v", err)
		return false
	}
	_, err = conn.ExecContext(t.Context(), "ROLLBACK")
	must(t, err)
	return true
}

// astray is when a child, or what is waited for, will never come to an end, on the slowest of machines. No test says
// anything by taking less.
const astray = 4 * time.Minute

func start(t *testing.T, o childOrders) *exec.Cmd {
	t.Helper()
	raw, err := json.Marshal(o)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), astray) // a child that goes astray must not outlive the test
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+string(raw))
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return cmd
}

// Relays are killed after the stream has the events and before the store knows it, again and again, while records go on
// changing: nothing is missing, and what is there twice has the same id.
func TestKilledBetweenPublishAndMark(t *testing.T) {
	t.Parallel()
	storetest.Each(t, killedBetweenPublishAndMark)
}

func killedBetweenPublishAndMark(t *testing.T, e storetest.Engine) {
	t.Parallel()
	w, bus := newWorldOn(t, e), relaytest.NewNATS(t)
	for rev := 1; rev <= 4; rev++ {
		w.change(rev, 6)
		cmd := start(t, childOrders{Store: w.URL, NATS: bus.URL(), DieAfter: 2 - rev%2})
		exit := cmd.Wait()
		var how *exec.ExitError
		if !errors.As(exit, &how) || how.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("the relay ended with %v", exit)
		}
		rest := w.opened(t)
		expire(t, rest)
	}
	must(t, start(t, childOrders{Store: w.URL, NATS: bus.URL(), Once: true}).Wait())
	w.verify(t, relaytest.Read(t, bus))
}

// expire waits until the lease of a process that is dead has run out, without waiting for it.
func expire(t *testing.T, s *store.Store) {
	t.Helper()
	deadline := time.Now().Add(astray / 2)
	for time.Now().Before(deadline) {
		states, err := s.Sinks(t.Context())
		must(t, err)
		if len(states) == 1 && !states[0].Held {
			return
		}
		<-time.After(20 * time.Millisecond)
	}
	t.Fatal("the lease does not run out")
}

// A relay is stopped with a wave in its hands for longer than its lease. Another takes over and brings everything. Then the
// first wakes up and sends what it had: that is there already.
func TestAZombieBreaksNoOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, aZombieBreaksNoOrder)
}

func aZombieBreaksNoOrder(t *testing.T, e storetest.Engine) {
	t.Parallel()
	w, bus := newWorldOn(t, e), relaytest.NewNATS(t)
	for rev := 1; rev <= 3; rev++ {
		w.change(rev, 3)
	}
	orders := childOrders{Store: w.URL, NATS: bus.URL(), StopBefore: 2, Again: filepath.Join(t.TempDir(), "again")}
	must(t, os.WriteFile(orders.Again, nil, 0o600))
	zombie := start(t, orders)
	stopped(t, zombie, orders)
	expire(t, w.opened(t))
	must(t, start(t, childOrders{Store: w.URL, NATS: bus.URL(), Once: true}).Wait())
	before := relaytest.Read(t, bus)
	w.verify(t, before)
	must(t, zombie.Process.Signal(syscall.SIGCONT))
	w.change(4, 3) // and goes on to work: the zombie is a relay like any other when it has lost its old role
	deadline := time.Now().Add(astray / 2)
	for len(relaytest.FirstOfEach(relaytest.Read(t, bus))) < 12 && time.Now().Before(deadline) {
		<-time.After(50 * time.Millisecond)
	}
	must(t, zombie.Process.Signal(syscall.SIGTERM))
	if err := zombie.Wait(); err != nil {
		t.Errorf("drained, it ended with %v", err)
	}
	w.verify(t, relaytest.Read(t, bus))
}

// Two relays at once: one works, the other stands by, and takes over when the first is told to stop. The sink is away
// during the whole harvest.
func TestTwoRelaysAndASinkThatIsAway(t *testing.T) {
	t.Parallel()
	storetest.Each(t, twoRelaysAndASinkThatIsAway)
}

func twoRelaysAndASinkThatIsAway(t *testing.T, e storetest.Engine) {
	t.Parallel()
	w, bus := newWorldOn(t, e), relaytest.NewNATS(t)
	url := bus.URL()
	one, two := w.opened(t), w.opened(t)
	bus.Down(t)
	var wg sync.WaitGroup
	ctx, stopOne := context.WithCancel(t.Context())
	both, stopTwo := context.WithCancel(t.Context())
	defer stopTwo()
	open := func(context.Context) (relay.Publisher, error) {
		return relay.OpenNATS(relay.NATSOptions{URL: url, Prefix: "patra", Timeout: time.Second})
	}
	for s, ctx := range map[*store.Store]context.Context{one: ctx, two: both} {
		r := newRelay(s, relay.Sink{Name: "bus", Filter: records, Open: open})
		r.Config.Once = false
		wg.Go(func() {
			if err := r.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	for rev := 1; rev <= 3; rev++ {
		w.change(rev, 10)
	}
	bus.Up(t)
	wait := func(n int) {
		t.Helper()
		deadline := time.Now().Add(astray / 2)
		for len(relaytest.FirstOfEach(relaytest.Read(t, bus))) < n {
			if time.Now().After(deadline) {
				t.Fatalf("%d events are there", len(relaytest.Read(t, bus)))
			}
			<-time.After(50 * time.Millisecond)
		}
	}
	wait(30)
	stopOne()
	w.change(4, 10)
	wait(40)
	stopTwo()
	wg.Wait()
	w.verify(t, relaytest.Read(t, bus))
}
