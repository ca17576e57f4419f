package source

import (
	"bytes"
	"encoding/json"
	"fmt"

	"patra"
)

// maxID is the longest id that the store keeps.
const maxID = 512

// Item reads one item of a page: who it is, when it changed, what it says. An item that cannot become a record
// gives a Fault of level L3, and the page goes on without it.
func (p *Program) Item(raw json.RawMessage, observedAt patra.Instant) (patra.Observation, error) {
	o := patra.Observation{ObservedAt: observedAt, Raw: raw}
	item, err := tree(raw)
	if err != nil {
		return o, dataFault(patra.CodeBadBody, "", err.Error())
	}
	if o.ID, err = p.readID(item); err != nil {
		return o, err
	}
	if o.UpdatedAt, err = p.readTime(item); err != nil {
		return o, err
	}
	if o.Fields, err = p.readFields(item); err != nil {
		return o, err
	}
	for _, path := range p.volatile {
		path.remove(item)
	}
	o.Hash, err = contentHash(item)
	return o, err
}

func (p *Program) readID(item any) (string, error) {
	path := p.Spec.Response.ID
	found := p.id.Select(item)
	if len(found) != 1 {
		return "", dataFault(patra.CodeMissingID, path, fmt.Sprintf("expected one id, found %d", len(found)))
	}
	var id string
	switch v := found[0].(type) {
	case string:
		id = v
	case json.Number:
		id = v.String()
	default:
		return "", dataFault(patra.CodeMissingID, path, "the id is "+kindOf(v))
	}
	if id == "" || len(id) > maxID {
		return "", dataFault(patra.CodeMissingID, path, fmt.Sprintf("the id has %d bytes; 1 to %d are possible", len(id), maxID))
	}
	return id, nil
}

func (p *Program) readTime(item any) (*patra.Instant, error) {
	if p.updatedAt == nil {
		return nil, nil
	}
	path := p.Spec.Response.UpdatedAt
	found := p.updatedAt.Select(item)
	if len(found) == 0 || found[0] == nil {
		return nil, nil
	}
	text, ok := found[0].(string)
	if !ok {
		return nil, dataFault(patra.CodeBadTime, path, "the time is "+kindOf(found[0]))
	}
	at, err := patra.ParseInstant(text)
	if err != nil {
		return nil, dataFault(patra.CodeBadTime, path, err.Error())
	}
	return &at, nil
}

func (p *Program) readFields(item any) (json.RawMessage, error) {
	fields := make(map[string]any, len(p.fields))
	for name, m := range p.fields {
		v, err := m.read(item)
		if err != nil {
			return nil, dataFault(patra.CodeMapping, "mapping."+name, err.Error())
		}
		if v != nil {
			fields[name] = v
		}
	}
	return marshal(fields)
}

// contentHash identifies what an item says: keys sorted, number literals untouched. RFC 8785 is not for other
// people's data: it refuses whole numbers above 2^53.
func contentHash(item any) (string, error) {
	b, err := marshal(item)
	if err != nil {
		return "", err
	}
	return patra.HashBytes(b), nil
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func dataFault(code, path, text string) error {
	return &patra.Fault{Level: patra.LevelData, Code: code, Path: path, Text: text}
}
