package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

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

// splitter takes a page apart.
type splitter interface {
	split(body []byte) (parts, error)
}

// parts is what a page consists of: the items as they were sent, and what stands around them as a document.
type parts struct {
	items  [][]byte
	apart  []byte // what the items are parts of, where that is not the page
	around any
	walked *parsedPage // nil: the items stand alone

	repairs patra.Repairs // what had to be repaired to read the page

	unclear error // not nil: what stands around the items can be read in two ways
}

// opener makes a document of one item and identifies its content. What keeps an item from being read is a Fault.
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

	reads []*path // what else is read around the items
	next  *path   // nil: nothing says what comes next
}

func (j jsonSplitter) split(body []byte) (got parts, err error) {
	body = bytes.TrimPrefix(body, byteOrderMark)
	if err := looksLikeJSON(body); err != nil {
		return parts{}, err
	}
	doc := documents.get()
	defer func() {
		if got.walked == nil {
			release(doc)
		}
	}()
	if err := doc.Reset(body); err != nil && !errors.Is(err, rawjson.ErrTooDeep) {
		return parts{}, notJSON(body)
	}
	items, found := j.items.at(doc.Root())
	if doc.DeepOutside(items) {
		return parts{}, bodyTooDeep()
	}
	got.unclear = j.unclear(doc.Root(), items)
	if !found {
		around := doc.Root().Value()
		return parts{around: around, unclear: got.unclear}, schemaFault(j.text, "the answer has no such member"+others(around))
	}
	if j.order != nil { // the map is the envelope too, and such pages are small
		all, err := j.byID(doc, items)
		return parts{items: all, around: doc.Root().Value(), unclear: got.unclear}, err
	}
	got.around = doc.Root().ValueWith(items, []any{})
	if items.Kind() == rawjson.Object && j.one {
		got.items = [][]byte{items.Bytes()}
		return got, nil
	}
	if items.Kind() != rawjson.Array {
		return got, schemaFault(j.text, "the items are no list")
	}
	got.walked = &parsedPage{doc: doc, items: items.AppendElements(nil)}
	got.items = make([][]byte, len(got.walked.items))
	for i, n := range got.walked.items {
		got.items[i] = n.Bytes()
	}
	return got, nil
}

// shownMembers is how many members of an answer are named, and plainName what they are called by: whatever is named is the provider's.
const shownMembers = 8

var plainName = regexp.MustCompile(`^[\w.$@:-]{1,40}$`)

// others names some members that an answer has, for whoever looks for another.
func others(answer any) string {
	members, _ := answer.(map[string]any)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(members)), func(name string) bool { return !plainName.MatchString(name) })
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > shownMembers {
		names, more = names[:shownMembers], ", ..."
	}
	return "; it has " + strings.Join(names, ", ") + more
}

// byID reads a map of items in the order of the ids beside it.
func (j jsonSplitter) byID(doc *document, items rawjson.Node) (all [][]byte, err error) {
	order, found := j.order.at(doc.Root())
	if !found || order.Kind() != rawjson.Array {
		return nil, schemaFault(j.text, "there is no list of ids beside the items")
	}
	if key, twice := items.RepeatedMember(); twice {
		return nil, saidTwice(j.text, key.Text())
	}
	for id := range order.Elements() {
		if !id.ValidText() {
			return nil, badBody(j.text, "an id in the list of ids is no valid text")
		}
		text, _ := textOf(id.Value())
		item, found := items.Member(text)
		if !found {
			return nil, schemaFault(j.text, "there is no item with the id "+text)
		}
		all = append(all, item.Bytes())
	}
	return all, nil
}

// jsonOpener reads one JSON item.
type jsonOpener struct{ volatile []namePath }

func (jsonOpener) open(item []byte) (any, error) {
	d, err := openJSON(item)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// hash identifies what an item says: keys sorted, number literals untouched. RFC 8785 is not for other people's data:
// it refuses whole numbers above 2^53.
func (j jsonOpener) hash(_ []byte, doc any) (string, error) {
	return patra.HashBytes(doc.(*document).canonical(j.volatile)), nil
}

// byteOrderMark is what some send before their text.
var byteOrderMark = []byte("\xef\xbb\xbf")

// looksLikeJSON refuses a body that is empty, or a web page.
func looksLikeJSON(body []byte) error {
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) > 0 && trimmed[0] == '<' {
		return webPage()
	}
	if len(trimmed) == 0 {
		return emptyBody()
	}
	return nil
}

func emptyBody() error {
	return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeBadBody, Text: "the body is empty"}
}

// cutOff is a body that ends before it should.
func cutOff(where string) error {
	return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeBadBody, Text: "the body is not whole: " + where}
}

// wholeJSON refuses a text that is not exactly one JSON value. One that nests too deeply is one: its reader refuses it.
func wholeJSON(text []byte) error {
	if json.Valid(text) {
		return nil
	}
	if err := looksLikeJSON(text); err != nil {
		return err
	}
	if _, err := rawjson.Parse(text); errors.Is(err, rawjson.ErrTooDeep) {
		return nil
	}
	return notJSON(text)
}

// notJSON says why a body cannot be read. Only one that ends too early is not whole.
func notJSON(body []byte) error {
	var whole json.RawMessage
	err := json.Unmarshal(body, &whole)
	fault, _ := errors.AsType[*json.SyntaxError](err)
	switch {
	case fault == nil:
		return unreadable("the body is no JSON")
	case strings.HasPrefix(fault.Error(), "unexpected end"):
		return cutOff("it ends inside of a JSON value")
	}
	return unreadable(fmt.Sprintf("the body is no JSON from byte %d on", fault.Offset))
}

func bodyTooDeep() error {
	return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeTooDeep, Text: "the body nests too deeply to be read"}
}

func webPage() error {
	return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeWebPage, Text: "the provider answered with a web page instead of data"}
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
