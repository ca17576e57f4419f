package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The ways to show who we are.
const (
	AuthNone   = "NONE"
	AuthKey    = "API_KEY"
	AuthBearer = "BEARER"
	AuthBasic  = "BASIC"
	AuthOAuth2 = "OAUTH2"
	AuthCustom = "CUSTOM"
)

// Where a key goes; with OAUTH2, where the client's id and secret go in the request for a token.
const (
	InHeader = "HEADER"
	InQuery  = "QUERY"
	InBody   = "BODY"
)

// Auth says how we show who we are. It names secrets and never holds one.
type Auth struct {
	Type       string            `yaml:"type" json:"type,omitempty"`
	In         string            `yaml:"in" json:"in,omitempty"`
	Name       string            `yaml:"name" json:"name,omitempty"`             // of the header, the parameter or the field
	Secret     string            `yaml:"secret" json:"secret,omitempty"`         // the name of a secret
	Optional   bool              `yaml:"optional" json:"optional,omitempty"`     // the provider answers without it too
	User       string            `yaml:"user" json:"user,omitempty"`             // whose secret it is, if that is the same for everybody
	UserSecret string            `yaml:"userSecret" json:"userSecret,omitempty"` // or the name of the secret that says so
	ClientID   string            `yaml:"clientId" json:"clientId,omitempty"`     // the name of a secret
	TokenURL   string            `yaml:"tokenUrl" json:"tokenUrl,omitempty"`     // an address, or a path at the source's own
	Scopes     []string          `yaml:"scopes" json:"scopes,omitempty"`
	Audience   string            `yaml:"audience" json:"audience,omitempty"`
	Signer     string            `yaml:"signer" json:"signer,omitempty"`
	Options    map[string]string `yaml:"options" json:"options,omitempty"` // of the signer
	Rate       KeyRate           `yaml:"rate" json:"rate,omitzero"`
}

// KeyRate is what the provider permits to a key, in place of what it permits to everybody.
type KeyRate struct {
	PerSecond float64 `yaml:"perSecond" json:"perSecond,omitempty"`
	Burst     int     `yaml:"burst" json:"burst,omitempty"`
	Quota     Quota   `yaml:"quota" json:"quota,omitzero"` // without one it is that of the source, counted for the key alone
}

var authTypes = []string{AuthNone, AuthKey, AuthBearer, AuthBasic, AuthOAuth2, AuthCustom}

// authKeys are the keys that mean something with each type.
var authKeys = map[string][]string{
	AuthNone:   {"type"},
	AuthKey:    {"type", "in", "name", "secret", "optional", "rate"},
	AuthBearer: {"type", "secret", "optional", "rate"},
	AuthBasic:  {"type", "user", "userSecret", "secret", "optional", "rate"},
	AuthOAuth2: {"type", "tokenUrl", "clientId", "secret", "in", "scopes", "audience", "optional", "rate"},
	AuthCustom: {"type", "signer", "options", "user", "userSecret", "secret", "optional", "rate"},
}

// tidy drops what the type has no use for. An endpoint that needs no key would otherwise still name the secret of its
// source.
func (a Auth) tidy() Auth {
	b, err := json.Marshal(a)
	if err != nil {
		panic(err) // our own types always marshal
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(b, &keys); err != nil {
		panic(err)
	}
	maps.DeleteFunc(keys, func(key string, _ json.RawMessage) bool { return !slices.Contains(authKeys[a.Type], key) })
	if b, err = json.Marshal(keys); err != nil {
		panic(err)
	}
	var tidied Auth
	if err := json.Unmarshal(b, &tidied); err != nil {
		panic(err)
	}
	return tidied
}

// SecretName is a secret that a source wants, and the key that names it.
type SecretName struct{ Key, Name string }

// Secrets are the secrets that have to be there to show who we are.
func (a Auth) Secrets() []SecretName {
	var names []SecretName
	for _, n := range []SecretName{{"secret", a.Secret}, {"userSecret", a.UserSecret}, {"clientId", a.ClientID}} {
		if n.Name != "" && slices.Contains(authKeys[a.Type], n.Key) {
			names = append(names, n)
		}
	}
	return names
}

// names lists the secrets for a sentence.
func (a Auth) names() string {
	var quoted []string
	for _, n := range a.Secrets() {
		quoted = append(quoted, fmt.Sprintf("%q", n.Name))
	}
	return strings.Join(quoted, " and ")
}

// Refused says what a refusal may mean, and what to do about it. It names secrets and shows none.
func (a Auth) Refused() string {
	switch a.Type {
	case AuthNone, "":
		return "the provider refuses us, and the source says auth: NONE; ask the provider whether it wants a key or blocks this address"
	case AuthOAuth2:
		return fmt.Sprintf("the provider refuses a new token (auth OAUTH2, secrets %s); check what the client may do there, and the scopes and the audience of the source", a.names())
	case AuthCustom:
		return fmt.Sprintf("the provider refuses our signature (auth CUSTOM, signer %s, secrets %s); check the secret, what is signed, and the clock of this machine", a.Signer, a.names())
	}
	return fmt.Sprintf("the provider refuses us (auth %s, secret %s); check that it is valid there and may ask this, then set it anew under secrets in patra.yaml", a.Type, a.names())
}

// NotSent is what a refusal means when an optional secret is not there.
func (a Auth) NotSent() string {
	return fmt.Sprintf("the provider refuses us, and we did not say who we are: the secret %s is not set (auth %s); %s", a.names(), a.Type, setSecret(a.Secret))
}

// NotSet says that a secret is missing, and how to set it.
func (n SecretName) NotSet() string {
	return fmt.Sprintf("the secret %q is not set where this request is made; %s", n.Name, setSecret(n.Name))
}

// setSecret is how to set a secret.
func setSecret(name string) string {
	variable := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	return fmt.Sprintf("name it under secrets in patra.yaml, as in %s: \"env:%s\", and set what is named there", name, variable)
}
