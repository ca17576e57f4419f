package rawxml

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawSpaced draws an element in which prefixes are used and declared as it happens.
func drawSpaced(t *rapid.T, b *strings.Builder, depth int) {
	prefix := rapid.SampledFrom([]string{"", "", "", "p:", "q:", "xml:"})
	name := prefix.Draw(t, "prefix") + "a"
	b.WriteString("<" + name)
	for _, a := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"xmlns", "xmlns:p", "xmlns:q", "b", "p:b", "q:b", "xml:lang", "p:xmlns", "xmlns:xml"}), 0, 3, rapid.ID).Draw(t, "attributes") {
		b.WriteString(" " + a + "='" + rapid.SampledFrom([]string{"u", "v", "w", "", "x&amp;y", xmlSpace, "xmlns"}).Draw(t, "value") + "'")
	}
	b.WriteString(">")
	for range rapid.IntRange(0, depth).Draw(t, "inside") {
		drawSpaced(t, b, depth-1)
	}
	b.WriteString("</" + name + ">")
}

// An element stands alone if it is read alone, with what is declared in its tag. What it says is the same then.
func TestAnElementStandsAloneIfItIsReadAlone(t *testing.T) {
	alone, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		drawSpaced(t, &b, 3)
		var page, one Doc
		if page.ResetNames([]byte(b.String())) != nil {
			t.Fatalf("%s is not read", b.String())
		}
		given, text := []Space(nil), ""
		for _, p := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"p", "q", "r"}), 0, 2, rapid.ID).Draw(t, "given") {
			means := rapid.SampledFrom([]string{"u", "v", "z", "", xmlSpace}).Draw(t, "means")
			given, text = append(given, Space{[]byte(p), []byte(means)}), text+" xmlns:"+p+"='"+means+"'"
		}
		for n := range Node(page.Len()) {
			if page.Kind(n) != Element {
				continue
			}
			item := string(page.Bytes(n))
			at := strings.IndexAny(item, " >")
			item = item[:at] + text + item[at:]
			read := one.Reset([]byte(item)) == nil
			if got := page.Alone(n, given...); got != read {
				t.Fatalf("%s is read alone: %t, and said to be: %t", item, read, got)
			}
			if !read {
				refused++
				continue
			}
			alone++
			if got, want := page.End(n)-n, one.End(Root); got != want-Node(len(given)) {
				t.Fatalf("%s has %d nodes alone, and %d in its page", item, want, got)
			}
		}
	})
	if alone == 0 || refused == 0 {
		t.Errorf("%d were read alone, and %d were not", alone, refused)
	}
}

// Where prefixes were looked at, nobody knows any more which elements have none.
func TestOnlyADocumentWithoutPrefixesHasElementsThatStandAlone(t *testing.T) {
	var d Doc
	if d.Reset([]byte("<a><b/></a>")) != nil || d.Alone(1) {
		t.Error("it is said to stand alone")
	}
}
