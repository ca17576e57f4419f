package patra_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// place is a package on the import map: which packages of the module it may see, and why no others.
type place struct {
	sees []string
	why  string
}

// importMap is the architecture. A package that is not on it is refused until somebody has written down where it belongs.
var importMap = map[string]place{
	"patra":                           {nil, "the nouns and rules are pure: everything depends on them, so they depend on nothing"},
	"patra/internal/query":            {[]string{"patra"}, "a query is a pure value; it knows no provider and no table"},
	"patra/internal/rawjson":          {nil, "JSON is bytes; what they are about is not its business"},
	"patra/internal/rawxml":           {nil, "XML is bytes; what they are about is not its business"},
	"patra/internal/source":           {[]string{"patra", "patra/internal/query", "patra/internal/rawjson", "patra/internal/rawxml", "patra/internal/strictyaml", "patra/sources"}, "a source only describes; it neither plans nor sends nor stores. The claims of a file that is shipped are believed until the provider contradicts them"},
	"patra/internal/planner":          {[]string{"patra", "patra/internal/source", "patra/internal/query"}, "planner and executor meet only in the tables, and the planner talks to no provider"},
	"patra/internal/executor":         {[]string{"patra", "patra/internal/source", "patra/internal/query", "patra/internal/egress", "patra/internal/zstdchunks"}, "planner and executor meet only in the tables; store, gate and secrets are handed in, so that others can stand in for them"},
	"patra/internal/observe":          {[]string{"patra", "patra/internal/executor", "patra/internal/relay"}, "numbers, lines and traces are made of what others tell; nobody asks them before doing something"},
	"patra/internal/egress":           {[]string{"patra"}, "the way out is the same for everybody; it knows nothing of harvesting"},
	"patra/internal/alert":            {[]string{"patra", "patra/internal/egress", "patra/internal/relay", "patra/internal/store"}, "whoever looks for alerts reads the store and knows the rules; messages go out by the guarded way, signed as events are"},
	"patra/internal/api":              {[]string{"patra", "patra/internal/alert", "patra/internal/engine", "patra/internal/query", "patra/internal/store", "patra/internal/view"}, "whoever answers over HTTP reads the store, looks for alerts where nobody else does, and shows queries, which are values; what needs the whole program is registered by whoever has it"},
	"patra/internal/view":             {[]string{"patra", "patra/internal/store"}, "what people see of the state of the world is derived from the tables and the rules, the same for every door; a verdict is a pure function of facts that others have read"},
	"patra/internal/engine":           {[]string{"patra", "patra/internal/alert", "patra/internal/source", "patra/internal/query", "patra/internal/planner", "patra/internal/executor", "patra/internal/store", "patra/internal/view"}, "what one installation can do is a call for every door; it knows neither flags nor routes"},
	"patra/internal/web":              {nil, "the dashboard is files"},
	"patra/internal/archive":          {[]string{"patra", "patra/internal/blob"}, "rows and files are values to it; what is old and what may go, others say"},
	"patra/internal/blob":             {nil, "named bytes are useful to whoever keeps something; what they mean is not their business"},
	"patra/internal/blob/blobtest":    {[]string{"patra/internal/blob"}, "the suite that every place must pass sees places and nobody who uses them"},
	"patra/internal/zstdchunks":       {[]string{"patra"}, "whoever packs bytes knows how large a piece is, and not what it is about"},
	"patra/internal/evidence":         {[]string{"patra", "patra/internal/blob", "patra/internal/zstdchunks"}, "whoever keeps bodies knows hashes and places, and nobody who sends or reads"},
	"patra/internal/relay":            {[]string{"patra", "patra/internal/egress"}, "whoever sends events knows sinks and rules; the store is handed in, so that others can stand in for it"},
	"patra/internal/relay/relaytest":  {[]string{"patra", "patra/internal/relay"}, "the suite that every publisher must pass sees publishers, and nobody who uses them"},
	"patra/internal/export":           {[]string{"patra"}, "whoever writes files for others is handed records, and does not know where they come from"},
	"patra/internal/replay":           {[]string{"patra", "patra/internal/source", "patra/internal/query"}, "reading again is reading: it is given rows and bodies, and opens neither tables nor connections"},
	"patra/internal/bundle":           {[]string{"patra"}, "a bundle is files and their hashes; where they come from is handed in"},
	"patra/internal/gate":             {[]string{"patra"}, "a gate only counts; it never sends to a provider and never stores by itself"},
	"patra/internal/gate/gatetest":    {[]string{"patra", "patra/internal/sim"}, "the suite that every gate must pass sees what a provider would see, and no gate"},
	"patra/internal/store":            {[]string{"patra", "patra/internal/zstdchunks", "patra/internal/store/invariants"}, "the tables know the nouns and nobody who uses them"},
	"patra/internal/store/invariants": {[]string{"patra"}, "whoever checks the tables shares no code with whoever writes them"},
	"patra/internal/store/storetest":  {[]string{"patra", "patra/internal/zstdchunks", "patra/internal/store", "patra/internal/store/invariants", "patra/internal/query"}, "the suite that every database must pass sees the tables and the nouns, and nobody who uses them"},
	"patra/internal/crashtest":        {nil, "whoever breaks a disk sees system calls and files, and not whose they are"},
	"patra/internal/registry":         {[]string{"patra", "patra/internal/source", "patra/internal/strictyaml"}, "rows and files are values to it; it neither reads tables nor sends"},
	"patra/internal/strictyaml":       {[]string{"patra"}, "reading YAML strictly is useful to sources and settings alike, so it knows neither"},
	"patra/internal/config":           {[]string{"patra", "patra/internal/schedule", "patra/internal/secret", "patra/internal/strictyaml"}, "settings are values, and so are times of a schedule and places of secrets; whoever uses them is not their business"},
	"patra/internal/secret":           {nil, "whoever handles secrets sees nobody who could store or print one"},
	"patra/internal/schedule":         {[]string{"patra"}, "when something is due is a rule; what is done then, and where it is noted, is handed in"},
	"patra/internal/sim":              {[]string{"patra"}, "a simulator that shared code with the harvester would share its mistakes"},
	"patra/internal/verifier":         {[]string{"patra", "patra/internal/store/invariants", "patra/internal/sim"}, "whoever judges from outside shares no code with whoever plans, sends or stores; of the simulator it knows what its logs look like"},
	"patra/sources":                   {nil, "shipped sources are data: a source that needs code is not a source"},
	"patra/bench":                     {[]string{"patra/internal/sim", "patra/sources"}, "whoever measures sees the provider and the programs, and nothing inside them"},
	"patra/bench/baseline":            {nil, "a floor shares no code with whom it is measured against"},
	"patra/scripts/testreport":        {nil, "a filter of test output knows no package of the program"},
	"patra/cmd/patra-check":           {[]string{"patra/internal/verifier"}, "the judge is a program of its own, so that it can be built without what it judges"},
	"patra/cmd/patra":                 {[]string{"patra/internal/cli"}, "main hands the version to the command line and exits with its code"},
	"patra/internal/cli":              {[]string{"*"}, "the command line wires everything together until the engine does"},
}

