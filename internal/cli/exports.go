package cli

import (
	"patra"

	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"patra/internal/store"
)

// exportsCmd is about exports that go on from one time to the next.
func (a *app) exportsCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "export", Short: "Look at exports that go on from one time to the next", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.exportListCmd(), a.exportShowCmd(), a.exportResetCmd())
	return c
}

func (a *app) exportListCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "list", Short: "List exports and how far they have come", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			all, err := s.Exports(c.Context())
			if err != nil {
				return err
			}
			return printRows(a.stdout, out, all, columns[store.Export]{
				names: []string{"name", "state", "has what changed until", "exports", "records"}, fit: true,
				row: func(e store.Export) []any {
					return []any{e.Name, e.State, takenTo(e), e.Exports, thousands(e.Records)}
				},
				empty: "No exports with a cursor. Next: patra records export --cursor NAME --out FILE",
			})
		},
	}
	formatFlag(c, &out)
	return c
}

func takenTo(e store.Export) string {
	if e.Exports == 0 {
		return "nothing yet"
	}
	return seconds(e.TakenTo)
}

// filterText is what an export takes, for people.
func filterText(filter []byte) string {
	if string(filter) == "{}" {
		return "all records"
	}
	return string(filter)
}

func (a *app) exportShowCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "show NAME", Short: "Show one export", Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			e, err := exportNamed(c, s, args[0])
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, e)
			}
			w := a.stdout
			fmt.Fprintf(w, "Export    %s, %s\n", e.Name, e.State)
			fmt.Fprintf(w, "Takes     %s\n", filterText(e.Filter))
			fmt.Fprintf(w, "Has       what changed until %s: %s in %s\n", takenTo(e), plural(e.Records, "record"), plural(e.Exports, "export"))
			if e.Place != "" {
				fmt.Fprintf(w, "Last      to %s, begun %s\n", e.Place, shortly(e.StartedAt))
			}
			next := "patra records export --cursor " + e.Name + " takes what changed since"
			if e.State != store.ExportDone {
				fmt.Fprintf(w, "Open      what changed until %s\n", shortly(e.HaulTo))
				next = "give the command again with --resume, or patra export reset " + e.Name
			}
			fmt.Fprintf(w, "Next: %s\n", next)
			return nil
		},
	}
	formatFlag(c, &out)
	return c
}

func exportNamed(c *cobra.Command, s *store.Store, name string) (store.Export, error) {
	all, err := s.Exports(c.Context())
	for _, e := range all {
		if e.Name == name {
			return e, nil
		}
	}
	if err == nil {
		err = unknownExport(name)
	}
	return store.Export{}, err
}

func unknownExport(name string) error {
	return patra.Invalid("", "there is no export %q; patra export list has all of them", name)
}

func (a *app) exportResetCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "reset NAME", Short: "Forget how far an export has come; the next one takes everything", Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			if err := s.ResetExport(c.Context(), args[0], actor(c.Context())); errors.Is(err, store.ErrExportUnknown) {
				return unknownExport(args[0])
			} else if err != nil {
				return err
			}
			return a.done(out, map[string]any{"export": args[0]}, fmt.Sprintf("The export %s is forgotten. Its files stay; the next export of that name takes everything.", args[0]), "")
		},
	}
	formatFlag(c, &out)
	return c
}
