package strictyaml

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"

	"patra"
)

var customTypes = []reflect.Type{
	reflect.TypeFor[yaml.InterfaceUnmarshaler](),
	reflect.TypeFor[yaml.NodeUnmarshaler](),
	reflect.TypeFor[yaml.BytesUnmarshaler](),
	reflect.TypeFor[encoding.TextUnmarshaler](),
}

// isCustom tells whether t reads itself, so that its fields are none of our business.
func isCustom(t reflect.Type) bool {
	for _, c := range customTypes {
		if t.Implements(c) || reflect.PointerTo(t).Implements(c) {
			return true
		}
	}
	return false
}

// custom lets a type that reads itself do so; false says that dst is not of such a type.
//
// UnmarshalYAML(func(any) error) may try one shape after another: only the problems that it returns are reported, and
// they keep their lines.
func (d *decoder) custom(p place, n *node, dst reflect.Value) bool {
	if !dst.CanAddr() || !dst.Addr().CanInterface() {
		return false
	}
	var err error
	switch u := dst.Addr().Interface().(type) {
	case yaml.InterfaceUnmarshaler:
		err = u.UnmarshalYAML(func(into any) error { return d.again(p, n, into) })
	case yaml.NodeUnmarshaler:
		err = u.UnmarshalYAML(n.raw)
	case yaml.BytesUnmarshaler:
		var text []byte
		if text, err = n.source(); err == nil {
			err = u.UnmarshalYAML(text)
		}
	case encoding.TextUnmarshaler:
		if n.kind != scalar {
			d.misshapen(p, n, "a single value")
			return true
		}
		err = u.UnmarshalText([]byte(n.text))
	default:
		return false
	}
	if err != nil {
		d.refused(p, n, err)
	}
	return true
}

// again reads the same node into another value.
func (d *decoder) again(p place, n *node, into any) error {
	dst, err := target(into)
	if err != nil {
		return err
	}
	sub := decoder{doc: d.doc}
	sub.value(p, n, dst)
	return sub.problems.Err()
}

// refused reports what a type says about a value it does not take.
func (d *decoder) refused(p place, n *node, err error) {
	if found, ok := errors.AsType[patra.Problems](err); ok {
		d.problems = append(d.problems, found...)
		return
	}
	text, line, col := located(err)
	if line > 0 {
		p.line, p.col = line, col
	}
	if n.secret {
		text = strings.ReplaceAll(text, n.text, "***")
	}
	d.problem(p, CodeBadValue, text, "")
}

// source is the YAML text of a node. The library writes it anew, and is not to be trusted with every odd tree.
func (n *node) source() (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the value cannot be read")
		}
	}()
	if n.raw == nil {
		return []byte(n.text), nil
	}
	return []byte(n.raw.String()), nil
}
