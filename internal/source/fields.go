package source

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"patra"
	"patra/internal/rawjson"
)

// field is a compiled entry of the mapping.
type field struct {
	name  string
	label []byte // the name as it stands before its value
	from  *mapping
}

// fields compiles a mapping, by name.
func (c *compiler) fields(m Mapping) (all []field) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, field{name, append(rawjson.AppendString(nil, name), ':'), c.mapping(m[name])})
	}
	return all
}

// fieldTexts is what the fields of an item say, as one JSON object.
type fieldTexts struct {
	text json.RawMessage
	ends []span // where the value of each field stands; nil if they could not be read
}

type span struct{ from, to int }

// of is the value of a field; empty if it has none.
func (t fieldTexts) of(field int) []byte { return t.text[t.ends[field].from:t.ends[field].to] }

var rooms = sync.Pool{New: func() any { return new([]byte) }}

func (p *Program) readFields(doc any) (fieldTexts, error) {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	b := append((*room)[:0], '{')
	ends := make([]span, len(p.fields))
	for i, f := range p.fields {
		v, err := f.from.read(doc)
		if err != nil {
			return fieldTexts{}, dataFault(patra.CodeMapping, "mapping."+f.name, err.Error())
		}
		if v == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, f.label...)
		ends[i].from = len(b)
		if b, err = appendValue(b, v); err != nil {
			return fieldTexts{}, err
		}
		ends[i].to = len(b)
	}
	*room = append(b, '}')
	return fieldTexts{slices.Clone(*room), ends}, nil
}

// shaped is what an object template made, by name.
type shaped []member

type member struct {
	name  string
	value any
}

// asMap is an object as a map.
func asMap(v any) (map[string]any, bool) {
	o, is := v.(shaped)
	if !is {
		all, ok := v.(map[string]any)
		return all, ok
	}
	all := make(map[string]any, len(o))
	for _, m := range o {
		all[m.name] = m.value
	}
	return all, true
}

// appendValue appends what a mapping made, as JSON.
func appendValue(b []byte, v any) (_ []byte, err error) {
	switch v := v.(type) {
	case []any:
		if v == nil {
			break
		}
		b = append(b, '[')
		for i := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendValue(b, v[i]); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case shaped:
		return v.append(b)
	}
	return rawjson.Append(b, v)
}

// append appends an object. Of two members with the same name the last counts.
func (o shaped) append(b []byte) (_ []byte, err error) {
	b = append(b, '{')
	first := true
	for i, m := range o {
		if i+1 < len(o) && o[i+1].name == m.name {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(rawjson.AppendString(b, m.name), ':')
		if b, err = appendValue(b, m.value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}
