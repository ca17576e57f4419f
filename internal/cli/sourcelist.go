package cli

import (
	"context"
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
	"patra/internal/registry"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/view"
)

// listedSource is one line of `source list`.
type listedSource struct {
	Code      string   `json:"code"`
	Name      string   `json:"name"`
	Endpoints []string `json:"endpoints"`
	Paging    []string `json:"paging"`
	Rate      string   `json:"rate"`
	From      string   `json:"from"` // where its file is; empty: there is none
	SourceStatus
	Problem string        `json:"problem,omitempty"`
	Verdict *view.Verdict `json:"verdict,omitempty"` // nil where nothing was ever asked of it
}

// SourceStatus is what counts for a source, and how its file stands to that.
type SourceStatus struct {
	InForce string         `json:"in_force"`        // FILE or REGISTRY
	Since   *patra.Instant `json:"since,omitempty"` // when the registry last changed
	File    string         `json:"file,omitempty"`  // of a source in the registry: SAME, DIFFERS, INVALID, NONE
}

// String is the standing for people.
func (s SourceStatus) String() string {
	if s.InForce == fromFile {
		return "file"
	}
	return fmt.Sprintf("registry since %s%s", s.Since, map[string]string{"DIFFERS": ", file differs", "INVALID": ", file is not valid", "NONE": ", no file"}[s.File])
}

// statusOf compares what counts with the file.
func (a *app) statusOf(st sourceState) (SourceStatus, error) {
	if st.From == fromFile {
		return SourceStatus{InForce: fromFile}, nil
	}
	since := changed(st.rows)
	s := SourceStatus{InForce: fromRegistry, Since: &since, File: "SAME"}
	f, err := a.find(st.Name)
	if found, ok := errors.AsType[patra.Problems](err); ok {
		s.File = "INVALID"
		if found[0].Code == patra.CodeUnknownSource {
			s.File = "NONE"
		}
		return s, nil
	}
	if err != nil {
		return s, err
	}
	want, err := registry.Rows(f)
	if err != nil {
		return s, err
	}
	live := slices.DeleteFunc(slices.Clone(st.rows), func(r patra.RegistryRow) bool { return !r.LiveAt(st.At) })
	if len(patra.RegistryChanges(live, want)) > 0 { // applying it would change something
		s.File = "DIFFERS"
	}
	return s, nil
}

func (a *app) sourceListCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "list", Short: "List the sources that can be harvested, and what counts for each", Args: noArgs,
		Long: strings.TrimSpace(`
List the sources that can be harvested. Each line shows what counts: the file, or the registry where the source was
applied. FROM is where the file is.`),
		RunE: func(c *cobra.Command, _ []string) error {
			rows, err := a.listSources(c.Context())
			if err != nil {
				return err
			}
			if err := a.judgeSources(c.Context(), rows); err != nil {
				return err
			}
			return printRows(a.stdout, out, rows, columns[listedSource]{
				names: []string{"code", "name", "paging", "rate", "from", "in force", "health"}, fit: true,
				row: func(s listedSource) []any {
					name := s.Name
					if s.Problem != "" {
						name = "not valid: run patra source " + map[string]string{fromFile: "validate", fromRegistry: "show"}[s.InForce]
					}
					return []any{s.Code, shorter(name, 26), strings.Join(slices.Compact(slices.Clone(s.Paging)), ", "), s.Rate, s.From, s.SourceStatus, s.health()}
				},
				empty: "No sources.",
			})
		},
	}
	formatFlag(c, &out)
	return c
}

// judgeSources adds the verdict to each source of which something was ever asked.
func (a *app) judgeSources(ctx context.Context, rows []listedSource) error {
	s, err := a.registryStore(ctx)
	if err != nil || s == nil {
		return err
	}
	cfg, err := a.load()
	if err != nil {
		return err
	}
	_, verdicts, err := verdict(ctx, cfg, s)
	for i, r := range rows {
		if v, ok := verdicts[r.Code]; ok {
			rows[i].Verdict = &v
		}
	}
	return err
}

func (s listedSource) health() string {
	if s.Verdict == nil || s.Verdict.Health == view.HealthIdle { // nothing was ever asked of it
		return ""
	}
	return strings.ToLower(string(s.Verdict.Health))
}

