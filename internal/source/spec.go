package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"patra"
	"patra/internal/query"
)

// The two kinds of paging token.
const (
	stateless = "STATELESS"
	stateful  = "STATEFUL"
)

// specVersion is the shape of Spec; an executor refuses one that it does not know.
const specVersion = 2

// Spec is a compiled source: everything that planning and executing one operation at one endpoint needs, and no
// secret. It never changes after it was stored.
type Spec struct {
	V          int               `json:"v"`
	Source     string            `json:"source"`
	RecordType string            `json:"recordType"`
	Endpoint   string            `json:"endpoint"`
	Operation  patra.Operation   `json:"operation"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Identity   []string          `json:"identity,omitzero"` // the parameters that name the provider, where the address does not tell; see Repository
	Blocks
	Role        string        `json:"role"`
	Basis       string        `json:"basis,omitempty"` // what the claims about the provider rest on; see Witness
	Detail      *Detail       `json:"detail,omitempty"`
	Second      *Spec         `json:"second,omitempty"` // the endpoint that gives the records behind the ids
	Request     Request       `json:"request"`
	Pagination  Pagination    `json:"pagination"`
	Consistency Consistency   `json:"consistency,omitzero"`
	Census      *Census       `json:"census,omitempty"`
	Response    Response      `json:"response"`
	Window      Window        `json:"window"`
	Query       query.Grammar `json:"query"`
	Mapping     Mapping       `json:"mapping,omitempty"`
	Merge       Merge         `json:"merge,omitzero"`
	Changes     Changes       `json:"changes,omitempty"`
	Update      Update        `json:"update,omitzero"`
}

// Options are what the user of a source says about it.
type Options struct {
	Endpoint   string // empty: the only one that can be searched
	Operation  patra.Operation
	Contact    string
	Parameters map[string]string
	Basis      string // what the claims of the file rest on, if the provider was examined
}

// Compile makes the spec of one operation at one endpoint.
func Compile(f *File, o Options) (*Spec, error) {
	e, name, err := f.endpoint(o.Endpoint)
	if err != nil {
		return nil, err
	}
	params, err := f.parameters(o.Parameters)
	if err != nil {
		return nil, err
	}
	s := &Spec{
		V: specVersion, Source: f.Code, RecordType: f.RecordType, Endpoint: name, Operation: o.Operation, Parameters: params,
		Blocks: merge(platform, f.Defaults, e.Blocks), Role: e.Role, Detail: e.Detail, Request: e.Request, Pagination: e.Pagination, Consistency: e.Consistency, Census: e.Census, Response: e.Response, Window: e.Window.wide(), Query: f.grammar(e.Window), Mapping: f.Mapping, Merge: f.Merge, Changes: f.Changes,
		Update: f.Update,
	}
	if len(e.Mapping) > 0 {
		s.Mapping = e.Mapping
	}
	s.Auth = s.Auth.tidy()
	s.Rate.Heaviest = f.heaviest(s.Rate)
	s.Request.Method = cmp.Or(s.Request.Method, "GET")
	s.Request.Send = cmp.Or(s.Request.Send, sendQuery)
	s.Response.NoID = cmp.Or(s.Response.NoID, "QUARANTINE")
	if s.Role == roleSearch {
		s.Basis = s.basis(o.Basis)
	}
	if err := s.reachable(); err != nil {
		return nil, err
	}
	if own := f.identity(); !slices.Equal(own, s.inAddress()) {
		s.Identity = append([]string{}, own...) // none is something that is said too
	}
	if err := s.nameable(); err != nil {
		return nil, err
	}
	if o.Contact == "" && s.asksForContact() {
		return nil, patra.Problems{{Code: "CONTACT_REQUIRED", Path: "contact", Text: fmt.Sprintf("%s asks who is calling", f.Name),
			Hint: "set contact: you@example.org in patra.yaml, PATRA_CONTACT, or pass {contact}"}}
	}
	if s.Detail == nil {
		return s, nil
	}
	if s.Second, err = s.second(f, o); err != nil {
		return nil, err
	}
	s.Mapping = nil // it reads the records, not the ids
	return s, nil
}

// second is the spec of the endpoint that gives the records behind ids: another one, or the endpoint itself.
func (s *Spec) second(f *File, o Options) (*Spec, error) {
	if s.Role == roleDetail {
		self := *s
		self.Detail = nil
		return &self, nil
	}
	o.Endpoint = s.Detail.Endpoint
	second, err := Compile(f, o)
	if err == nil && second.Detail != nil { // it may be asked by id on its own too
		second = second.Second
	}
	return second, err
}

// grammar gives the fields that windows are cut by what the windows say about them: how finely the provider filters, and
// whether its upper bound is part of the answer. The endpoint's own window speaks last.
func (f *File) grammar(own Window) query.Grammar {
	g := f.Query
	g.Fields = maps.Clone(g.Fields)
	windows := []Window{}
	for _, name := range slices.Sorted(maps.Keys(f.Endpoints)) {
		windows = append(windows, f.Endpoints[name].Window)
	}
	for _, w := range append(windows, own) {
		if field, ok := g.Fields[w.Field]; ok && w.filters() {
			g.Fields[w.Field] = w.wide().bounds(field)
		}
	}
	return g
}

// ByID is the endpoint that is asked for records by their ids when nobody names one; empty if none can be.
func (f *File) ByID() string {
	found := ""
	for _, n := range slices.Sorted(maps.Keys(f.Endpoints)) {
		e := f.Endpoints[n]
		if e.Detail != nil && (found == "" || e.Default) {
			found = n
		}
	}
	return found
}

func (f *File) endpoint(name string) (Endpoint, string, error) {
	var search []string
	for _, n := range slices.Sorted(maps.Keys(f.Endpoints)) { // a name that is said may be any endpoint's
		if f.Endpoints[n].Role == roleSearch {
			search = append(search, n)
		}
		if name == "" && f.Endpoints[n].Default {
			name = n
		}
	}
	if name == "" && len(search) == 1 {
		name = search[0]
	}
	e, ok := f.Endpoints[name]
	if name == "" && len(search) == 0 {
		return e, name, patra.Problems{{Code: "NOT_SEARCHABLE", Text: fmt.Sprintf("source %s cannot be asked for a stretch of time", f.Code), Hint: "ask it by id: patra update " + f.Code + " --ids ID,ID, or --ids-of another source"}}
	}
	if !ok {
		return e, name, patra.Problems{{Code: "UNKNOWN_ENDPOINT", Text: fmt.Sprintf("source %s has no endpoint %q that can be searched", f.Code, name), Hint: "endpoints: " + strings.Join(search, ", ")}}
	}
	return e, name, nil
}

// parameters lays what the user says over the defaults of the file.
func (f *File) parameters(said map[string]string) (map[string]string, error) {
	var found patra.Problems
	known := slices.Sorted(maps.Keys(f.Parameters))
	hint := "it has none"
	if len(known) > 0 {
		hint = "parameters: " + strings.Join(known, ", ")
	}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		if _, ok := f.Parameters[name]; !ok {
			found = append(found, patra.Problem{Code: "UNKNOWN_PARAMETER", Path: name, Text: fmt.Sprintf("source %s has no parameter %q", f.Code, name), Hint: hint})
		}
	}
	values := map[string]string{}
	for _, name := range known {
		value := cmp.Or(said[name], f.Parameters[name].Default)
		if value == "" && f.Parameters[name].Required {
			found = append(found, patra.Problem{Code: "PARAMETER_REQUIRED", Path: name, Text: fmt.Sprintf("source %s needs the parameter %s: %s", f.Code, name, f.Parameters[name].Doc),
				Hint: "pass {params} " + name + "=VALUE"})
		}
		if value != "" {
			values[name] = value
		}
	}
	if len(values) == 0 {
		values = nil
	}
	return values, found.Err()
}

// platform is what holds for every source that does not say otherwise.
var platform = Blocks{
	HTTP:  HTTP{Timeout: Timeout{Connect: Duration(10 * time.Second), Read: Duration(60 * time.Second), Total: Duration(120 * time.Second)}, MaxBody: 64 << 20},
	Auth:  Auth{Type: AuthNone},
	Rate:  Rate{PerSecond: 1, Burst: 1},
	Retry: Retry{MaxAttempts: 5, Backoff: Backoff{Initial: Duration(500 * time.Millisecond), Max: Duration(30 * time.Second), Factor: 2, Jitter: 0.2}},
}

// merge lays blocks over each other, field by field; a field that is not set leaves the one below.
func merge(layers ...Blocks) Blocks {
	var tree map[string]any
	for _, layer := range layers {
		b, err := json.Marshal(layer)
		if err != nil {
			panic(err) // our own types always marshal
		}
		var next map[string]any
		if err := json.Unmarshal(b, &next); err != nil {
			panic(err)
		}
		tree = overlay(tree, next)
	}
	b, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	var merged Blocks
	if err := json.Unmarshal(b, &merged); err != nil {
		panic(err)
	}
	return merged
}

func overlay(below, above map[string]any) map[string]any {
	out := maps.Clone(below)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range above {
		lower, isLower := out[k].(map[string]any)
		upper, isUpper := v.(map[string]any)
		if isLower && isUpper {
			v = overlay(lower, upper)
		}
		out[k] = v
	}
	return out
}

func (s *Spec) asksForContact() bool {
	for _, texts := range []map[string]string{s.HTTP.Headers, s.Request.Headers, s.Request.Query} {
		for _, v := range texts {
			if strings.Contains(v, "${contact}") {
				return true
			}
		}
	}
	return false
}

// Snapshot is the stored form with its fingerprint.
func (s *Spec) Snapshot() (patra.Snapshot, error) {
	body, err := patra.Canonical(s)
	if err != nil {
		return patra.Snapshot{}, err
	}
	return patra.Snapshot{Fingerprint: patra.HashBytes(body), Source: s.Source, Endpoint: s.Endpoint, Operation: s.Operation, Body: body}, nil
}

// FromSnapshot reads a stored spec back. It refuses one that was altered or that a newer program wrote.
func FromSnapshot(fingerprint string, body json.RawMessage) (*Spec, error) {
	if patra.HashBytes(body) != fingerprint {
		return nil, fmt.Errorf("snapshot %.8s: the stored text does not match its fingerprint", fingerprint)
	}
	var age struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(body, &age); err != nil {
		return nil, fmt.Errorf("snapshot %.8s: %w", fingerprint, err)
	}
	if age.V != specVersion {
		return nil, fmt.Errorf("snapshot %.8s: version %d is not known to this program: %w", fingerprint, age.V, ErrNewer)
	}
	s := &Spec{}
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields() // what is left out asks another question, or asks it in another way
	if err := strict.Decode(s); err != nil {
		if strings.Contains(err.Error(), "unknown field") {
			err = fmt.Errorf("%w: %w", err, ErrNewer)
		}
		return nil, fmt.Errorf("snapshot %.8s: %w", fingerprint, err)
	}
	return s, nil
}

// ErrNewer means that a snapshot says something that this program does not understand.
var ErrNewer = errors.New("another version of patra wrote it: use that version")

// CheckQuery says why a query cannot be asked together with a window, if it cannot.
func (s *Spec) CheckQuery(query query.Node) error {
	from := patra.Date(2026, 1, 1)
	asked, err := s.Query.Render(s.Bind(query, patra.Window{From: from, To: patra.UnitMonth.Next(from)}))
	if err == nil && asked.Empty {
		return matchesNothing()
	}
	return err
}

// matchesNothing refuses a question that need not be asked.
func matchesNothing() error {
	return patra.Problems{{Code: "MATCHES_NOTHING", Path: "query", Text: "no record can match this query"}}
}

// reachable refuses an address that cannot be asked, of a source whose user says what it is.
func (s *Spec) reachable() error {
	at := s.Address(Vars{})
	if at == s.HTTP.BaseURL { // which was looked at with the file
		return nil
	}
	u, err := url.Parse(at)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil:
		return patra.Problems{{Code: "BAD_VALUE", Path: "http.baseUrl", Text: fmt.Sprintf("%q is not an address that %s can be asked at", WithoutPassword(at), s.Source), Hint: "write https://host/path"}}
	case moreThanBase(u):
		return patra.Problems{{Code: "BAD_VALUE", Path: "http.baseUrl", Text: fmt.Sprintf("%q has more than a path: what stands behind the ? or the # would not be asked for", at), Hint: hintBase}}
	}
	return nil
}

// hintBase is what to do with parameters in a base address.
const hintBase = "write https://host/path, and what belongs to every request under request.query of a source file of your own"

// moreThanBase reports whether an address has parts that requests to a path below it do not have.
func moreThanBase(u *url.URL) bool { return u.RawQuery != "" || u.ForceQuery || u.Fragment != "" }

// WithoutPassword is an address as it may be shown and kept.
func WithoutPassword(text string) string {
	at := strings.LastIndexByte(text, '@')
	scheme, _, ok := strings.Cut(text, "://")
	if at < 0 || !ok || strings.ContainsAny(scheme, "@/?#") {
		return text
	}
	return scheme + "://xxxxx" + text[at:]
}

// RequireHTTPS refuses an address without encryption before anything is planned or sent there, as every request would be. One
// that somebody names for this very time, such as a simulator on this machine, may be so, and so may those that are permitted by
// their whole address.
func (s *Spec) RequireHTTPS(baseURL string, permitted []string) error {
	at := s.Address(Vars{})
	if u, err := url.Parse(at); baseURL != "" || err != nil || u.Scheme == "https" || slices.Contains(permitted, at) {
		return nil
	}
	return patra.Problems{{Code: "BAD_VALUE", Path: "http.baseUrl", Text: fmt.Sprintf("%s is asked at %s, which is without encryption", s.Source, at),
		Hint: "write https://host/path, or permit this address under sources.insecure in patra.yaml; a server of your own, such as patra sim, is named with {base_url}"}}
}

// Address is where the source is, with what the user said about it.
func (s *Spec) Address(vars Vars) string { return vars.fill(s.HTTP.BaseURL, s.Parameters) }

// Harvestable says why a spec cannot be harvested, if it cannot.
func (s *Spec) Harvestable() error {
	if s.Role != roleSearch {
		return patra.Problems{{Code: "NOT_SEARCHABLE", Path: "endpoint", Text: fmt.Sprintf("endpoint %s of %s cannot be searched", s.Endpoint, s.Source)}}
	}
	return nil
}

// Fetchable says why records cannot be fetched by their ids, if they cannot.
func (s *Spec) Fetchable() error {
	if s.Second == nil {
		return patra.Problems{{Code: "NOT_BY_ID", Path: "endpoint", Text: fmt.Sprintf("endpoint %s of %s has no way to fetch records by their ids", s.Endpoint, s.Source),
			Hint: "update by time, or give the endpoint a detail: block"}}
	}
	return nil
}

// Records is the spec that reads the records: that of the second phase, where there are two.
func (s *Spec) Records() *Spec {
	if s.Second != nil {
		return s.Second
	}
	return s
}

// Stateful reports whether each request consumes the provider's paging state, so that no page can be asked for twice.
func (s *Spec) Stateful() bool { return s.Pagination.Token.State == stateful }

// SafetyLag is how far a harvest stays behind the present; platform is the lag of a source that names none.
func (s *Spec) SafetyLag(platform time.Duration) time.Duration {
	if s.Window.SafetyLag == nil {
		return platform
	}
	return s.Window.SafetyLag.Clock + time.Duration(s.Window.SafetyLag.Days)*24*time.Hour
}
