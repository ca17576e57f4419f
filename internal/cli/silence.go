package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"patra"
	"patra/internal/egress"
	"patra/internal/executor"
	"patra/internal/planner"
	"patra/internal/source"
	"patra/internal/store"
)

const (
	// silentFor is how long nothing may happen until somebody who waits is told for what.
	silentFor = 5 * time.Second
	// sayAgain is how long a reason is not said again while it only moves its end.
	sayAgain = time.Minute
	// reachWithin is how long a provider that was never reached is waited for, where nobody said.
	reachWithin = time.Minute
)

// waitReason is why nothing happens, in words. Of the same code it is the same reason, whatever the words.
type waitReason struct{ code, text string }

// silence watches over a command in the foreground: when nothing happens it says why, and it ends one that waits for a provider
// that cannot be reached at all.
type silence struct {
	say    func(string)
	why    func(context.Context) (waitReason, error)
	within time.Duration

	mu        sync.Mutex
	last      time.Time // when something happened last
	said      string    // the reason that was said
	saidAt    time.Time
	reached   bool         // the provider has answered, whatever it said
	unreached *patra.Fault // why it was not, as far as it was tried
	since     time.Time    // of that
}

func newSilence(say func(string), within time.Duration, why func(context.Context) (waitReason, error)) *silence {
	return &silence{say: say, why: why, within: cmp.Or(within, reachWithin), last: time.Now()}
}

// observe notes that something happens.
func (s *silence) observe(e executor.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case e.Kind == executor.EventPage || e.Kind == executor.EventDone:
		s.last, s.said, s.reached = time.Now(), "", true
	case e.Fault == nil:
	case egress.Unreached(e.Fault.Err):
		s.missed(e.Fault)
	case e.Fault.Status != 0:
		s.reached = true
	}
}

// missed notes that the provider could not be reached.
func (s *silence) missed(f *patra.Fault) {
	if s.unreached == nil {
		s.since = time.Now()
	}
	s.unreached = f
}

// happened notes that something else than a page came about.
func (s *silence) happened() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.said = time.Now(), ""
}

// watch looks once a second until ctx ends, and ends it by lose where it waits in vain.
func (s *silence) watch(ctx context.Context, lose context.CancelCauseFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.look(ctx)
			if fault := s.lost(); fault != nil {
				lose(&unreachedError{fault, s.within})
				return
			}
		}
	}
}

// lost is why the provider was never reached, when that has lasted for too long.
func (s *silence) lost() *patra.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reached || s.unreached == nil || time.Since(s.since) < s.within {
		return nil
	}
	return s.unreached
}

// look says why nothing happens, if it is so for long enough and was not said.
func (s *silence) look(ctx context.Context) {
	s.mu.Lock()
	quiet := time.Since(s.last) >= silentFor
	s.mu.Unlock()
	if !quiet {
		return
	}
	reason, err := s.why(ctx)
	if err != nil || reason.text == "" { // who waits is told of an error when the command ends
		return
	}
	s.mu.Lock()
	news := reason.code != s.said || time.Since(s.saidAt) >= sayAgain
	if news {
		s.said, s.saidAt = reason.code, time.Now()
	}
	s.mu.Unlock()
	if news {
		s.say(reason.text)
	}
}

// unreachedError is why a command was ended that could reach nobody.
type unreachedError struct {
	fault *patra.Fault
	after time.Duration
}

// Error implements error.
func (e *unreachedError) Error() string { return e.fault.Error() }

// unreachable is an error of a request to an address that gave no answer, for a person.
func unreachable(err error) error {
	return patra.Environment(fmt.Errorf("%w. See that this address can be reached from here; another one is named with {base_url}", err))
}

// endUnreached is the end of a command: that it could not reach its provider in all the time that it had, if that is so.
func endUnreached(ctx context.Context, address string, err error) error {
	lost, ok := errors.AsType[*unreachedError](context.Cause(ctx))
	if !ok {
		return err
	}
	return unreachable(fmt.Errorf("%s was tried for %s in vain: %w", address, lost.after, lost.fault))
}

