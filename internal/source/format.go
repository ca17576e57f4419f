package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"patra"
	"patra/internal/rawjson"
)

// The formats of an answer.
const (
	formatJSON  = "JSON"
	formatXML   = "XML"
	formatJSONL = "JSONL"
	formatCSV   = "CSV"
)

// splitter takes a page apart: the items as they were sent, and what stands around them as a document.
type splitter interface {
	split(body []byte) (items [][]byte, around any, err error)
}

// opener makes a document of one item and identifies its content.
type opener interface {
	open(item []byte) (any, error)
	hash(item []byte, doc any) (string, error)
}

// jsonSplitter reads one JSON value with a list of items, or a map of items beside a list of their ids.
type jsonSplitter struct {
	text  string
	items namePath
	order namePath
	one   bool // an object in place of the list is the only item
}

func (j jsonSplitter) split(body []byte) ([][]byte, any, error) {
	if err := wholeJSON(body); err != nil {
		return nil, nil, err
	}
	at, found := j.items.in(body)
	if !found {
		around, err := tree(body)
		return nil, around, firstOf(err, schemaFault(j.text, "the answer has no such member"))
	}
	around, err := tree(bytes.Join([][]byte{body[:at.from], []byte("[]"), body[at.to:]}, nil))
	if j.order != nil {
		around, err = tree(body) // the map is the envelope too, and such pages are small
	}
	if err != nil {
		return nil, nil, notWhole(err)
	}
	items, err := j.list(body, at)
	return items, around, err
}

func (j jsonSplitter) list(body []byte, at span) ([][]byte, error) {
	if j.order != nil {
		return j.byID(body, at)
	}
	if i := skipSpace(body, at.from); j.one && body[i] == '{' {
		return [][]byte{body[i:at.to]}, nil
	}
	spans, ok := elements(body, at)
	if !ok {
		return nil, schemaFault(j.text, "the items are no list")
	}
	items := make([][]byte, len(spans))
	for i, s := range spans {
		items[i] = body[s.from:s.to]
	}
	return items, nil
}

// byID reads a map of items in the order of the ids beside it.
func (j jsonSplitter) byID(body []byte, at span) ([][]byte, error) {
	order, found := j.order.in(body)
	ids, ok := elements(body, order)
	if !found || !ok {
		return nil, schemaFault(j.text, "there is no list of ids beside the items")
	}
	var items [][]byte
	for _, id := range ids {
		name, err := tree(body[id.from:id.to])
		if err != nil {
			return nil, notWhole(err)
		}
		text, _ := textOf(name)
		s, found := member(body, at, text)
		if !found {
			return nil, schemaFault(j.text, "there is no item with the id "+text)
		}
		items = append(items, body[s.from:s.to])
	}
	return items, nil
}

// jsonOpener reads one JSON item.
type jsonOpener struct{ volatile []namePath }

func (jsonOpener) open(item []byte) (any, error) { return openJSON(item) }

// hash identifies what an item says: keys sorted, number literals untouched. RFC 8785 is not for other people's data:
// it refuses whole numbers above 2^53.
func (j jsonOpener) hash(_ []byte, doc any) (string, error) {
	return patra.HashBytes(doc.(*document).canonical(j.volatile)), nil
}

// wholeJSON refuses a body that is not exactly one JSON value: a body that was cut, or a web page.
func wholeJSON(body []byte) error {
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) > 0 && trimmed[0] == '<' {
		return webPage()
	}
	if len(trimmed) == 0 {
		return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeBadBody, Text: "the body is empty"}
	}
	if !json.Valid(trimmed) {
		return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeBadBody, Text: "the body is not whole: it is no valid JSON value"}
	}
	return nil
}

func webPage() error {
	return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeWebPage, Text: "the provider answered with a web page instead of data"}
}

func notWhole(err error) error {
	return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeBadBody, Text: "the body is not whole: " + err.Error(), Err: err}
}

// schemaFault is an answer that does not look as the source says. One may be an accident; whoever asks again and again and
// gets the same knows better.
func schemaFault(path, text string) error {
	return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeSchema, Path: path, Text: text}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// tree decodes JSON without touching its numbers.
func tree(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one value")
	}
	return v, nil
}

func marshal(v any) ([]byte, error) { return rawjson.Append(nil, v) }
