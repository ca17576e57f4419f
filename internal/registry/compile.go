package registry

import (
	"cmp"
	"maps"
	"slices"

	"patra"
	"patra/internal/source"
)

// Question is what a spec is compiled for.
type Question struct {
	At      patra.Instant
	Options source.Options
	Set     map[string]any // settings of the endpoint for this one time, such as {"rate": {"perSecond": 1}}
}

// Compile makes the spec that the rows of a source give at an instant. Each dimension is merged field by field, lowest
// first: the platform, the source, the endpoint, the chosen row, what was said for this one time.
func Compile(rows []patra.RegistryRow, q Question) (*source.Spec, error) {
	t, err := fileTree(rows, q.At)
	if err != nil {
		return nil, err
	}
	f, err := decodeFile(t)
	if err != nil {
		return nil, err
	}
	plain, err := source.Compile(f, q.Options) // finds the endpoint where none was named
	if err != nil {
		return nil, err
	}
	q.Options.Endpoint = plain.Endpoint
	if err := q.lay(t, rows); err != nil {
		return nil, err
	}
	if plain.Detail != nil { // the second phase is part of the spec
		second := q
		second.Set, second.Options.Endpoint = nil, plain.Detail.Endpoint
		if err := second.lay(t, rows); err != nil {
			return nil, err
		}
	}
	if f, err = decodeFile(t); err != nil {
		return nil, err
	}
	return source.Compile(f, q.Options)
}

// lay changes the file to what it would say if it were written for this endpoint and operation alone.
func (q Question) lay(t tree, rows []patra.RegistryRow) error {
	endpoint := tree{}
	for _, row := range q.stack(rows) {
		body, err := bodyOf(row)
		if err != nil {
			return err
		}
		p := placeOf(row.Dimension)
		switch whole := row.Endpoint == "" && row.Operation == ""; {
		case whole && p.source != nil: // stands there already
		case p.endpoint == nil:
			maps.Copy(t, overlay(t, wrap(p.source, body)))
		default:
			endpoint = overlay(endpoint, wrap(p.endpoint, body))
		}
	}
	set, err := toTree(q.Set)
	if err != nil {
		return err
	}
	t["endpoints"].(tree)[q.Options.Endpoint] = overlay(endpoint, set)
	return nil
}

// stack is every row that has a say, lowest first. A definition comes before what has a table of its own.
func (q Question) stack(rows []patra.RegistryRow) []patra.RegistryRow {
	var all []patra.RegistryRow
	for _, d := range patra.Dimensions {
		all = append(all, chain(rows, d, q.At, q.Options.Endpoint, q.Options.Operation)...)
	}
	slices.SortStableFunc(all, func(a, b patra.RegistryRow) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

// rank is how specific a row is.
func rank(r patra.RegistryRow) int {
	n := 0
	if r.Endpoint != "" {
		n++
	}
	if r.Operation != "" {
		n += 2
	}
	return n
}
