package cli

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"patra"
	"patra/internal/api"
	"patra/internal/query"
	"patra/internal/registry"
	"patra/internal/source"
)

// SourcePath is which source is meant. Only a code can be: the name of a file would be one on this machine.
type SourcePath struct {
	Code string `path:"code" pattern:"^[a-z][a-z0-9-]{0,46}$" maxLength:"47" doc:"code of a source, such as crossref"`
}

// sourceView is a source as it counts now, for those who cannot see its file.
type sourceView struct {
	Code       string `json:"code"`
	Name       string `json:"name"`
	Docs       string `json:"docs,omitempty"`
	RecordType string `json:"record_type"`
	SourceStatus
	Stands     string          `json:"standing" doc:"what counts, in words"`
	Rate       float64         `json:"per_second"`
	Parameters []parameterView `json:"parameters" nullable:"false"`
	Endpoints  []endpointView  `json:"endpoints" nullable:"false"`
	Fields     []fieldView     `json:"query_fields" nullable:"false"`
	Secrets    []secretView    `json:"secrets" nullable:"false"`
	Foreign    []string        `json:"not_shown" nullable:"false" doc:"what the registry has that a file cannot say"`
	YAML       string          `json:"yaml" doc:"the source file as it is understood"`
}

type parameterView struct {
	Name string `json:"name"`
	source.Parameter
}

// endpointView is one place where records can be asked for.
type endpointView struct {
	Name     string   `json:"name"`
	Role     string   `json:"role"`
	Default  bool     `json:"default"`
	Method   string   `json:"method,omitempty"`
	Path     string   `json:"path"`
	Params   []string `json:"parameters" nullable:"false" doc:"names that are sent with every request"`
	Paging   string   `json:"paging,omitempty"`
	PageSize int      `json:"page_size,omitempty"`
	Format   string   `json:"format"`
	Window   string   `json:"window_field,omitempty" doc:"the date that windows are about"`
	Strategy string   `json:"strategy,omitempty"`
	ByID     bool     `json:"by_id" doc:"known records can be fetched by their ids"`
	Auth     string   `json:"auth" doc:"how we say who we are"`
}

// fieldView is a field of queries, and what can be asked of it.
type fieldView struct {
	Name          string          `json:"name"`
	Type          query.FieldType `json:"type"`
	Ops           []query.Op      `json:"ops" nullable:"false"`
	Match         []query.Match   `json:"match" nullable:"false"`
	CaseSensitive bool            `json:"case_sensitive"`
	Once          bool            `json:"once" doc:"a query may say something about it once"`
	Precision     patra.Unit      `json:"precision,omitempty"`
	Open          []query.End     `json:"open" nullable:"false" doc:"ends of a range that may be absent"`
}

// secretView says whether a secret is set, and never what it is or where.
type secretView struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Set      bool   `json:"set"`
	Broken   bool   `json:"broken" doc:"it should be there and cannot be read; see patra source show on the machine"`
}

func (d *apiHandlers) sourceRoutes(s *api.Server) {
	api.Get(s, "/sources", api.Look, api.Doc{ID: "sources", Summary: "Sources that can be harvested, and what counts for each"}, func(ctx context.Context, _ *api.EmptyInput) (api.List[listedSource], error) {
		rows, err := d.app.listSources(ctx)
		if err == nil {
			err = d.app.judgeSources(ctx, rows)
		}
		return api.All(rows), err
	})
	api.Get(s, "/sources/{code}", api.Look, api.Doc{ID: "source", Summary: "A source as it counts now"}, func(ctx context.Context, in *SourcePath) (sourceView, error) {
		return d.app.sourceView(ctx, in.Code)
	})
	type specWish struct {
		SourcePath
		Endpoint  string `query:"endpoint" maxLength:"64"`
		Operation string `query:"operation" enum:"HARVEST,BACKFILL,UPDATE" default:"HARVEST"`
		At        string `query:"at" maxLength:"40" doc:"as it was at this moment: 2026-01-31 or 2026-01-31T09:30:00Z"`
	}
	api.Get(s, "/sources/{code}/spec", api.Look, api.Doc{ID: "source-spec", Summary: "What a source is compiled to, and where every field came from"}, func(ctx context.Context, in *specWish) (compiledSpec, error) {
		st, err := d.app.state(ctx, d.store, in.Code, in.At)
		if err != nil {
			return compiledSpec{}, err
		}
		return explainState(&specFlags{operation: in.Operation}, st, in.Endpoint)
	})
	api.Get(s, "/sources/{code}/history", api.Look, api.Doc{ID: "source-history", Summary: "Every version of every part of a source in the registry"}, func(ctx context.Context, in *SourcePath) (api.List[patra.RegistryRow], error) {
		rows, err := d.store.RegistryHistory(ctx, in.Code)
		if err == nil && len(rows) == 0 {
			_, err = d.app.current(ctx, in.Code) // there is no such source, or it was never applied
		}
		return api.All(rows), err
	})
	type certificateWish struct {
		SourcePath
		Endpoint string `query:"endpoint" maxLength:"64"`
		Limit    int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
	}
	api.Get(s, "/sources/{code}/certificates", api.Look, api.Doc{ID: "source-certificates", Summary: "What was found out about a provider, newest first, and how its windows are proved"}, func(ctx context.Context, in *certificateWish) (certificateList, error) {
		return d.app.certificates(ctx, d.store, in.Code, in.Endpoint, in.Limit)
	})
	type diffWish struct {
		SourcePath
		From string `query:"from" maxLength:"40" doc:"a moment; without one it is what counts now"`
		To   string `query:"to" maxLength:"40" doc:"another; without one it is what counts now"`
	}
	api.Get(s, "/sources/{code}/diff", api.Look, api.Doc{ID: "source-diff", Summary: "A source at two moments, or the registry and the file, field by field"}, func(ctx context.Context, in *diffWish) (sourceDiff, error) {
		return d.app.sourceDiff(ctx, in.Code, in.From, in.To)
	})
}

