package cli

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"patra"
	"patra/internal/relay/relaytest"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// relayLease is the lease of the relays here.
const relayLease = 2 * time.Second

// switchboard is a store whose records go on changing, and processes of the real program that send what happened to a real
// NATS server.
type switchboard struct {
	*storetest.World
	t     *testing.T
	dir   string
	bus   *relaytest.NATS
	other *store.Store // as another process sees it, with the real clock
	claim *patra.Claim
	page  int64
	revs  int
	ready []*sender
}

// switchRecords is how many records change each time.
const switchRecords = 100

func newSwitchboard(t *testing.T, e storetest.Engine) *switchboard {
	b := &switchboard{World: storetest.NewWorld(t, e, 3), t: t, dir: t.TempDir(), bus: relaytest.NewNATS(t)}
	b.claim = b.Take()
	b.other = e.Connect(t, b.URL)
	config := fmt.Sprintf("log: {level: info}\nevents: {lease: %s}\nsinks:\n  - {name: bus, type: NATS, url: \"nats://%s\", events: [record.*]}\n", relayLease, slowly(t, strings.TrimPrefix(b.bus.URL(), "nats://")))
	if err := os.WriteFile(filepath.Join(b.dir, "patra.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// slowly is a long way to a server: whoever uses it has something under way most of the time.
func slowly(t *testing.T, to string) string {
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { door.Close() })
	type parcel struct {
		at   time.Time
		data []byte
	}
	carry := func(from, to net.Conn) {
		road := make(chan parcel, 1000)
		go func() {
			defer to.Close()
			for p := range road {
				<-time.After(time.Until(p.at.Add(4 * time.Millisecond)))
				if _, err := to.Write(p.data); err != nil {
					from.Close()
				}
			}
		}()
		defer close(road)
		for {
			buf := make([]byte, 16<<10)
			n, err := from.Read(buf)
			road <- parcel{time.Now(), buf[:n]}
			if err != nil {
				return
			}
		}
	}
	go func() {
		for {
			near, err := door.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			go carry(near, far)
			go carry(far, near)
		}
	}()
	return door.Addr().String()
}

// change gives all records another version.
func (b *switchboard) change() {
	b.t.Helper()
	b.revs++
	b.page++
	b.Clock.Move(time.Second)
	var page []patra.Observation
	for i := range switchRecords {
		id := fmt.Sprint("r", i)
		page = append(page, b.Record(id, storetest.Origin+patra.Instant(b.revs)*patra.Hour, fmt.Sprint(id, "v", b.revs)))
	}
	b.Page(b.claim, b.page, true, page...)
}

// sender is one process that sends.
type sender struct {
	*exec.Cmd
	said  *lockedBuffer
	ended chan error
}

// start starts another process.
func (b *switchboard) start(args ...string) {
	b.t.Helper()
	c := exec.CommandContext(b.t.Context(), "patra", args...)
	c.Dir, c.Env = b.dir, append(os.Environ(), "PATRA_STORE_URL="+b.URL, "PATRA_LOG_FORMAT=text")
	s := &sender{c, &lockedBuffer{}, make(chan error, 1)}
	c.Stdout, c.Stderr = s.said, s.said
	if err := c.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() { s.ended <- c.Wait() }()
	b.t.Cleanup(func() { _ = c.Process.Kill() })
	b.ready = append(b.ready, s)
}

var senderName = regexp.MustCompile(`a sink is sent to from here.*owner=(\w+)`)

// atWork waits until another process than that one sends, lets records change meanwhile, and gives it. For a process
// that was stopped inside of a transaction on SQLite everybody waits, and nobody could take over: once it is awake it may
// well be the one that sends.
func (b *switchboard) atWork(not *sender, awake <-chan struct{}) *sender {
	b.t.Helper()
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); <-time.After(100 * time.Millisecond) {
		b.change()
		select {
		case <-awake:
			not = nil
		default:
		}
		states, err := b.other.Sinks(b.t.Context())
		if err != nil {
			b.t.Fatal(err)
		}
		for _, s := range b.ready {
			for _, m := range senderName.FindAllStringSubmatch(s.said.String(), -1) {
				if s != not && len(states) == 1 && states[0].Held && states[0].Owner == m[1] {
					return s
				}
			}
		}
	}
	states, err := b.other.Sinks(b.t.Context())
	for _, s := range b.ready {
		b.t.Logf("process %d: %s", s.Process.Pid, s.said)
	}
	b.t.Fatalf("no process sends: %+v, %v, %d versions", states, err, b.revs)
	return nil
}

// busy waits until whoever sends is in the middle of much work.
func (b *switchboard) busy() {
	b.t.Helper()
	last := int64(0)
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(time.Millisecond) {
		states, err := b.other.Sinks(b.t.Context())
		if err != nil || time.Now().After(deadline) {
			b.t.Fatalf("%+v, %v", states, err)
		}
		if last > 0 && states[0].Position > last && states[0].Lag > 2*switchRecords {
			return
		}
		if last = states[0].Position; states[0].Lag < 6*switchRecords {
			b.change()
		}
	}
}

// signal sends one to a process of ours.
func (b *switchboard) signal(s *sender, sig os.Signal) {
	b.t.Helper()
	if err := s.Process.Signal(sig); err != nil {
		b.t.Error(err)
	}
}

// Three processes share a store and a sink. Whichever sends is killed, or stopped for longer than its lease and woken up
// while another is at work, and records change all the time. In the end the sink has every event, of each record in order.
func TestRelaysOfManyProcesses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		t.Parallel()
		b := newSwitchboard(t, e)
		b.start("serve", "--role", "relay")
		b.start("serve", "--role", "relay")
		b.start("relay", "run")
		for _, how := range []os.Signal{syscall.SIGSTOP, syscall.SIGKILL, syscall.SIGSTOP} {
			victim := b.atWork(nil, nil)
			b.busy()
			<-time.After(rand.N(50 * time.Millisecond))
			b.signal(victim, how)
			if how == syscall.SIGKILL {
				<-victim.ended
				victim.ended <- nil
				b.start("serve", "--role", "relay")
				b.atWork(victim, nil)
				continue
			}
			awake := make(chan struct{})
			go func() { // nobody who could be waiting for it wakes it up
				defer close(awake)
				<-time.After(relayLease + 1500*time.Millisecond)
				b.signal(victim, syscall.SIGCONT)
			}()
			b.atWork(victim, awake)
			<-awake
		}
		b.drain()
		b.judge()
	})
}

