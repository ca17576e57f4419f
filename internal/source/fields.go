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

// itemBuffer is room in which an item is read.
type itemBuffer struct {
	text []byte
	ends []span
}

var rooms = sync.Pool{New: func() any { return new(itemBuffer) }}

// giveBack gives room back, if it is not more than others need.
func (s *itemBuffer) giveBack() {
	if cap(s.text) <= most {
		rooms.Put(s)
	}
}

func (p *Program) readFields(doc any, room *itemBuffer) (fieldTexts, error) {
	b := append(room.text[:0], '{')
	ends := slices.Grow(room.ends[:0], len(p.fields))[:len(p.fields)]
	clear(ends)
	for i := range p.fields {
		f := &p.fields[i]
		before := len(b)
		if before > 1 {
			b = append(b, ',')
		}
		b = append(b, f.label...)
		from := len(b)
		out, some, ok := f.from.inPlace(b, doc)
		if !ok {
			v, err := f.from.read(doc)
			if err != nil {
				return fieldTexts{}, dataFault(patra.CodeMapping, "mapping."+f.name, err.Error())
			}
			if some = v != nil; some {
				if out, err = appendValue(b, v); err != nil {
					return fieldTexts{}, err
				}
			}
		}
		if !some {
			b = b[:before]
			continue
		}
		b, ends[i] = out, span{from, len(out)}
	}
	room.text, room.ends = append(b, '}'), ends
	return fieldTexts{slices.Clone(room.text), ends}, nil
}

// inPlace appends what a mapping finds in an item that changes nothing of it, as it stands there, and reports whether there
// is anything. It is not ok if this must be done in another way.
func (m *mapping) inPlace(b []byte, doc any) (_ []byte, some, ok bool) {
	if !m.asis {
		return b, false, false
	}
	switch d := doc.(type) {
	case *document:
		return m.inJSON(b, d)
	case *xmlDocument:
		return m.inXML(b, d)
	}
	return b, false, false
}

func (m *mapping) inJSON(b []byte, d *document) (_ []byte, some, ok bool) {
	found, ok := m.path.nodes(d)
	if !ok || len(found) == 0 {
		return b, false, ok
	}
	if !m.many {
		if m.object == nil && found[0].Kind() == rawjson.Null {
			return b, false, true
		}
		return m.appendNode(b, d, found[0]), true, true
	}
	b = append(b, '[')
	for i, n := range found {
		if i > 0 {
			b = append(b, ',')
		}
		b = m.appendNode(b, d, n)
	}
	return append(b, ']'), true, true
}

// appendNode appends a value, or the object that is made of it.
func (m *mapping) appendNode(b []byte, d *document, n rawjson.Node) []byte {
	if m.object == nil {
		return n.Canonical(b)
	}
	b = append(b, '{')
	first := len(b)
	for i := range m.object {
		s := &m.object[i]
		before := len(b)
		if before > first {
			b = append(b, ',')
		}
		b = append(b, s.label...)
		var some bool
		if b, some = s.append(b, d, n); !some {
			b = b[:before]
		}
	}
	return append(b, '}')
}

// append appends what an entry of an object finds at a node, and reports whether it is anything.
func (s *slot) append(b []byte, d *document, n rawjson.Node) (_ []byte, some bool) {
	if s.path.walk != nil {
		var ok bool
		if d.below, ok = s.path.walk.nodes(n, d.below[:0]); ok {
			if len(d.below) == 0 || d.below[0].Kind() == rawjson.Null {
				return b, false
			}
			return d.below[0].Canonical(b), true
		}
	}
	found := s.path.find(n)
	if len(found) == 0 || found[0] == nil {
		return b, false
	}
	out, err := appendValue(b, found[0]) // what stands in JSON can be written
	if err != nil {
		return b, false
	}
	return out, true
}

// objectFields is what an object template made, by name.
type objectFields []member

type member struct {
	name  string
	value any
}

// asMap is an object as a map.
func asMap(v any) (map[string]any, bool) {
	o, is := v.(objectFields)
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
	case objectFields:
		return v.append(b)
	}
	return rawjson.Append(b, v)
}

// append appends an object. Of two members with the same name the last counts.
func (o objectFields) append(b []byte) (_ []byte, err error) {
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
