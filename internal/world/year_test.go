package world

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWeeks is the short form: some weeks of every profile.
func TestWeeks(t *testing.T) {
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			out := Run(t, 1, p, options{days: 24})
			out.report(t)
			out.verify(t)
		})
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

// verify fails the test for everything that the judge found, and for a world in which nothing happened.
func (o outcome) verify(t *testing.T) {
	t.Helper()
	for _, f := range o.findings {
		t.Errorf("%s seed %d: %s: %s", o.profile, o.seed, f.rule, f.text)
	}
	if o.records == 0 || o.updated == 0 || o.events == 0 || (o.quarantined > 0) != (o.poison > 0) {
		t.Errorf("nothing happened: %+v", o.figures)
	}
}

// TestOne lives through one world and tells everything: SEED=n PROFILE=name DAYS=n.
func TestOne(t *testing.T) {
	name := os.Getenv("PROFILE")
	if name == "" || os.Getenv("SIMULATE_ONE") == "" {
		t.Skip("it is for people who look for something")
	}
	p, err := profileNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	days, _ := strconv.Atoi(os.Getenv("DAYS"))
	out := Run(t, seed, p, options{days: max(days, 10), log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))})
	out.report(t)
	out.verify(t)
}
