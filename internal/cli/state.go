package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

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
		return arg, data, patra.Environment(err)
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
		return name, data, patra.Environment(err)
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
		err = patra.Invalid("", "%s describes %q: name the file after its code", name, f.Code)
	}
	return f, patra.HashBytes(data), err
}

// sourceState is a source at an instant, from the registry or from a file.
type sourceState struct {
	From string              `json:"from"`
	Name string              `json:"name"`
	At   patra.Instant       `json:"at,omitzero"`
	rows []patra.RegistryRow // those of a file have no id
}

// State is a state as a part of something that is shown: what describes answers looks only at names that begin like this.
type State = sourceState

// Where a state is from.
const (
	fromRegistry = "REGISTRY"
	fromFile     = "FILE"
)

// String is where the state is from, for people.
func (s sourceState) String() string {
	if s.From == fromFile {
		return s.Name + " (from the file)"
	}
	return fmt.Sprintf("%s (from the registry, at %s)", s.Name, s.At)
}

// state finds what is meant by a file name or a code. A code that was applied is what the registry says about it.
func (a *app) state(ctx context.Context, s *store.Store, arg, at string) (sourceState, error) {
	moment, err := instantField("at", at)
	if err != nil {
		return sourceState{}, err
	}
	var was sourceState
	if !isFile(arg) {
		st, ok, err := registered(ctx, s, arg, moment)
		if err != nil || ok {
			return st, err
		}
		was = st
	}
	if moment != nil {
		return sourceState{}, patra.Invalid("at", "{at}: %s was never applied, so it has no history; run patra source apply %s", arg, arg)
	}
	f, _, err := a.loadSource(ctx, s, arg)
	if err != nil {
		return sourceState{}, was.orRetired(err)
	}
	rows, err := registry.Rows(f)
	return sourceState{From: fromFile, Name: arg, rows: rows}, err
}

// registered is what the registry says about a source, now or at a moment. False: it has no say now, because the source
// was never applied, or was retired; then the state holds the rows that it had.
func registered(ctx context.Context, s *store.Store, code string, at *patra.Instant) (sourceState, bool, error) {
	history, err := s.RegistryHistory(ctx, code)
	if err != nil || len(history) == 0 {
		return sourceState{}, false, err
	}
	st := sourceState{From: fromRegistry, Name: code, At: present(history), rows: history}
	if at != nil {
		st.At = *at
	}
	if slices.ContainsFunc(history, func(r patra.RegistryRow) bool { return r.LiveAt(st.At) }) {
		return st, true, nil
	}
	first := slices.MinFunc(history, func(x, y patra.RegistryRow) int { return cmp.Compare(x.From, y.From) }).From
	switch {
	case at == nil:
		return st, false, nil
	case *at < first:
		return st, false, patra.Invalid("at", "{at}: %s was first applied at %s", code, first)
	}
	return st, false, patra.Invalid("at", "{at}: %s was retired then, and not applied again yet; patra source history %s shows when it was in the registry", code, code)
}

// present is now, or the last change where another machine's clock is ahead of ours.
func present(rows []patra.RegistryRow) patra.Instant { return max(now(), changed(rows)) }

// changed is when rows last began or ended.
func changed(rows []patra.RegistryRow) (last patra.Instant) {
	for _, r := range rows {
		last = max(last, r.From)
		if r.To != nil {
			last = max(last, *r.To)
		}
	}
	return last
}

// orRetired says why there is no such source, where it was one that the registry had.
func (s sourceState) orRetired(err error) error {
	found, _ := errors.AsType[patra.Problems](err)
	if len(s.rows) == 0 || len(found) != 1 || found[0].Code != patra.CodeUnknownSource {
		return err
	}
	end := changed(s.rows)
	return patra.Invalid("", "%s was retired at %s, and there is no file of it; patra source export %s --at %s shows what it was", s.Name, end, s.Name, end-1)
}

func (s sourceState) file() (*source.File, error) { return registry.File(s.rows, s.At) }

// diffSides finds the two things to compare.
func (a *app) diffSides(ctx context.Context, s *store.Store, args, at []string) (x, y sourceState, err error) {
	if len(args) == 0 || len(args) > 2 || len(at) > 2 {
		return x, y, patra.Invalid("", "patra source diff needs one or two sources, and takes {at} twice at most")
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
	if x, err = a.state(ctx, s, args[0], a1); err != nil {
		return x, y, err
	}
	if len(args) == 2 || len(at) > 0 {
		y, err = a.state(ctx, s, other, a2)
		return x, y, err
	}
	f, _, err := a.loadSource(ctx, s, other)
	if err != nil {
		return x, y, err
	}
	rows, err := registry.Rows(f)
	return x, sourceState{From: fromFile, Name: other, rows: rows}, err
}
