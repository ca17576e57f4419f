package rawxml

import (
	"bytes"
	"html"
	"math"
	"slices"
	"sort"
	"unicode/utf8"
)

// What is repaired, as it is counted. The words are stored, and never change.
const (
	ForbiddenCharacter = "FORBIDDEN_CHARACTER" // a character that no document may have; U+FFFD takes its place
	InvalidByte        = "INVALID_BYTE"        // a byte that is no text in its charset; U+FFFD takes its place
	ForbiddenReference = "FORBIDDEN_REFERENCE" // the number of such a character; U+FFFD takes its place
	HTMLEntity         = "HTML_ENTITY"         // an entity of HTML, which XML does not know: its character takes its place
	BareAmpersand      = "BARE_AMPERSAND"      // an & that begins no reference stands for itself
	BareLessThan       = "BARE_LESS_THAN"      // a < that begins no tag stands for itself
	CDATAEnd           = "CDATA_END"           // ]]> in a text stands for itself
	CommentDashes      = "COMMENT_DASHES"      // a comment with -- inside is left out
	TextOutside        = "TEXT_OUTSIDE"        // text outside of the root is passed over
	StrayEndTag        = "STRAY_END_TAG"       // an end tag of nothing is passed over
)

// Repairs are how often something was repaired, by what it was.
type Repairs map[string]int

// edit is a part of a text that another one took the place of.
type edit struct {
	kind     byte   // its place in kinds
	at, size uint32 // in the text as it came
	to, end  uint32 // in the repaired text
}

// kinds are what edits are counted as; of the first few U+FFFD takes the place.
var kinds = []string{
	ForbiddenCharacter, InvalidByte, ForbiddenReference, HTMLEntity, BareAmpersand, BareLessThan, CDATAEnd, CommentDashes,
}

// lossy is how many of the kinds replace something by U+FFFD.
const lossy = 3

// mostEdits bounds what is repaired of one text: it is more than a damaged page has, and what one needs to remember
// them is bounded.
const mostEdits = 1 << 20

// Repaired is a text without what no document may have.
type Repaired struct {
	Text  []byte // the same as came, if there was nothing to repair
	edits []edit
}

// Repair replaces what makes a text no XML and can be replaced without a guess at its structure. It looks at nothing
// but the bytes from a place on, so the same bytes are repaired in the same way wherever they stand.
func Repair(text []byte) Repaired {
	r := repairer{in: text}
	if uint64(len(text)) >= math.MaxUint32/2 {
		return Repaired{Text: text}
	}
	for i := 0; i < len(text) && len(r.edits) < mostEdits; {
		i = r.step(i)
	}
	if len(r.edits) == 0 {
		return Repaired{Text: text}
	}
	return Repaired{append(r.out, text[r.done:]...), r.edits}
}

// Sent is the place in the text as it came of a place in the repaired text, which must not be inside of what was
// replaced.
func (r *Repaired) Sent(at int) int {
	n := sort.Search(len(r.edits), func(i int) bool { return int(r.edits[i].end) > at })
	if n == 0 {
		return at
	}
	last := &r.edits[n-1]
	return at - int(last.end) + int(last.at+last.size)
}

// Count is what was repaired outside of what was skipped of the document that was made of the repaired text.
func (r *Repaired) Count(d *Doc) Repairs {
	counts := Repairs{}
	var skipped []node
	if d.broken > 0 {
		skipped = slices.DeleteFunc(slices.Clone(d.nodes), func(n node) bool { return n.kind != Broken })
	}
	for _, e := range r.edits {
		for len(skipped) > 0 && skipped[0].to <= e.to {
			skipped = skipped[1:]
		}
		if len(skipped) == 0 || skipped[0].from > e.to {
			counts[kinds[e.kind]]++
		}
	}
	for kind, n := range map[string]int{TextOutside: d.outside, StrayEndTag: d.strays} {
		if n > 0 {
			counts[kind] = n
		}
	}
	return counts
}

// Any reports whether there is something that U+FFFD took the place of.
func (r *Repaired) Any() bool {
	return slices.ContainsFunc(r.edits, func(e edit) bool { return e.kind < lossy })
}

// repairer is a text that is being repaired.
type repairer struct {
	in, out []byte
	done    int // up to here the text is in out
	edits   []edit
	open    [2]bool // that no CDATA section, and no instruction, ends behind here is known
}

// replace puts something in the place of some bytes, and gives the place behind them.
func (r *repairer) replace(at, size int, with, kind string) int {
	r.out = append(append(r.out, r.in[r.done:at]...), with...)
	r.done = at + size
	end, which := uint32(len(r.out)), byte(slices.Index(kinds, kind))
	r.edits = append(r.edits, edit{which, uint32(at), uint32(size), end - uint32(len(with)), end})
	return r.done
}

