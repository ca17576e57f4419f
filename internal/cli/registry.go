package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/registry"
	"patra/internal/source"
	"patra/internal/store"
)

// change is what an apply did, or would do, to one scope of one dimension.
type change struct {
	Dimension patra.Dimension       `json:"dimension"`
	Endpoint  string                `json:"endpoint,omitempty"`
	Change    string                `json:"change"` // NEW, CHANGED, REMOVED
	Closed    *int64                `json:"closed_version,omitempty"`
	Opened    *int64                `json:"opened_version,omitempty"`
	Fields    []registry.Difference `json:"fields,omitempty"`
}

func describeChange(c patra.RegistryChange) (change, error) {
	r := c.Row()
	d := change{Dimension: r.Dimension, Endpoint: r.Endpoint, Change: "CHANGED"}
	if c.Close != nil {
		d.Closed = &c.Close.Version
	}
	if c.Open != nil && c.Open.Version > 0 {
		d.Opened = &c.Open.Version
	}
	switch {
	case c.Close == nil:
		d.Change = "NEW"
	case c.Open == nil:
		d.Change = "REMOVED"
	default:
		var err error
		d.Fields, err = registry.Diff(c.Close.Body, c.Open.Body)
		return d, err
	}
	return d, nil
}

func (a *app) sourceApplyCmd() *cobra.Command {
	var dry bool
	var out format
	c := &cobra.Command{
		Use: "apply SOURCE | FILE.yaml", Short: "Put a source file into the registry, as from now", Args: exactArgs("SOURCE or FILE.yaml"),
		Long: strings.TrimSpace(`
Put a source file into the registry, as from now. What says something new is closed and begun again; the rest is not
touched, and the same file a second time changes nothing. The registry keeps what was in force at every moment: see
--at of patra source export and patra spec. From then on harvests go by the registry, and no longer by the file.`),
		RunE: func(c *cobra.Command, args []string) error {
			open := a.openOrCreate
			if dry {
				open = a.openReadOnly
			}
			s, err := open(c.Context())
			if err != nil {
				return err
			}
			f, hash, err := a.loadSource(c.Context(), s, args[0])
			if err != nil {
				return err
			}
			changes, err := apply(c.Context(), s, f, hash, dry)
			if err != nil {
				return err
			}
			rows := []change{}
			for _, ch := range changes {
				row, err := describeChange(ch)
				if err != nil {
					return err
				}
				rows = append(rows, row)
			}
			return a.printChanges(out, f.Code, rows, dry)
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "store nothing, and say what would change")
	formatFlag(c, &out)
	return c
}

// apply stores a file, or says what storing it would change.
func apply(ctx context.Context, s *store.Store, f *source.File, hash string, dry bool) ([]patra.RegistryChange, error) {
	rows, err := registry.Rows(f)
	if err != nil {
		return nil, err
	}
	if !dry {
		head, err := registry.Head(f, hash)
		if err != nil {
			return nil, err
		}
		return s.ApplySource(ctx, now(), head, rows)
	}
	open, err := s.RegistryHistory(ctx, f.Code)
	if err != nil {
		return nil, err
	}
	var live []patra.RegistryRow
	for _, r := range open {
		if r.To == nil {
			live = append(live, r)
		}
	}
	return patra.RegistryChanges(live, rows), nil
}

func (a *app) printChanges(out format, code string, rows []change, dry bool) error {
	if out != "table" {
		return printValue(a.stdout, out, map[string]any{"source": code, "dry_run": dry, "changes": rows})
	}
	if len(rows) == 0 {
		fmt.Fprintf(a.stdout, "%s is in the registry as it stands. Nothing changed.\n", code)
		return nil
	}
	if err := printRows(a.stdout, out, rows, columns[change]{
		names: []string{"dimension", "of", "change", "fields"},
		row: func(c change) []any {
			return []any{c.Dimension, scopeName(c.Endpoint), strings.ToLower(c.Change), fieldsText(c.Fields)}
		},
	}); err != nil {
		return err
	}
	if dry {
		fmt.Fprintf(a.stdout, "\nNothing was stored. Next: patra source apply %s\n", code)
		return nil
	}
	fmt.Fprintf(a.stdout, "\nApplied %s: %s.\n", code, plural(int64(len(rows)), "change"))
	return nil
}

func scopeName(endpoint string) string {
	if endpoint == "" {
		return "the source"
	}
	return endpoint
}

func fieldsText(all []registry.Difference) string {
	var parts []string
	for _, d := range all {
		parts = append(parts, fmt.Sprintf("%s: %s -> %s", d.Path, cellText(d.A), cellText(d.B)))
	}
	return strings.Join(parts, "\n")
}

// valueText is a value as a person reads it.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "(absent)"
	case string:
		return v
	}
	b, err := patra.Canonical(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// cellText is a value that leaves room for the rest of the line.
func cellText(v any) string {
	const most = 72
	if runes := []rune(valueText(v)); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return valueText(v)
}

func (a *app) sourceExportCmd() *cobra.Command {
	var at string
	var out format
	c := &cobra.Command{
		Use: "export SOURCE", Short: "Write a source as the registry has it, as a source file", Args: exactArgs("SOURCE"),
		Example: "  patra source export crossref --at 2026-11-01 > crossref.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.openReadOnly(c.Context())
			if err != nil {
				return err
			}
			moment, err := instantField("at", at)
			if err != nil {
				return err
			}
			st, ok, err := registered(c.Context(), s, args[0], moment)
			switch {
			case err != nil:
				return err
			case !ok && len(st.rows) > 0:
				return patra.Invalid("", "%s was retired at %s; name a moment before that with {at}, or run patra source apply %s", args[0], changed(st.rows), args[0])
			case !ok:
				return patra.Invalid("", "%s was never applied; run patra source apply %s", args[0], args[0])
			}
			f, err := st.file()
			if err != nil {
				return err
			}
			for _, r := range registry.Foreign(st.rows, st.At) {
				fmt.Fprintf(a.stderr, "patra: left out: %s\n", foreign(r))
			}
			if out == "table" {
				out = "yaml"
			}
			return printValue(a.stdout, out, f)
		},
	}
	c.Flags().StringVar(&at, "at", "", "as it was at this moment: 2026-01-31 or 2026-01-31T09:30:00Z")
	formatFlag(c, &out)
	return c
}

