package strictyaml

import (
	"reflect"
	"strings"
)

// field is one key of a struct and the way to its Go field.
type field struct {
	name  string
	index []int
}

// fields are the legal keys of a struct, in the order of its fields.
type fields []field

// fieldsOf lists the fields with a yaml tag. A field without one cannot be set from a file: a forgotten tag shows up at
// once as an unknown key, while an internal field that a file can set would show up never. The fields of a struct
// tagged `yaml:",inline"` count as the outer struct's own.
func fieldsOf(t reflect.Type) fields {
	var all fields
	for f := range t.Fields() {
		tag, ok := f.Tag.Lookup("yaml")
		if !ok || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		inline := f.Type.Kind() == reflect.Struct && strings.Contains(","+options+",", ",inline,")
		switch {
		case inline && (f.IsExported() || f.Anonymous):
			for _, inner := range fieldsOf(f.Type) {
				all = append(all, field{name: inner.name, index: append([]int{f.Index[0]}, inner.index...)})
			}
		case !f.IsExported():
		case name == "":
			all = append(all, field{name: strings.ToLower(f.Name), index: f.Index})
		default:
			all = append(all, field{name: name, index: f.Index})
		}
	}
	return all
}

func (fs fields) index(name string) ([]int, bool) {
	for _, f := range fs {
		if f.name == name {
			return f.index, true
		}
	}
	return nil, false
}

func (fs fields) names() []string {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = f.name
	}
	return names
}
