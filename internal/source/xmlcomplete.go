package source

import (
	"bytes"
	"slices"
	"strings"

	"patra/internal/rawxml"
)

// prefix is a declaration that an item may need to be readable on its own.
type prefix struct{ used, declared, text []byte }

// prefixesOf takes declarations apart.
func prefixesOf(declarations string) (all []prefix) {
	if declarations == "" {
		return nil
	}
	for decl := range strings.SplitSeq(strings.TrimSpace(declarations), " ") {
		name, _, _ := strings.Cut(decl, "=")
		bare := strings.TrimPrefix(name, "xmlns:")
		all = append(all, prefix{[]byte(bare + ":"), []byte(name + "="), []byte(" " + decl)})
	}
	return all
}

// complete makes items readable on their own: prefixes that were declared around one are declared in it. If any of them
// needs that, all are written into one text, one behind the other. One that is broken stays as it is, and stands alone.
func complete(pieces [][]byte, declared []prefix, w *parsedPage) (items [][]byte, apart []byte) {
	c := namespaceFix{all: declared}
	written := make([][]byte, 0, 3*len(pieces))
	changed := false
	for i, p := range pieces {
		if w != nil && w.xml.Kind(w.elements[i]) == rawxml.Broken {
			w.elements[i] = rawxml.Root
			written = append(written, p, nil, nil)
			continue
		}
		c.look(p)
		changed = changed || c.text != nil
		end := bytes.IndexAny(p, " \t\r\n/>")
		written = append(written, p[:end], c.text, p[end:])
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
	c.text = nil // others have the former text
	for _, i := range missing {
		c.text = append(c.text, c.all[i].text...)
	}
}