// drain waits until the sink has everything, and tells all processes to stop.
func (b *switchboard) drain() {
	b.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; <-time.After(50 * time.Millisecond) {
		states, err := b.other.Sinks(b.t.Context())
		if err != nil || time.Now().After(deadline) {
			b.t.Fatalf("%+v, %v", states, err)
		}
		if states[0].Lag == 0 {
			break
		}
	}
	for _, s := range b.ready {
		_ = s.Process.Signal(syscall.SIGTERM)
		if err := <-s.ended; err != nil {
			b.t.Errorf("%v\n%s", err, s.said)
		}
	}
}

// judge compares what the sink has with what happened.
func (b *switchboard) judge() {
	b.t.Helper()
	arrived := relaytest.Read(b.t, b.bus)
	first := relaytest.FirstOfEach(arrived)
	at := map[string]int{}
	for _, e := range first {
		if e.Data.Rev != at[e.Data.ID]+1 {
			b.t.Errorf("%s has version %d after %d", e.Data.ID, e.Data.Rev, at[e.Data.ID])
		}
		at[e.Data.ID] = e.Data.Rev
	}
	if len(first) != b.revs*switchRecords || len(at) != switchRecords {
		b.t.Errorf("%d events of %d records are there, and should be %d of %d", len(first), len(at), b.revs*switchRecords, switchRecords)
	}
	b.t.Logf("%d events, and %d of them once more", len(first), len(arrived)-len(first))
	storetest.CheckInvariants(b.t, storetest.Inspect(b.t, b.URL))
}
