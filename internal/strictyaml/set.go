package strictyaml

import "reflect"

// Paths lists the paths of all single values of the struct that into points to, in the order of its fields. Lists and
// Go maps have no fixed paths and are left out.
func Paths(into any) []string {
	t := reflect.TypeOf(into)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	return paths("", t, nil)
}

// paths walks t; within are the structs on the way, as a struct that holds a pointer to its own kind has no end.
func paths(parent string, t reflect.Type, within []reflect.Type) []string {
	for _, outer := range within {
		if outer == t {
			return nil
		}
	}
	within = append(within, t)
	var all []string
	for _, f := range fieldsOf(t) {
		path, ft := Join(parent, f.name), t.FieldByIndex(f.index).Type
		for ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		switch _, single := wanted(reflect.Zero(ft)); {
		case isCustom(ft), single:
			all = append(all, path)
		case ft.Kind() == reflect.Struct:
			all = append(all, paths(path, ft, within)...)
		}
	}
	return all
}

// Set puts text at path of the struct that into points to, as though a document held it there without quotes. Its
// problems have no file and no line, for there is none.
func Set(into any, path, text string) error {
	dst, err := target(into)
	if err != nil {
		return err
	}
	n := &node{kind: scalar, text: text}
	steps := split(path)
	for i := len(steps) - 1; i >= 0; i-- {
		n = &node{kind: mapping, entries: []entry{{key: steps[i].key, value: n}}}
	}
	dec := decoder{doc: &Document{}}
	dec.value(place{}, n, dst)
	return dec.problems.Err()
}
