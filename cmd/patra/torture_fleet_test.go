package main

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// fleet is the processes that share a store: some that execute and one that plans. Whoever is killed is replaced.
type fleet struct {
	*stage
	members []*member
	moments []time.Time // of signals
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

// cycle does one thing to one process: it is killed and replaced, or sleeps for longer than its lease. Now and then all
// are killed at once.
func (f *fleet) cycle(dice *rand.Rand) string {
	m := f.members[dice.IntN(len(f.members))]
	time.Sleep(time.Duration(dice.IntN(int(latency)))) // into the middle of something
	f.moments = append(f.moments, time.Now())
	switch dice.IntN(12) {
	case 0:
		f.kill(f.members...)
		return "kill all"
	case 1, 2, 3:
		f.sleep(m, tortureLease+time.Duration(dice.IntN(1500))*time.Millisecond)
		return "stop " + m.args[2]
	}
	f.kill(m)
	return "kill " + m.args[2]
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

func (f *fleet) sleep(m *member, asleep time.Duration) {
	f.signal(m, syscall.SIGSTOP)
	time.Sleep(asleep)
	f.moments = append(f.moments, time.Now())
	f.signal(m, syscall.SIGCONT)
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
}

// copy is what was written so far.
func (b *lockedBuffer) copy() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.Bytes())
}

// tail is the end of it.
func (b *lockedBuffer) tail() string {
	text := b.copy()
	return string(text[max(len(text)-2000, 0):])
}
