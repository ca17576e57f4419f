package cli

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// tortureReport adds up what was done and what was found. Safe for concurrent use.
type tortureReport struct {
	t     *testing.T
	seed  uint64
	long  bool
	began time.Time
	begun int // combinations

	mu       sync.Mutex
	scenes   int
	cycles   int
	requests int64
	restarts int
	records  int
	findings int
	faults   map[string]int64
	looked   map[string]int64  // how much each line of the judge had to look at, in all combinations
	lines    map[string]string // and what it says
}

// unlooked are the lines of the judge for which a torture has nothing: nobody replays anything in it.
var unlooked = []string{"replay"}

func (r *tortureReport) cyclesEach() int {
	if r.long {
		return longEach
	}
	return cyclesEach
}

func (r *tortureReport) add(s *stage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats, happened := s.provider.Stats(), s.happened()
	r.scenes++
	for _, c := range s.done {
		r.cycles += int(c)
	}
	r.requests += stats.Requests
	r.findings += len(s.findings)
	r.records += s.count(`SELECT COUNT(*) FROM ing_record`)
	r.restarts += s.count(`SELECT COALESCE(SUM(scan_no - 1), 0) FROM ing_task`)
	if r.faults == nil {
		r.faults = map[string]int64{}
	}
	for name, n := range happened {
		r.faults[name] += n
	}
	if r.looked == nil {
		r.looked, r.lines = map[string]int64{}, map[string]string{}
	}
	for _, v := range s.verdict {
		r.looked[v.Name] += v.Looked
		r.lines[v.Name] = v.Text
	}
	if r.long {
		r.t.Logf("%s seed %d: %s/%s %v, %d requests, %d findings; %d cycles in all", time.Since(r.began).Round(time.Second), r.seed, s.profile, s.code, s.done, stats.Requests, len(s.findings), r.cycles)
	}
}

// whole tells whether all combinations were gone through, and not only some that were asked for.
func (r *tortureReport) whole() bool { return r.scenes >= len(ordeals)*len(torturedSources) }

// misses tells whether a fault has not happened yet that could have.
func (r *tortureReport) misses() bool {
	for _, f := range tortures {
		if r.faults[f.name] == 0 {
			return r.whole()
		}
	}
	return false
}

// conclude prints the sum and how often every fault happened. One that never did proves nothing, and fails the run.
func (r *tortureReport) conclude() {
	r.t.Logf("seed %d: %d combinations, %d times something was done to processes, %d requests, %d records, %d scans begun again, %d findings in %s", r.seed, r.scenes, r.cycles, r.requests, r.records, r.restarts, r.findings, time.Since(r.began).Round(time.Second))
	b := &strings.Builder{}
	for _, f := range tortures {
		fmt.Fprintf(b, "\n  %-24s %6d  %s", f.name, r.faults[f.name], f.words)
		if r.whole() && r.faults[f.name] == 0 {
			r.t.Errorf("this never happened: %s (%s)", f.words, f.name)
		}
	}
	r.t.Logf("how often every fault happened:%s", b)
	r.lookedAt()
}

// lookedAt sees that the judge had something to look at, for each of its lines: one that had nothing has proved nothing. Only a
// long run fails for that.
func (r *tortureReport) lookedAt() {
	for name, n := range r.looked {
		switch expected := !slices.Contains(unlooked, name); {
		case n > 0 && !expected:
			r.t.Errorf("the judge looks at %d of what nobody thought of: %s (%s)", n, r.lines[name], name)
		case n == 0 && expected && r.long && r.whole():
			r.t.Errorf("the judge had nothing to look at, whether %s (%s)", r.lines[name], name)
		case n == 0 && expected:
			r.t.Logf("the judge had nothing to look at, whether %s (%s)", r.lines[name], name)
		}
	}
}
