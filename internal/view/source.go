package view

import (
	"fmt"
	"slices"
	"strings"

	"patra"
)

// SourceFacts is what the verdict on a source is made of, beside what is known of the whole installation.
type SourceFacts struct {
	Source     string
	Partitions []patra.QueueState
	Cursors    []CursorFacts
	Plans      []patra.Plan   // that failed, have no cursor, and were not made again
	LastPage   *patra.Instant // when a page was last stored
	Complete   *patra.Instant // through when its harvests are complete

	Failed       int64 // tasks
	FailedCapped bool  // there are more
	FailedAt     *patra.Instant
}

// Facts is what the verdict on an installation is made of.
type Facts struct {
	Now       patra.Instant
	Controls  []patra.Control // in force, of all sources
	LastClaim *patra.Instant  // when a worker last took a task of any source
	Schedules []patra.ScheduleState
	Sources   []SourceFacts
}

// idleFor is how long tasks may be due before it is said that no worker takes them.
const idleFor = patra.Minute

// Source judges one source.
func Source(s SourceFacts, f Facts) Verdict {
	var t Tally
	reasons := s.steered(f)
	for _, c := range s.Cursors {
		v := Cursor(c, f.Controls, f.Now)
		t, reasons = t.Plus(v.Tally), append(reasons, v.Reasons...)
	}
	for _, p := range s.Plans {
		reasons = append(reasons, failedPlan(p))
	}
	for _, sch := range f.Schedules {
		if sch.Source == s.Source {
			reasons = append(reasons, schedule(sch)...)
		}
	}
	missing := slices.ContainsFunc(reasons, func(r Reason) bool { return r.Kind == ReasonFailed })
	if s.Failed > 0 && s.FailedAt != nil && !missing && (s.LastPage == nil || *s.FailedAt > *s.LastPage) {
		reasons = append(reasons, Reason{Kind: ReasonTasksFailed, Health: HealthFailed, Source: s.Source, Count: s.Failed,
			Message: fmt.Sprintf("%s, the last at %s.", number(s.Failed, "task of "+s.Source+" has failed", "tasks of "+s.Source+" have failed"), s.FailedAt), Next: "patra tasks --status FAILED --source " + s.Source})
	}
	quiet, said := s.quiet(f)
	if quiet == HealthOK && t.Waived > 0 {
		said = strings.TrimSuffix(said, ".") + ", but " + number(t.Waived, "stretch that a waiver signs off.", "stretches that waivers sign off.")
	}
	if quiet == HealthOK && t.Accepted > 0 {
		said = strings.TrimSuffix(said, ".") + ", but " + number(t.Accepted, "stretch is read without a proof, which is accepted.", "stretches are read without a proof, which is accepted.")
	}
	return of(t, reasons, quiet, said)
}

// Installation judges everything. The verdicts on the sources are in the order of the facts.
func Installation(f Facts) (all Verdict, sources []Verdict) {
	var t Tally
	var reasons []Reason
	quiet, said := HealthIdle, "Nothing was ever asked for."
	for _, s := range f.Sources {
		v := Source(s, f)
		sources, t, reasons = append(sources, v), t.Plus(v.Tally), append(reasons, v.Reasons...)
		if h, word := s.quiet(f); h.AtLeast(quiet) && h != quiet {
			quiet, said = h, s.Source+": "+word
		}
	}
	if quiet == HealthOK {
		said = "Everything is read that was asked for."
	}
	return of(t, reasons, quiet, said), sources
}

// quiet is how a source stands by its work alone.
func (s SourceFacts) quiet(f Facts) (Health, string) {
	running, due, later := s.work()
	switch {
	case running > 0 && due+later > 0:
		return HealthRunning, fmt.Sprintf("%s, and %s.", number(running, "task is running", "tasks are running"), number(due+later, "waits", "wait"))
	case running > 0:
		return HealthRunning, number(running, "task is running", "tasks are running") + "."
	case due+later > 0:
		return HealthWaiting, s.waits(f, due, later)
	case s.LastPage == nil && s.Complete == nil && len(s.Cursors) == 0:
		return HealthIdle, "Nothing was read yet."
	case s.Complete != nil:
		return HealthOK, fmt.Sprintf("Everything is read that was asked for, complete through %s.", s.Complete)
	case s.LastPage == nil:
		return HealthOK, "Everything is read that was asked for."
	}
	return HealthOK, fmt.Sprintf("Everything is read that was asked for, the last page at %s.", s.LastPage)
}

