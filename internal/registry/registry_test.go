package registry_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/registry"
	"patra/internal/source"
	"patra/sources"
)

// shipped loads every shipped source.
func shipped(t *testing.T) map[string]*source.File {
	t.Helper()
	names, err := fs.Glob(sources.Files, "*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	files := map[string]*source.File{}
	for _, name := range names {
		code := strings.TrimSuffix(name, ".yaml")
		if files[code], err = source.Find(code, sources.Files); err != nil {
			t.Errorf("%s: %v", name, err)
			delete(files, code)
		}
	}
	return files
}

func rowsOf(t *testing.T, f *source.File) []patra.RegistryRow {
	t.Helper()
	rows, err := registry.Rows(f)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestRowsGiveBackAnEqualFile(t *testing.T) {
	for code, f := range shipped(t) {
		t.Run(code, func(t *testing.T) {
			rows := rowsOf(t, f)
			back, err := registry.File(rows, 0)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(f, back) {
				a, _ := json.Marshal(f)
				b, _ := json.Marshal(back)
				t.Errorf("was   %s\nbecame %s", a, b)
			}
			if again := rowsOf(t, back); len(patra.RegistryChanges(rows, again)) != 0 {
				t.Error("the file that was put together has other rows")
			}
		})
	}
}

// detailed says everything about windows and quotas that the shipped files leave out.
func detailed(t *testing.T) *source.File {
	t.Helper()
	f, reserve := shipped(t)["pubmed"], source.Percent(0)
	f.Defaults.Rate.Quota = source.Quota{Daily: 100000}
	for name, e := range f.Endpoints {
		if e.Role != "SEARCH" {
			continue
		}
		e.Window.MinStep, e.Window.MaxSpan = patra.Period{Days: 1}, patra.Period{Months: 6}
		e.Rate.Quota = source.Quota{Hourly: 500, Reserve: &reserve}
		if name == "created" {
			e.Window.Strategy, e.Window.Split = patra.StrategyVolume, nil
		}
		f.Endpoints[name] = e
	}
	return f
}

// A share of nothing was written, and a share that was not written is another thing.
func TestKeysOfWindowsAndQuotasComeBack(t *testing.T) {
	f := detailed(t)
	rows := live(rowsOf(t, f), 10)
	back, err := registry.File(rows, 10)
	if err != nil || !reflect.DeepEqual(f, back) {
		t.Fatalf("became %+v, %v", back, err)
	}
	text, err := json.Marshal(back) // which is YAML too
	if err != nil {
		t.Fatal(err)
	}
	if exported, err := source.Load("pubmed.yaml", text); err != nil || !reflect.DeepEqual(f, exported) {
		t.Errorf("exported as %s, %v", text, err)
	}
	spec, fields, err := registry.Explain(rows, registry.CompileRequest{At: 10, Options: source.Options{Endpoint: "search", Operation: patra.Harvest, Contact: "me@example.org"}})
	if err != nil {
		t.Fatal(err)
	}
	if q := spec.Rate.Quota; q.Daily != 100000 || q.Hourly != 500 || q.Kept() != 0 || spec.Strategy() != patra.StrategyHybrid {
		t.Errorf("compiled to %+v, %s", q, spec.Strategy())
	}
	layers := map[string]string{}
	for _, field := range fields {
		layers[field.Path] = field.Layer.Name
	}
	for path, want := range map[string]string{
		"rate.quota.daily": "source", "rate.quota.hourly": "endpoint", "rate.quota.reserve": "endpoint", "window.minStep": "endpoint", "window.maxSpan": "endpoint",
		"window.split.field": "endpoint", "window.split.from": "endpoint", "window.split.to": "endpoint", "query.fields.uid.integer": "source",
	} {
		if layers[path] != want {
			t.Errorf("%s is from %q, want %s", path, layers[path], want)
		}
	}
	found, err := registry.Diff(shipped(t)["pubmed"].Endpoints["created"], f.Endpoints["created"])
	var paths []string
	for _, d := range found {
		paths = append(paths, d.Path)
	}
	if want := "rate.quota.hourly rate.quota.reserve window.maxSpan window.minStep window.split.field window.split.from window.split.to window.strategy"; err != nil || strings.Join(paths, " ") != want {
		t.Errorf("differences at %v, %v", paths, err)
	}
}

// live gives rows ids and a time, as the store would.
func live(rows []patra.RegistryRow, from patra.Instant) []patra.RegistryRow {
	for i := range rows {
		rows[i].ID, rows[i].From, rows[i].Version = int64(i+1), from, 1
	}
	return rows
}

func row(id int64, endpoint string, op patra.Operation, from patra.Instant, body string) patra.RegistryRow {
	return patra.RegistryRow{ID: id, Source: "demo", Dimension: patra.DimHTTP, Endpoint: endpoint, Operation: op, From: from, Lifecycle: patra.LifecycleActive, Version: 1, Body: json.RawMessage(body)}
}

func TestTheMostSpecificLiveRowIsChosen(t *testing.T) {
	end := patra.Instant(50)
	closed, draft := row(7, "works", patra.Harvest, 0, `{}`), row(8, "works", patra.Harvest, 90, `{}`)
	closed.To, draft.Lifecycle = &end, "DRAFT"
	all := []patra.RegistryRow{row(1, "", "", 10, `{}`), row(2, "", patra.Harvest, 10, `{}`), row(3, "works", "", 10, `{}`), row(4, "works", patra.Backfill, 10, `{}`),
		row(5, "works", patra.Backfill, 20, `{}`), row(6, "works", patra.Backfill, 20, `{}`), closed, draft}
	tests := []struct {
		name     string
		at       patra.Instant
		endpoint string
		op       patra.Operation
		want     int64
	}{
		{"endpoint and operation go first", 49, "works", patra.Harvest, 7},
		{"the end of a row is not part of it, and a draft does not count", 95, "works", patra.Harvest, 3},
		{"an endpoint before an operation", 60, "works", patra.Harvest, 3},
		{"an operation before the source", 60, "other", patra.Harvest, 2},
		{"the source for the rest", 60, "other", patra.Update, 1},
		{"the newest of several", 30, "works", patra.Backfill, 6},
		{"only what had begun", 15, "works", patra.Backfill, 4},
		{"nothing before the first", 5, "other", patra.Update, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := registry.Choose(all, patra.DimHTTP, tt.at, tt.endpoint, tt.op)
			if got.ID != tt.want || ok != (tt.want != 0) {
				t.Errorf("chose row %d", got.ID)
			}
		})
	}
	if _, ok := registry.Choose(all, patra.DimRate, 60, "works", patra.Harvest); ok {
		t.Error("chose a row of another dimension")
	}
}

// The registry must not compile to anything else than the file that it is from.
func TestRowsCompileToWhatTheFileCompilesTo(t *testing.T) {
	for code, f := range shipped(t) {
		params := map[string]string{}
		for name, p := range f.Parameters {
			if p.Required && p.Default == "" {
				params[name] = "https://example.org"
			}
		}
		for endpoint := range f.Endpoints {
			o := source.Options{Endpoint: endpoint, Operation: patra.Harvest, Contact: "me@example.org", Parameters: params}
			want, err := source.Compile(f, o)
			if err != nil {
				t.Fatal(code, err)
			}
			got, fields, err := registry.Explain(live(rowsOf(t, f), 10), registry.CompileRequest{At: 10, Options: o})
			if err != nil {
				t.Fatal(code, err)
			}
			if !reflect.DeepEqual(want, got) {
				t.Errorf("%s/%s: compiled from rows it is another spec", code, endpoint)
			}
			for _, field := range fields {
				if field.Layer.Name == registry.LayerCompiled && !derived(want, field.Path) {
					t.Errorf("%s/%s: nobody said %s: %v", code, endpoint, field.Path, field.Value)
				}
			}
		}
	}
}

// derived are the fields that the compiler works out.
func derived(spec *source.Spec, path string) bool {
	if spec.Discovers() && (path == "window.precision" || path == "window.upper") { // as wide as can be, until it is found out
		return true
	}
	path = strings.TrimPrefix(path, "second.")
	if path == "endpoint" || path == "basis" { // the claims of a shipped file are believed
		return true
	}
	return path == "v" || strings.HasPrefix(path, "query.fields.") && (strings.HasSuffix(path, ".precision") || strings.HasSuffix(path, ".upper"))
}

func TestEveryFieldRemembersItsLayer(t *testing.T) {
	f := shipped(t)["crossref"]
	e := f.Endpoints["works"]
	e.HTTP.Timeout.Read = source.Duration(7e9)
	f.Endpoints["works"] = e
	rows := live(rowsOf(t, f), 10)
	rows = append(rows, row(90, "works", patra.Harvest, 10, `{"maxBody":1000}`), row(91, "works", patra.Update, 10, `{"maxBody":2000}`), row(92, "", patra.Harvest, 10, `{"maxBody":3000}`))
	for i := range rows[len(rows)-3:] {
		rows[len(rows)-3+i].Source = "crossref"
	}
	q := registry.CompileRequest{At: 20, Options: source.Options{Operation: patra.Harvest, Contact: "me@example.org"}, Set: map[string]any{"rate": map[string]any{"perSecond": 0.5}}}
	spec, fields, err := registry.Explain(rows, q)
	if err != nil {
		t.Fatal(err)
	}
	if spec.HTTP.MaxBody != 1000 || spec.Rate.PerSecond != 0.5 || spec.HTTP.BaseURL != f.Defaults.HTTP.BaseURL || time.Duration(spec.HTTP.Timeout.Read) != 7*time.Second {
		t.Errorf("merged to %+v", spec.Blocks)
	}
	layers := map[string]registry.Layer{}
	for _, field := range fields {
		layers[field.Path] = field.Layer
	}
	for path, want := range map[string]string{
		"http.baseUrl": "source", "http.timeout.read": "endpoint", "http.maxBody": "endpoint and operation", "auth.type": "platform", "rate.perSecond": "trigger", "rate.burst": "source",
		"pagination.type": "endpoint", "mapping.doi": "source", "recordType": "source", "operation": "trigger", "v": "compiled", "request.send": "platform",
	} {
		if layers[path].Name != want {
			t.Errorf("%s is from %s, want %s", path, layers[path], want)
		}
	}
	if l := layers["http.maxBody"]; l.Row != 90 || l.Version != 1 || l.Dimension != patra.DimHTTP {
		t.Errorf("the chosen row: %+v", l)
	}
	if foreign := registry.Foreign(rows, 20); len(foreign) != 3 {
		t.Errorf("%d rows that no file can express", len(foreign))
	}
	// Without the rows of operations, and from a file, the names say so.
	_, fields, err = registry.Explain(rowsOf(t, f), registry.CompileRequest{Options: q.Options})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		if field.Path == "http.baseUrl" && field.Layer.String() != "file: source" {
			t.Errorf("layer of a file: %s", field.Layer)
		}
	}
}

