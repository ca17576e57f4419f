package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"patra"
	"patra/internal/source"
)

// place is where the settings of a dimension stand in a source file: for the whole source, and inside an endpoint.
// The empty path is everything that has no other place.
type place struct {
	dimension patra.Dimension
	source    []string // nil: only an endpoint can say it
	endpoint  []string // nil: only the source as a whole can say it
}

func (p place) path(endpoint string) []string {
	if endpoint == "" {
		return p.source
	}
	return p.endpoint
}

func placeOf(d patra.Dimension) place {
	return places[slices.IndexFunc(places, func(p place) bool { return p.dimension == d })]
}

// places is in the order of cutting: what is inside another place comes before it.
var places = []place{
	{patra.DimHTTP, []string{"defaults", "http"}, []string{"http"}},
	{patra.DimCredential, []string{"defaults", "auth"}, []string{"auth"}},
	{patra.DimRate, []string{"defaults", "rate"}, []string{"rate"}},
	{patra.DimRetry, []string{"defaults", "retry"}, []string{"retry"}},
	{patra.DimPagination, nil, []string{"pagination"}},
	{patra.DimWindow, nil, []string{"window"}},
	{patra.DimResponse, nil, []string{"response"}},
	{patra.DimCapability, []string{"query", "fields"}, nil},
	{patra.DimParams, []string{"query", "params"}, nil},
	{patra.DimRender, []string{"query"}, nil},
	{patra.DimFields, []string{"mapping"}, nil},
	{patra.DimEndpoint, []string{}, []string{}},
}

// Head is what the registry says about a source as a whole.
func Head(f *source.File, fileHash string) (patra.Provenance, error) {
	defaults, err := patra.Canonical(f.Defaults)
	return patra.Provenance{Code: f.Code, Name: f.Name, RecordType: f.RecordType, Docs: f.Docs, Defaults: defaults, Lifecycle: patra.LifecycleActive, FileHash: fileHash}, err
}

// Rows takes a source file apart, one row for each scope and dimension that it says something about.
func Rows(f *source.File) ([]patra.RegistryRow, error) {
	root, err := toTree(f)
	if err != nil {
		return nil, fmt.Errorf("take %s apart: %w", f.Code, err)
	}
	delete(root, "code") // every row has it
	endpoints := cut(root, []string{"endpoints"})
	rows, err := rowsOf(f.Code, "", root)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(endpoints)) {
		own, err := rowsOf(f.Code, name, endpoints[name].(tree))
		if err != nil {
			return nil, err
		}
		rows = append(rows, own...)
	}
	slices.SortFunc(rows, patra.CompareRegistryRows)
	return rows, nil
}

func rowsOf(code, endpoint string, t tree) ([]patra.RegistryRow, error) {
	var rows []patra.RegistryRow
	for _, p := range places {
		path := p.path(endpoint)
		if path == nil {
			continue
		}
		part := cut(t, path)
		if len(part) == 0 {
			continue
		}
		if p.dimension == patra.DimEndpoint {
			maps.DeleteFunc(part, func(_ string, v any) bool { t, ok := v.(tree); return ok && len(t) == 0 }) // emptied by the others
		}
		body, err := patra.Canonical(part)
		if err != nil {
			return nil, fmt.Errorf("take %s apart: %w", code, err)
		}
		rows = append(rows, patra.RegistryRow{Source: code, Dimension: p.dimension, Endpoint: endpoint, Lifecycle: patra.LifecycleActive, Body: body})
	}
	return rows, nil
}

// File puts the rows of a source that were in force at an instant together again. Rows that no file can express are
// left out; see Foreign.
func File(rows []patra.RegistryRow, at patra.Instant) (*source.File, error) {
	t, err := fileTree(rows, at)
	if err != nil {
		return nil, err
	}
	return decodeFile(t)
}

// Foreign are the rows in force that a file cannot express: those for one operation, and those for a scope where a
// file has no place for the dimension.
func Foreign(rows []patra.RegistryRow, at patra.Instant) []patra.RegistryRow {
	var found []patra.RegistryRow
	for _, r := range rows {
		if r.LiveAt(at) && (r.Operation != "" || placeOf(r.Dimension).path(r.Endpoint) == nil) {
			found = append(found, r)
		}
	}
	return found
}

func decodeFile(t tree) (*source.File, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields() // what is dropped in silence would be missing from the next export
	f := &source.File{}
	if err := dec.Decode(f); err != nil {
		return nil, fmt.Errorf("put source %v together: %w", t["code"], err)
	}
	return f, nil
}

// fileTree is the file that the rows of whole sources and endpoints are from.
func fileTree(rows []patra.RegistryRow, at patra.Instant) (tree, error) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r patra.RegistryRow) bool { return !r.LiveAt(at) })
	if len(rows) == 0 {
		return nil, patra.ErrNotFound
	}
	root, err := gather(rows, at, "")
	if err != nil {
		return nil, err
	}
	endpoints := tree{}
	for _, r := range rows {
		if r.Dimension != patra.DimEndpoint || r.Endpoint == "" || r.Operation != "" {
			continue
		}
		if endpoints[r.Endpoint], err = gather(rows, at, r.Endpoint); err != nil {
			return nil, err
		}
	}
	root["code"], root["endpoints"] = rows[0].Source, endpoints
	return root, nil
}

func gather(rows []patra.RegistryRow, at patra.Instant, endpoint string) (tree, error) {
	t := tree{}
	for _, p := range slices.Backward(places) { // the other way round: what is inside comes after what it is inside of
		row, ok := exact(rows, p.dimension, at, endpoint, "")
		if path := p.path(endpoint); ok && path != nil {
			body, err := bodyOf(row)
			if err != nil {
				return nil, err
			}
			t = overlay(t, wrap(path, body))
		}
	}
	return t, nil
}

func bodyOf(r patra.RegistryRow) (tree, error) {
	body, err := parseTree(r.Body)
	if err != nil {
		return nil, fmt.Errorf("%s row %d of %s: %w", r.Dimension, r.ID, r.Source, err)
	}
	return body, nil
}
