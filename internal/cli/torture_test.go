package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"patra/internal/store/storetest"
)

// Torture: real processes on one store, a provider at its worst, and somebody who kills processes and puts them to sleep
// at moments that a seed draws. When all is calm again, what is stored is compared with what was really there, from
// outside.
//
// TORTURE_SEED repeats a run as far as a race can be repeated, and TORTURE_CYCLES asks for a long one, which
// goes through all combinations of profile, source and engine again and again.
const (
	seedVariable   = "TORTURE_SEED"
	cyclesVariable = "TORTURE_CYCLES"
)

const (
	cyclesEach = 2 // of a combination, in a short run
	longEach   = 8 // and in a long one
	leastTotal = 30
	atOnce     = 4 // combinations; most of their time is waiting
	mostMore   = 3 // rounds more for a fault that has not happened: luck may cost time, and must not decide
)

func TestTorture(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes more than a minute")
	}
	seed, want := number(t, seedVariable, rand.Uint64()), int(number(t, cyclesVariable, 0))
	r := &tortureReport{t: t, seed: seed, long: want > 0, began: time.Now()}
	t.Logf("torture with %s=%d", seedVariable, seed)
	for round := uint64(0); round == 0 || !t.Failed() && (r.cycles < want || round <= mostMore && r.misses()); round++ {
		tortureAll(t, r, seed+round*1000)
	}
	r.conclude()
	if total := max(want, leastTotal); !t.Failed() && r.scenes >= len(ordeals)*len(torturedSources) && r.cycles < total {
		t.Errorf("%d processes were killed or put to sleep, want %d", r.cycles, total)
	}
}

// tortureAll goes through all combinations, some at once.
func tortureAll(t *testing.T, r *tortureReport, seed uint64) {
	var wait sync.WaitGroup
	turn := make(chan struct{}, atOnce)
	for _, o := range ordeals {
		for _, src := range torturedSources {
			for _, e := range storetest.Engines() {
				seed++
				own, first := seed, r.begun*r.cyclesEach()
				r.begun++
				turn <- struct{}{}
				wait.Go(func() {
					defer func() { <-turn }()
					t.Run(fmt.Sprintf("%s/%s/%s/%d", o.profile, src.code, e.Name, own), func(t *testing.T) { torture(t, r, e, src, o, own, first) })
				})
			}
		}
	}
	wait.Wait()
}

// torture is one combination; turn is what is done first.
func torture(t *testing.T, r *tortureReport, e storetest.Engine, src tortured, o ordeal, seed uint64, turn int) {
	fuller := 1
	if r.long {
		fuller = 3
	}
	s := newStage(t, e, src, o, seed, fuller)
	dice := rand.New(rand.NewPCG(seed, 0x70c7))
	s.planKilled(time.Duration(20+dice.IntN(100)) * time.Millisecond)
	s.plan()
	f := s.fleet(executors)
	s.done["plan-killed"]++
	for i := range r.cyclesEach() {
		if !s.log.await(2+dice.IntN(8), 5*time.Second) && s.open() == 0 {
			break
		}
		f.cycle(turn+i, dice)
		f.revive()
		s.plan()
	}
	s.drain(f, 20*time.Second)
	s.calm(f)
	s.finish()
	s.check(f)
	r.add(s)
	for _, text := range s.findings {
		t.Error(text)
	}
}

// drain waits until the queue is empty, and tells whether it is.
func (s *stage) drain(f *fleet, patience time.Duration) bool {
	for deadline := time.Now().Add(slower * patience); s.open() > 0; time.Sleep(50 * time.Millisecond) {
		f.revive()
		s.resume()
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// calm lets the provider be itself again, waits until the queue is empty and ends the fleet.
func (s *stage) calm(f *fleet) {
	s.provider.Calm()
	if !s.drain(f, 90*time.Second) {
		s.find("%d tasks are still open long after all is calm:\n%s", s.open(), s.stuck())
	}
	s.numbers(f)
	f.dismiss()
}

// finish reads what has failed, and the days to which papers have gone, in the foreground; it must be complete.
func (s *stage) finish() {
	s.resume() // the last answer of all may have been a refusal
	// What moved while it was read is read again in the calm, as patra serve does when an hour has passed.
	if s.count(unsealed) > 0 {
		fill := s.patra("coverage", "fill", s.code, "--read", "--disputed", "--base-url", s.base, "--from", tortureFrom.Format(time.DateOnly), "--to", s.calmTo.Format(time.DateOnly))
		if out, err := fill.CombinedOutput(); err != nil && s.count(unsealed) > 0 {
			s.find("reading again what was not proved: %v\n%s", err, out)
		}
	}
	if out, err := s.ask([]string{"harvest"}, s.calmTo).CombinedOutput(); err != nil && s.count(unsealed) > 0 {
		s.find("the last harvest: %v\n%s", err, out)
	}
}

func number(t *testing.T, variable string, otherwise uint64) uint64 {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}
