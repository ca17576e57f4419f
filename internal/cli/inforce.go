package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"patra"
	"patra/internal/registry"
	"patra/internal/source"
	"patra/internal/store"
)

// find loads a source file by code.
func (a *app) find(code string) (*source.File, error) {
	places, err := a.places()
	if err != nil {
		return nil, err
	}
	return findIn(code, places...)
}

// findIn loads the first file of a code.
func findIn(code string, places ...place) (*source.File, error) {
	var all []fs.FS
	for _, p := range places {
		all = append(all, p.files)
		name := code + ".yaml"
		if names, err := fs.Glob(p.files, "*.yaml"); err != nil || !slices.Contains(names, name) {
			continue
		}
		data, err := fs.ReadFile(p.files, name)
		if err != nil {
			return nil, patra.Environment(err)
		}
		f, err := registry.Read(name, data)
		if err == nil && f.Code != code {
			err = patra.Problems{{Code: "BAD_VALUE", File: name, Path: "code", Text: fmt.Sprintf("the file is named after %q, but describes %q", code, f.Code), Hint: "name the file after its code"}}
		}
		return f, err
	}
	return source.Find(code, all...) // says what there is
}

// registryStore is the store to ask what was applied; nil where nothing can have been.
func (a *app) registryStore(ctx context.Context) (*store.Store, error) {
	c, err := a.load()
	if err != nil || !store.Exists(c.Store.URL) {
		return nil, err
	}
	s, err := a.connect(ctx, c)
	if errors.Is(err, store.ErrNoTables) {
		return nil, nil // the command that needs the tables will say so, or make them
	}
	return s, err
}

// current is a source as it counts now: what was applied to the registry, or else the file.
func (a *app) current(ctx context.Context, code string) (sourceState, error) {
	s, err := a.registryStore(ctx)
	if err != nil {
		return sourceState{}, err
	}
	return a.currentIn(ctx, s, code)
}

// currentIn is current with a store that is open already; nil: there is none.
func (a *app) currentIn(ctx context.Context, s *store.Store, code string) (sourceState, error) {
	var was sourceState
	if s != nil {
		st, ok, err := registered(ctx, s, code, nil)
		if err != nil || ok {
			return st, err
		}
		was = st
	}
	rows, err := a.fileRows(code)
	if err != nil {
		return sourceState{}, was.orRetired(err)
	}
	return sourceState{From: fromFile, Name: code, rows: rows}, nil
}

// fileRows is what the file of a source says, as rows. A process that serves is asked for it again and again, so the same text is
// understood once.
func (a *app) fileRows(code string) ([]patra.RegistryRow, error) {
	key := ""
	if name, data, err := a.sourceText(code); err == nil {
		key = name + " " + patra.HashBytes(data)
		if rows, ok := a.understood.Load(key); ok {
			return slices.Clone(rows.([]patra.RegistryRow)), nil
		}
	}
	f, err := a.find(code)
	if err != nil {
		return nil, err
	}
	rows, err := registry.Rows(f)
	if err == nil && key != "" {
		a.understood.Store(key, slices.Clone(rows))
	}
	return rows, err
}

// activeSource is the file of a source as it counts now, and the rows that say so.
func (a *app) activeSource(ctx context.Context, code string) (*source.File, []patra.RegistryRow, error) {
	st, err := a.current(ctx, code)
	if err != nil {
		return nil, nil, err
	}
	f, err := st.file()
	return f, st.rows, err
}
