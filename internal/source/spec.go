package source

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"patra"
)

// The two kinds of paging token.
const (
	stateless = "STATELESS"
	stateful  = "STATEFUL"
)

// specVersion is the shape of Spec; an executor refuses one that it does not know.
const specVersion = 1

// Spec is a compiled source: everything that planning and executing one operation at one endpoint needs, and no
// secret. It never changes after it was stored.
type Spec struct {
	V          int               `json:"v"`
	Source     string            `json:"source"`
	RecordType string            `json:"record_type"`
	Endpoint   string            `json:"endpoint"`
	Operation  patra.Operation   `json:"operation"`
	HTTP       HTTP              `json:"http"`
	Rate       Rate              `json:"rate"`
	Retry      Retry             `json:"retry"`
	Request    Request           `json:"request"`
	Pagination Pagination        `json:"pagination"`
	Response   Response          `json:"response"`
	Window     Window            `json:"window"`
	Render     []Rule            `json:"render"`
	Params     map[string]Param  `json:"params"`
	Mapping    map[string]string `json:"mapping"`
}

// Compile makes the spec of one operation at one endpoint. An empty endpoint means the only one there is.
func Compile(f *File, endpoint string, op patra.Operation, contact string) (*Spec, error) {
	var names []string
	for name := range f.Endpoints {
		names = append(names, name)
	}
	slices.Sort(names)
	if endpoint == "" && len(names) == 1 {
		endpoint = names[0]
	}
	e, ok := f.Endpoints[endpoint]
	if !ok {
		return nil, patra.Problems{{Code: "UNKNOWN_ENDPOINT", Text: fmt.Sprintf("source %s has no endpoint %q", f.Code, endpoint), Hint: "endpoints: " + strings.Join(names, ", ")}}
	}
	if contact == "" && asksForContact(f.Defaults.HTTP.Headers) {
		return nil, patra.Problems{{Code: "CONTACT_REQUIRED", Path: "contact", Text: fmt.Sprintf("%s asks who is calling", f.Name),
			Hint: "Set contact: you@example.org in patra.yaml, PATRA_CONTACT, or pass --contact"}}
	}
	return &Spec{
		V: specVersion, Source: f.Code, RecordType: f.RecordType, Endpoint: endpoint, Operation: op,
		HTTP: f.Defaults.HTTP, Rate: f.Defaults.Rate, Retry: f.Defaults.Retry,
		Request: e.Request, Pagination: e.Pagination, Response: e.Response, Window: e.Window,
		Render: f.Query.Render, Params: f.Query.Params, Mapping: f.Mapping,
	}, nil
}

func asksForContact(headers map[string]string) bool {
	for _, v := range headers {
		if strings.Contains(v, "${contact}") {
			return true
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
	s := &Spec{}
	if err := json.Unmarshal(body, s); err != nil {
		return nil, fmt.Errorf("snapshot %.8s: %w", fingerprint, err)
	}
	if s.V != specVersion {
		return nil, fmt.Errorf("snapshot %.8s: version %d is not known to this program", fingerprint, s.V)
	}
	return s, nil
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
