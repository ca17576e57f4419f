package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/registry"
	"patra/internal/source"
	"patra/internal/store"
)

// isFile tells a file name from the code of a source.
func isFile(arg string) bool {
	return strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml")
}

// sourceText reads a source file by its name, or by its code.
func (a *app) sourceText(arg string) (name string, data []byte, err error) {
	if isFile(arg) {
		data, err = os.ReadFile(arg)
		return arg, data, environment(err)
	}
	places, err := a.places()
	if err != nil {
		return "", nil, err
	}
	name = arg + ".yaml"
	for _, p := range places {
		if names, err := fs.Glob(p.files, "*.yaml"); err != nil || !slices.Contains(names, name) {
			continue
		}
		data, err = fs.ReadFile(p.files, name)
		return name, data, environment(err)
	}
	_, err = a.find(arg) // says what there is
	return name, nil, err
}

// loadSource reads a source file with the words that the store knows, and gives the hash of its text.
func (a *app) loadSource(ctx context.Context, s *store.Store, arg string) (*source.File, string, error) {
	name, data, err := a.sourceText(arg)
	if err != nil {
		return nil, "", err
	}
	words, err := s.Dictionary(ctx)
	if err != nil {
		return nil, "", err
	}
	f, err := registry.Load(name, data, words)
	if err == nil && !isFile(arg) && f.Code != arg {
		err = usage("%s describes %q: name the file after its code", name, f.Code)
	}
	return f, patra.HashBytes(data), err
}

// state is a source at an instant, from the registry or from a file.
type state struct {
	From string              `json:"from"` // REGISTRY or FILE
	Name string              `json:"name"`
	At   patra.Instant       `json:"at,omitzero"`
	rows []patra.RegistryRow // those of a file have no id
}

// String is where the state is from, for people.
func (s state) String() string {
	if s.From == "FILE" {
		return s.Name + " (from the file)"
	}
	return fmt.Sprintf("%s (from the registry, at %s)", s.Name, s.At)
}

// state finds what is meant by a file name or a code. A code that was applied is what the registry says about it.
func (a *app) state(ctx context.Context, s *store.Store, arg, at string) (state, error) {
	moment, err := instantFlag("--at", at)
	if err != nil {
		return state{}, err
	}
	if !isFile(arg) {
		rows, err := s.RegistryHistory(ctx, arg)
		if err != nil {
			return state{}, err
		}
		if len(rows) > 0 {
			return registered(arg, rows, moment)
		}
	}
	if moment != nil {
		return state{}, usage("--at: %s was never applied, so it has no history; run patra source apply %s", arg, arg)
	}
	f, _, err := a.loadSource(ctx, s, arg)
	if err != nil {
		return state{}, err
	}
	rows, err := registry.Rows(f)
	return state{From: "FILE", Name: arg, rows: rows}, err
}

// registered picks what was in force at a moment, or is now.
func registered(code string, history []patra.RegistryRow, at *patra.Instant) (state, error) {
	first, last := history[0].From, history[0].From
	for _, r := range history {
		first, last = min(first, r.From), max(last, r.From)
	}
	st := state{From: "REGISTRY", Name: code, At: max(now(), last)} // another machine's clock may be ahead of ours
	if at != nil {
		st.At = *at
	}
	if st.At < first {
		return st, usage("--at: %s was first applied at %s", code, first)
	}
	st.rows = history
	return st, nil
}

func (s state) file() (*source.File, error) { return registry.File(s.rows, s.At) }

// sides finds the two things to compare.
func (a *app) sides(c *cobra.Command, s *store.Store, args, at []string, withFile bool) (x, y state, err error) {
	if len(args) == 0 || len(args) > 2 || len(at) > 2 {
		return x, y, usage("%s needs one or two sources, and takes --at twice at most", c.CommandPath())
	}
	a1, a2 := "", ""
	switch {
	case len(at) == 2:
		a1, a2 = at[0], at[1]
	case len(at) == 1 && len(args) == 1:
		a1 = at[0]
	case len(at) == 1:
		a1, a2 = at[0], at[0]
	}
	other := args[len(args)-1]
	if len(args) == 2 { // a file is the same at every moment
		if isFile(args[0]) {
			a1 = ""
		}
		if isFile(other) {
			a2 = ""
		}
	}
	if x, err = a.state(c.Context(), s, args[0], a1); err != nil {
		return x, y, err
	}
	if len(args) == 2 || len(at) > 0 {
		y, err = a.state(c.Context(), s, other, a2)
		return x, y, err
	}
	if !withFile {
		return x, y, usage("%s needs two sources, or --at", c.CommandPath())
	}
	f, _, err := a.loadSource(c.Context(), s, other)
	if err != nil {
		return x, y, err
	}
	rows, err := registry.Rows(f)
	return x, state{From: "FILE", Name: other, rows: rows}, err
}
