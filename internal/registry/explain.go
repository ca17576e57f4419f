package registry

import (
	"fmt"
	"maps"
	"slices"

	"patra"
	"patra/internal/source"
)

// Layer is where a field of a spec came from.
type Layer struct {
	Name      string          `json:"name"`
	Dimension patra.Dimension `json:"dimension,omitempty"`
	Row       int64           `json:"row,omitempty"` // 0: no row of the registry
	Version   int64           `json:"version,omitempty"`
}

// The layers that are no rows. Those that are have the name of what the row speaks for.
const (
	LayerPlatform = "platform" // holds for every source that does not say otherwise
	LayerTrigger  = "trigger"  // said for this one time
	LayerCompiled = "compiled" // worked out from other fields
)

// String is the layer for people.
func (l Layer) String() string {
	if l.Row == 0 {
		return l.Name
	}
	return fmt.Sprintf("%s, %s row %d version %d", l.Name, l.Dimension, l.Row, l.Version)
}

// Field is one field of a spec with its origin. A list is one field, for lists are never merged.
type Field struct {
	Path  string `json:"path"`
	Value any    `json:"value"`
	Layer Layer  `json:"layer"`
}

// Explain compiles and says for every field of the spec which layer it is from.
func Explain(rows []patra.RegistryRow, q CompileRequest) (*source.Spec, []Field, error) {
	spec, err := Compile(rows, q)
	if err != nil {
		return nil, nil, err
	}
	t, err := toTree(spec)
	if err != nil {
		return nil, nil, err
	}
	q.Options.Endpoint = spec.Endpoint
	fields, err := q.origins("", t, rows)
	return spec, fields, err
}

// origins finds the layer of every field of a spec. The spec of a second phase has layers of its own: those of the
// endpoint that it is for.
func (q CompileRequest) origins(at string, t tree, rows []patra.RegistryRow) ([]Field, error) {
	second, _ := t["second"].(tree)
	delete(t, "second")
	layers, err := q.layers(rows)
	if err != nil {
		return nil, err
	}
	values := leaves(t, false)
	var fields []Field
	for _, path := range slices.Sorted(maps.Keys(values)) {
		from := origin(layers, path, values[path])
		if at != "" && path == "endpoint" { // nobody asked for it: the first phase names it
			from = Layer{Name: LayerCompiled}
		}
		fields = append(fields, Field{Path: at + path, Value: values[path], Layer: from})
	}
	if second == nil {
		return fields, nil
	}
	q.Set = nil
	q.Options.Endpoint, _ = second["endpoint"].(string)
	more, err := q.origins(at+"second.", second, rows)
	return append(fields, more...), err
}

// layerFields is a layer with the fields that it sets.
type layerFields struct {
	Layer
	values map[string]any
}

// origin is the highest layer that says just this. When none does, the compiler worked it out.
func origin(layers []layerFields, path string, value any) Layer {
	for _, l := range slices.Backward(layers) {
		if said, ok := l.values[path]; ok && same(said, value) {
			return l.Layer
		}
	}
	return Layer{Name: LayerCompiled}
}

// layers are all layers of a spec, lowest first.
func (q CompileRequest) layers(rows []patra.RegistryRow) ([]layerFields, error) {
	platform, err := platformValues(q.Options.Endpoint)
	if err != nil {
		return nil, err
	}
	all := []layerFields{{Layer{Name: LayerPlatform}, platform}}
	for _, row := range q.stack(rows) {
		body, err := bodyOf(row)
		if err != nil {
			return nil, err
		}
		p := placeOf(row.Dimension)
		path := p.endpoint
		if path == nil {
			path = p.source
		}
		if row.Dimension == patra.DimEndpoint && row.Endpoint == "" {
			body = sourceWords(body)
		}
		all = append(all, layerFields{layerOf(row), leaves(wrap(path, body), false)})
	}
	said, err := toTree(map[string]any{"source": rows[0].Source, "operation": q.Options.Operation, "endpoint": q.Options.Endpoint, "parameters": q.Options.Parameters})
	if err != nil {
		return nil, err
	}
	set, err := toTree(q.Set)
	if err != nil {
		return nil, err
	}
	return append(all, layerFields{Layer{Name: LayerTrigger}, leaves(overlay(said, set), false)}), nil
}

// platformValues is what a source that says nothing gets.
func platformValues(endpoint string) (map[string]any, error) {
	blank, err := source.Compile(&source.File{Endpoints: map[string]source.Endpoint{endpoint: {}}}, source.Options{Endpoint: endpoint})
	if err != nil {
		return nil, err
	}
	t, err := toTree(blank)
	if err != nil {
		return nil, err
	}
	values := leaves(t, false)
	maps.DeleteFunc(values, func(path string, v any) bool { return v == "" || v == nil || path == "endpoint" || path == "v" })
	return values, nil
}

// sourceWords is what the head of a file contributes to a spec.
func sourceWords(body tree) tree {
	words := tree{"recordType": body["recordType"]}
	params := tree{}
	if declared, ok := body["parameters"].(tree); ok {
		for name, p := range declared {
			if p, ok := p.(tree); ok && p["default"] != nil {
				params[name] = p["default"]
			}
		}
	}
	words["parameters"] = params
	for _, key := range []string{"changes", "update"} {
		if said, ok := body[key]; ok {
			words[key] = said
		}
	}
	if defaults, ok := body["defaults"].(tree); ok { // those that have no dimension of their own
		words = overlay(words, defaults)
	}
	return words
}

func layerOf(r patra.RegistryRow) Layer {
	name := []string{"source", "endpoint", "operation", "endpoint and operation"}[rank(r)]
	if r.ID == 0 {
		name = "file: " + name
	}
	return Layer{Name: name, Dimension: r.Dimension, Row: r.ID, Version: r.Version}
}
