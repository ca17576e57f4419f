package source

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"patra"
)

// RateKeyMember is an endpoint of a source and what its requests are bound by: who shares a key is seen from all of them.
type RateKeyMember struct {
	Source   string
	Endpoint string
	Limit    patra.RateLimit
	Cost     int
	Secret   string // the name of the credential that goes with its requests; empty: none does
	Shown    []ClientIdentity
}

// ClientIdentity is something by which a provider can tell who is asking. It is never a secret.
type ClientIdentity struct {
	Where string `json:"where"` // HEADER or PARAMETER
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Where a provider sees who is asking.
const (
	inHeader    = "HEADER"
	inParameter = "PARAMETER"
)

// Sharers lists the endpoints of a source by name. They need no parameters: what a source is bound by does not depend on
// them, apart from its address.
func (f *File) Sharers(have func(name string) (bool, error), vars Vars) []RateKeyMember {
	params, _ := f.parameters(nil) // those that are missing stay empty
	var all []RateKeyMember
	for _, name := range slices.Sorted(maps.Keys(f.Endpoints)) {
		e := f.Endpoints[name]
		s := &Spec{Source: f.Code, Endpoint: name, Parameters: params, Blocks: merge(platform, f.Defaults, e.Blocks), Request: e.Request}
		s.Auth = s.Auth.tidy()
		s.Rate.Heaviest = f.heaviest(s.Rate)
		all = append(all, s.Sharer(have, "", vars))
	}
	return all
}

// Sharer is a compiled endpoint as one of those who share a key, at its own address or at another one.
func (s *Spec) Sharer(have func(name string) (bool, error), base string, vars Vars) RateKeyMember {
	named := s.Auth.complete(have)
	x := RateKeyMember{Source: s.Source, Endpoint: s.Endpoint, Cost: s.Cost(), Shown: s.shown(vars),
		Limit: s.Limit(named && s.Auth.Rate.PerSecond > 0, cmp.Or(base, s.Address(vars)))}
	if named {
		x.Secret = s.Auth.Secret
	}
	return x
}

// Sharers are the phases of a compiled source.
func (s *Spec) Sharers(have func(name string) (bool, error), base string, vars Vars) (all []RateKeyMember) {
	for _, phase := range s.phases() {
		all = append(all, phase.Sharer(have, base, vars))
	}
	return all
}

// introductions are names under which a provider wants to hear who is asking.
var introductions = []string{"user-agent", "from", "mailto", "email", "tool"}

// shown is what we tell of ourselves with every request.
func (s *Spec) shown(vars Vars) (all []ClientIdentity) {
	add := func(where string, texts map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			if slices.Contains(introductions, strings.ToLower(name)) || strings.Contains(texts[name], "${contact}") {
				all = append(all, ClientIdentity{where, name, vars.fill(texts[name], s.Parameters)})
			}
		}
	}
	headers := maps.Clone(s.HTTP.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	maps.Copy(headers, s.Request.Headers)
	add(inHeader, headers)
	add(inParameter, s.Request.Query)
	return all
}