// reserve is an import from outside the module that only some packages may have.
type reserve struct {
	imports []string // a path, or a prefix that ends in /
	only    []string // packages that may; nobody else
	never   []string // or the other way round: packages that may not
	why     string
}

var reserves = []reserve{
	{imports: []string{"database/sql", "database/sql/", "github.com/go-sql-driver/mysql", "modernc.org/sqlite", "modernc.org/sqlite/", "github.com/pressly/goose/"},
		only: []string{"patra/internal/store", "patra/internal/store/invariants", "patra/internal/store/storetest", "patra/internal/verifier", "patra/bench", "patra/bench/baseline"},
		why:  "one package holds all SQL, so that transactions, dialects and statement names are in one place"},
	{imports: []string{"github.com/danielgtaylor/huma/"}, only: []string{"patra/internal/api"},
		why: "who may call is said where a route is registered, and there is one way to do that"},
	{imports: []string{"github.com/redis/go-redis/"}, only: []string{"patra/internal/gate"},
		why: "Redis keeps nothing but what the rate gate lends it: it forgets"},
	{imports: []string{"net/http", "net/http/"},
		only: []string{"patra/internal/egress", "patra/internal/executor", "patra/internal/source", "patra/internal/sim", "patra/internal/observe", "patra/internal/relay", "patra/internal/alert", "patra/internal/api", "patra/internal/web", "patra/internal/cli", "patra/bench", "patra/bench/baseline"},
		why:  "every request goes through the guarded client; a second HTTP client would have none of its guards"},
	{imports: []string{"github.com/nats-io/nats.go", "github.com/nats-io/nats.go/", "github.com/twmb/franz-go/"}, only: []string{"patra/internal/relay", "patra/internal/relay/relaytest"},
		why: "one package sends events, so that their order is kept in one place"},
	{imports: []string{"net"}, never: []string{"patra", "patra/internal/query", "patra/internal/source", "patra/internal/planner", "patra/internal/gate", "patra/internal/registry", "patra/internal/strictyaml", "patra/internal/config", "patra/internal/secret"},
		why: "what is pure can be proved; a package that dials cannot"},
	{imports: []string{"github.com/parquet-go/parquet-go", "github.com/parquet-go/parquet-go/"}, only: []string{"patra/internal/export"},
		why: "one package knows how a table looks on disk"},
	{imports: []string{"go.opentelemetry.io/otel/sdk/", "go.opentelemetry.io/otel/exporters/"}, only: []string{"patra/internal/observe"},
		why: "whoever makes spans knows only what a span is; where they go, and that nobody waits for them, is said in one place"},
	{imports: []string{"go.opentelemetry.io/otel/", "go.opentelemetry.io/otel"}, only: []string{"patra/internal/planner", "patra/internal/executor", "patra/internal/relay", "patra/internal/api", "patra/internal/observe", "patra/internal/cli"},
		why: "those who do something tell of it; rules, tables and descriptions do nothing"},
	{imports: []string{"os", "os/", "log", "log/"}, never: []string{"patra", "patra/internal/query"},
		why: "a rule is a function of its arguments; files, environment and logs are not among them"},
}

