package main

import (
	"maps"
	"slices"
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

	mu       sync.Mutex
	scenes   int
	cycles   int
	requests int64
	restarts int
	records  int
	moves    int64
	findings int
	faults   map[string]map[string]int64 // by profile
}

func (r *tortureReport) add(s *stage, done []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats := s.provider.Stats()
	r.scenes++
	r.cycles += len(done)
	r.requests += stats.Requests
	r.moves += stats.Moves
	r.findings += len(s.findings)
	r.records += s.count(`SELECT COUNT(*) FROM ing_record`)
	r.restarts += s.count(`SELECT COALESCE(SUM(scan_no - 1), 0) FROM ing_task`)
	if r.faults == nil {
		r.faults = map[string]map[string]int64{}
	}
	if r.faults[s.profile] == nil {
		r.faults[s.profile] = map[string]int64{}
	}
	for name, n := range stats.Faults {
		r.faults[s.profile][name] += n
	}
	if r.long {
		r.t.Logf("%s seed %d: %s/%s %v, %d requests, faults %v, %d moves, %d findings; %d cycles in all", time.Since(r.began).Round(time.Second), r.seed, s.profile, s.code, done, stats.Requests, stats.Faults, stats.Moves, len(s.findings), r.cycles)
	}
}

// conclude prints the sum, and sees that no profile was without the faults it is there for.
func (r *tortureReport) conclude() {
	r.t.Logf("seed %d: %d combinations, %d kills and stops, %d requests, %d records, %d scans begun again, %d moves, %d findings in %s", r.seed, r.scenes, r.cycles, r.requests, r.records, r.restarts, r.moves, r.findings, time.Since(r.began).Round(time.Second))
	if r.scenes < len(ordeals)*len(torturedSources) { // only some were asked for
		return
	}
	for _, o := range ordeals {
		got := r.faults[o.profile]
		r.t.Logf("%s: %v", o.profile, slices.Sorted(maps.Keys(got)))
		for _, name := range o.faults {
			if got[name] == 0 {
				r.t.Errorf("%s never happened under %s: %v", name, o.profile, got)
			}
		}
	}
	if r.moves == 0 {
		r.t.Error("nothing moved")
	}
}