// A spec of two phases holds two endpoints, and each has rows of its own.
func TestTheSecondPhaseHasItsOwnLayers(t *testing.T) {
	f := shipped(t)["pubmed"]
	rows := append(live(rowsOf(t, f), 10), row(90, f.Endpoints["search"].Detail.Endpoint, patra.Harvest, 10, `{"maxBody":1000}`))
	rows[len(rows)-1].Source = "pubmed"
	_, fields, err := registry.Explain(rows, registry.CompileRequest{At: 10, Options: source.Options{Endpoint: "search", Operation: patra.Harvest, Contact: "me@example.org"}})
	if err != nil {
		t.Fatal(err)
	}
	layers := map[string]string{}
	for _, field := range fields {
		layers[field.Path] = field.Layer.Name
	}
	if _, ok := layers["second.role"]; !ok {
		t.Fatal("the spec of the second phase is not explained")
	}
	for path, want := range map[string]string{"http.maxBody": "platform", "second.http.maxBody": "endpoint and operation", "second.http.baseUrl": "source", "second.response.format": "endpoint", "second.endpoint": "compiled"} {
		if layers[path] != want {
			t.Errorf("%s is from %s, want %s", path, layers[path], want)
		}
	}
}

// The planner is given a file, and must come to the same spec from it.
func TestTheFileForAnOperationCompilesToItsSpec(t *testing.T) {
	f := shipped(t)["pubmed"]
	own := func(id int64, d patra.Dimension, endpoint string, op patra.Operation, body string) patra.RegistryRow {
		return patra.RegistryRow{ID: id, Source: "pubmed", Dimension: d, Endpoint: endpoint, Operation: op, From: 10, Lifecycle: patra.LifecycleActive, Version: 1, Body: json.RawMessage(body)}
	}
	fetch := f.Endpoints["search"].Detail.Endpoint
	rows := append(live(rowsOf(t, f), 10),
		own(90, patra.DimPagination, "search", patra.Backfill, `{"pageSize":22}`),
		own(91, patra.DimRate, "", patra.Backfill, `{"perSecond":0.25}`),
		own(92, patra.DimPagination, "", patra.Backfill, `{"pageSize":33}`), // the endpoint has a row of its own
		own(93, patra.DimHTTP, fetch, patra.Backfill, `{"maxBody":1000}`),
		own(94, patra.DimFields, "", patra.Backfill, `{"note":"x"}`),
		own(95, patra.DimFields, "created", patra.Backfill, `{"other":"x"}`), // of an endpoint that is not asked for
	)
	for _, op := range []patra.Operation{patra.Harvest, patra.Backfill, patra.Update} {
		q := registry.CompileRequest{At: 20, Options: source.Options{Endpoint: "search", Operation: op, Contact: "me@example.org"}}
		want, fields, err := registry.Explain(rows, q)
		if err != nil {
			t.Fatal(err)
		}
		own, err := registry.FileFor(rows, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := source.Compile(own, q.Options)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another spec, %v", op, err)
		}
		plain, err := source.Compile(f, q.Options)
		if err != nil {
			t.Fatal(err)
		}
		if op != patra.Backfill {
			if !reflect.DeepEqual(got, plain) {
				t.Errorf("%s is changed by rows of other operations", op)
			}
			continue
		}
		_, other := got.Second.Mapping["other"]
		if got.Pagination.PageSize != 22 || got.Rate.PerSecond != 0.25 || got.HTTP.MaxBody == 1000 || got.Second.HTTP.MaxBody != 1000 || got.Second.Rate.PerSecond != 0.25 ||
			got.Second.Mapping["note"] != "x" || other || got.Pagination.SizeParam != plain.Pagination.SizeParam {
			t.Errorf("merged to %+v", got)
		}
		layers := map[string]int64{}
		for _, field := range fields {
			layers[field.Path] = field.Layer.Row
		}
		for path, row := range map[string]int64{"pagination.pageSize": 90, "rate.perSecond": 91, "second.rate.perSecond": 91, "second.http.maxBody": 93, "second.mapping.note": 94} {
			if layers[path] != row {
				t.Errorf("%s is from row %d, want %d", path, layers[path], row)
			}
		}
	}
	// What is wrong with the options is for the compiler to say, and it says it.
	for _, o := range []source.Options{{Endpoint: "nowhere", Operation: patra.Harvest}, {Operation: patra.Harvest, Parameters: map[string]string{"colour": "red"}}} {
		own, err := registry.FileFor(rows, registry.CompileRequest{At: 20, Options: o})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := source.Compile(own, o); err == nil {
			t.Errorf("%+v compiled", o)
		}
	}
}

