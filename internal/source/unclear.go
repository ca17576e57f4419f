package source

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"patra"
	"patra/internal/rawjson"
	"patra/internal/rawxml"
)

// Two things are read by each program in a way of its own, and so nobody knows what was meant: a key that occurs twice in one object,
// and a string that is no text. Where it matters they are refused and never repaired: an envelope is a fault, an item goes into
// quarantine.

// reading is the splitter of a program that is otherwise compiled: it knows what is read around the items.
func (j jsonSplitter) reading(p *Program) jsonSplitter {
	j.next = p.next
	for _, read := range []*path{p.next, p.total} {
		if read != nil {
			j.reads = append(j.reads, read)
		}
	}
	for _, f := range p.failures {
		if f.path != nil {
			j.reads = append(j.reads, f.path)
		}
	}
	return j
}

// unclear finds what an answer says twice on the way to what a source reads around the items, and a next position that is no text.
func (j jsonSplitter) unclear(root, items rawjson.Node) error {
	for _, names := range []namePath{j.items, j.order} {
		if err := names.twice(j.text, root); err != nil {
			return err
		}
	}
	for _, p := range j.reads {
		if err := p.twice(root, items); err != nil {
			return err
		}
	}
	if j.next != nil && !j.next.validText(root, items) {
		return badBody(j.next.text, "the next position is no valid text")
	}
	return nil
}

// twice refuses a name of the path that an object has twice.
func (p namePath) twice(text string, n rawjson.Node) error {
	for _, name := range p {
		if n.Count(name) > 1 {
			return saidTwice(text, name)
		}
		var found bool
		if n, found = n.Member(name); !found {
			return nil
		}
	}
	return nil
}

// twice refuses a key that an object has twice where the path leads. Where it does not consist of names, it may lead to everything
// below; but it does not look at the items.
func (p *path) twice(root, items rawjson.Node) error {
	n, whole := root, false
	if p.walk != nil {
		names, rest := p.walk.names()
		if err := names.twice(p.text, root); err != nil {
			return err
		}
		var found bool
		if n, found = names.at(root); !found {
			return nil
		}
		whole = rest
	}
	if whole {
		return nil
	}
	if key, twice := n.RepeatedKey(items); twice {
		return saidTwice(p.text, key.Text())
	}
	return nil
}

// validText reports whether what the path finds is text as it stands.
func (p *path) validText(root, items rawjson.Node) bool {
	n, whole := root, false
	if p.walk != nil {
		var names namePath
		var found bool
		names, whole = p.walk.names()
		if n, found = names.at(root); !found {
			return true
		}
	}
	if whole {
		return n.ValidText()
	}
	return n.AllValidText(items)
}

// names are the steps of a walk that are names, up to the first that is none, and whether that is all of it.
func (w *walk) names() (names namePath, whole bool) {
	for _, s := range w.steps {
		if s.kind != byName {
			return names, false
		}
		names = append(names, s.name)
	}
	return names, w.whole()
}

// mostNamed is how much of a key is shown.
const mostNamed = 40

func saidTwice(path, key string) error {
	return badBody(path, "the key "+strconv.Quote(key[:min(len(key), mostNamed)])+" occurs twice in one object")
}

// badBody is an answer that is whole, and cannot be believed at a place.
func badBody(path, text string) error {
	return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeBadBody, Path: path, Text: text}
}

// duplicateKey refuses an item in which a key occurs twice in one object, whether or not a path reads it: what is stored is read by
// others, too. Where the id is read from there, the item has none.
func (p *Program) duplicateKey(doc any, o *patra.Observation) error {
	d, ok := doc.(*document)
	if !ok {
		return nil
	}
	key, twice := d.Repeated()
	if !twice {
		return nil
	}
	for i := range p.id {
		if p.id[i].twice(d.root, rawjson.Node{}) != nil {
			o.ID = ""
		}
	}
	return dataFault(patra.CodeDuplicateKey, key.Path(d.root), fmt.Sprintf("the key %q occurs twice in one object", key.Text()))
}

// repaired reports whether a text that was read from an item has U+FFFD in a place where something was sent that is no text.
func (p *Program) repaired(raw []byte, text string) bool {
	if !strings.ContainsRune(text, utf8.RuneError) {
		return false
	}
	if p.Spec.Response.Format == formatXML {
		fixed := rawxml.Repair(raw)
		return fixed.Any()
	}
	doc, err := rawjson.Parse(raw)
	return err != nil || !doc.Root().AllValidText(rawjson.Node{})
}

// noText refuses an item whose id, or the id of another record that it names, is no valid text.
func noText(path string) error {
	return dataFault(patra.CodeBadText, path, "the id is no valid text: it has bytes that are not UTF-8, or half of a pair of surrogates")
}

// brokenLinks refuses an item that names other records by what is no text.
func (p *Program) brokenLinks(raw []byte, o *patra.Observation) error {
	if p.repaired(raw, o.MergedInto) {
		return noText(p.merged.text)
	}
	for _, id := range o.MergedFrom {
		if p.repaired(raw, id) {
			return noText(p.mergedFrom.text)
		}
	}
	return nil
}