func (s SourceFacts) work() (running, due, later int64) {
	for _, p := range s.Partitions {
		running, due, later = running+p.Running, due+p.Due, later+p.Later
	}
	return running, due, later
}

// steered is what a person, or what only a person can mend, stops. A pause of a part is a note while other parts go on.
func (s SourceFacts) steered(f Facts) (reasons []Reason) {
	running, _, _ := s.work()
	for _, c := range f.Controls {
		if !c.IsScope() || c.WorkScope().Source != s.Source {
			continue
		}
		r := Reason{Kind: ReasonPaused, Health: HealthStopped, Source: s.Source, Count: 1, Message: stopped(c), Next: "patra resume " + patra.ShellWord(c.Target.String())}
		switch {
		case c.Kind == patra.KindHalt && c.State == patra.Halted:
			r.Kind, r.Next = ReasonHalted, "mend that, then "+r.Next
		case c.Kind == patra.KindPause && c.State == patra.Paused:
			if c.Scope != patra.ScopeSource && running > 0 {
				r.Health = ""
			}
		default:
			continue
		}
		reasons = append(reasons, r)
	}
	return reasons
}

func stopped(c patra.Control) string {
	if c.Kind == patra.KindHalt {
		return fmt.Sprintf("%s is halted since %s, because only a person can mend this: %s", c.Target, c.Detail.Since, sentenceEnd(c.Reason))
	}
	said := fmt.Sprintf("%s is paused by %s since %s", c.Target, c.Actor, c.Detail.Since)
	if c.Reason == "" {
		return said + "."
	}
	return said + ": " + sentenceEnd(c.Reason)
}

// waits says what queued work waits for.
func (s SourceFacts) waits(f Facts, due, later int64) string {
	for _, c := range f.Controls {
		if !c.IsScope() || c.WorkScope().Source != s.Source {
			continue
		}
		switch {
		case c.Kind == patra.KindBreaker && (c.State == patra.Open || c.State == patra.HalfOpen):
			return fmt.Sprintf("%s; %s does not answer and is left alone until %s.", number(due+later, "task waits", "tasks wait"), c.Target, c.Until)
		case c.Kind == patra.KindQuota && c.State == patra.UsedUp && c.Until > f.Now:
			return fmt.Sprintf("%s; a quota of %s is used up until %s.", number(due+later, "task waits", "tasks wait"), c.Target, c.Until)
		}
	}
	if due == 0 {
		var next *patra.Instant
		for _, p := range s.Partitions {
			if p.NextAt != nil && (next == nil || *p.NextAt < *next) {
				next = p.NextAt
			}
		}
		if next != nil {
			return fmt.Sprintf("%s, the first at %s.", number(later, "task is due later", "tasks are due later"), next)
		}
	}
	if f.LastClaim == nil || f.Now-*f.LastClaim > idleFor {
		return fmt.Sprintf("%s, and no worker takes one: is patra serve running?", number(due, "task is due", "tasks are due"))
	}
	return fmt.Sprintf("%s for their turn.", number(due+later, "task waits", "tasks wait"))
}

// failedPlan is about a plan without a watermark, which no list of gaps knows.
func failedPlan(p patra.Plan) Reason {
	return Reason{Kind: ReasonPlanFailed, Health: HealthFailed, Source: p.Source, Plan: p.ID, Count: 1,
		Message: fmt.Sprintf("Plan %d of %s/%s %s failed%s: nothing of it was read.", p.ID, p.Source, p.Endpoint, p.Operation, whyUncut(p)), Next: "patra plans --source " + p.Source + ", then ask for it again with --force"}
}

// schedule is what the last fires of a schedule say.
func schedule(s patra.ScheduleState) (reasons []Reason) {
	if s.Refused > 0 {
		reasons = append(reasons, Reason{Kind: ReasonRefused, Health: HealthFailed, Source: s.Source, Schedule: s.Name, Count: s.Refused, Message: s.Refusal(), Next: s.RefusalNext()})
	}
	if s.Missed() {
		reasons = append(reasons, Reason{Kind: ReasonBehind, Health: HealthLate, Source: s.Source, Schedule: s.Name, Count: 1,
			Message: fmt.Sprintf("The schedule %s was due at %s and did not fire.", s.Name, s.Due), Next: "patra serve --role planner"})
	}
	return reasons
}