func TestChangesCloseAndOpenOnlyWhatDiffers(t *testing.T) {
	f := shipped(t)["crossref"]
	before := live(rowsOf(t, f), 10)
	f.Defaults.Rate.PerSecond++
	changes := patra.RegistryChanges(before, rowsOf(t, f))
	if len(changes) != 1 || changes[0].Close == nil || changes[0].Open == nil || changes[0].Row().Dimension != patra.DimRate {
		t.Errorf("one field changed: %+v", changes)
	}
	f.Defaults.Rate.PerSecond--
	f.Mapping["new"] = "$.x"
	delete(f.Parameters, "none")
	if changes := patra.RegistryChanges(before, rowsOf(t, f)); len(changes) != 1 || changes[0].Row().Dimension != patra.DimFields {
		t.Errorf("the mapping changed: %+v", changes)
	}
	// A row for one operation is not a file's to remove; a row that was switched off begins again.
	off := append(live(rowsOf(t, f), 10), row(90, "", patra.Harvest, 10, `{}`))
	off[0].Lifecycle = "RETIRED"
	if changes := patra.RegistryChanges(off, rowsOf(t, f)); len(changes) != 1 || changes[0].Open == nil || changes[0].Row().Dimension != patra.DimEndpoint {
		t.Errorf("a row that was switched off: %+v", changes)
	}
}

