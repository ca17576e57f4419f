package strictyaml

import (
	"strconv"
	"strings"
)

// step is one part of a path: a key, or an index when it is not negative.
type step struct {
	key   string
	index int
}

// Join is the path of key below parent. A key that would be misread as part of a path is put in brackets and quotes.
func Join(parent, key string) string {
	switch {
	case key == "" || strings.ContainsAny(key, ".[]\"\\") || strings.ContainsFunc(key, notPrintable):
		return parent + "[" + strconv.Quote(key) + "]"
	case parent == "":
		return key
	}
	return parent + "." + key
}

// Index is the path of item i of the list at parent.
func Index(parent string, i int) string { return parent + "[" + strconv.Itoa(i) + "]" }

func notPrintable(r rune) bool { return !strconv.IsPrint(r) }

// split takes a path apart. It accepts anything: what is not a path leads nowhere in a document.
func split(path string) []step {
	var steps []step
	for path != "" {
		if path[0] != '[' {
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			steps = append(steps, step{key: path[:end], index: -1})
			path = strings.TrimPrefix(path[end:], ".")
			continue
		}
		s, rest := bracket(path[1:])
		steps = append(steps, s)
		path = strings.TrimPrefix(rest, ".")
	}
	return steps
}

// bracket reads what follows a "[": an index, or a key in quotes.
func bracket(path string) (step, string) {
	if quoted, err := strconv.QuotedPrefix(path); err == nil {
		key, _ := strconv.Unquote(quoted)
		return step{key: key, index: -1}, strings.TrimPrefix(path[len(quoted):], "]")
	}
	inside, rest, _ := strings.Cut(path, "]")
	if i, err := strconv.Atoi(inside); err == nil && i >= 0 {
		return step{index: i}, rest
	}
	return step{key: "[" + inside + "]", index: -1}, rest
}