// wholeImports are packages whose every import is listed, of whatever origin.
var wholeImports = map[string][]string{"patra/sources": {"embed"}}

// refusals lists what a package's imports break, each with the reason for the rule.
func refusals(pkg string, imports []string) []string {
	at, ok := importMap[pkg]
	if !ok {
		return []string{fmt.Sprintf("%s is not on the import map: say in importMap what it may see, and why", pkg)}
	}
	var found []string
	refuse := func(imp, why string) { found = append(found, fmt.Sprintf("%s must not import %s: %s", pkg, imp, why)) }
	for _, imp := range imports {
		ours, foreign := imp == "patra" || strings.HasPrefix(imp, "patra/"), strings.Contains(strings.Split(imp, "/")[0], ".")
		switch whole, listed := wholeImports[pkg]; {
		case listed && !slices.Contains(whole, imp), ours && !slices.Contains(at.sees, imp) && !slices.Contains(at.sees, "*"):
			refuse(imp, at.why)
		case ours && strings.HasSuffix(imp, "test"):
			refuse(imp, "what only tests need does not belong in the program")
		case foreign && pkg == "patra":
			refuse(imp, "the root package has the standard library only, so that no dependency can change what is right")
		}
		for _, r := range reserves {
			if r.covers(imp) && !r.permits(pkg) {
				refuse(imp, r.why)
			}
		}
	}
	return found
}

func (r reserve) covers(imp string) bool {
	return slices.ContainsFunc(r.imports, func(p string) bool { return imp == p || strings.HasSuffix(p, "/") && strings.HasPrefix(imp, p) })
}

func (r reserve) permits(pkg string) bool {
	return len(r.only) == 0 && !slices.Contains(r.never, pkg) || slices.Contains(r.only, pkg)
}