func TestDiffNamesFields(t *testing.T) {
	files := shipped(t)
	if same, err := registry.Diff(files["crossref"], shipped(t)["crossref"]); err != nil || len(same) != 0 {
		t.Errorf("a file differs from itself: %+v, %v", same, err)
	}
	changed := shipped(t)["crossref"]
	changed.Defaults.Rate.Burst += 2
	changed.Docs = ""
	changed.Mapping["a.b"] = "$.x"
	found, err := registry.Diff(files["crossref"], changed)
	if err != nil || len(found) != 3 || found[0].Path != "defaults.rate.burst" || found[1].Path != "docs" || found[1].B != nil || found[2].Path != `mapping["a.b"]` || found[2].A != nil {
		t.Errorf("differences: %+v, %v", found, err)
	}
}

var words = patra.Dictionary{
	"reg_pagination_type": {Items: []string{"OFFSET", "PAGE", "TOKEN", "URL", "TIME"}, Aliases: map[string]string{"cursor": "TOKEN"}},
	"ing_end":             {Items: []string{"EMPTY_PAGE", "NO_TOKEN", "SAME_TOKEN"}},
	"ing_slice_strategy":  {Items: []string{"TIME", "VOLUME_BUDGET"}, Aliases: map[string]string{"budget": "VOLUME_BUDGET"}},
}

