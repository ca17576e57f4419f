package patra

import (
	"fmt"
	"strings"
)

// Health is how a source stands, in a word.
type Health string

// The words, the gravest first.
const (
	HealthStopped Health = "STOPPED" // a person, or what only a person can mend, holds it back
	HealthFailed  Health = "FAILED"  // something is missing that nobody is at
	HealthWaiting Health = "WAITING" // there is work, and none of it is being done
	HealthRunning Health = "RUNNING"
	HealthOK      Health = "OK"
	HealthIdle    Health = "IDLE" // nothing was ever read
)

// SourceFacts is what is known of a source at a moment.
type SourceFacts struct {
	Source     string
	Partitions []QueueState
	Controls   []Control // in force, of all sources
	Failed     int64     // tasks
	FailedAt   *Instant  // when the last of them did
	Gaps       int64     // stretches that failed or were called off, and that nobody has read since or is at
	LastPage   *Instant  // when a page was last stored
	LastClaim  *Instant  // when anybody last took a task of any source
	Complete   *Instant  // through when it is complete
	Now        Instant
}

// nobodyFor is how long nobody takes a task before one wonders whether there is anybody.
const nobodyFor = Minute

// Judge says how a source stands and why, in a sentence.
func (f SourceFacts) Judge() (Health, string) {
	running, due, later := f.work()
	if c := f.stop(running); c != nil {
		return HealthStopped, stopSaid(*c)
	}
	if f.Gaps > 0 || f.Failed > 0 && f.FailedAt != nil && (f.LastPage == nil || *f.FailedAt > *f.LastPage) {
		return HealthFailed, f.failSaid()
	}
	switch {
	case running > 0 && due+later > 0:
		return HealthRunning, fmt.Sprintf("%s, and %s.", number(running, "task is running", "tasks are running"), number(due+later, "waits", "wait"))
	case running > 0:
		return HealthRunning, number(running, "task is running", "tasks are running") + "."
	case due+later > 0:
		return HealthWaiting, f.waitSaid(due, later)
	case f.LastPage == nil && f.Complete == nil:
		return HealthIdle, "Nothing was read yet."
	case f.Complete != nil:
		return HealthOK, fmt.Sprintf("Everything is read that was asked for, complete through %s.", f.Complete)
	}
	return HealthOK, fmt.Sprintf("Everything is read that was asked for, the last page at %s.", f.LastPage)
}

func (f SourceFacts) work() (running, due, later int64) {
	for _, p := range f.Partitions {
		running, due, later = running+p.Running, due+p.Due, later+p.Later
	}
	return running, due, later
}

// stop is what holds a source back until a person lets it go on. A pause of a part of it counts when nothing else moves.
func (f SourceFacts) stop(running int64) *Control {
	var paused *Control
	for i, c := range f.Controls {
		if !c.IsScope() || c.WorkScope().Source != f.Source {
			continue
		}
		switch {
		case c.Kind == KindHalt && c.State == Halted, c.Kind == KindPause && c.State == Paused && c.Scope == ScopeSource:
			return &f.Controls[i]
		case c.Kind == KindPause && c.State == Paused && running == 0:
			paused = &f.Controls[i]
		}
	}
	return paused
}

func stopSaid(c Control) string {
	if c.Kind == KindHalt {
		return fmt.Sprintf("%s is halted since %s, because only a person can mend this: %s", c.Target, c.Detail.Since, ended(c.Reason))
	}
	said := fmt.Sprintf("%s is paused by %s since %s", c.Target, c.Actor, c.Detail.Since)
	if c.Reason == "" {
		return said + "."
	}
	return said + ": " + ended(c.Reason)
}

func (f SourceFacts) failSaid() string {
	var parts []string
	if f.Failed > 0 && f.FailedAt != nil {
		parts = append(parts, fmt.Sprintf("%s, the last at %s", number(f.Failed, "task has failed", "tasks have failed"), f.FailedAt))
	}
	if f.Gaps > 0 {
		parts = append(parts, number(f.Gaps, "stretch is missing", "stretches are missing"))
	}
	return strings.Join(parts, ", and ") + "."
}

// waitSaid says what everybody waits for.
func (f SourceFacts) waitSaid(due, later int64) string {
	for _, c := range f.Controls {
		if !c.IsScope() || c.WorkScope().Source != f.Source {
			continue
		}
		switch {
		case c.Kind == KindBreaker && (c.State == Open || c.State == HalfOpen):
			return fmt.Sprintf("%s; %s does not answer and is left alone until %s.", number(due+later, "task waits", "tasks wait"), c.Target, c.Until)
		case c.Kind == KindQuota && c.State == UsedUp && c.Until > f.Now:
			return fmt.Sprintf("%s; a quota of %s is used up until %s.", number(due+later, "task waits", "tasks wait"), c.Target, c.Until)
		}
	}
	if due == 0 {
		var next *Instant
		for _, p := range f.Partitions {
			if p.NextAt != nil && (next == nil || *p.NextAt < *next) {
				next = p.NextAt
			}
		}
		if next != nil {
			return fmt.Sprintf("%s, the first at %s.", number(later, "task is due later", "tasks are due later"), next)
		}
	}
	if f.LastClaim == nil || f.Now-*f.LastClaim > nobodyFor {
		return fmt.Sprintf("%s, and nobody takes one: is patra serve running?", number(due, "task is due", "tasks are due"))
	}
	return fmt.Sprintf("%s for their turn.", number(due+later, "task waits", "tasks wait"))
}

// number is a count with its words; `1 task waits`, `3 tasks wait`.
func number(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ended is a text that ends as a sentence does.
func ended(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
