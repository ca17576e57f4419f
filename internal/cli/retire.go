package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"patra"
)

func (a *app) sourceRetireCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "retire SOURCE", Short: "Take a source out of the registry, as from now", Args: exactArgs("SOURCE"),
		Long: strings.TrimSpace(`
Take a source out of the registry, as from now. Everything that the registry says about it ends, also what it says for one
operation alone. From then on its file counts again, if there is one. What was in force stays known: see patra source
history and --at. Plans that were made are not touched. patra source apply brings the source back.`),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.openReadOnly(c.Context()) // without a store there is nothing to retire, and none to be made
			if err != nil {
				return err
			}
			changes, err := s.RetireSource(c.Context(), now(), args[0])
			if errors.Is(err, patra.ErrNotFound) {
				return patra.Invalid("", "%s was never applied, so there is nothing to retire; patra source list shows what counts", args[0])
			}
			if err != nil {
				return err
			}
			return a.printRetired(out, args[0], changes)
		},
	}
	formatFlag(c, &out)
	return c
}

func (a *app) printRetired(out format, code string, changes []patra.RegistryChange) error {
	if out != "table" {
		rows := []change{}
		for _, ch := range changes {
			row, err := describeChange(ch)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		return printValue(a.stdout, out, map[string]any{"source": code, "changes": rows})
	}
	if len(changes) == 0 {
		fmt.Fprintf(a.stdout, "%s was retired before. Nothing changed.\n", code)
		return nil
	}
	fmt.Fprintf(a.stdout, "Retired %s: %s closed.\n", code, plural(int64(len(changes)), "row"))
	_, err := a.find(code)
	if found, ok := errors.AsType[patra.Problems](err); ok && found[0].Code == patra.CodeUnknownSource {
		fmt.Fprintln(a.stdout, "There is no file of it, so it cannot be harvested any more. Next: patra source apply FILE.yaml brings it back")
		return nil
	}
	fmt.Fprintf(a.stdout, "Its file counts from now on. Next: patra source show %s\n", code)
	return nil
}
