package source

import (
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"patra/internal/rawjson"
)

// step is a part of a path that can be taken in the bytes of an item: a member, an element, or all elements.
type step struct {
	name  string
	index int
	kind  byte // one of the three below
}

const (
	byName byte = iota
	byIndex
	toAll
)

// walk is how a path is followed in the bytes of an item: step by step as far as there are steps, and then by the library in
// a tree of what stands there.
type walk struct {
	steps []step
	rest  []*jsonpath.Path // what is left of the path from each step on; the last is nil if nothing is
}

// walkOf is nil for a path that looks back to the root of the item from inside.
func walkOf(p *jsonpath.Path) *walk {
	all := p.Query().Segments()
	for _, seg := range all {
		if strings.Contains(seg.String(), "$") {
			return nil
		}
	}
	w := &walk{}
	for i := 0; ; i++ {
		w.rest = append(w.rest, jsonpath.New(spec.Query(true, all[i:]...)))
		if i == len(all) {
			w.rest[i] = nil
			return w
		}
		s, ok := stepOf(all[i])
		if !ok {
			return w
		}
		w.steps = append(w.steps, s)
	}
}

func stepOf(seg *spec.Segment) (step, bool) {
	sel := seg.Selectors()
	if seg.IsDescendant() || len(sel) != 1 {
		return step{}, false
	}
	switch sel := sel[0].(type) {
	case spec.Name:
		return step{kind: byName, name: string(sel)}, true
	case spec.Index:
		return step{kind: byIndex, index: int(sel)}, true
	case spec.WildcardSelector:
		return step{kind: toAll}, true
	}
	return step{}, false
}

// whole reports whether a walk needs no library at its end.
func (w *walk) whole() bool { return w.rest[len(w.steps)] == nil }

// nodes appends where the path leads below a node; not ok if the library must be asked.
func (w *walk) nodes(n rawjson.Node, found []rawjson.Node) (_ []rawjson.Node, ok bool) {
	return w.nodesFrom(n, 0, found)
}

func (w *walk) nodesFrom(n rawjson.Node, at int, found []rawjson.Node) (_ []rawjson.Node, ok bool) {
	for ; at < len(w.steps); at++ {
		switch s := &w.steps[at]; {
		case s.kind == byName:
			n, ok = n.Member(s.name)
		case s.kind == byIndex:
			n, ok = n.Element(s.index)
		case n.Kind() == rawjson.Object: // whose members have no order of their own
			return found, false
		default:
			for e := range n.Elements() {
				if found, ok = w.nodesFrom(e, at+1, found); !ok {
					return found, false
				}
			}
			return found, true
		}
		if !ok {
			return found, true
		}
	}
	if !w.whole() {
		return found, false
	}
	return append(found, n), true
}

// follow appends what the path finds below a node.
func (w *walk) follow(n rawjson.Node, at int, found []any, nodes bool) []any {
	for ; at < len(w.steps); at++ {
		var ok bool
		switch s := w.steps[at]; {
		case s.kind == byName:
			n, ok = n.Member(s.name)
		case s.kind == byIndex:
			n, ok = n.Element(s.index)
		case n.Kind() == rawjson.Object: // whose members have no order of their own
			return append(found, w.rest[at].Select(n.Value())...)
		default:
			for e := range n.Elements() {
				found = w.follow(e, at+1, found, nodes)
			}
		}
		if !ok {
			return found
		}
	}
	if rest := w.rest[at]; rest != nil {
		return append(found, rest.Select(n.Value())...)
	}
	if k := n.Kind(); nodes && (k == rawjson.Object || k == rawjson.Array) {
		return append(found, n)
	}
	return append(found, n.Value())
}
