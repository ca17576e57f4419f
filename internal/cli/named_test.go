package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var (
	// A command in a text is between backquotes, or at the beginning of a line of a block, perhaps behind a prompt.
	namedInText = regexp.MustCompile("(?m)(?:`|^|^\\$ |&& )(?:bin/)?patra ([a-z][a-z-]*[^`\n|>#&;]*)")
	namedFlag   = regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]*)`)
)

// Every command and flag that the pages for people name is there.
func TestThePagesNameCommandsThatAreThere(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md") {
		if filepath.Base(page) == "decisions.md" { // which tells of what was
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range namedInText.FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(strings.ReplaceAll(m[1], ",", " "))
			c, rest, err := (&app{}).root().Find(words)
			if err != nil || !c.HasParent() && words[0] != "help" && words[0] != "completion" || c.HasSubCommands() && !c.HasAvailableFlags() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
				t.Errorf("%s names `patra %s`: there is no such command", filepath.Base(page), m[1])
				continue
			}
			found++
			for _, f := range namedFlag.FindAllStringSubmatch(strings.Join(rest, " "), -1) {
				if !hasFlag(c, f[1]) {
					t.Errorf("%s names `patra %s`: %s has no flag --%s", filepath.Base(page), m[1], c.CommandPath(), f[1])
				}
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d commands were found in the pages", found)
	}
}

// hasFlag reports whether a command takes a flag, of its own or of all commands.
func hasFlag(c *cobra.Command, name string) bool {
	return name == "help" || c.Flags().Lookup(name) != nil || c.InheritedFlags().Lookup(name) != nil
}
