package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"patra/internal/store/storetest"
)

// lists are all commands that list something and need no argument.
func lists(c *cobra.Command) (all [][]string) {
	for _, sub := range c.Commands() {
		all = append(all, lists(sub)...)
	}
	if strings.HasPrefix(c.Short, "List ") && c.Runnable() && c.Args(c, nil) == nil {
		all = append(all, strings.Fields(c.CommandPath())[1:])
	}
	return all
}

// Every list fits a page of 80 columns when it is piped, whatever stands in it.
func TestListsFitThePage(t *testing.T) {
	w := storetest.Eventful(t, storetest.Engines()[0])
	long := strings.Repeat("long words and long sentences about what went wrong ", 4) + "https://example.org/" + strings.Repeat("very/long/path/", 12)
	db := storetest.Inspect(t, w.URL)
	fault := `{"level":"REQUEST","code":"HTTP","text":"` + long + `"}`
	for _, change := range []struct {
		query string
		with  any
	}{
		{`UPDATE ing_task_run SET error = ? WHERE id IN (1, 3)`, fault},
		{`UPDATE ing_task_run_batch SET error = ? WHERE id = 2`, fault},
		{`UPDATE ing_task SET last_error = ? WHERE id = 2`, fault},
		{`UPDATE ing_control SET reason = ?`, long},
		{`UPDATE ing_audit SET reason = ?`, long},
		{`UPDATE ing_healing SET detail = ?`, `{"text":"` + long + `"}`},
	} {
		if _, err := db.Exec(change.query, change.with); err != nil {
			t.Fatalf("%s: %v", change.query, err)
		}
	}
	t.Chdir(t.TempDir())
	config := "schedules:\n  - {name: a-schedule-with-quite-a-long-name-for-every-night, cron: '0 3 * * *', source: crossref}\n"
	if err := os.WriteFile(filepath.Join(".", "patra.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	all := lists((&app{}).root())
	seen := map[string]bool{}
	for _, args := range all {
		name := strings.Join(args, " ")
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), append(args, "--store", w.URL), append(os.Environ(), "PATRA_CONTACT=me@example.org"), &stdout, &stderr); code != 0 && code != exitIncomplete {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			lines := strings.Split(strings.TrimRight(stdout.String(), "\n"), "\n")
			seen[name] = len(lines) > 1
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > pageWidth {
					t.Errorf("a line has %d columns:\n%s", n, stdout.String())
					break
				}
			}
		})
	}
	for _, name := range []string{"plans", "slices", "tasks", "runs", "batches", "controls", "healing", "audit list", "events list", "cursor list", "source list", "signal list"} {
		if !seen[name] {
			t.Errorf("%s is not among the lists that have something to show: %v", name, all)
		}
	}
}
