package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"patra"
	"patra/internal/rawjson"
)

// maxID is the longest id that the store keeps.
const maxID = 512

// Item reads one item of a page: who it is, when it changed, what it says. An item that cannot become a record
// gives a Fault of level L3, and the page goes on without it.
func (p *Program) Item(raw []byte, observedAt patra.Instant) (patra.Observation, error) {
	doc, err := p.opener.open(raw)
	if err != nil {
		o := p.observed(raw, observedAt)
		o.ID = p.idOfBroken(raw)
		return o, err
	}
	defer release(doc)
	return p.item(raw, doc, observedAt)
}

// observed is all that is known of an item before it is read.
func (p *Program) observed(raw []byte, at patra.Instant) patra.Observation {
	return patra.Observation{ObservedAt: at, Raw: raw, RawCode: p.rawCode()}
}

// item reads an item that was opened.
func (p *Program) item(raw []byte, doc any, observedAt patra.Instant) (o patra.Observation, err error) {
	o = p.observed(raw, observedAt)
	var noID error
	if o.ID, noID = p.readID(raw, doc); noID != nil && (p.Spec.Response.NoID != "HASH" || patra.AsFault(noID).Code != patra.CodeMissingID) {
		return o, noID
	}
	if err := limits(raw, doc); err != nil {
		return o, err
	}
	if o.UpdatedAt, err = p.readTime(doc); err != nil {
		return o, err
	}
	p.readStanding(doc, &o)
	if err := p.brokenLinks(raw, &o); err != nil {
		return o, err
	}
	room := rooms.Get().(*itemBuffer)
	defer room.giveBack()
	fields, err := p.readFields(doc, room)
	o.Facts = p.facts(doc, fields, room)
	if err != nil {
		return o, err
	}
	o.Fields = fields.text
	if o.Hash, err = p.opener.hash(raw, doc); err != nil {
		return o, dataFault(patra.CodeBadBody, "", err.Error())
	}
	if err := p.duplicateKey(doc, &o); err != nil { // the hash has looked at all keys
		return o, err
	}
	if noID != nil {
		o.ID = "sha256:" + o.Hash
	}
	o.Signals = p.signals(raw, doc, o.ID)
	return o, nil
}

func (p *Program) rawCode() string {
	if p.Spec.Response.Format == formatXML {
		return formatXML
	}
	return formatJSON
}

// readID joins the parts of an id with a slash; every part must be there, and be valid text.
func (p *Program) readID(raw []byte, doc any) (string, error) {
	var room [4]string
	parts := room[:0]
	for i := range p.id {
		path := &p.id[i]
		if n, ok := path.nodes(doc); ok && len(n) == 1 {
			if !n[0].ValidText() {
				return "", noText(path.text)
			}
			if text, is := scalar(n[0]); is {
				parts = append(parts, strings.TrimSpace(text))
				continue
			}
		}
		found := path.find(doc)
		if len(found) != 1 {
			return "", dataFault(patra.CodeMissingID, path.text, fmt.Sprintf("expected one id, found %d", len(found)))
		}
		text, ok := textOf(found[0])
		if _, isBool := found[0].(bool); !ok || isBool {
			return "", dataFault(patra.CodeMissingID, path.text, "the id is "+kindOf(found[0]))
		}
		if p.repaired(raw, text) {
			return "", noText(path.text)
		}
		parts = append(parts, strings.TrimSpace(text))
	}
	id := strings.Join(parts, "/")
	if len(id) > maxID || strings.Trim(id, "/") == "" {
		return "", dataFault(patra.CodeMissingID, p.id[0].text, fmt.Sprintf("the id has %d bytes; 1 to %d are possible", len(id), maxID))
	}
	return id, nil
}

// scalar is a text or a number as text.
func scalar(n rawjson.Node) (text string, is bool) {
	switch n.Kind() {
	case rawjson.String:
		return n.Text(), true
	case rawjson.Number:
		return string(n.Bytes()), true
	}
	return "", false
}

// readTime takes the first path that has something.
func (p *Program) readTime(doc any) (*patra.Instant, error) {
	for i := range p.updatedAt {
		path := &p.updatedAt[i]
		var text string
		if n, ok := path.nodes(doc); ok && (len(n) == 0 || n[0].Kind() == rawjson.Null) {
			continue
		} else if ok && n[0].Kind() == rawjson.String {
			text = n[0].Text()
		} else {
			found := path.find(doc)
			if len(found) == 0 || found[0] == nil {
				continue
			}
			var ok bool
			text, ok = textOf(found[0])
			if _, isNumber := found[0].(json.Number); !ok || (isNumber && path.json != nil) {
				return nil, dataFault(patra.CodeBadTime, path.text, "the time is "+kindOf(found[0]))
			}
		}
		if text = strings.TrimSpace(text); strings.Trim(text, "-/") == "" { // parts of a date that were not there
			continue
		}
		at, err := parseTime(text)
		if err != nil {
			return nil, dataFault(patra.CodeBadTime, path.text, err.Error())
		}
		return &at, nil
	}
	return nil, nil
}

// dayForms are spellings of dates that providers use and people should not.
var dayForms = []string{"2006-01", "2006/01/02", "20060102", "2006-1-2"}

func parseTime(text string) (patra.Instant, error) {
	if len(text) == len(time.DateOnly) { // as almost all are written
		if t, err := time.Parse(time.DateOnly, text); err == nil && t.Year() >= 1 {
			return patra.InstantOf(t), nil
		}
	}
	at, err := patra.ParseInstant(text)
	if err == nil {
		return at, nil
	}
	for _, form := range dayForms {
		if t, formErr := time.Parse(form, text); formErr == nil && t.Year() >= 1 {
			return patra.InstantOf(t), nil
		}
	}
	return 0, err
}

// readStanding reads what an item says about the record as a whole: that it is gone, that another has taken its place,
// that it does not stand any more, which of its versions it is.
func (p *Program) readStanding(doc any, o *patra.Observation) {
	r := p.Spec.Response
	o.Deleted = p.deleted != nil && isTrue(p.deleted.find(doc), r.Deleted.Equals)
	o.Retracted = p.retracted != nil && isTrue(p.retracted.find(doc), r.Retracted.Equals)
	if o.MergedInto = firstText(p.merged, doc); o.MergedInto != "" {
		o.Deleted = true
	}
	o.MergedFrom = allTexts(p.mergedFrom, doc)
	o.Mark = firstText(p.mark, doc)
}

// allTexts is everything that a path finds, as texts that fit the columns of ids.
func allTexts(p *path, doc any) (all []string) {
	if p == nil {
		return nil
	}
	for _, v := range p.find(doc) {
		text, _ := textOf(v)
		if text = strings.TrimSpace(text); text != "" && len(text) <= maxID {
			all = append(all, text)
		}
	}
	return all
}

// firstText is the first thing that a path finds, as text that fits the columns of ids.
func firstText(p *path, doc any) string {
	if p == nil {
		return ""
	}
	found := p.find(doc)
	if len(found) == 0 || found[0] == nil {
		return ""
	}
	text, _ := textOf(found[0])
	if text = strings.TrimSpace(text); len(text) > maxID {
		return ""
	}
	return text
}

func dataFault(code, path, text string) error {
	return &patra.Fault{Level: patra.LevelData, Code: code, Path: path, Text: text, Err: errors.New(text)}
}
