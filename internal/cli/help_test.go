package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
)

// helpGolden is what every command says when it is asked for help, by the names of the commands.
var helpGolden = filepath.Join("testdata", "help.golden")

// TestTheHelpOfEveryCommandStays: people and scripts go by it, so it changes only where a command does. UPDATE=1 writes
// the file anew.
func TestTheHelpOfEveryCommandStays(t *testing.T) {
	var got bytes.Buffer
	for _, words := range commands() {
		var stdout, stderr bytes.Buffer
		name := strings.Join(append([]string{"patra"}, words...), " ")
		code := run(t.Context(), append(words, "--help"), nil, &stdout, &stderr)
		if code != exitOK || stderr.Len() > 0 || stdout.Len() == 0 {
			t.Errorf("%s --help ends with %d and says %q and %q", name, code, &stdout, &stderr)
		}
		fmt.Fprintf(&got, "======== %s\n%s", name, &stdout)
	}
	sameAsGolden(t, helpGolden, got.Bytes())
}

// commands are the words of every command, those that are hidden and those that cobra adds too.
func commands() (all [][]string) {
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		all = append(all, strings.Fields(c.CommandPath())[1:])
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	slices.SortFunc(all, slices.Compare)
	return all
}

// sameAsGolden compares what there is with a file; UPDATE=1 writes the file anew.
func sameAsGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	again := fmt.Sprintf("UPDATE=1 go test -run '%s$' ./cmd/patra", t.Name())
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v. Write it with %s, and read it", err, again)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("this is another text than before. If that is meant, write it anew with %s\n%s", again,
			diff.Diff(name, want, "now", got))
	}
}