// step goes over what stands at i in a text: characters up to the next that is looked at, a tag, or anything else in
// brackets.
func (r *repairer) step(i int) int {
	if i = run(r.in, i); i >= len(r.in) {
		return i
	}
	switch r.in[i] {
	case '<':
		return r.markup(i)
	case ']':
		if has(r.in, i, "]]>") {
			return r.replace(i, 3, "]]&gt;", CDATAEnd)
		}
		return i + 1
	}
	return r.character(i)
}

// character goes over the character or the reference at i.
func (r *repairer) character(i int) int {
	c := r.in[i]
	switch {
	case c == '&':
		return r.reference(i)
	case c == '\t' || c == '\n' || c == '\r':
		return i + 1
	case c < ' ':
		return r.replace(i, 1, "\ufffd", ForbiddenCharacter)
	case c < utf8.RuneSelf:
		return i + 1
	}
	char, size := utf8.DecodeRune(r.in[i:])
	switch {
	case char == utf8.RuneError && size == 1:
		return r.replace(i, 1, "\ufffd", InvalidByte)
	case char == 0xFFFE || char == 0xFFFF:
		return r.replace(i, size, "\ufffd", ForbiddenCharacter)
	}
	return i + size
}

// mostEntity is how long the name of an entity of HTML is, at most.
const mostEntity = 32

// reference goes over the & at i.
func (r *repairer) reference(i int) int {
	if end, _ := reference(r.in, i); end >= 0 {
		return end
	}
	rest := r.in[i+1 : min(len(r.in), i+1+mostEntity)]
	length := bytes.IndexByte(rest, ';')
	if length > 1 && rest[0] == '#' && isNumber(rest[1:length]) {
		return r.replace(i, length+2, "\ufffd", ForbiddenReference)
	}
	if length > 0 && isEntity(rest[:length]) {
		whole := string(r.in[i : i+length+2])
		// A name of which only the beginning is one is resolved as far as that, and keeps its semicolon.
		if means := html.UnescapeString(whole); means != whole && (means == ";" || means[len(means)-1] != ';') {
			return r.replace(i, length+2, html.EscapeString(means), HTMLEntity)
		}
	}
	return r.replace(i, 1, "&amp;", BareAmpersand)
}

func isNumber(b []byte) bool {
	digits := "0123456789"
	if b[0] == 'x' || b[0] == 'X' {
		b, digits = b[1:], "0123456789abcdefABCDEF"
	}
	return len(b) > 0 && len(bytes.Trim(b, digits)) == 0
}

func isEntity(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool {
		return inName[c] == never || c >= utf8.RuneSelf || c == '-' || c == '.' || c == '_'
	})
}

// markup goes over what the < at i begins. What is no tag, or does not end, is left as it is: it may be a broken
// element.
func (r *repairer) markup(i int) int {
	b := r.in
	switch {
	case i+1 >= len(b):
		return i + 1
	case has(b, i, "<!--"):
		return r.comment(i)
	case has(b, i, "<![CDATA["):
		from := i + len("<![CDATA[")
		return r.cdata(from, max(from, r.behind(0, from, "]]>")))
	case has(b, i, "<?"):
		return max(r.behind(1, i+2, "?>"), i+2)
	case has(b, i, "<!"):
		return max(doctype(b, i+2), i+2)
	case b[i+1] == '/' || inName[b[i+1]] == ordinary || inName[b[i+1]] == wide:
		return r.tag(i + 1)
	}
	return r.replace(i, 1, "&lt;", BareLessThan)
}

// behind is the place behind an end, or -1. That there is none is looked for once.
func (r *repairer) behind(what, from int, end string) int {
	if r.open[what] {
		return -1
	}
	length := bytes.Index(r.in[from:], []byte(end))
	if r.open[what] = length < 0; length < 0 {
		return -1
	}
	return from + length + len(end)
}

// comment goes over the comment at i. One in which another one begins was not closed: it is left as it is.
func (r *repairer) comment(i int) int {
	from := i + len("<!--")
	dashes := bytes.Index(r.in[from:], []byte("--"))
	if dashes >= 0 && has(r.in, from+dashes, "-->") {
		return from + dashes + len("-->")
	}
	inside := r.in[from:]
	if next := bytes.Index(inside, []byte("<!--")); next >= 0 {
		inside = inside[:next]
	}
	length := bytes.Index(inside, []byte("-->"))
	if length < 0 {
		return from
	}
	return r.replace(i, from+length+len("-->")-i, "<!---->", CommentDashes)
}

// cdata goes over what stands in a CDATA section, in which an & is nothing else.
func (r *repairer) cdata(i, end int) int {
	for i < end {
		if r.in[i] == '&' {
			i++
			continue
		}
		i = r.character(i)
	}
	return end
}

// tag goes over a tag, from behind its <. The values of its attributes are repaired; a < ends it, wherever it stands.
func (r *repairer) tag(i int) int {
	var quote byte
	for i < len(r.in) {
		switch c := r.in[i]; {
		case c == '<':
			return i
		case quote == 0 && c == '>':
			return i + 1
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
			i++
		case quote == 0:
			i++
		case c == quote:
			quote = 0
			i++
		default:
			i = r.character(i)
		}
	}
	return i
}