// waits is why the work of a source waits: what holds it back, then what its gate says, then what it is waiting for at the
// provider.
func (a *app) waits(s *store.Store, place func() patra.WorkScope, sharers func() []source.RateKeyMember, sil func() *silence) func(context.Context) (waitReason, error) {
	return func(ctx context.Context) (waitReason, error) {
		if at := place(); at.Endpoint != "" {
			hold, line, err := waitsFor(ctx, s, at)
			if err != nil {
				return waitReason{}, err
			}
			if c := hold.Control; c != nil && c.Kind == patra.KindBreaker && c.Detail.Recent.Unreachable() && c.Detail.Fault != nil {
				sil().noteMissed(c.Detail.Fault)
			}
			if line != "" {
				return waitReason{hold.Code + string(hold.Control.State), line}, nil
			}
		}
		w, err := a.gateHolds(ctx, s, sharers())
		if err != nil || w != nil {
			if w == nil {
				return waitReason{}, err
			}
			return waitReason{w.Code, w.Text}, nil
		}
		return sil().waitsForAnswer(), nil
	}
}

// noteMissed notes that an earlier command could not reach the provider, and that nobody asks since.
func (s *silence) noteMissed(f *patra.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unreached == nil {
		s.unreached, s.since = f, s.last
	}
}

// waitsForAnswer is what is left when nothing of ours holds requests back.
func (s *silence) waitsForAnswer() waitReason {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := time.Since(s.last).Round(time.Second)
	if s.unreached != nil && !s.reached {
		return waitReason{"UNREACHED", fmt.Sprintf("The provider could not be reached for %s (%s); it is tried again, until %s at the latest.", after, s.unreached, clockTime(patra.InstantOf(s.since.Add(s.within))))}
	}
	return waitReason{"ANSWER", fmt.Sprintf("Nothing came from the provider for %s; a request is on its way, or is asked again.", after)}
}

// foregroundSilence is the watch over one command.
type foregroundSilence struct {
	*silence
	address string // whom it asks
	stop    context.CancelCauseFunc

	mu   sync.Mutex
	plan patra.Plan // the zero value while it is made
	bar  *progress
}

// watchSilence watches over the planning and the reading of a request.
func (a *app) watchSilence(s *store.Store, req planner.Request) *foregroundSilence {
	f := &foregroundSilence{address: cmp.Or(req.BaseURL, req.Source.Defaults.HTTP.BaseURL, req.Source.Code)}
	place := func() patra.WorkScope {
		f.mu.Lock()
		defer f.mu.Unlock()
		at := f.plan.WorkScope()
		at.PlanID = 0
		return at
	}
	sharers := func() []source.RateKeyMember {
		return req.Source.Sharers(a.have, source.Vars{Contact: req.Contact, Version: a.version})
	}
	f.silence = newSilence(f.tell(a), a.within, a.waits(s, place, sharers, func() *silence { return f.silence }))
	a.watched.Store(f.silence)
	return f
}

// tell says a line above the bar, or where there is none yet.
func (f *foregroundSilence) tell(a *app) func(string) {
	return func(line string) {
		f.mu.Lock()
		bar := f.bar
		f.mu.Unlock()
		if bar != nil {
			bar.say(line)
			return
		}
		fmt.Fprintln(aboveBars{a}, line)
	}
}

func (f *foregroundSilence) begin(ctx context.Context) context.Context {
	ctx, f.stop = context.WithCancelCause(ctx)
	go f.watch(ctx, f.stop)
	return ctx
}

func (f *foregroundSilence) end() { f.stop(nil) }

// over watches over the reading of a plan.
func (f *foregroundSilence) over(plan patra.Plan, bar *progress) func(executor.Event) {
	f.mu.Lock()
	f.plan, f.bar = plan, bar
	f.mu.Unlock()
	return func(e executor.Event) {
		f.observe(e)
		bar.observe(e)
	}
}
