// Command testreport reads `go test -json` on standard input and prints what `go test` prints: a line a package and all of
// what failed. At the end it lists the slowest packages and tests, and every skipped test with its reason. It exits with 1
// if a test or a build failed.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// slowest is how many packages and tests the tables have.
const slowest = 15

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

// timing is how long a package or a test took.
type timing struct {
	name    string
	seconds float64
}

// report collects the events of one call of `go test`.
type report struct {
	out             io.Writer
	lines           map[string][]string // output of tests that have not ended, by package and test
	packages, tests []timing
	skipped         []string
	failed          bool
}

func main() {
	if !run(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// run reads events from in until it ends and reports whether all packages passed.
func run(input io.Reader, out io.Writer) bool {
	r := report{out: out, lines: map[string][]string{}}
	in := bufio.NewScanner(input)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil { // of the compiler, or of a script around the tests
			fmt.Fprintln(r.out, in.Text())
			continue
		}
		r.add(e)
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(r.out, "testreport:", err)
		r.failed = true
	}
	if len(r.packages) == 0 {
		fmt.Fprintln(r.out, "testreport: no package was tested")
		r.failed = true
	}
	r.print()
	return !r.failed
}

// add notes an event and prints the output of packages and of tests that failed.
func (r *report) add(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		r.output(key, e)
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "build-fail":
		r.failed = true
	case "pass", "fail", "skip":
		r.end(key, e)
	}
}

func (r *report) output(key string, e event) {
	if e.Test == "" {
		if !strings.HasPrefix(e.Output, "PASS") && !strings.HasPrefix(e.Output, "coverage:") {
			fmt.Fprint(r.out, e.Output)
		}
		return
	}
	r.lines[key] = append(r.lines[key], e.Output)
}

func (r *report) end(key string, e event) {
	if e.Test == "" {
		r.packages = append(r.packages, timing{e.Package, e.Elapsed})
		r.failed = r.failed || e.Action == "fail"
		return
	}
	lines := r.lines[key]
	delete(r.lines, key)
	switch e.Action {
	case "fail":
		r.failed = true
		fmt.Fprint(r.out, strings.Join(lines, ""))
	case "skip":
		r.skipped = append(r.skipped, key+": "+reason(lines))
	}
	if !strings.Contains(e.Test, "/") {
		r.tests = append(r.tests, timing{key, e.Elapsed})
	}
}

// reason is what a skipped test said last.
func reason(lines []string) string {
	for _, line := range slices.Backward(lines) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "=== ") {
			return line
		}
	}
	return "no reason given"
}

// print lists what failed without an end, what was slow and what was skipped.
func (r *report) print() {
	for key, lines := range r.lines { // a test that was cut off by a panic or a timeout of its package
		if r.failed && len(lines) > 0 {
			fmt.Fprintf(r.out, "did not end: %s\n%s", key, strings.Join(lines, ""))
		}
	}
	table(r.out, "Slowest packages", r.packages)
	table(r.out, "Slowest tests", r.tests)
	fmt.Fprintf(r.out, "\n%d tests skipped\n", len(r.skipped))
	slices.Sort(r.skipped)
	for _, s := range r.skipped {
		fmt.Fprintf(r.out, "  %s\n", s)
	}
}

func table(w io.Writer, title string, all []timing) {
	slices.SortFunc(all, func(a, b timing) int { return cmp.Compare(b.seconds, a.seconds) })
	fmt.Fprintf(w, "\n%s\n", title)
	for _, t := range all[:min(slowest, len(all))] {
		fmt.Fprintf(w, "%8.1f s  %s\n", t.seconds, t.name)
	}
}