// isModule reports whether a folder is a module of its own, such as a program that ours is measured against.
func isModule(folder string) bool {
	_, err := os.Stat(path.Join(folder, "go.mod"))
	return err == nil
}

// moduleImports reads the imports of every package of the module, tests left out, for all systems and tags.
func moduleImports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")):
			return fs.SkipDir
		case d.IsDir() && name != "." && isModule(name):
			return fs.SkipDir // its imports are not ours
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Join("patra", path.Dir(name))
		for _, spec := range file.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !slices.Contains(found[pkg], imp) {
				found[pkg] = append(found[pkg], imp)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPackagesSeeOnlyWhatTheImportMapAllows(t *testing.T) {
	found := moduleImports(t)
	for _, pkg := range slices.Sorted(maps.Keys(found)) {
		for _, why := range refusals(pkg, found[pkg]) {
			t.Error(why)
		}
	}
	for pkg := range importMap {
		if _, ok := found[pkg]; !ok {
			t.Errorf("%s is on the import map and has no imports or does not exist", pkg)
		}
	}
}

// The map is worth something only if it refuses what it should.
func TestTheImportMapRefusesWhatItShould(t *testing.T) {
	tests := []struct {
		pkg, imp string
		why      string // part of the reason; empty: allowed
	}{
		{"patra", "slices", ""},
		{"patra", "github.com/goccy/go-yaml", "standard library only"},
		{"patra", "golang.org/x/sync/errgroup", "standard library only"},
		{"patra", "patra/internal/query", "they depend on nothing"},
		{"patra", "net", "can be proved"},
		{"patra", "net/http", "guarded client"},
		{"patra", "os", "function of its arguments"},
		{"patra", "database/sql", "all SQL"},
		{"patra/internal/planner", "patra/internal/source", ""},
		{"patra/internal/planner", "patra/internal/executor", "only in the tables"},
		{"patra/internal/planner", "patra/internal/store", "only in the tables"},
		{"patra/internal/planner", "patra/internal/gate", "only in the tables"},
		{"patra/internal/planner", "patra/internal/egress", "talks to no provider"},
		{"patra/internal/planner", "net/http", "guarded client"},
		{"patra/internal/executor", "patra/internal/egress", ""},
		{"patra/internal/executor", "golang.org/x/sync/errgroup", ""},
		{"patra/internal/executor", "net/http", ""},
		{"patra/internal/executor", "patra/internal/planner", "only in the tables"},
		{"patra/internal/executor", "patra/internal/store", "handed in"},
		{"patra/internal/executor", "patra/internal/gate", "handed in"},
		{"patra/internal/executor", "database/sql", "all SQL"},
		{"patra/internal/query", "patra/internal/source", "knows no provider"},
		{"patra/internal/query", "net", "can be proved"},
		{"patra/internal/query", "database/sql/driver", "all SQL"},
		{"patra/internal/source", "net/http", ""},
		{"patra/internal/source", "net/url", ""},
		{"patra/internal/source", "net", "can be proved"},
		{"patra/internal/source", "patra/internal/planner", "only describes"},
		{"patra/internal/source", "database/sql", "all SQL"},
		{"patra/internal/store", "database/sql/driver", ""},
		{"patra/internal/store", "patra/internal/source", "nobody who uses them"},
		{"patra/internal/store", "net/http", "guarded client"},
		{"patra/internal/store/invariants", "database/sql", ""},
		{"patra/internal/store/invariants", "patra/internal/store", "shares no code"},
		{"patra/internal/registry", "patra/internal/source", ""},
		{"patra/internal/registry", "patra/internal/store", "values to it"},
		{"patra/internal/registry", "database/sql", "all SQL"},
		{"patra/internal/registry", "net", "can be proved"},
		{"patra/internal/store", "patra/internal/registry", "nobody who uses them"},
		{"patra/internal/export", "github.com/parquet-go/parquet-go", ""},
		{"patra/internal/export", "patra/internal/store", "handed records"},
		{"patra/internal/export", "database/sql", "all SQL"},
		{"patra/internal/cli", "github.com/parquet-go/parquet-go", "on disk"},
		{"patra/internal/gate", "patra/internal/store", "never stores"},
		{"patra/internal/gate", "net/http/httptrace", "guarded client"},
		{"patra/internal/gate", "patra/internal/gate/gatetest", "never stores"},
		{"patra/internal/gate/gatetest", "patra/internal/gate", "and no gate"},
		{"patra/internal/executor", "net/http/httptrace", ""},
		{"patra/internal/executor", "go.opentelemetry.io/otel/trace", ""},
		{"patra/internal/executor", "go.opentelemetry.io/otel/sdk/trace", "knows only what a span is"},
		{"patra/internal/cli", "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp", "nobody waits for them"},
		{"patra/internal/store", "go.opentelemetry.io/otel/trace", "do nothing"},
		{"patra/internal/egress", "patra/internal/source", "nothing of harvesting"},
		{"patra/internal/relay", "patra/internal/store", "handed in"},
		{"patra/internal/relay", "github.com/nats-io/nats.go/jetstream", ""},
		{"patra/internal/executor", "github.com/twmb/franz-go/pkg/kgo", "sends events"},
		{"patra/internal/secret", "os", ""},
		{"patra/internal/secret", "patra/internal/store", "store or print"},
		{"patra/internal/secret", "net/http", "guarded client"},
		{"patra/internal/executor", "patra/internal/secret", "handed in"},
		{"patra/internal/config", "patra/internal/secret", ""},
		{"patra/internal/sim", "net/http", ""},
		{"patra/internal/sim", "patra", ""},
		{"patra/internal/sim", "patra/internal/source", "share its mistakes"},
		{"patra/internal/verifier", "patra/internal/store/invariants", ""},
		{"patra/internal/verifier", "patra/internal/store", "shares no code"},
		{"patra/internal/verifier", "patra/internal/executor", "shares no code"},
		{"patra/internal/verifier", "patra/internal/planner", "shares no code"},
		{"patra/cmd/patra-check", "patra/internal/store", "without what it judges"},
		{"patra/internal/config", "patra/internal/strictyaml", ""},
		{"patra/internal/config", "patra/internal/source", "settings are values"},
		{"patra/internal/strictyaml", "patra/internal/source", "it knows neither"},
		{"patra/internal/strictyaml", "patra/internal/config", "it knows neither"},
		{"patra/internal/strictyaml", "modernc.org/sqlite", "all SQL"},
		{"patra/sources", "embed", ""},
		{"patra/sources", "fmt", "are data"},
		{"patra/sources", "patra", "are data"},
		{"patra/cmd/patra", "patra/internal/cli", ""},
		{"patra/cmd/patra", "patra/internal/store", "main hands the version"},
		{"patra/internal/store", "patra/internal/cli", "nobody who uses them"},
		{"patra/internal/cli", "patra/internal/store", ""},
		{"patra/internal/cli", "net/http", ""},
		{"patra/internal/cli", "database/sql", "all SQL"},
		{"patra/internal/cli", "github.com/go-sql-driver/mysql", "all SQL"},
		{"patra/internal/cli", "patra/internal/store/storetest", "what only tests need"},
		{"patra/internal/store", "patra/internal/store/storetest", "nobody who uses them"},
		{"patra/internal/store/storetest", "database/sql", ""},
		{"patra/internal/store/storetest", "patra/internal/planner", "nobody who uses them"},
		{"patra/internal/util", "fmt", "not on the import map"},
	}
	for _, tt := range tests {
		t.Run(tt.pkg+" imports "+tt.imp, func(t *testing.T) {
			got := refusals(tt.pkg, []string{tt.imp})
			if (len(got) == 0) != (tt.why == "") || !strings.Contains(strings.Join(got, "\n"), tt.why) {
				t.Errorf("got %q, want a reason with %q", got, tt.why)
			}
		})
	}
}