func TestOtherWordsForCodesAreReplaced(t *testing.T) {
	data, err := sources.Files.ReadFile("crossref.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("type: TOKEN", "type: Cursor", "mode: CALENDAR", "mode: CALENDAR\n      strategy: budget").Replace(string(data))
	if text == string(data) {
		t.Fatal("the file has no token to rename")
	}
	f, err := registry.Load("crossref.yaml", []byte(text), words)
	if f.Endpoints["works"].Pagination.Type != "TOKEN" {
		t.Errorf("paging type %q", f.Endpoints["works"].Pagination.Type)
	}
	if f.Endpoints["works"].Window.Strategy != patra.StrategyVolume {
		t.Errorf("strategy %q", f.Endpoints["works"].Window.Strategy)
	}
	// This dictionary knows two types of code only: every other code of the file is reported, and these are not.
	var found patra.Problems
	if !errors.As(err, &found) {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range found {
		seen[p.Path] = p.Code == "UNKNOWN_CODE"
	}
	if !seen["endpoints.works.role"] || seen["endpoints.works.pagination.type"] || seen["endpoints.works.pagination.end[0]"] {
		t.Errorf("problems: %v", found)
	}
	if _, err := registry.Load("crossref.yaml", []byte(strings.Replace(string(data), "type: TOKEN", "type: guess", 1)), words); err == nil || !strings.Contains(err.Error(), "crossref.yaml:") {
		t.Errorf("a word that nobody knows: %v", err)
	}
}

// A file needs no store to be read: every other word that the program knows becomes its code.
func TestOtherWordsAreKnownWithoutAStore(t *testing.T) {
	data, err := sources.Files.ReadFile("crossref.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := registry.Read("crossref.yaml", []byte(strings.NewReplacer("type: TOKEN", "type: Scroll", "role: SEARCH", "role: search", "format: JSON", "format: json").Replace(string(data))))
	if err != nil || !reflect.DeepEqual(f, shipped(t)["crossref"]) {
		t.Errorf("became %+v, %v", f, err)
	}
	_, err = registry.Read("crossref.yaml", []byte(strings.Replace(string(data), "role: SEARCH", "role: seach", 1)))
	if err == nil || !strings.Contains(err.Error(), "crossref.yaml:") || !strings.Contains(err.Error(), `role "seach" is not known`) {
		t.Errorf("a word that nobody knows: %v", err)
	}
	for kind, entry := range registry.Words() {
		for alias, code := range entry.Aliases {
			if !slices.Contains(entry.Items, code) || alias != strings.ToLower(alias) {
				t.Errorf("%s: %q leads to %q", kind, alias, code)
			}
		}
	}
}

// A row that was written by hand can be wrong; that must not be dropped in silence.
func TestUnknownSettingsInARowAreRefused(t *testing.T) {
	rows := live(rowsOf(t, shipped(t)["crossref"]), 10)
	for i := range rows {
		if rows[i].Dimension == patra.DimRate {
			rows[i].Body = json.RawMessage(`{"perHour":1}`)
		}
	}
	if _, err := registry.File(rows, 10); err == nil || !strings.Contains(err.Error(), "perHour") {
		t.Errorf("error %v", err)
	}
	if _, err := registry.File(rows, 9); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("before the first row: %v", err)
	}
}

// Everything that can be said about who we are stands in one dimension, and comes back as it was.
func TestEveryWayToShowWhoWeAreComesBack(t *testing.T) {
	rate := source.KeyRate{PerSecond: 10, Burst: 10}
	for _, auth := range []source.Auth{
		{Type: "NONE"},
		{Type: "API_KEY", In: "BODY", Name: "api_key", Secret: "ncbi", Optional: true, Rate: rate},
		{Type: "BASIC", UserSecret: "acme-user", Secret: "acme"},
		{Type: "BASIC", User: "library", Secret: "acme"},
		{Type: "OAUTH2", TokenURL: "https://login.example.org/token", ClientID: "acme-id", Secret: "acme", Scopes: []string{"read", "list"}, Audience: "works", In: "BODY"},
		{Type: "CUSTOM", Signer: "HMAC_SHA256", Secret: "acme", UserSecret: "acme-id", Options: map[string]string{"signed": "method path", "encoding": "base64"}, Rate: source.KeyRate{PerSecond: 0.5}},
	} {
		f := shipped(t)["pubmed"]
		f.Defaults.Auth = auth
		e := f.Endpoints["search"]
		e.Auth = source.Auth{Secret: "another"}
		f.Endpoints["search"] = e
		rows := live(rowsOf(t, f), 10)
		back, err := registry.File(rows, 10)
		if err != nil || !reflect.DeepEqual(f, back) {
			t.Errorf("%+v became %+v, %v", auth, back.Defaults.Auth, err)
		}
		for _, r := range rows {
			if strings.Contains(string(r.Body), `"acme"`) && r.Dimension != patra.DimCredential {
				t.Errorf("%s holds %s", r.Dimension, r.Body)
			}
		}
		if err := registry.Check(back, registry.Words()); err != nil {
			t.Error(err)
		}
		spec, fields, err := registry.Explain(rows, registry.CompileRequest{At: 10, Options: source.Options{Endpoint: "search", Operation: patra.Harvest, Contact: "me@example.org"}})
		if err != nil {
			t.Fatal(err)
		}
		if auth.Type != "NONE" && spec.Auth.Secret != "another" {
			t.Errorf("compiled to %+v", spec.Auth)
		}
		for _, field := range fields {
			want := map[bool]string{true: "endpoint", false: "source"}[field.Path == "auth.secret"]
			if strings.HasPrefix(field.Path, "auth.") && field.Layer.Name != want && auth.Type != "NONE" {
				t.Errorf("%s is from %s", field.Path, field.Layer.Name)
			}
		}
	}
}
