package source

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// names are few, so that paths meet what is there.
var names = []string{"a", "b", "c", "list", "e\u0301", "a b"}

func drawItem(t *rapid.T, depth int) any {
	kinds := 4
	if depth > 0 {
		kinds = 8
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.IntRange(-3, 3).Draw(t, "number")
	case 3:
		return rapid.SampledFrom([]string{"", "x", "retraction", "http://x/y", "\u2028"}).Draw(t, "text")
	case 4, 5:
		list := make([]any, rapid.IntRange(0, 4).Draw(t, "length"))
		for i := range list {
			list[i] = drawItem(t, depth-1)
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 5).Draw(t, "members") {
		object[rapid.SampledFrom(names).Draw(t, "name")] = drawItem(t, depth-1)
	}
	return object
}

func drawPath(t *rapid.T) string {
	text := "$"
	for range rapid.IntRange(0, 4).Draw(t, "segments") {
		name := rapid.SampledFrom(names).Draw(t, "step")
		text += rapid.SampledFrom([]string{"['" + name + "']", "['" + name + "']", "[0]", "[-1]", "[2]", "[*]", "[0,1]", "[1:]", "..['" + name + "']", "[?@.a == 'x']", "[?@['" + name + "']]", "[?@.b == $.b]", "['a','b']"}).Draw(t, "segment")
	}
	return text
}

// A path finds in the bytes of an item what the library finds in a tree of it.
func TestAPathFindsTheSameInBytes(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(drawItem(t, 4))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := openJSON(raw)
		if err != nil {
			t.Fatal(err)
		}
		defer release(doc)
		whole, err := tree(raw)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			found += findBoth(t, drawPath(t), raw, doc, whole)
		}
	})
	if found == 0 {
		t.Error("nothing was ever found")
	}
}

// findBoth looks in the bytes and in the tree.
func findBoth(t *rapid.T, text string, raw []byte, doc *document, whole any) int {
	p, err := parsePath(formatJSON, text)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := parsePath(formatJSON, "$.a")
	if err != nil {
		t.Fatal(err)
	}
	got, want := p.find(doc), []any(p.json.Select(whole))
	if !sameNodes(got, want) {
		t.Fatalf("%s in %s finds\n%v in the tree and\n%v in the bytes", p.text, raw, want, got)
	}
	var inside, should []any
	for i, part := range p.parts(doc) {
		inside, should = append(inside, inner.find(part)...), append(should, inner.find(got[i])...)
	}
	if !sameNodes(inside, should) {
		t.Fatalf("inside %v is %v and not %v", got, inside, should)
	}
	return len(got)
}

// sameNodes compares what was found. Members of an object come in any order, so that it is not the order of lists that is
// compared, but what is in them.
func sameNodes(a, b []any) bool {
	if reflect.DeepEqual(a, b) || len(a)+len(b) == 0 {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	left := append([]any{}, b...)
	for _, v := range a {
		at := -1
		for i, w := range left {
			if reflect.DeepEqual(v, w) {
				at = i
			}
		}
		if at < 0 {
			return false
		}
		left = append(left[:at], left[at+1:]...)
	}
	return true
}

// formerHash is the hash of an item as it is defined: the item as a tree, without what is volatile, as the standard library
// writes it.
func formerHash(t *rapid.T, raw []byte, volatile []namePath) string {
	whole, err := tree(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range volatile {
		at := whole
		for i, name := range p {
			members, ok := at.(map[string]any)
			if !ok {
				break
			}
			if i == len(p)-1 {
				delete(members, name)
			}
			at = members[name]
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(whole); err != nil {
		t.Fatal(err)
	}
	return patra.HashBytes([]byte(strings.TrimSuffix(b.String(), "\n")))
}

// Hashes are kept for years: an item has the hash that it always had.
func TestAnItemKeepsItsHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.MarshalIndent(drawItem(t, 4), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		var volatile []namePath
		for range rapid.IntRange(0, 3).Draw(t, "volatile") {
			volatile = append(volatile, rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, "path"))
		}
		o := jsonOpener{volatile}
		doc, err := o.open(raw)
		if err != nil {
			t.Fatal(err)
		}
		defer release(doc)
		got, err := o.hash(raw, doc)
		if want := formerHash(t, raw, volatile); err != nil || got != want {
			t.Fatalf("%s without %v has the hash %s and not %s, %v", raw, volatile, got, want, err)
		}
	})
}

func TestAnItemThatIsNoJSONSaysWhere(t *testing.T) {
	for _, raw := range []string{``, `{"a":}`, `{"a":1} {"b":2}`, `{"a":1`} {
		if _, err := openJSON([]byte(raw)); err == nil || strings.Contains(err.Error(), "rawjson") {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
