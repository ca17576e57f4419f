package cli

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"patra/internal/sim"
)

// TestREADMECommandsRun runs the commands of the README's shell blocks in their order, in one folder, with a real shell.
// The simulator stands in for the providers: a harvest is sent to it by --base-url and covers the days of the text. `make`
// runs these tests, and DuckDB is tried beside the exports; both are left out here.
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
	ran := 0
	for _, block := range regexp.MustCompile("(?s)\n```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "bin/patra ") && !strings.HasPrefix(line, "patra ") {
				continue
			}
			ran++
			c := exec.CommandContext(t.Context(), "sh", "-c", simulated(line, provider.URL))
			c.Dir, c.Env = dir, append(os.Environ(), "PATRA_LOG_FORMAT=text")
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
		}
	}
	if ran < 8 {
		t.Errorf("only %d commands were found in the README", ran)
	}
	for _, name := range []string{"works.jsonl", "works.parquet", "works.csv", "lake"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("the commands of the README leave no %s", name)
		}
	}
}

// simulated sends a command of the README to the simulator. One that reads until now ends where the simulated works do.
func simulated(line, address string) string {
	line = strings.TrimPrefix(line, "bin/")
	if !strings.HasPrefix(line, "patra harvest ") {
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
