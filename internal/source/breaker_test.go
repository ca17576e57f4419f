package source_test

import (
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/source"
	"patra/sources"
)

// crossrefWith is the shipped file with something more in its defaults.
func crossrefWith(t *testing.T, lines string) (*source.File, error) {
	t.Helper()
	data, err := sources.Files.ReadFile("crossref.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return source.Load("crossref.yaml", []byte(strings.Replace(string(data), "\n  retry:", "\n"+lines+"\n  retry:", 1)))
}

func TestABreakerIsWrittenInOneLine(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       patra.BreakerRule
	}{
		{"nothing", "", patra.BreakerRule{Shortest: time.Minute, Longest: 2 * time.Minute}},
		{"all of it", "  breaker: {failures: 5, cooldown: 10s..1m}", patra.BreakerRule{Failures: 5, Shortest: 10 * time.Second, Longest: time.Minute}},
		{"only how many", "  breaker: {failures: 7}", patra.BreakerRule{Failures: 7, Shortest: time.Minute, Longest: 2 * time.Minute}},
		{"only how long", "  breaker: {cooldown: 30s}", patra.BreakerRule{Shortest: 30 * time.Second, Longest: 30 * time.Second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := crossrefWith(t, c.line)
			if err != nil {
				t.Fatal(err)
			}
			spec, err := source.Compile(f, source.Options{Operation: patra.Harvest, Contact: "t@example.org"})
			if err != nil {
				t.Fatal(err)
			}
			if got := spec.Breaker.Rule(); got != c.want {
				t.Errorf("got %+v", got)
			}
			snap, err := spec.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			stored, err := source.FromSnapshot(snap.Fingerprint, snap.Body)
			if err != nil || stored.Breaker.Rule() != c.want {
				t.Errorf("stored and read again: %+v, %v", stored, err)
			}
		})
	}
}

func TestABreakerThatMakesNoSenseIsRefused(t *testing.T) {
	for line, where := range map[string]string{
		"  breaker: {failures: 0}":           "breaker.failures",
		"  breaker: {failures: -1}":          "breaker.failures",
		"  breaker: {failures: 100000}":      "breaker.failures",
		"  breaker: {cooldown: 2m..1m}":      "60s..120s",
		"  breaker: {cooldown: soon}":        "60s..120s",
		"  breaker: {cooldown: 0s..0s}":      "breaker.cooldown",
		"  breaker: {cooldown: 1h..30h}":     "breaker.cooldown",
		"  breaker: {cooldowns: 60s..120s}":  "cooldown",
		"  breaker: {failures: 3, after: 1}": "after",
	} {
		if _, err := crossrefWith(t, line); err == nil || !strings.Contains(err.Error(), where) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
