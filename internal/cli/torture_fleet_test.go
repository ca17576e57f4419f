package cli

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"syscall"
	"time"
)

// fleet is the processes that share a store: some that execute and one that plans. Whoever is killed is replaced.
type fleet struct {
	*stage
	members []*member
	outs    []*lockedBuffer // of all that ever were
}

// member is a place in the fleet and the process that has it now.
type member struct {
	args  []string
	cmd   *exec.Cmd
	out   *lockedBuffer
	ended chan error
}

const executors = 4

// tortureLease is as short as the configuration allows. A sleeper sleeps longer than that, and wakes up while another is
// about to take its work over, at it, or done with it.
const tortureLease = 2 * time.Second

func (s *stage) fleet(size int) *fleet {
	f := &fleet{stage: s}
	for range size {
		f.members = append(f.members, &member{args: []string{"serve", "--role", "executor"}})
	}
	f.members = append(f.members, &member{args: []string{"serve", "--role", "planner"}})
	for _, m := range f.members {
		f.launch(m)
	}
	return f
}

func (f *fleet) launch(m *member) {
	c := f.patra(m.args...)
	m.cmd, m.out, m.ended = c, &lockedBuffer{}, make(chan error, 1)
	c.Stdout, c.Stderr = m.out, m.out
	f.outs = append(f.outs, m.out)
	if err := c.Start(); err != nil {
		f.t.Fatal(err)
	}
	go func() { m.ended <- c.Wait() }()
}

// revive replaces members that ended by themselves, which nobody should do.
func (f *fleet) revive() {
	for _, m := range f.members {
		select {
		case err := <-m.ended:
			f.find("%s ended by itself: %v\n%s", m.args[2], err, m.out.tail())
			f.launch(m)
		default:
		}
	}
}

// What is done to processes. They take turns, so that a short run has them all; when, and to whom of several, is drawn.
var cruelties = []struct {
	name string
	do   func(f *fleet, dice *rand.Rand)
}{
	{"executor-killed", func(f *fleet, dice *rand.Rand) { f.kill(f.executor(dice)) }},
	{"executor-paused", func(f *fleet, dice *rand.Rand) { f.sleep(f.executor(dice), dice) }},
	{"planner-killed", func(f *fleet, _ *rand.Rand) { f.kill(f.planner()) }},
	{"executor-terminated", func(f *fleet, dice *rand.Rand) { f.replace(f.executor(dice)) }},
	{"fleet-killed", func(f *fleet, _ *rand.Rand) { f.kill(f.members...) }},
	{"executor-killed", func(f *fleet, dice *rand.Rand) { f.kill(f.executor(dice)) }},
	{"executor-starved", func(f *fleet, dice *rand.Rand) { f.starve(f.executor(dice), dice) }},
	{"two-planners", func(f *fleet, _ *rand.Rand) { f.planTwice() }},
	{"planner-paused", func(f *fleet, dice *rand.Rand) { f.sleep(f.planner(), dice) }},
}

func (f *fleet) planner() *member { return f.members[len(f.members)-1] }

func (f *fleet) executor(dice *rand.Rand) *member { return f.members[dice.IntN(len(f.members)-1)] }

// cycle does the next thing to somebody.
func (f *fleet) cycle(turn int, dice *rand.Rand) {
	time.Sleep(time.Duration(dice.IntN(int(latency)))) // into the middle of something
	c := cruelties[turn%len(cruelties)]
	c.do(f, dice)
	f.done[c.name]++
}

func (f *fleet) kill(victims ...*member) {
	for _, m := range victims {
		f.signal(m, syscall.SIGKILL)
	}
	for _, m := range victims {
		<-m.ended
		f.launch(m)
	}
}

// sleep is longer than a lease.
func (f *fleet) sleep(m *member, dice *rand.Rand) {
	f.signal(m, syscall.SIGSTOP)
	time.Sleep(tortureLease + time.Duration(dice.IntN(1500))*time.Millisecond)
	f.signal(m, syscall.SIGCONT)
}

// starve gives one a hundredth of the processor, for longer than a lease: whatever it does it does too late, and it may lose its
// lease in the middle of anything.
func (f *fleet) starve(m *member, dice *rand.Rand) {
	for end := time.Now().Add(tortureLease + time.Duration(dice.IntN(1500))*time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) {
		f.signal(m, syscall.SIGSTOP)
		time.Sleep(99 * time.Millisecond)
		f.signal(m, syscall.SIGCONT)
	}
}

// replace tells one to stop, in the middle of whatever it does, and starts another.
func (f *fleet) replace(m *member) {
	f.signal(m, syscall.SIGTERM)
	f.leave(m)
	f.launch(m)
}

func (f *fleet) signal(m *member, s syscall.Signal) {
	if err := m.cmd.Process.Signal(s); err != nil {
		f.find("%s could not be sent %s: %v\n%s", m.args[2], s, err, m.out.tail())
	}
}

// dismiss tells everybody to stop; they must do so in good order.
func (f *fleet) dismiss() {
	for _, m := range f.members {
		f.signal(m, syscall.SIGTERM)
	}
	for _, m := range f.members {
		f.leave(m)
	}
}

// leave waits for one who was told to stop: it must do so in good order.
func (f *fleet) leave(m *member) {
	select {
	case err := <-m.ended:
		if err != nil || !bytes.Contains(m.out.copy(), []byte("Drained and stopped")) {
			f.find("%s was told to stop and ended with %v\n%s", m.args[2], err, m.out.tail())
		}
	case <-time.After(30 * time.Second):
		f.find("%s does not stop\n%s", m.args[2], m.out.tail())
		f.signal(m, syscall.SIGKILL)
	}
}
