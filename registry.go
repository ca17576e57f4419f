package patra

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Dimension is one aspect of a source that is versioned on its own.
type Dimension string

// The dimensions of a source.
const (
	DimEndpoint   Dimension = "endpoint" // what is left: names, roles, requests
	DimHTTP       Dimension = "http"
	DimCredential Dimension = "credential" // names a secret, never holds one
	DimPagination Dimension = "pagination"
	DimWindow     Dimension = "window"
	DimResponse   Dimension = "response"
	DimRetry      Dimension = "retry"
	DimRate       Dimension = "rate"
	DimParams     Dimension = "params"
	DimCapability Dimension = "capability"
	DimRender     Dimension = "render"
	DimFields     Dimension = "fields"
)

// Dimensions is every dimension, in the order in which people read a source.
var Dimensions = []Dimension{DimEndpoint, DimHTTP, DimCredential, DimRate, DimRetry, DimPagination, DimWindow, DimResponse, DimCapability, DimParams, DimRender, DimFields}

// LifecycleActive is the only state of a registry row that counts.
const LifecycleActive = "ACTIVE"

// RegistryRow is one dimension of a source during a stretch of time. An empty endpoint or operation means all of them.
// A row is never edited: it is closed, and another one begins.
type RegistryRow struct {
	ID        int64           `json:"id"`
	Source    string          `json:"source"`
	Dimension Dimension       `json:"dimension"`
	Endpoint  string          `json:"endpoint,omitempty"`
	Operation Operation       `json:"operation,omitempty"`
	From      Instant         `json:"effective_from"`
	To        *Instant        `json:"effective_to,omitempty"` // absent: until further notice
	Lifecycle string          `json:"lifecycle"`
	Version   int64           `json:"version"` // counts the rows of one scope, from 1
	Body      json.RawMessage `json:"body"`    // canonical JSON
	FileHash  string          `json:"source_file_sha256"`
}

// LiveAt reports whether the row was in force at t.
func (r RegistryRow) LiveAt(t Instant) bool {
	return r.Lifecycle == LifecycleActive && r.From <= t && (r.To == nil || t < *r.To)
}

// Scope names what a row speaks for; at any moment one scope has one row at most.
func (r RegistryRow) Scope() string {
	return strings.Join([]string{r.Source, r.Endpoint, string(r.Operation)}, "/")
}

// CompareRegistryRows orders rows for people: by dimension, endpoint, operation, then by time.
func CompareRegistryRows(a, b RegistryRow) int {
	return cmp.Or(cmp.Compare(slices.Index(Dimensions, a.Dimension), slices.Index(Dimensions, b.Dimension)),
		cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.From, b.From), cmp.Compare(a.ID, b.ID))
}

// RegistryChange is what happens to one scope of one dimension: a row is closed, or opened, or both.
type RegistryChange struct {
	Close *RegistryRow `json:"close,omitempty"`
	Open  *RegistryRow `json:"open,omitempty"`
}

// RegistryChanges is what has to happen for the open rows of a source to say what want says. Rows for one operation
// are left alone: a source file cannot write them, so it cannot mean to remove them.
func RegistryChanges(open, want []RegistryRow) []RegistryChange {
	type key struct {
		dimension Dimension
		scope     string
	}
	var keys []key
	old, begin := map[key]*RegistryRow{}, map[key]*RegistryRow{}
	for _, r := range open {
		if r.Operation == "" {
			old[key{r.Dimension, r.Scope()}] = &r
			keys = append(keys, key{r.Dimension, r.Scope()})
		}
	}
	for _, r := range want {
		k := key{r.Dimension, r.Scope()}
		if was := old[k]; was != nil && was.Lifecycle == LifecycleActive && string(was.Body) == string(r.Body) {
			delete(old, k)
			continue
		}
		begin[k] = &r
		keys = append(keys, k)
	}
	var changes []RegistryChange
	for _, k := range keys {
		if old[k] != nil || begin[k] != nil {
			changes = append(changes, RegistryChange{Close: old[k], Open: begin[k]})
			delete(old, k)
			delete(begin, k)
		}
	}
	slices.SortStableFunc(changes, func(a, b RegistryChange) int { return CompareRegistryRows(a.Row(), b.Row()) })
	return changes
}

// Row is the row that a change is about: the new one, if there is one.
func (c RegistryChange) Row() RegistryRow {
	if c.Open != nil {
		return *c.Open
	}
	return *c.Close
}

// Provenance is the head of a source in the registry: the newest names, and how often it changed.
type Provenance struct {
	Code       string          `json:"code"`
	Name       string          `json:"name"`
	RecordType string          `json:"record_type"`
	Docs       string          `json:"docs,omitempty"`
	Defaults   json.RawMessage `json:"defaults"`
	Lifecycle  string          `json:"lifecycle"`
	Version    int64           `json:"version"`
	FileHash   string          `json:"source_file_sha256"`
	UpdatedAt  Instant         `json:"updated_at"`
}

// Dictionary is the codes that are known, by the type of code.
type Dictionary map[string]DictionaryType

// DictionaryType is the codes of one type, and other words for them. Aliases are lower-case.
type DictionaryType struct {
	Items   []string          `json:"items"`
	Aliases map[string]string `json:"aliases,omitempty"`
}

// Resolve gives the code that a word stands for: the code itself in any case, or what an alias means.
func (d DictionaryType) Resolve(word string) (code string, ok bool) {
	if slices.Contains(d.Items, word) {
		return word, true
	}
	if code, ok := d.Aliases[strings.ToLower(word)]; ok {
		return code, true
	}
	for _, item := range d.Items {
		if strings.EqualFold(item, word) {
			return item, true
		}
	}
	return word, false
}
