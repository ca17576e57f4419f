package source

import (
	"fmt"

	"patra"
)

// Bounds of one record. The largest that providers were seen to send is a hundredth of that, and nests ten deep.
const (
	maxRecord      = 16 << 20
	maxRecordDepth = 200
)

// limits refuses an item that is larger or nests more deeply than a record may, so that it does not cost the page that
// it is on.
func limits(raw []byte, doc any) error {
	if len(raw) > maxRecord {
		text := fmt.Sprintf("the record has %d bytes; at most %d are read", len(raw), maxRecord)
		return dataFault(patra.CodeTooLarge, "", text)
	}
	if d, ok := doc.(*document); ok && d.root.Deeper(maxRecordDepth) {
		return tooDeep()
	}
	return nil
}

func tooDeep() error {
	return dataFault(patra.CodeTooDeep, "", fmt.Sprintf("the record nests more than %d deep", maxRecordDepth))
}

// idOfBroken is the id of an item whose element is broken behind it; empty if it has none, or none that is whole.
func (p *Program) idOfBroken(raw []byte) string {
	if p.rawCode() != formatXML {
		return ""
	}
	d := xmlDocuments.get()
	defer release(d)
	if d.readItem(raw) == nil || !d.Partial() {
		return ""
	}
	id, err := p.readID(raw, d)
	if err != nil {
		return ""
	}
	return id
}
