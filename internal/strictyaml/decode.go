package strictyaml

import (
	"fmt"
	"reflect"
	"strings"

	"patra"
)

// maxListed is how many legal keys a hint may list and still be read.
const maxListed = 12

// decoder fills Go values from nodes and collects what does not fit. A value that does not fit leaves its default.
type decoder struct {
	doc      *Document
	problems patra.Problems
}

func (d *decoder) problem(p place, code, text, hint string) {
	d.problems = append(d.problems, patra.Problem{
		Code: code, File: d.doc.file, Line: p.line, Col: p.col, Path: p.path, Text: text, Hint: hint,
	})
}

// wrong reports a value of another kind than wanted, and shows the value if it is short.
func (d *decoder) wrong(p place, n *node, want, hint string) {
	d.problem(p, CodeWrongType, fmt.Sprintf("expected %s, found %s", want, n.describe()), hint)
}

// misshapen reports a value of another shape than wanted, and never shows it: a text where a mapping should be is
// often the connection string that belongs one level deeper.
func (d *decoder) misshapen(p place, n *node, want string) {
	d.problem(p, CodeWrongType, fmt.Sprintf("expected %s, found %s", want, n.kind), "")
}

// value fills dst from n, which stands at p.
func (d *decoder) value(p place, n *node, dst reflect.Value) {
	if n.kind == null || n.kind == unread {
		return
	}
	if dst.Kind() == reflect.Pointer {
		// The default behind the pointer may be shared: it is copied, never written through.
		fresh := reflect.New(dst.Type().Elem())
		if !dst.IsNil() {
			fresh.Elem().Set(dst.Elem())
		}
		d.value(p, n, fresh.Elem())
		dst.Set(fresh)
		return
	}
	if d.custom(p, n, dst) {
		return
	}
	switch dst.Kind() {
	case reflect.Struct:
		d.structure(p, n, dst)
	case reflect.Map:
		d.table(p, n, dst)
	case reflect.Slice:
		d.list(p, n, dst)
	case reflect.Interface:
		if dst.NumMethod() > 0 {
			d.unsupported(p, dst)
			return
		}
		if v := n.natural(); v != nil {
			dst.Set(reflect.ValueOf(v))
		}
	default:
		d.scalar(p, n, dst)
	}
}

func (d *decoder) structure(p place, n *node, dst reflect.Value) {
	if n.kind != mapping {
		d.misshapen(p, n, "a mapping")
		return
	}
	known := fieldsOf(dst.Type())
	for _, e := range n.entries {
		index, ok := known.index(e.key)
		if !ok {
			d.unknown(p, e, known)
			continue
		}
		d.value(e.at(p.path), e.value, dst.FieldByIndex(index))
	}
}

func (d *decoder) unknown(p place, e entry, known fields) {
	legal := known.names()
	hint := ""
	switch near, ok := Nearest(e.key, legal); {
	case ok:
		hint = fmt.Sprintf("did you mean %q?", near)
	case len(legal) == 1:
		hint = "the only key here is " + legal[0]
	case len(legal) > 0 && len(legal) <= maxListed:
		hint = "the keys here are " + strings.Join(legal, ", ")
	}
	at := place{path: Join(p.path, e.key), line: e.line, col: e.col}
	d.problem(at, CodeUnknownKey, "unknown key "+quote(e.key), hint)
}

// table lays a mapping over a Go map. The default map may be shared, so it is copied first.
func (d *decoder) table(p place, n *node, dst reflect.Value) {
	t := dst.Type()
	if t.Key().Kind() != reflect.String {
		d.unsupported(p, dst)
		return
	}
	if n.kind != mapping {
		d.misshapen(p, n, "a mapping")
		return
	}
	fresh := reflect.MakeMapWithSize(t, dst.Len()+len(n.entries))
	for it := dst.MapRange(); it.Next(); {
		fresh.SetMapIndex(it.Key(), it.Value())
	}
	for _, e := range n.entries {
		key := reflect.ValueOf(e.key).Convert(t.Key())
		item := reflect.New(t.Elem()).Elem()
		if old := fresh.MapIndex(key); old.IsValid() {
			item.Set(old)
		}
		if e.value.kind == null && t.Elem().Kind() == reflect.Pointer && item.IsNil() {
			// A key that was written is there, even without a value; nil would surprise whoever walks the map.
			item.Set(reflect.New(t.Elem().Elem()))
		}
		d.value(e.at(p.path), e.value, item)
		fresh.SetMapIndex(key, item)
	}
	dst.Set(fresh)
}

func (d *decoder) list(p place, n *node, dst reflect.Value) {
	if n.kind != list {
		d.misshapen(p, n, "a list")
		return
	}
	fresh := reflect.MakeSlice(dst.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		at := item.place(Index(p.path, i))
		if item.kind == null && dst.Type().Elem().Kind() != reflect.Interface {
			d.wrong(at, item, "a value", "remove the empty item")
			continue
		}
		d.value(at, item, fresh.Index(i))
	}
	dst.Set(fresh)
}

// unsupported is a mistake in the Go struct rather than in the document; it is reported all the same, as a panic would
// help nobody who only wrote a file.
func (d *decoder) unsupported(p place, dst reflect.Value) {
	d.problem(p, CodeBadValue, fmt.Sprintf("a value of type %s cannot be read from a file", dst.Type()), "")
}
