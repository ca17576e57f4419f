package sim

import "strings"

// xmlText writes XML without spaces between elements. Names come with their attributes: `PMID Version="1"`.
type xmlText struct{ b []byte }

func (x *xmlText) raw(s string) { x.b = append(x.b, s...) }

func (x *xmlText) open(name string) {
	x.b = append(x.b, '<')
	x.raw(name)
	x.b = append(x.b, '>')
}

func (x *xmlText) close(name string) {
	name, _, _ = strings.Cut(name, " ")
	x.b = append(x.b, '<', '/')
	x.raw(name)
	x.b = append(x.b, '>')
}

func (x *xmlText) leaf(name, text string) {
	x.open(name)
	x.text(text)
	x.close(name)
}

// within writes an element around what fill writes.
func (x *xmlText) within(name string, fill func()) {
	x.open(name)
	fill()
	x.close(name)
}

var (
	xmlEscapes   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	quoteEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
)

func (x *xmlText) text(s string) { x.raw(xmlEscapes.Replace(s)) }

// mixed writes text whose markup becomes elements, as in a title with an italic name in it.
func (x *xmlText) mixed(s string) {
	for {
		before, rest, found := strings.Cut(s, "<")
		x.text(before)
		if !found {
			return
		}
		end := strings.IndexByte(rest, '>')
		if end < 0 || !isMarkup(rest[:end]) {
			x.raw("&lt;")
			s = rest
			continue
		}
		x.raw("<" + rest[:end+1])
		s = rest[end+1:]
	}
}

func isMarkup(name string) bool {
	switch strings.TrimPrefix(name, "/") {
	case "i", "b", "sub", "sup":
		return true
	}
	return false
}

// attribute is a name and value ready to stand in a tag.
func attribute(name, value string) string {
	return " " + name + `="` + quoteEscapes.Replace(value) + `"`
}
