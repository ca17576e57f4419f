package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/registry"
	"patra/internal/source"
)

func (a *app) sourceCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "source", Short: "Look at, check, begin and apply source files", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.sourceListCmd(), a.sourceShowCmd(), a.sourceValidateCmd(), a.sourceSchemaCmd(), a.sourceNewCmd(), a.sourceTestCmd(), a.sourceCertifyCmd(), a.sourceCertificateCmd(),
		a.sourceApplyCmd(), a.sourceRetireCmd(), a.sourceExportCmd(), a.sourceDiffCmd(), a.sourceHistoryCmd())
	return c
}

// validationResult is what is to be said of one source file.
type validationResult struct {
	Source   string         `json:"source"`
	Valid    bool           `json:"valid"`
	Problems patra.Problems `json:"problems"`
}

func (a *app) sourceValidateCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "validate [SOURCE | FILE.yaml]...", Short: "Check source files and report every problem with its line",
		Long: "Check source files: those named, or without a name all shipped ones and all in sources.dir.",
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if len(args) == 0 {
				if args, err = a.allSources(); err != nil {
					return err
				}
			}
			var found patra.Problems
			verdicts := []validationResult{}
			for _, arg := range args {
				v := validationResult{Source: arg, Valid: true, Problems: patra.Problems{}}
				if err := a.validate(arg); err != nil {
					if !errors.As(err, &v.Problems) {
						return err
					}
					v.Valid = false
					found = append(found, v.Problems...)
				} else if out == "table" {
					fmt.Fprintf(a.stdout, "%s is valid.\n", arg)
				}
				verdicts = append(verdicts, v)
			}
			if out != "table" {
				if err := printRows(a.stdout, out, verdicts, columns[validationResult]{}); err != nil {
					return err
				}
			}
			return found.Err()
		},
	}
	formatFlag(c, &out)
	return c
}

// allSources are the codes of all shipped sources and of those in sources.dir.
func (a *app) allSources() (codes []string, err error) {
	places, err := a.places()
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		names, err := fs.Glob(p.files, "*.yaml")
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			codes = append(codes, strings.TrimSuffix(n, ".yaml"))
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes), nil
}

// validate checks a file by its name, or a source by its code.
func (a *app) validate(arg string) error {
	if !strings.HasSuffix(arg, ".yaml") && !strings.HasSuffix(arg, ".yml") {
		_, err := a.find(arg)
		return err
	}
	data, err := os.ReadFile(arg)
	if err != nil {
		return patra.Environment(err)
	}
	_, err = registry.Read(arg, data)
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
	var out format
	c := &cobra.Command{
		Use: "new CODE", Short: "Begin a source file with comments", Args: exactArgs("CODE"),
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
				return patra.Invalid("", "%s is already there; edit it, or name another folder with {dir}", path)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return patra.Environment(fmt.Errorf("there is no folder %s; make it first: mkdir -p %s", dir, dir))
			}
			if err != nil {
				return patra.Environment(err)
			}
			_, err = f.WriteString(text)
			if err := errors.Join(err, f.Close()); err != nil {
				return patra.Environment(err)
			}
			return a.done(out, map[string]any{"file": path}, fmt.Sprintf("Wrote %s.", path), "edit it, then patra source validate "+path)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "folder to write to (default sources.dir, or the current folder)")
	formatFlag(c, &out)
	return c
}
