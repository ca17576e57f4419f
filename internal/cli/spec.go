package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/registry"
	"patra/internal/source"
	"patra/internal/store"
)

func (a *app) specCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "spec", Short: "Look at what sources are compiled to, now and at other times", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.specCompileCmd(), a.specExplainCmd(), a.specDiffCmd())
	return c
}

// specFlags are what a spec is compiled for.
type specFlags struct {
	operation string
	params    []string
	out       format
}

func (f *specFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.operation, "operation", string(patra.Harvest), "what it is compiled for")
	c.Flags().StringArrayVar(&f.params, "param", nil, "NAME=VALUE of a parameter of the source; may be given several times")
	formatFlag(c, &f.out)
}

// question is what the rows of a state are asked. A contact is no part of a spec, so any will do.
func (f *specFlags) question(st sourceState, endpoint string) (registry.CompileRequest, error) {
	params, err := pairs("params", f.params)
	if len(params) == 0 {
		params = nil
	}
	return registry.CompileRequest{At: st.At, Options: source.Options{Endpoint: endpoint, Operation: patra.Operation(strings.ToUpper(f.operation)), Contact: "you@example.org", Parameters: params}}, err
}

// compiledSpec is a spec with where it is from.
type compiledSpec struct {
	State
	Endpoint    string           `json:"endpoint"`
	Operation   patra.Operation  `json:"operation"`
	Fingerprint string           `json:"spec_fingerprint"`
	Snapshot    json.RawMessage  `json:"snapshot,omitempty"`
	Fields      []registry.Field `json:"fields,omitempty"`
}

// explained compiles one endpoint of a source as it was at a moment.
func (a *app) explained(c *cobra.Command, s *store.Store, f *specFlags, args []string, at string) (compiledSpec, error) {
	var out compiledSpec
	if len(args) == 0 || len(args) > 2 {
		return out, patra.Invalid("", "%s needs: SOURCE [ENDPOINT]", c.CommandPath())
	}
	st, err := a.state(c.Context(), s, args[0], at)
	if err != nil {
		return out, err
	}
	return explainState(f, st, strings.Join(args[1:], ""))
}

func explainState(f *specFlags, st sourceState, endpoint string) (compiledSpec, error) {
	out := compiledSpec{State: st}
	q, err := f.question(st, endpoint)
	if err != nil {
		return out, err
	}
	spec, fields, err := registry.Explain(st.rows, q)
	if err != nil {
		return out, err
	}
	snap, err := spec.Snapshot()
	out.Endpoint, out.Operation, out.Fingerprint, out.Snapshot, out.Fields = snap.Endpoint, snap.Operation, snap.Fingerprint, snap.Body, fields
	return out, err
}

// head is what people see before the body.
func (s compiledSpec) head() string {
	return fmt.Sprintf("Spec         %s/%s for %s\nFrom         %s\nFingerprint  %s\n\n", strings.TrimSuffix(s.Name, ".yaml"), s.Endpoint, s.Operation, s.State, s.Fingerprint)
}

func (a *app) specCompileCmd() *cobra.Command {
	return a.specReadCmd("compile", "Print the snapshot that a plan would be made with", func(s compiledSpec, out format) error {
		s.Fields = nil
		if out != "table" {
			return printValue(a.stdout, out, s)
		}
		fmt.Fprint(a.stdout, s.head())
		return printValue(a.stdout, "json", s.Snapshot)
	})
}

func (a *app) specExplainCmd() *cobra.Command {
	return a.specReadCmd("explain", "Show every field of a spec, its value, and the layer that it is from", func(s compiledSpec, out format) error {
		s.Snapshot = nil
		if out != "table" {
			return printValue(a.stdout, out, s)
		}
		fmt.Fprint(a.stdout, s.head())
		return printRows(a.stdout, out, s.Fields, columns[registry.Field]{
			names: []string{"field", "value", "layer"},
			row:   func(f registry.Field) []any { return []any{f.Path, cellText(f.Value), f.Layer} },
		})
	})
}

