package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test's program be the provider too.
func TestMain(m *testing.M) {
	if told := os.Getenv(provideVariable); told != "" {
		if err := provide(told, os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// The benchmark is run seldom, so it would break unseen: here is the least of it, without a server and without peers.
func TestTheLeastOfTheBenchmark(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	b := usual()
	b.quick()
	b.out, b.patra = t.Output(), os.Getenv("BENCH_PATRA")
	b.parts = []string{"json", "pubmed", "oai", "batch", "memory", "read", "scaling", "limited", "start"}
	b.world, b.sizes, b.limitFor, b.starts = world{Days: 2, PerDay: 120}, []int{100}, 100*time.Millisecond, 1
	b.executors = []int{1, 2}
	b.reads = filepath.Join(t.TempDir(), "reads.json")
	page := filepath.Join(t.TempDir(), "benchmarks.md")
	if err := b.all(t.Context(), page); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, want := range []string{"quick run", "| Patra, SQLite |", "| floor, SQLite |", "**metha** is not here", "## Memory", "## Executors", "## A limited rate", "make bench-read"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if lost := regexp.MustCompile(`\*\*[0-9,]+ of [0-9,]+\*\*`).FindString(text); lost != "" {
		t.Errorf("something was lost: %s", lost)
	}
	for _, name := range []string{"json", "pubmed", "oai", "memory", "scaling"} {
		path := "images/bench-" + name + ".svg"
		if _, err := os.Stat(filepath.Join(filepath.Dir(page), path)); err != nil || !strings.Contains(text, path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Everything that is wanted has a place for a reason, and every reason belongs to something that is wanted.
func TestReasonsHaveGoals(t *testing.T) {
	known := map[string]bool{}
	for _, g := range goals {
		if known[g.key] {
			t.Errorf("%s is there twice", g.key)
		}
		known[g.key] = true
	}
	for key := range reasons {
		if !known[key] {
			t.Errorf("a reason is given for %s, which nobody wants", key)
		}
	}
}

func TestVerdicts(t *testing.T) {
	rep := &report{figures: newFigures()}
	rep.figures.set("a", spreadOf(0.5, 0.61, 0.7))
	rep.figures.set("b", spreadOf(3))
	rep.figures.absent["c"] = "because"
	for _, tt := range []struct {
		goal     goal
		got, met string
	}{
		{goal{key: "a", least: true, limit: 0.6, unit: percent}, "61 % (50–70)", "yes"},
		{goal{key: "a", least: true, limit: 0.62, unit: percent}, "61 % (50–70)", "**no**"},
		{goal{key: "b", limit: 2.9, unit: finely}, "3.00x", "**no**"},
		{goal{key: "b", limit: 3, unit: finely}, "3.00x", "yes"},
		{goal{key: "c", limit: 3}, "because", "–"},
		{goal{key: "d", limit: 3}, "not measured in this run", "–"},
	} {
		if got, met := rep.verdict(tt.goal); got != tt.got || met != tt.met {
			t.Errorf("%s %s: %s, %s", tt.goal.key, tt.goal.want(), got, met)
		}
	}
}

func TestSpread(t *testing.T) {
	if got := spreadOf(4, 1, 3, 2); got != (spread{Mid: 2.5, Low: 1, High: 4, Rounds: 4}) {
		t.Error(got)
	}
	if got := ratios([]float64{10, 40, 30}, []float64{10, 20, 0}); got != (spread{Mid: 1.5, Low: 1, High: 2, Rounds: 2}) {
		t.Error(got)
	}
	if got := grouped(1234567) + " " + grouped(-1000) + " " + grouped(12); got != "1,234,567 -1,000 12" {
		t.Error(got)
	}
}

func TestSteady(t *testing.T) {
	for _, c := range []struct {
		seconds []int64
		want    float64
		ok      bool
	}{
		{nil, 0, false},
		{[]int64{56, 40, 3}, 0, false},
		{[]int64{56, 50, 49, 3}, 1, true},
		{[]int64{56, 50, 48, 50, 3}, 0.98, true},
	} {
		if got, ok := steady(c.seconds); got != c.want || ok != c.ok {
			t.Errorf("%v: %v, %v", c.seconds, got, ok)
		}
	}
}

func TestReadMetrics(t *testing.T) {
	got := readMetrics(`goos: linux
BenchmarkClaim/sqlite/workers=16-2         	       1	 123 ns/op	         1.50 avg-ms	         2.25 p95-ms
BenchmarkClaim/sqlite/workers=16#01-2      	       1	 124 ns/op	         2.50 avg-ms	         3.25 p95-ms
BenchmarkPlan/years=10                     	       1	 124 ns/op	         36.1 µs/slice
PASS
`)
	if s := got.spread("BenchmarkClaim/sqlite/workers=16", "avg-ms"); s != (spread{2, 1.5, 2.5, 2}) {
		t.Error(s)
	}
	if s := got.spread("BenchmarkPlan/years=10", "µs/slice"); s != (spread{36.1, 36.1, 36.1, 1}) {
		t.Error(s)
	}
}

// What a peer lost is said.
func TestWhatIsLostIsSaid(t *testing.T) {
	s := score{contender: contender{kind: peer}, world: world{Days: 2, PerDay: 500}, turns: []result{{Records: 990, Lost: 10}, {Records: 980, Lost: 20}}}
	if got := s.kept(); got != "**985 of 1,000**" {
		t.Error(got)
	}
}
