package simtest

import (
	"context"
	"errors"
	"sync"
	"time"
)

// fate is what befalls a process at one of its calls: to the store, to the gate or to the provider.
type fate struct {
	at    int           // the number of the call; 0 is never
	after bool          // the call is done, and its answer is never heard
	pause time.Duration // 0: the process is killed
}

// errDead is what a killed process hears. It is not there to hear it: this is how its goroutines come to their end.
var errDead = errors.New("this process was killed")

// process is one incarnation of a program. Whatever it does goes through call.
type process struct {
	name string
	w    *world
	stop context.CancelFunc

	mu      sync.Mutex
	fate    fate
	calls   int
	dead    bool
	resumes time.Time // of a process that is stopped: when it goes on
}

// call does one thing, unless the process is dead, and not before it goes on if it is stopped.
func call[T any](p *process, do func() (T, error)) (T, error) {
	var none T
	if !p.alive(false) {
		return none, errDead
	}
	v, err := do()
	if !p.alive(true) {
		return none, errDead
	}
	return v, err
}

// act is call for what gives nothing but an error.
func act(p *process, do func() error) error {
	_, err := call(p, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// alive is asked before and after every call. What is to befall the process befalls it here.
func (p *process) alive(after bool) bool {
	p.mu.Lock()
	if !after {
		p.calls++
	}
	if !p.dead && p.fate.at > 0 && p.calls >= p.fate.at && p.fate.after == after {
		f := p.fate
		p.fate = fate{}
		if f.pause == 0 {
			p.dead = true
			p.w.note("killed", p)
			p.stop()
		} else {
			p.resumes = time.Now().Add(f.pause)
			p.w.note("paused", p)
		}
	}
	wait, dead := time.Until(p.resumes), p.dead
	p.mu.Unlock()
	if dead {
		return false
	}
	if wait > 0 {
		time.Sleep(wait)
		return p.alive(true)
	}
	return true
}

func (p *process) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// slept tells whether the process was stopped at some time since.
func (p *process) slept(since time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resumes.After(since)
}
