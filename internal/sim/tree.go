package sim

import "strconv"

// tree is a document that is served both as JSON and as XML with the same names. A list is an array in one and a
// repeated element in the other.
type tree interface {
	object(name string, fill func())
	list(name string, n int, fill func(i int))
	texts(name string, values ...string)
	text(name, value string)
	number(name string, n int)
	coded(name, kind, value string) // a value with a type of its own
}

type jsonTree struct{ j *jsonText }

func (t jsonTree) object(name string, fill func()) {
	t.j.key(name)
	t.j.open('{')
	fill()
	t.j.close('}')
}

func (t jsonTree) list(name string, n int, fill func(i int)) {
	t.j.key(name)
	t.j.open('[')
	for i := range n {
		t.j.open('{')
		fill(i)
		t.j.close('}')
	}
	t.j.close(']')
}

func (t jsonTree) texts(name string, values ...string) { t.j.list(name, values...) }
func (t jsonTree) text(name, value string)             { t.j.pair(name, value) }
func (t jsonTree) number(name string, n int)           { t.j.count(name, n) }

func (t jsonTree) coded(name, kind, value string) {
	t.object(name, func() {
		t.text("type", kind)
		t.text("value", value)
	})
}

type xmlTree struct{ x *xmlText }

func (t xmlTree) object(name string, fill func()) { t.x.within(name, fill) }

func (t xmlTree) list(name string, n int, fill func(i int)) {
	for i := range n {
		t.x.within(name, func() { fill(i) })
	}
}

func (t xmlTree) texts(name string, values ...string) {
	for _, v := range values {
		t.x.leaf(name, v)
	}
}

func (t xmlTree) text(name, value string)        { t.x.leaf(name, value) }
func (t xmlTree) number(name string, n int)      { t.x.leaf(name, strconv.Itoa(n)) }
func (t xmlTree) coded(name, kind, value string) { t.x.leaf(name+attribute("type", kind), value) }
