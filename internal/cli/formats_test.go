package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// oneForm are the commands that have one form only, and why.
var oneForm = map[string]string{
	"serve":         "it runs until it is told to stop; its log can be JSON",
	"sim":           "the same",
	"demo":          "it is for people",
	"openapi":       "it prints JSON",
	"source schema": "it prints JSON",
	"blackbox key":  "it prints a key, to be kept in a file",
	"help":          "it is for people",
	"completion":    "it is for shells",
}

// Whatever a command has to say it says to programs as well.
func TestEveryCommandSpeaksToPrograms(t *testing.T) {
	left := maps.Clone(oneForm)
	var look func(*cobra.Command)
	look = func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "patra ")
		if _, known := oneForm[name]; known {
			delete(left, name)
			return
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
		if !c.HasSubCommands() && c.Runnable() && c.Flags().Lookup("output") == nil {
			t.Errorf("patra %s has no -o", name)
		}
	}
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	look(root)
	if len(left) > 0 {
		t.Errorf("there are no such commands: %v", slices.Sorted(maps.Keys(left)))
	}
}