// sourceDiff is what two states of a source do not have in common.
type sourceDiff struct {
	A           sourceState       `json:"a"`
	B           sourceState       `json:"b"`
	Differences []fieldDifference `json:"differences" nullable:"false"`
}

// fieldDifference is one of them.
type fieldDifference registry.Difference

func (a *app) sourceDiff(ctx context.Context, code, from, to string) (out sourceDiff, err error) {
	s, err := a.open(ctx)
	if err != nil {
		return out, err
	}
	var at []string
	switch {
	case from == "" && to != "":
		return out, patra.Invalid("", "to without from says nothing; give from, or both")
	case to != "":
		at = []string{from, to}
	case from != "":
		at = []string{from}
	}
	if out.A, out.B, err = a.diffSides(ctx, s, []string{code}, at); err != nil {
		return out, err
	}
	found, err := differences(out.A, out.B)
	out.Differences = []fieldDifference{}
	for _, one := range found {
		out.Differences = append(out.Differences, fieldDifference(one))
	}
	return out, err
}

// sourceView gathers what patra source show prints.
func (a *app) sourceView(ctx context.Context, code string) (v sourceView, err error) {
	st, err := a.current(ctx, code)
	if err != nil {
		return v, err
	}
	f, err := st.file()
	if err != nil {
		return v, err
	}
	v = sourceView{Code: f.Code, Name: f.Name, Docs: f.Docs, RecordType: f.RecordType, Rate: f.Defaults.Rate.PerSecond,
		Parameters: []parameterView{}, Endpoints: []endpointView{}, Fields: []fieldView{}, Secrets: a.secretViews(f), Foreign: []string{}}
	if v.SourceStatus, err = a.statusOf(st); err != nil {
		return v, err
	}
	v.Stands = v.SourceStatus.String()
	for _, r := range registry.Foreign(st.rows, st.At) {
		v.Foreign = append(v.Foreign, foreign(r))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Parameters)) {
		v.Parameters = append(v.Parameters, parameterView{name, f.Parameters[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(f.Endpoints)) {
		v.Endpoints = append(v.Endpoints, viewEndpoint(f, name))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Query.Fields)) {
		q := f.Query.Fields[name]
		v.Fields = append(v.Fields, fieldView{Name: name, Type: q.Type, Ops: append([]query.Op{}, q.Ops...), Match: q.Matches(), CaseSensitive: q.CaseSensitive, Once: q.Once, Precision: q.Precision, Open: append([]query.End{}, q.Open...)})
	}
	var b bytes.Buffer
	err = printValue(&b, "yaml", f)
	v.YAML = b.String()
	return v, err
}

func viewEndpoint(f *source.File, name string) endpointView {
	e := f.Endpoints[name]
	v := endpointView{Name: name, Role: e.Role, Default: e.Default, Method: e.Request.Method, Path: e.Request.Path, Params: slices.Sorted(maps.Keys(e.Request.Query)), Paging: e.Pagination.Type, PageSize: e.Pagination.PageSize,
		Format: e.Response.Format, Window: e.Window.Field, Strategy: string(e.Window.Strategy), ByID: f.ByID() == name, Auth: f.AuthOf(name).Type}
	if v.Params == nil {
		v.Params = []string{}
	}
	if v.Auth == "" {
		v.Auth = source.AuthNone
	}
	return v
}

func (a *app) secretViews(f *source.File) []secretView {
	wanted, all := wantedSecrets(f), []secretView{}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		set, err := a.have(name)
		all = append(all, secretView{Name: name, Required: wanted[name], Set: set && err == nil, Broken: err != nil})
	}
	return all
}
