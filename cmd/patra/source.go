package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/source"
)

func (a *app) sourceCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "source", Short: "Look at, check and begin source files", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.sourceListCmd(), a.sourceShowCmd(), a.sourceValidateCmd(), a.sourceSchemaCmd(), a.sourceNewCmd(), a.sourceTestCmd(),
		a.sourceApplyCmd(), a.sourceExportCmd(), a.sourceDiffCmd(), a.sourceHistoryCmd())
	return c
}

// listedSource is one line of `source list`.
type listedSource struct {
	Code      string   `json:"code"`
	Name      string   `json:"name"`
	Endpoints []string `json:"endpoints"`
	Paging    []string `json:"paging"`
	Rate      string   `json:"rate"`
	From      string   `json:"from"`
	Problem   string   `json:"problem,omitempty"`
}

func (a *app) sourceListCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "list", Short: "List the sources that can be harvested", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			places, err := a.places()
			if err != nil {
				return err
			}
			var rows []listedSource
			seen := map[string]bool{}
			for _, place := range places {
				names, err := fs.Glob(place.files, "*.yaml")
				if err != nil {
					return err
				}
				for _, name := range names {
					if code := strings.TrimSuffix(name, ".yaml"); !seen[code] {
						seen[code] = true
						rows = append(rows, describe(code, place))
					}
				}
			}
			slices.SortFunc(rows, func(x, y listedSource) int { return strings.Compare(x.Code, y.Code) })
			return printRows(a.stdout, out, rows, columns[listedSource]{
				names: []string{"code", "name", "paging", "rate", "from"},
				row: func(s listedSource) []any {
					name := s.Name
					if s.Problem != "" {
						name = "not valid: run patra source validate"
					}
					return []any{s.Code, name, strings.Join(s.Paging, ", "), s.Rate, s.From}
				},
				empty: "No sources.",
			})
		},
	}
	formatFlag(c, &out)
	return c
}

func describe(code string, p place) listedSource {
	s := listedSource{Code: code, From: p.name}
	f, err := source.Find(code, p.files)
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	s.Name, s.Rate = f.Name, fmt.Sprintf("%g/s", f.Defaults.Rate.PerSecond)
	for _, name := range slices.Sorted(maps.Keys(f.Endpoints)) {
		e := f.Endpoints[name]
		s.Endpoints = append(s.Endpoints, name)
		if e.Pagination.Type != "" {
			s.Paging = append(s.Paging, e.Pagination.Type)
		}
	}
	return s
}

func (a *app) sourceShowCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "show SOURCE", Short: "Show a source file as it is understood", Args: exactly("SOURCE"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := a.find(args[0])
			if err != nil {
				return err
			}
			if out == "table" {
				out = "yaml"
			}
			return printValue(a.stdout, out, f)
		},
	}
	formatFlag(c, &out)
	return c
}

func (a *app) sourceValidateCmd() *cobra.Command {
	return &cobra.Command{
		Use: "validate [SOURCE | FILE.yaml]...", Short: "Check source files and report every problem with its line",
		Long: "Check source files: those named, or without a name all shipped ones and all in sources.dir.",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				places, err := a.places()
				if err != nil {
					return err
				}
				for _, p := range places {
					names, err := fs.Glob(p.files, "*.yaml")
					if err != nil {
						return err
					}
					for _, n := range names {
						args = append(args, strings.TrimSuffix(n, ".yaml"))
					}
				}
				slices.Sort(args)
				args = slices.Compact(args)
			}
			var found patra.Problems
			for _, arg := range args {
				if err := a.validate(arg); err != nil {
					var ps patra.Problems
					if !errors.As(err, &ps) {
						return err
					}
					found = append(found, ps...)
					continue
				}
				fmt.Fprintf(a.stdout, "%s is valid.\n", arg)
			}
			return found.Err()
		},
	}
}

// validate checks a file by its name, or a source by its code.
func (a *app) validate(arg string) error {
	if !strings.HasSuffix(arg, ".yaml") && !strings.HasSuffix(arg, ".yml") {
		_, err := a.find(arg)
		return err
	}
	data, err := os.ReadFile(arg)
	if err != nil {
		return environment(err)
	}
	_, err = source.Load(arg, data)
	return err
}

func (a *app) sourceSchemaCmd() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of source files, for editors", Args: noArgs,
		Example: "  patra source schema > patra-source.schema.json",
		RunE:    func(*cobra.Command, []string) error { return printJSON(a.stdout, source.Schema(), "  ") },
	}
}

func (a *app) sourceNewCmd() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "new CODE", Short: "Begin a source file with comments", Args: exactly("CODE"),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			if dir == "" {
				dir = cfg.Sources.Dir
			}
			if dir == "" {
				dir = "."
			}
			text := source.Scaffold(args[0])
			if _, err := source.Load(args[0]+".yaml", []byte(text)); err != nil {
				return err // the code itself is not a good one
			}
			path := filepath.Join(dir, args[0]+".yaml")
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if errors.Is(err, fs.ErrExist) {
				return usage("%s is already there", path)
			}
			if err != nil {
				return environment(err)
			}
			_, err = f.WriteString(text)
			if err := errors.Join(err, f.Close()); err != nil {
				return environment(err)
			}
			fmt.Fprintf(a.stdout, "Wrote %s.\nNext: edit it, then patra source validate %s\n", path, path)
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "folder to write to (default sources.dir, or the current folder)")
	return c
}
