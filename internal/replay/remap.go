package replay

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"patra"
)

// Remap compares what two mappings read in the same bodies, page by page. It keeps numbers and a few examples, whatever
// the number of pages.
type Remap struct {
	Pages      int64  `json:"pages"`      // that were read with both
	NoBody     int64  `json:"no_body"`    // whose body is not kept any more
	Refused    int64  `json:"refused"`    // that the new source cannot read at all
	Records    int64  `json:"records"`    // whose stored version was compared
	Older      int64  `json:"older"`      // versions that newer ones have replaced: they do not count
	Changed    int64  `json:"changed"`    // records that would say something else
	Unreadable int64  `json:"unreadable"` // that would go into quarantine
	Readable   int64  `json:"readable"`   // items in quarantine that would become records
	Renamed    int64  `json:"renamed"`    // records that would have another id
	Refusal    string `json:"refusal,omitempty"`

	fields map[string]*FieldDiff
}

// FieldDiff is what becomes of one field.
type FieldDiff struct {
	Field    string    `json:"field"`
	Same     int64     `json:"same"` // also where neither has it
	Changed  int64     `json:"changed"`
	Appeared int64     `json:"appeared"`
	Vanished int64     `json:"vanished"`
	Nulls    [2]int64  `json:"nulls"` // records without it: before, after
	Examples []Example `json:"examples"`
}

// Example is one record of which a field changes.
type Example struct {
	ID     string          `json:"id"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// Bounds of what is kept, however strange a mapping is.
const (
	maxExamples = 3
	maxExample  = 200
	maxFields   = 500
)

// Fields are the fields by name.
func (m *Remap) Fields() []FieldDiff {
	all := []FieldDiff{}
	for _, name := range slices.Sorted(maps.Keys(m.fields)) {
		f := *m.fields[name]
		// A field that a page did not have at all is known from then on only: the records before had none either.
		if missing := m.Records - f.Same - f.Changed - f.Appeared - f.Vanished; missing > 0 {
			f.Same += missing
			f.Nulls[0] += missing
			f.Nulls[1] += missing
		}
		all = append(all, f)
	}
	return all
}

// Page compares a page that two readers read. stored tells which versions of some records are stored, and affected is told
// of each record that would say something else. Only the version that the store has counts, and only on the page that
// brought it: so each record counts once, however often it was read.
func (m *Remap) Page(page patra.LedgerPage, before, after ParsedPage, stored map[string]patra.StoredVersion, affected func(id string) error) error {
	m.Pages++
	if after.Fault != nil && after.Items() == 0 {
		m.Refused++
		m.Refusal = after.Fault.Error()
		return nil
	}
	is := map[string]patra.Observation{}
	for _, o := range after.Records {
		is[o.ID] = o
	}
	bad := map[string]bool{}
	for _, q := range after.Quarantined {
		bad[q.ID] = true
	}
	was := map[string]patra.Observation{}
	for _, o := range before.Records { // an id that a page has twice: the version that is stored
		if st := stored[o.ID]; st.BatchID == page.ID && st.Hash == o.Hash {
			was[o.ID] = o
		}
	}
	seen := map[string]bool{}
	for _, o := range before.Records {
		if _, stands := was[o.ID]; !stands || seen[o.ID] {
			if !seen[o.ID] {
				m.Older++
			}
			seen[o.ID] = true
			continue
		}
		seen[o.ID] = true
		m.Records++
		changed, err := m.record(was[o.ID], is, bad)
		if err != nil {
			return err
		}
		if changed {
			m.Changed++
			if err := affected(o.ID); err != nil {
				return err
			}
		}
	}
	for _, q := range before.Quarantined {
		if _, ok := is[q.ID]; ok && q.ID != "" && !seen[q.ID] {
			m.Readable++
		}
	}
	return nil
}

// record compares one record, and reports whether it would say something else.
func (m *Remap) record(was patra.Observation, is map[string]patra.Observation, bad map[string]bool) (bool, error) {
	now, there := is[was.ID]
	switch {
	case !there && bad[was.ID]:
		m.Unreadable++
	case !there:
		m.Renamed++
	}
	old, err := fieldsOf(was.Fields)
	if err != nil {
		return false, err
	}
	fresh := map[string]json.RawMessage{}
	if there {
		if fresh, err = fieldsOf(now.Fields); err != nil {
			return false, err
		}
	}
	changed := !there
	for _, name := range names(old, fresh) {
		if m.field(name, was.ID, old[name], fresh[name]) {
			changed = true
		}
	}
	return changed, nil
}

// field counts what becomes of one field of one record.
func (m *Remap) field(name, id string, before, after json.RawMessage) (changed bool) {
	if m.fields == nil {
		m.fields = map[string]*FieldDiff{}
	}
	f, ok := m.fields[name]
	if !ok {
		if len(m.fields) == maxFields {
			return !bytes.Equal(before, after)
		}
		f = &FieldDiff{Field: name, Examples: []Example{}}
		m.fields[name] = f
	}
	had, has := !empty(before), !empty(after)
	if !had {
		f.Nulls[0]++
	}
	if !has {
		f.Nulls[1]++
	}
	switch {
	case !had && !has, had && has && bytes.Equal(before, after):
		f.Same++
		return false
	case !had:
		f.Appeared++
	case !has:
		f.Vanished++
	default:
		f.Changed++
	}
	if len(f.Examples) < maxExamples {
		f.Examples = append(f.Examples, Example{id, short(before), short(after)})
	}
	return true
}

func empty(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

// short is a value as an example: one that is long becomes a text of its beginning.
func short(v json.RawMessage) json.RawMessage {
	if empty(v) {
		return json.RawMessage("null")
	}
	if len(v) <= maxExample {
		return v
	}
	var text string
	if json.Unmarshal(v, &text) != nil { // a list or an object: the beginning of its JSON
		text = string(v)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(strings.ToValidUTF8(text[:min(len(text), maxExample)], "")+"...") != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

// fieldsOf takes fields apart; each has one spelling, so that equal values are equal bytes.
func fieldsOf(raw json.RawMessage) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(raw) == 0 {
		return fields, nil
	}
	return fields, json.Unmarshal(raw, &fields)
}

func names(a, b map[string]json.RawMessage) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}