// foreign names a row that a file cannot express.
func foreign(r patra.RegistryRow) string {
	return fmt.Sprintf("%s row %d is for %s, which a file cannot say", r.Dimension, r.ID, r.Scope())
}

func (a *app) sourceDiffCmd() *cobra.Command {
	var at []string
	var out format
	c := &cobra.Command{
		Use: "diff A [B]", Short: "Compare two sources field by field",
		Long: strings.TrimSpace(`
Compare two sources field by field. A and B are source codes or file names; a code that was applied means what the
registry says. With A alone, two --at compare two moments, one --at compares that moment with now, and without --at the
registry is compared with the file of that code.`),
		Example: "  patra source diff crossref mine.yaml\n  patra source diff crossref --at 2026-11-01 --at 2026-11-08",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.openReadOnly(c.Context())
			if err != nil {
				return err
			}
			x, y, err := a.diffSides(c.Context(), s, args, at)
			if err != nil {
				return err
			}
			found, err := differences(x, y)
			if err != nil {
				return err
			}
			return a.printDiff(out, x, y, found)
		},
	}
	c.Flags().StringArrayVar(&at, "at", nil, "as it was at this moment; given twice: the first for A, the second for B")
	formatFlag(c, &out)
	return c
}

// differences compares the files of two states.
func differences(x, y sourceState) ([]registry.Difference, error) {
	left, err := x.file()
	if err != nil {
		return nil, err
	}
	right, err := y.file()
	if err != nil {
		return nil, err
	}
	return registry.Diff(left, right)
}

// printDiff shows the differences of two files or two specs.
func (a *app) printDiff(out format, x, y sourceState, found []registry.Difference) error {
	if out == "table" {
		fmt.Fprintf(a.stdout, "A  %s\nB  %s\n\n", x, y)
	}
	return printRows(a.stdout, out, found, columns[registry.Difference]{
		names: []string{"field", "a", "b"},
		row:   func(d registry.Difference) []any { return []any{d.Path, cellText(d.A), cellText(d.B)} },
		empty: "No differences.",
	})
}

func (a *app) sourceHistoryCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "history SOURCE", Short: "List every version of every part of a source in the registry", Args: exactArgs("SOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			rows, err := s.RegistryHistory(c.Context(), args[0])
			if err != nil {
				return err
			}
			return printRows(a.stdout, out, rows, columns[patra.RegistryRow]{
				names: []string{"dimension", "of", "operation", "version", "row", "from", "to", "file"},
				row: func(r patra.RegistryRow) []any {
					to := "now"
					if r.To != nil {
						to = r.To.String()
					}
					return []any{r.Dimension, scopeName(r.Endpoint), r.Operation, r.Version, r.ID, r.From, to, r.FileHash[:min(8, len(r.FileHash))]}
				},
				empty: args[0] + " was never applied. Next: patra source apply " + args[0],
			})
		},
	}
	formatFlag(c, &out)
	return c
}
