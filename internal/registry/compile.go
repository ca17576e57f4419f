package registry

import (
	"cmp"
	"maps"
	"slices"

	"patra"
	"patra/internal/source"
)

// CompileRequest is what a spec is compiled for.
type CompileRequest struct {
	At      patra.Instant
	Options source.Options
	Set     map[string]any // settings of the endpoint for this one time, such as {"rate": {"perSecond": 1}}
}

// Compile makes the spec that the rows of a source give at an instant. Each dimension is merged field by field, lowest
// first: the platform, the source, the endpoint, the chosen row, what was said for this one time.
func Compile(rows []patra.RegistryRow, q CompileRequest) (*source.Spec, error) {
	f, err := FileFor(rows, q)
	if err != nil {
		return nil, err
	}
	return source.Compile(f, q.Options)
}

// FileFor is the file that says for one endpoint and operation what the rows say: compiled with the same options it is
// the spec of the question. Who compiles it says what is wrong with the options, such as an endpoint that is not there.
func FileFor(rows []patra.RegistryRow, q CompileRequest) (*source.File, error) {
	t, err := fileTree(rows, q.At)
	if err != nil {
		return nil, err
	}
	f, err := decodeFile(t)
	if err != nil {
		return nil, err
	}
	asked := q.phases(f)
	for name := range f.Endpoints {
		if err := q.of(name, asked[0]).layEndpoint(t, rows); err != nil {
			return nil, err
		}
	}
	for _, name := range asked { // a later phase speaks last: it is the one that reads the records
		if err := q.of(name, asked[0]).layWhole(t, rows); err != nil {
			return nil, err
		}
	}
	return decodeFile(t)
}

// phases are the endpoints that a question is about: the one that was named or can be searched, and the one that gives
// the records behind its ids. What only the user can say does not matter here.
func (q CompileRequest) phases(f *source.File) []string {
	o := source.Options{Endpoint: q.Options.Endpoint, Contact: "nobody@example.org", Parameters: map[string]string{}}
	for name := range f.Parameters {
		o.Parameters[name] = "any"
	}
	spec, err := source.Compile(f, o)
	switch {
	case err != nil:
		return []string{o.Endpoint}
	case spec.Second != nil && spec.Second.Endpoint != spec.Endpoint:
		return []string{spec.Endpoint, spec.Second.Endpoint}
	}
	return []string{spec.Endpoint}
}

// of is the question for one of the endpoints. What was said for this one time is said of the one that was asked for.
func (q CompileRequest) of(endpoint, asked string) CompileRequest {
	q.Options.Endpoint = endpoint
	if endpoint != asked {
		q.Set = nil
	}
	return q
}

// layEndpoint changes an endpoint to what it would say if it were written for this operation alone.
func (q CompileRequest) layEndpoint(t tree, rows []patra.RegistryRow) error {
	endpoint := tree{}
	for _, row := range q.stack(rows) {
		p := placeOf(row.Dimension)
		if wholeFile(row) || row.Endpoint == "" && row.Operation == "" && p.source != nil {
			continue // stands in the file as a whole
		}
		body, err := bodyOf(row)
		if err != nil {
			return err
		}
		endpoint = overlay(endpoint, wrap(p.endpoint, body))
	}
	set, err := toTree(q.Set)
	if err != nil {
		return err
	}
	t["endpoints"].(tree)[q.Options.Endpoint] = overlay(endpoint, set)
	return nil
}

// layWhole does the same to what a file says only once.
func (q CompileRequest) layWhole(t tree, rows []patra.RegistryRow) error {
	for _, row := range q.stack(rows) {
		if !wholeFile(row) || row.Endpoint == "" && row.Operation == "" {
			continue
		}
		body, err := bodyOf(row)
		if err != nil {
			return err
		}
		maps.Copy(t, overlay(t, wrap(placeOf(row.Dimension).source, body)))
	}
	return nil
}

// wholeFile reports whether a row is about what a file says once for all endpoints, such as the words of queries.
func wholeFile(r patra.RegistryRow) bool { return placeOf(r.Dimension).endpoint == nil }

// stack is every row that has a say, lowest first. A definition comes before what has a table of its own.
func (q CompileRequest) stack(rows []patra.RegistryRow) []patra.RegistryRow {
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
