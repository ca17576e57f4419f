package cli

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"patra/internal/sim"
)

// TestREADMECommandsRun runs the commands of the README's blocks in their order, in one folder, with a real shell: those of shell blocks,
// and those behind a $ whose output is shown. The simulator stands in for the providers: a harvest is sent to it by --base-url and
// covers the days of the text. `make` runs these tests, and DuckDB is tried beside the exports; both are left out here.
func TestREADMECommandsRun(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 10, 30, 0, 0, 0, 0, time.UTC)
	server := sim.New(sim.Config{Seed: 7, From: day, To: day.AddDate(0, 0, 6), PerDay: 40, Exact: true})
	provider := httptest.NewServer(server.Handler())
	defer provider.Close()
	dir := t.TempDir()
	ran := map[string]int{}
	for _, line := range examples(string(text)) {
		words := strings.Fields(strings.TrimPrefix(line, "bin/"))
		ran[words[1]]++
		c := exec.CommandContext(t.Context(), "sh", "-c", simulated(line, provider.URL))
		c.Dir, c.Env = dir, append(os.Environ(), "PATRA_LOG_FORMAT=text")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	for _, command := range []string{"harvest", "coverage", "records", "query", "plan", "source", "spec", "check", "replay"} {
		if ran[command] == 0 {
			t.Errorf("no patra %s was found in the README", command)
		}
	}
	for _, name := range []string{"works.jsonl", "works.parquet", "works.csv", "lake"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("the commands of the README leave no %s", name)
		}
	}
}

// examples are the commands of a text: lines of shell blocks, and of other blocks those behind a $.
func examples(text string) (all []string) {
	block, in := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if tag, fence := strings.CutPrefix(line, "```"); fence {
			block, in = tag, !in
			continue
		}
		typed, shown := strings.CutPrefix(line, "$ ")
		command := strings.HasPrefix(typed, "bin/patra ") || strings.HasPrefix(typed, "patra ")
		if in && command && (block == "sh" || shown) && !strings.HasPrefix(typed, "patra sim ") { // the simulator runs already
			all = append(all, typed)
		}
	}
	return all
}

// ownFile makes the source file of the reader's own that the text applies.
const ownFile = "patra source export crossref | sed 's/perSecond: 3/perSecond: 5/' > mine.yaml && "

// theMoment is the one of the text at which the first of two versions was in force; here it is when that was applied.
const theMoment = "2026-11-15T06:00:40Z"

// simulated sends a command of the README to the simulator. One that reads until now ends where the simulated works do.
func simulated(line, address string) string {
	line = strings.ReplaceAll(strings.TrimPrefix(line, "bin/"), "http://127.0.0.1:8090", address)
	switch {
	case strings.HasPrefix(line, "patra source apply crossref"):
		return line + " && date -u +%Y-%m-%dT%H:%M:%S.%6NZ > moment"
	case strings.Contains(line, theMoment):
		return strings.ReplaceAll(line, theMoment, "$(cat moment)")
	case strings.HasPrefix(line, "patra source apply mine.yaml"):
		return ownFile + line
	case !strings.HasPrefix(line, "patra harvest "):
		return line
	}
	command, comment, _ := strings.Cut(line, " #")
	if strings.Contains(command, "baseUrl=") {
		address += "/oai"
	}
	if !strings.Contains(command, "--to ") {
		command += " --to 2026-11-03"
	}
	return command + " --base-url " + address + " #" + comment
}
