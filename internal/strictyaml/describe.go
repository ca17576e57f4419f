package strictyaml

import "strconv"

// maxShown is how much of a text a message repeats.
const maxShown = 60

// describe says what a node is, for "expected this, found that". Only short values are shown, and none that may be a
// secret: a long text in the wrong place is as likely a connection string as anything.
func (n *node) describe() string {
	switch {
	case n.kind != scalar:
		return n.kind.String()
	case n.secret:
		return "a value that is not shown"
	case len(n.text) > maxShown:
		return "a long text"
	case n.quoted:
		return "the text " + strconv.Quote(n.text)
	}
	if _, text := n.plain().(string); text {
		return "the text " + strconv.Quote(n.text)
	}
	return n.text
}

// quote puts a word of the document into a message, cut where it gets too long.
func quote(word string) string {
	if runes := []rune(word); len(runes) > maxShown {
		word = string(runes[:maxShown]) + "..."
	}
	return strconv.Quote(word)
}