// specReadCmd makes a command that compiles one endpoint and shows it.
func (a *app) specReadCmd(use, short string, show func(compiledSpec, format) error) *cobra.Command {
	var f specFlags
	var at string
	c := &cobra.Command{
		Use: use + " SOURCE [ENDPOINT]", Short: short,
		Long:    short + ".\n\nA source that was applied is read from the registry; one that was not, or a file that is named, from the file.",
		Example: "  patra spec " + use + " crossref\n  patra spec " + use + " crossref works --at 2026-11-01",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.openReadOnly(c.Context())
			if err != nil {
				return err
			}
			spec, err := a.explained(c, s, &f, args, at)
			if err != nil {
				return err
			}
			return show(spec, f.out)
		},
	}
	c.Flags().StringVar(&at, "at", "", "as it was at this moment: 2026-01-31 or 2026-01-31T09:30:00Z")
	f.add(c)
	return c
}

func (a *app) specDiffCmd() *cobra.Command {
	var f specFlags
	var at []string
	c := &cobra.Command{
		Use: "diff A B | SOURCE [ENDPOINT] --at T1 [--at T2]", Short: "Compare two specs field by field",
		Long: strings.TrimSpace(`
Compare two specs field by field.

  patra spec diff A B                                two sources as they count now
  patra spec diff SOURCE [ENDPOINT] --at T1 --at T2  one source at two moments
  patra spec diff SOURCE [ENDPOINT] --at T           one source at a moment, and as it counts now

A and B are SOURCE, SOURCE/ENDPOINT or FILE.yaml. With --at there is one source, and a second word is its endpoint. Without
an endpoint it is the one that the source is searched by.`),
		Example: "  patra spec diff biorxiv medrxiv\n  patra spec diff pubmed/search pubmed/modified\n  patra spec diff crossref works --at 2026-11-01 --at 2026-11-08\n  patra spec diff crossref --at 2026-11-01",
		RunE: func(c *cobra.Command, args []string) error {
			sides, err := specSides(args, at)
			if err != nil {
				return err
			}
			s, err := a.openReadOnly(c.Context())
			if err != nil {
				return err
			}
			var states [2]sourceState
			var specs [2]compiledSpec
			for i, side := range sides {
				if states[i], err = a.state(c.Context(), s, side.name, side.at); err != nil {
					return err
				}
				if specs[i], err = explainState(&f, states[i], side.endpoint); err != nil {
					return err
				}
			}
			found, err := registry.Diff(specs[0].Snapshot, specs[1].Snapshot)
			if err != nil {
				return err
			}
			return a.printDiff(f.out, states[0], states[1], found)
		},
	}
	c.Flags().StringArrayVar(&at, "at", nil, "compare SOURCE as it was at this moment with now; given twice: with the second moment")
	f.add(c)
	return c
}

// specSide is one of the two specs that are compared. Without a moment it is what counts now.
type specSide struct{ name, endpoint, at string }

// specSides reads the words of a comparison. Whether --at was said decides what the second word is, and nothing else.
func specSides(args, at []string) (sides [2]specSide, err error) {
	switch {
	case len(at) > 2:
		return sides, patra.Invalid("at", "patra spec diff takes {at} twice at most")
	case len(at) == 0 && len(args) == 2:
		for i, arg := range args {
			sides[i].name, sides[i].endpoint = splitEndpoint(arg)
		}
		return sides, nil
	case len(at) == 0 || len(args) == 0 || len(args) > 2:
		return sides, patra.Invalid("", "patra spec diff needs two sources, or {at} and one source: A B, or SOURCE [ENDPOINT] {at} T1 [{at} T2]")
	}
	name, endpoint := splitEndpoint(args[0])
	if len(args) == 2 {
		if isFile(args[1]) || endpoint != "" {
			return sides, patra.Invalid("", "with {at} one source is compared with itself: write SOURCE [ENDPOINT], and not %s", strings.Join(args, " "))
		}
		endpoint = args[1]
	}
	sides = [2]specSide{{name, endpoint, at[0]}, {name, endpoint, ""}}
	if len(at) == 2 {
		sides[1].at = at[1]
	}
	return sides, nil
}

// splitEndpoint reads SOURCE/ENDPOINT. A slash in the name of a file is the file's.
func splitEndpoint(arg string) (name, endpoint string) {
	if i := strings.LastIndexByte(arg, '/'); i >= 0 && !isFile(arg) {
		return arg[:i], arg[i+1:]
	}
	return arg, ""
}
