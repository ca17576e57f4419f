package source

import (
	"bytes"

	"patra/internal/rawjson"
	"patra/internal/rawxml"
)

func (m *mapping) inXML(b []byte, d *xmlDocument) (_ []byte, some, ok bool) {
	if m.object != nil {
		return m.objectsInXML(b, d)
	}
	found := m.path.xpath.nodes(d, d.Top())
	if len(found) == 0 {
		return b, false, true
	}
	if !m.list {
		return d.appendValue(b, found[0]), true, true
	}
	b = append(b, '[')
	for i, n := range found {
		if i > 0 {
			b = append(b, ',')
		}
		b = d.appendValue(b, n)
	}
	return append(b, ']'), true, true
}

// appendValue appends what a node says as JSON: spaces around it are left out, but not those of an attribute.
func (d *xmlDocument) appendValue(b []byte, n rawxml.Node) []byte {
	said, plain := d.Plain(n)
	if !plain {
		d.room = d.AppendText(d.room[:0], n)
		said = d.room
	}
	if d.Kind(n) != rawxml.Attribute {
		said = bytes.TrimSpace(said)
	}
	return rawjson.AppendText(b, said)
}

// objectsInXML appends the objects that a template makes of elements.
func (m *mapping) objectsInXML(b []byte, d *xmlDocument) (_ []byte, some, ok bool) {
	before := len(b)
	d.around = append(d.around[:0], m.path.xpath.nodes(d, d.Top())...) // what is found there is asked on
	if m.list {
		b = append(b, '[')
	}
	for i, n := range d.around {
		if d.Kind(n) == rawxml.Attribute { // which is a text, and nothing is found in a text
			return b[:before], false, false
		}
		if i > 0 {
			b = append(b, ',')
		}
		if b = m.objectAt(b, d, n); !m.list {
			return b, true, true
		}
	}
	if len(d.around) == 0 {
		return b[:before], false, true
	}
	return append(b, ']'), true, true
}

func (m *mapping) objectAt(b []byte, d *xmlDocument, n rawxml.Node) []byte {
	b = append(b, '{')
	first := len(b)
	for i := range m.object {
		s := &m.object[i]
		before := len(b)
		if before > first {
			b = append(b, ',')
		}
		b = append(b, s.label...)
		if found := s.path.xpath.nodes(d, n); len(found) > 0 {
			b = d.appendValue(b, found[0])
		} else {
			b = b[:before]
		}
	}
	return append(b, '}')
}
