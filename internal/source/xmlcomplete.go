package source

import (
	"bytes"
	"slices"
	"strings"

	"patra/internal/rawxml"
)

// prefix is a declaration that an item may need to be readable on its own.
type prefix struct {
	used, declared, text []byte
	space                rawxml.Space // without a meaning: nobody can be sure what others make of it
}

// prefixesOf takes declarations apart.
func prefixesOf(declarations string) (all []prefix) {
	if declarations == "" {
		return nil
	}
	for decl := range strings.SplitSeq(strings.TrimSpace(declarations), " ") {
		name, value, _ := strings.Cut(decl, "=")
		bare := strings.TrimPrefix(name, "xmlns:")
		p := prefix{[]byte(bare + ":"), []byte(name + "="), []byte(" " + decl), rawxml.Space{Prefix: []byte(bare)}}
		if n := len(value); n > 2 && value[0] == '"' && value[n-1] == '"' && !strings.ContainsFunc(value[1:n-1], unsure) {
			p.space.Means = []byte(value[1 : n-1])
		}
		all = append(all, p)
	}
	return all
}

// unsure are characters of which the meaning of a prefix has none, as a rule.
func unsure(r rune) bool { return r <= ' ' || r >= 0x7F || strings.ContainsRune("<>&\"'\\", r) }

// complete makes items readable on their own: prefixes that were declared around one are declared in it. If any of them needs
// that, all are written into one text, one behind the other. Those that are not the same in their page are to stand alone.
func complete(pieces [][]byte, declared []prefix, w *parsedPage) (items [][]byte, apart []byte) {
	c := namespaceFix{all: declared}
	written := make([][]byte, 0, 3*len(pieces))
	changed := false
	for i, p := range pieces {
		c.look(p)
		changed = changed || c.text != nil
		end := bytes.IndexAny(p, " \t\r\n/>")
		written = append(written, p[:end], c.text, p[end:])
		if w != nil && (c.unsure || !w.xml.Alone(w.elements[i], c.given...)) {
			w.elements[i] = rawxml.Root
		}
	}
	if !changed {
		return pieces, nil
	}
	apart = bytes.Join(written, nil)
	items = make([][]byte, len(pieces))
	from := 0
	for i := range items {
		to := from + len(written[3*i]) + len(written[3*i+1]) + len(written[3*i+2])
		items[i] = apart[from:to]
		from = to
	}
	return items, apart
}

// namespaceFix is what an item needs to be readable on its own. The items of a page mostly need the same.
type namespaceFix struct {
	all     []prefix
	missing []int // which of them
	text    []byte
	given   []rawxml.Space
	unsure  bool // what one of them means
	room    []int
}

// look finds the prefixes that an item uses and does not declare itself.
func (c *namespaceFix) look(item []byte) {
	if len(c.all) == 0 {
		return
	}
	tag, missing := item[:bytes.IndexByte(item, '>')], c.room[:0]
	for i := range c.all {
		if p := &c.all[i]; bytes.Contains(item, p.used) && !bytes.Contains(tag, p.declared) {
			missing = append(missing, i)
		}
	}
	if slices.Equal(missing, c.missing) {
		c.room = missing
		return
	}
	c.missing, c.room = missing, c.missing
	c.text, c.given, c.unsure = nil, nil, false // others have the former text
	for _, i := range missing {
		p := &c.all[i]
		c.text, c.given = append(c.text, p.text...), append(c.given, p.space)
		c.unsure = c.unsure || p.space.Means == nil
	}
}
