package export

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"patra"
)

// Kind is what the values of a column are.
type Kind string

// The kinds.
const (
	Text    Kind = "text"
	Texts   Kind = "texts" // a list of texts
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Time    Kind = "time"
	JSON    Kind = "json"
)

// Column is one column of a table.
type Column struct {
	Name  string `json:"name"`
	Kind  Kind   `json:"kind"`
	Field string `json:"field,omitempty"` // the mapped field that it shows; none for what every record has
}

// builtinColumn is a column that every record has. Exactly one of the functions is there.
type builtinColumn struct {
	Column
	text   func(patra.Record) (string, bool)
	number func(patra.Record) (int64, bool)
}

func always(f func(patra.Record) string) func(patra.Record) (string, bool) {
	return func(r patra.Record) (string, bool) { return f(r), true }
}

func count(f func(patra.Record) int64) func(patra.Record) (int64, bool) {
	return func(r patra.Record) (int64, bool) { return f(r), true }
}

func instant(i *patra.Instant) (int64, bool) {
	if i == nil {
		return 0, false
	}
	return int64(*i), true
}

func truth(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// fixed are the columns that every record has, in their order.
var fixed = []builtinColumn{
	{Column: Column{Name: "source", Kind: Text}, text: always(func(r patra.Record) string { return r.Source })},
	{Column: Column{Name: "record_type", Kind: Text}, text: always(func(r patra.Record) string { return r.Type })},
	{Column: Column{Name: "id", Kind: Text}, text: always(func(r patra.Record) string { return r.ProviderID })},
	{Column: Column{Name: repository, Kind: Text}, text: func(r patra.Record) (string, bool) { return r.Repository, r.Repository != "" }},
	{Column: Column{Name: "rev", Kind: Number}, number: count(func(r patra.Record) int64 { return r.Rev })},
	{Column: Column{Name: "updated_at", Kind: Time}, number: func(r patra.Record) (int64, bool) { return instant(r.UpdatedAt) }},
	{Column: Column{Name: "first_seen", Kind: Time}, number: count(func(r patra.Record) int64 { return int64(r.FirstSeen) })},
	{Column: Column{Name: "observed_at", Kind: Time}, number: count(func(r patra.Record) int64 { return int64(r.ObservedAt) })},
	{Column: Column{Name: "changed_at", Kind: Time}, number: count(func(r patra.Record) int64 { return int64(r.ChangedAt) })},
	{Column: Column{Name: "deleted", Kind: Boolean}, number: count(func(r patra.Record) int64 { return truth(r.Deleted) })},
	{Column: Column{Name: "merged_into", Kind: Text}, text: func(r patra.Record) (string, bool) { return r.MergedInto, r.MergedInto != "" }},
	{Column: Column{Name: "retracted", Kind: Boolean}, number: count(func(r patra.Record) int64 { return truth(r.Retracted) })},
	{Column: Column{Name: "missing_since", Kind: Time}, number: func(r patra.Record) (int64, bool) { return instant(r.MissingSince) }},
	{Column: Column{Name: "gone_at", Kind: Time}, number: func(r patra.Record) (int64, bool) { return instant(r.GoneAt) }},
	{Column: Column{Name: "content_sha256", Kind: Text}, text: always(func(r patra.Record) string { return r.ContentSHA256 })},
	{Column: Column{Name: "batch_id", Kind: Number}, number: count(func(r patra.Record) int64 { return r.BatchID })},
	{Column: Column{Name: "fields", Kind: JSON}, text: func(r patra.Record) (string, bool) { return string(r.Fields), len(r.Fields) > 0 }},
	{Column: Column{Name: "raw", Kind: Text}, text: rawText},
}

// FixedNames are the names of the columns that every record has.
func FixedNames() (names []string) {
	for _, k := range fixed {
		names = append(names, k.Name)
	}
	return names
}

func fixedColumn(name string) (builtinColumn, bool) {
	i := slices.IndexFunc(fixed, func(k builtinColumn) bool { return k.Name == name })
	if i < 0 {
		return builtinColumn{}, false
	}
	return fixed[i], true
}

// rawText is what the provider sent, as it sent it: within a record a format other than JSON is a text.
func rawText(r patra.Record) (string, bool) {
	raw := bytes.TrimSpace(r.Raw)
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	return string(raw), len(raw) > 0 && string(raw) != "null"
}

// repository is a column only where a source has several.
const repository = "repository"

// year is the second level of folders that are named after their content.
const year = "year"

// Columns are the columns of a table with the mapped fields of some sources: what every record has, then a column for each
// field that is a text or a list of texts, by name, then all fields together. The repository of a record is among them where a source has several. A field that is called like another column
// (in whatever case: some readers do not tell them apart) has field_ before its name.
func Columns(fields map[string]bool, repositories, raw bool) []Column {
	var all []Column
	taken := map[string]bool{year: true}
	for _, k := range fixed {
		if k.Name == repository && !repositories {
			continue
		}
		taken[k.Name] = true
		if k.Name != "fields" && k.Name != "raw" {
			all = append(all, k.Column)
		}
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := Column{Name: name, Kind: Text, Field: name}
		if fields[name] {
			c.Kind = Texts
		}
		for taken[strings.ToLower(c.Name)] {
			c.Name = "field_" + c.Name
		}
		taken[strings.ToLower(c.Name)] = true
		all = append(all, c)
	}
	all = append(all, Column{Name: "fields", Kind: JSON})
	if raw {
		all = append(all, Column{Name: "raw", Kind: Text})
	}
	return all
}

// Choose picks columns by name. A name that is not among those that every record has is that of a mapped field.
func Choose(names []string, fields map[string]bool) (all []Column) {
	for _, name := range names {
		_, mapped := fields[name]
		if k, ok := fixedColumn(name); ok && !(name == repository && mapped) {
			all = append(all, k.Column)
			continue
		}
		c := Column{Name: name, Kind: Text, Field: name}
		if fields[name] {
			c.Kind = Texts
		}
		all = append(all, c)
	}
	return all
}

// field is one mapped field of a record as a list of texts. What is neither a text, nor a number, nor true or false, nor a
// list of such, is in no column; it stands among all fields.
func field(raw json.RawMessage) (texts []string, list, ok bool) {
	if len(raw) == 0 {
		return nil, false, false
	}
	if raw[0] != '[' {
		text, ok := scalar(raw)
		return []string{text}, false, ok
	}
	var members []json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil, true, false
	}
	texts = make([]string, len(members))
	for i, m := range members {
		if texts[i], ok = scalar(m); !ok {
			return nil, true, false
		}
	}
	return texts, true, true
}

// scalar is a text, or a number, true or false as it is written.
func scalar(raw json.RawMessage) (string, bool) {
	switch raw[0] {
	case '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err == nil
	case '{', '[', 'n':
		return "", false
	}
	return string(raw), true
}

// unpack reads the mapped fields of a record; they are all valid JSON, or the store would not have taken them.
func unpack(r patra.Record) (fields map[string]json.RawMessage, err error) {
	if len(r.Fields) > 0 {
		err = json.Unmarshal(r.Fields, &fields)
	}
	return fields, err
}

// Narrow leaves only the named fields of a record; none named leaves all.
func Narrow(r patra.Record, names []string) (patra.Record, error) {
	if len(names) == 0 {
		return r, nil
	}
	all, err := unpack(r)
	if err != nil {
		return r, err
	}
	some := make(map[string]json.RawMessage, len(names))
	for _, name := range names {
		if v, ok := all[name]; ok {
			some[name] = v
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err = enc.Encode(some)
	r.Fields = bytes.TrimSpace(b.Bytes())
	return r, err
}
