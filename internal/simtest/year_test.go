package simtest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestWeeks is the short form: some days of every profile. What one of them does not meet, another does.
func TestWeeks(t *testing.T) {
	met := map[string]int64{}
	for i, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			days := 10
			if p.every < day {
				days = 6
			}
			out := Run(t, uint64(i+1), p, options{days: days})
			out.report(t)
			out.verify(t)
			for k, n := range out.faults {
				met[k] += n
			}
			met["updated"] += out.updated
		})
	}
	everything(t, met, "updated", "killed", "paused", "takeover", "split", "clock-jump", "moves", "server-error", "throttle", "reset", "cut-body", "short-page", "disputed")
}

// TestSimulate is the long form: a year of every profile, for as many seeds as SIMULATE_SEEDS says. SEED is the first of
// them, PROFILE one of the profiles, DAYS how long a year is.
func TestSimulate(t *testing.T) {
	seeds, _ := strconv.ParseUint(os.Getenv("SIMULATE_SEEDS"), 10, 64)
	if seeds == 0 {
		t.Skip("it takes minutes: make simulate SEEDS=1")
	}
	first, err := strconv.ParseUint(cmp.Or(os.Getenv("SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	days, err := strconv.Atoi(cmp.Or(os.Getenv("DAYS"), "365"))
	if err != nil {
		t.Fatal(err)
	}
	chosen := profiles
	if name := os.Getenv("PROFILE"); name != "" {
		p, err := profileNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		chosen = []profile{p}
	}
	var mu sync.Mutex
	total := figures{faults: map[string]int64{}}
	found, lived := 0, 0
	t.Run("worlds", func(t *testing.T) {
		for seed := first; seed < first+seeds; seed++ {
			for _, p := range chosen {
				t.Run(fmt.Sprint(p.name, "/", seed), func(t *testing.T) {
					t.Parallel()
					out := Run(t, seed, p, options{days: days})
					out.report(t)
					out.verify(t)
					if days >= 300 {
						everything(t, out.faults, "killed", "paused", "takeover", "clock-jump", "planner-absent", "moves", "server-error", "throttle", "unavailable", "reset", "cut-body", "weather-calm", "weather-lying", "weather-outage")
					}
					mu.Lock()
					defer mu.Unlock()
					lived, found = lived+1, found+len(out.findings)
					total.add(out.figures)
				})
			}
		}
	})
	outcome{profile: fmt.Sprint(lived, " worlds from"), seed: first, days: lived * days, figures: total}.report(t)
	t.Logf("%d findings", found)
}

func (f *figures) add(o figures) {
	f.sessions += o.sessions
	f.requests += o.requests
	f.records += o.records
	f.updated += o.updated
	f.events += o.events
	f.quarantined += o.quarantined
	f.runs += o.runs
	f.took += o.took
	for k, n := range o.faults {
		f.faults[k] += n
	}
}

// everything fails the test if some kind of fault never happened: then it proves nothing.
func everything(t *testing.T, met map[string]int64, kinds ...string) {
	t.Helper()
	for _, k := range kinds {
		if met[k] == 0 {
			t.Errorf("%s never happened", k)
		}
	}
}

// report tells what happened.
func (o outcome) report(t *testing.T) {
	t.Helper()
	t.Logf("%s seed %d: %d days, %d sessions, %d requests, %d runs, %d records (%d updated, %d put aside), %d events, %.1f s", o.profile, o.seed, o.days, o.sessions, o.requests, o.runs, o.records, o.updated, o.quarantined, o.events, o.took.Seconds())
	var all []string
	for _, k := range slices.Sorted(maps.Keys(o.faults)) {
		all = append(all, fmt.Sprintf("%s %d", k, o.faults[k]))
	}
	t.Logf("  %s", strings.Join(all, ", "))
}

// verify fails the test for everything that the judge found, and for a world in which nothing happened. Most changes come
// weeks after a record, so that a world of some days may have none.
func (o outcome) verify(t *testing.T) {
	t.Helper()
	for _, f := range o.findings {
		t.Errorf("%s seed %d: %s: %s", o.profile, o.seed, f.rule, f.text)
	}
	if o.records == 0 || o.updated == 0 && o.days > 60 || o.events == 0 || (o.quarantined > 0) != (o.poison > 0) {
		t.Errorf("nothing happened: %+v", o.figures)
	}
}
