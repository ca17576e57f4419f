package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// metrics are what benchmarks of a package reported: by their name, then by the unit, the rounds.
type metrics map[string]map[string][]float64

// goBench runs benchmarks that live beside what they measure, and reads what they report.
func goBench(ctx context.Context, rounds int, pkg, pattern string, env ...string) (metrics, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", pattern, "-benchtime", "1x", "-count", strconv.Itoa(rounds), "-timeout", "1h", pkg)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w\n%s", pattern, pkg, err, tail(string(out)))
	}
	return readMetrics(string(out)), nil
}

// again is what Go writes behind a name: that it was there before, and how many processors there are.
var again = regexp.MustCompile(`(#\d+)?(-\d+)?$`)

func readMetrics(out string) metrics {
	all := metrics{}
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := again.ReplaceAllString(words[0], "")
		if all[name] == nil {
			all[name] = map[string][]float64{}
		}
		for i := 2; i+1 < len(words); i += 2 {
			if v, err := strconv.ParseFloat(words[i], 64); err == nil {
				all[name][words[i+1]] = append(all[name][words[i+1]], v)
			}
		}
	}
	return all
}

func (m metrics) spread(name, unit string) spread { return spreadOf(m[name][unit]...) }
