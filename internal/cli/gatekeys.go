package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"patra"
	"patra/internal/source"
	"patra/internal/strictyaml"
)

// GateKey is a key of the gate, and who shares it.
type GateKey struct {
	Key        string   `json:"key"`
	SharedBy   []string `json:"shared_by"`            // SOURCE/ENDPOINT, of those that are installed
	Credential string   `json:"credential,omitempty"` // its name

	limit patra.RateLimit // the highest of those who share it; the zero value: nobody is installed who would use it
	shown map[source.ClientIdentity]bool
}

// gateKeyIndex is every key that an installed source would use from here, by name.
type gateKeyIndex map[string]*GateKey

// gateKeys looks at all sources as they count now. One that is not valid sends nothing, so it has no key.
func (a *app) gateKeys(ctx context.Context) (gateKeyIndex, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	reg, err := a.registryStore(ctx)
	if err != nil {
		return nil, err
	}
	codes, err := a.sourceCodes(ctx, reg)
	if err != nil {
		return nil, err
	}
	ring := gateKeyIndex{}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		f, _, err := a.activeSource(ctx, code)
		if _, invalid := errors.AsType[patra.Problems](err); invalid {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, s := range f.Sharers(a.have, source.Vars{Contact: cfg.Contact, Version: a.version}) {
			ring.add(s)
		}
	}
	return ring, nil
}

// add notes that an endpoint shares a key.
func (r gateKeyIndex) add(s source.RateKeyMember) {
	k := r.of(s.Limit.Key)
	if at := s.Source + "/" + s.Endpoint; !slices.Contains(k.SharedBy, at) {
		k.SharedBy = append(k.SharedBy, at)
	}
	k.Credential = cmp.Or(k.Credential, s.Secret)
	if s.Limit.PerSecond > k.limit.PerSecond {
		k.limit = s.Limit
	}
	for _, shown := range s.Shown {
		k.shown[shown] = true
	}
}

// of is a key, which it makes if nobody installed would use it.
func (r gateKeyIndex) of(key string) *GateKey {
	if r[key] == nil {
		r[key] = &GateKey{Key: key, SharedBy: []string{}, shown: map[source.ClientIdentity]bool{}}
		_, r[key].Credential, _ = strings.Cut(key, "#")
	}
	return r[key]
}

// names are all keys, in order.
func (r gateKeyIndex) names() []string { return slices.Sorted(maps.Keys(r)) }

// find gives the keys that a person means: one by its name, or all that a source uses.
func (r gateKeyIndex) find(word string) ([]string, error) {
	var found []string
	for _, name := range r.names() {
		if name == word || r[name].usedBy(word) {
			found = append(found, name)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, r.unknown(word)
}

// usedBy reports whether a source uses the key.
func (k *GateKey) usedBy(code string) bool {
	own := strings.HasPrefix(k.Key, code+"#") || strings.HasPrefix(k.Key, code+"/") || strings.HasPrefix(k.Key, code+"@")
	return own || slices.ContainsFunc(k.SharedBy, func(at string) bool { return strings.HasPrefix(at, code+"/") })
}

// unknown says that there is no such key, and which ones there are.
func (r gateKeyIndex) unknown(word string) error {
	if near, ok := strictyaml.Nearest(word, r.names()); ok {
		return patra.Absent("the gate has no key %q; did you mean %q? patra gate status lists all of them", word, near)
	}
	return patra.Absent("the gate has no key %q; it has %s", word, strings.Join(r.names(), ", "))
}

// cut makes a name fit a column: what is in the middle says least.
func cut(name string, width int) string {
	runes := []rune(name)
	if len(runes) <= width {
		return name
	}
	head := (width - 1) / 2
	return fmt.Sprintf("%s…%s", string(runes[:head]), string(runes[len(runes)-(width-1-head):]))
}