// shorter cuts a name that is too long for its column; the beginning of a name tells more than its end.
func shorter(name string, width int) string {
	if r := []rune(name); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return name
}

// listSources is every source that has a file or is in the registry.
func (a *app) listSources(ctx context.Context) ([]listedSource, error) {
	reg, err := a.registryStore(ctx)
	if err != nil {
		return nil, err
	}
	from, err := a.sourceCodes(ctx, reg)
	if err != nil {
		return nil, err
	}
	var rows []listedSource
	for _, code := range slices.Sorted(maps.Keys(from)) {
		s := listedSource{Code: code, From: from[code], SourceStatus: SourceStatus{InForce: fromFile}}
		st, err := a.currentIn(ctx, reg, code)
		var f *source.File
		if err == nil {
			if s.SourceStatus, err = a.statusOf(st); err != nil {
				return nil, err
			}
			f, err = st.file()
		}
		if err != nil {
			if _, ok := errors.AsType[patra.Problems](err); !ok && st.From != fromRegistry {
				return nil, err
			}
			s.Problem = err.Error()
		} else {
			s.describe(f)
		}
		rows = append(rows, s)
	}
	return rows, nil
}

// sourceCodes is every source that there is, and where its file is.
func (a *app) sourceCodes(ctx context.Context, s *store.Store) (map[string]string, error) {
	places, err := a.places()
	if err != nil {
		return nil, err
	}
	from := map[string]string{}
	for _, p := range slices.Backward(places) { // the first place speaks last
		names, err := fs.Glob(p.files, "*.yaml")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if !a.isConfig(filepath.Join(p.name, name)) {
				from[strings.TrimSuffix(name, ".yaml")] = p.name
			}
		}
	}
	if s == nil {
		return from, nil
	}
	heads, err := s.Provenances(ctx)
	for _, h := range heads {
		if _, ok := from[h.Code]; !ok && h.Lifecycle == patra.LifecycleActive {
			from[h.Code] = ""
		}
	}
	return from, err
}

// isConfig reports whether a file is the configuration, which may stand in the same folder as the sources.
func (a *app) isConfig(path string) bool {
	config, _ := a.configFile()
	x, errX := os.Stat(path)
	y, errY := os.Stat(config)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func (s *listedSource) describe(f *source.File) {
	s.Name, s.Rate = f.Name, fmt.Sprintf("%g/s", f.Defaults.Rate.PerSecond)
	for _, name := range slices.Sorted(maps.Keys(f.Endpoints)) {
		e := f.Endpoints[name]
		s.Endpoints = append(s.Endpoints, name)
		if e.Pagination.Type != "" {
			s.Paging = append(s.Paging, e.Pagination.Type)
		}
	}
}

// printBounds tells how the providers of a source read the ends of a window, where the source leaves that to be found out.
func (a *app) printBounds(ctx context.Context, code string) error {
	s, err := a.registryStore(ctx)
	if err != nil || s == nil {
		return err
	}
	all, err := s.FoundBounds(ctx, code)
	for _, f := range all {
		fmt.Fprintf(a.stdout, "# Found out: %s\n", f)
	}
	return err
}

func (a *app) sourceShowCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "show SOURCE", Short: "Show a source as it counts now", Args: exactArgs("SOURCE"),
		Long: strings.TrimSpace(`
Show a source as it counts now: what was applied to the registry, or else the file as it is understood. Comments say which
of the two it is, which secrets the source wants, and whether they are set here. With -o only the source is printed.`),
		RunE: func(c *cobra.Command, args []string) error {
			st, err := a.current(c.Context(), args[0])
			if err != nil {
				return err
			}
			f, err := st.file()
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, f)
			}
			how, err := a.statusOf(st)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "# In force: %s\n", how)
			a.printSecrets(a.stdout, f)
			if err := a.printBounds(c.Context(), f.Code); err != nil {
				return err
			}
			for _, r := range registry.Foreign(st.rows, st.At) {
				fmt.Fprintf(a.stdout, "# Not shown: %s\n", foreign(r))
			}
			return printValue(a.stdout, "yaml", f)
		},
	}
	formatFlag(c, &out)
	return c
}
