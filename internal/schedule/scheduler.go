// Package schedule says when jobs are due, and calls whoever does them.
//
// A job is a name with the times at which it is due, and a fire is one of these times, always in UTC. What was missed
// while nobody was running, or while the machine slept, is made good with one fire, the newest: a harvest reads
// everything since the last one anyway. The same fire of the same job is never done twice by one process, whatever the
// clock does.
//
// The package never plans, harvests or stores anything: what a fire does, and where it is noted, is handed in. It knows
// nothing of other processes either; whoever notes a fire sees to it that two of them do it once.
package schedule

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"patra"
)

// pulse is the longest wait without a look at the clock. A timer stands still while the machine sleeps, so one that was
// set for two o'clock can ring hours late.
const pulse = 30 * time.Second

// Job is what is due again and again.
type Job struct {
	Name string
	Cron Cron
}

// Scheduler fires jobs at their times.
type Scheduler struct {
	Jobs []Job
	// Fired tells when a job was last fired, by whichever process; nil is never. When it fails it is asked again later,
	// and the job waits until it is answered.
	Fired func(ctx context.Context, name string) (last *patra.Instant, err error)
	// Fire does what a job is for. It is called for several jobs at the same time, but never twice at the same time for
	// one. When it fails, this fire is not tried again: the job's next one is.
	Fire func(ctx context.Context, job string, at patra.Instant) error
	Log  *slog.Logger
}

// Run fires jobs until ctx ends, waits for those under way and returns nil. It fails only at once, for jobs that cannot
// be told apart or are never due. A job that was missed is fired right away if it was ever fired before; a new one waits
// for its first time.
func (s *Scheduler) Run(ctx context.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	// Each job has a loop of its own, so that one that takes long does not make the others late.
	var loops sync.WaitGroup
	for _, job := range s.Jobs {
		loops.Go(func() { s.tend(ctx, job) })
	}
	<-ctx.Done()
	loops.Wait()
	return nil
}

func (s *Scheduler) check() error {
	names := map[string]bool{}
	for _, job := range s.Jobs {
		switch {
		case job.Cron.IsZero():
			return fmt.Errorf("the schedule %q has no times", job.Name)
		case names[job.Name]:
			return fmt.Errorf("two schedules are called %q", job.Name)
		}
		names[job.Name] = true
	}
	return nil
}

// tend is the loop of one job. After a fire it looks at the clock again before it waits, because a fire may take long.
func (s *Scheduler) tend(ctx context.Context, job Job) {
	past, ok := s.recall(ctx, job.Name)
	for ok {
		now := patra.InstantOf(time.Now())
		at, due := past.due(now, job.Cron)
		if !due {
			ok = pause(ctx, wait(now, job.Cron.Next(now)))
			continue
		}
		if err := s.Fire(ctx, job.Name, at); err != nil {
			s.Log.Error("schedule could not be fired", "schedule", job.Name, "fire", at.String(), "reason", err)
		}
		ok = ctx.Err() == nil
	}
}

// recall asks when a job was last fired until it is told; false says that ctx ended. What becomes due meanwhile is
// missed, and made good like everything that is.
func (s *Scheduler) recall(ctx context.Context, name string) (*fireHistory, bool) {
	start := patra.InstantOf(time.Now())
	for {
		last, err := s.Fired(ctx, name)
		if err == nil {
			return remember(start, last), ctx.Err() == nil
		}
		if ctx.Err() == nil {
			s.Log.Warn("the last fire of a schedule cannot be read, it is asked for again", "schedule", name, "reason", err)
		}
		if !pause(ctx, pulse) {
			return nil, false
		}
	}
}

// wait is how long to sleep before the clock is looked at again.
func wait(now, next patra.Instant) time.Duration {
	return time.Duration(min(next, now.Add(pulse))-now) * time.Microsecond
}

// pause waits; false says that ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
