// Package strictyaml reads one YAML document that a person wrote and tells that person everything that is wrong with
// it, all at once, each time with the line, the path and the next step.
//
// It knows the shape of the target (its struct fields, by their `yaml:"name"` tags) and refuses what does not fit. It
// never guesses, never merges documents, never follows anchors, aliases or tags, and never checks what a value means:
// that is the caller's business, who can still ask a Document where a path was written.
//
// The words: a document is a tree of mappings, lists and scalars. A path names a place in it, as in
// `endpoints.works.pagination.type` or `schedules[0].cron`; a key that is not a plain word is written `hosts["a.b"]`.
package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"patra"
)

// Codes of the problems found here. They are printed and matched on, so they never change.
const (
	CodeSyntax            = "SYNTAX"             // not YAML
	CodeTooLarge          = "TOO_LARGE"          // over one of the limits
	CodeMultipleDocuments = "MULTIPLE_DOCUMENTS" // more than one document
	CodeAlias             = "ALIAS"              // an anchor, an alias or a merge key
	CodeTag               = "TAG"                // a tag such as !!str or !include
	CodeDuplicateKey      = "DUPLICATE_KEY"      // the same key twice in one mapping
	CodeUnknownKey        = "UNKNOWN_KEY"        // a key that is not legal at that place
	CodeWrongType         = "WRONG_TYPE"         // a value of another kind than the place wants
	CodeBadValue          = "BAD_VALUE"          // a value that the type of the place refuses
)

// errTarget is a mistake of the calling code, never of the document.
var errTarget = errors.New("strictyaml: the target must be a non-nil pointer")

// Document is one parsed document. It is not safe for concurrent use while Rewrite runs.
type Document struct {
	file string
	root *node // nil for an empty document
	// flaws are what is wrong whatever the target is: duplicates, aliases, tags. They wait for Decode so that a
	// person sees them together with the unknown keys and the wrong types.
	flaws patra.Problems
}

// Decode reads the one document in data into the struct that into points to, and reports all problems at once as
// patra.Problems sorted by line. What into holds already are the defaults: only keys that are present overwrite them.
func Decode(file string, data []byte, into any) error {
	doc, err := Parse(file, data)
	if err != nil {
		return err
	}
	return doc.Decode(into)
}

// Decode reads the document into the struct that into points to. A key without a value leaves the default alone; a
// list replaces the default list; a mapping read into a Go map is laid over the default map. Defaults behind pointers
// and in maps are copied first, so that sharing them between calls is safe. After an error into is partly filled.
func (d *Document) Decode(into any) error {
	dst, err := target(into)
	if err != nil {
		return err
	}
	dec := decoder{doc: d, problems: slices.Clone(d.flaws)}
	if d.root != nil {
		dec.value(d.root.place(""), d.root, dst)
	}
	return sorted(dec.problems).Err()
}

// At tells where path was written: its value if that is a scalar, else its key. For an absent path it is the place of
// the nearest ancestor that is there.
func (d *Document) At(path string) (line, col int) {
	p, _ := d.find(path)
	return p.line, p.col
}

// Has tells whether path was written with a value.
func (d *Document) Has(path string) bool {
	_, ok := d.find(path)
	return ok
}

// Problem makes a problem located at path, for what the caller finds out about the meaning of a value.
func (d *Document) Problem(path, code, text, hint string) patra.Problem {
	line, col := d.At(path)
	return patra.Problem{Code: code, File: d.file, Line: line, Col: col, Path: path, Text: text, Hint: hint}
}

// Rewrite hands every scalar value (never a key) with its path to fn and puts fn's text in its place; when fn says
// false, the value counts as not written. It works on parsed values, so no text can add structure. A rewritten value
// may be a secret, and is therefore left out of messages. Types with UnmarshalYAML([]byte) or UnmarshalYAML(ast.Node)
// still see the original.
func (d *Document) Rewrite(fn func(path, text string) (string, bool)) {
	if d.root != nil {
		d.root.rewrite("", fn)
	}
}

// find gives the place of path, or of its nearest ancestor and false.
func (d *Document) find(path string) (place, bool) {
	if d.root == nil {
		return place{line: 1, col: 1}, false
	}
	n, at := d.root, d.root.place("")
	for _, step := range split(path) {
		child, p, ok := n.child(at, step)
		if !ok {
			return at, false
		}
		n, at = child, p
	}
	return at, n.kind != null
}

// target checks that into can be filled at all.
func target(into any) (reflect.Value, error) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return reflect.Value{}, fmt.Errorf("%w, not %T", errTarget, into)
	}
	return v.Elem(), nil
}

// sorted puts problems in the order in which a person meets them in the file.
func sorted(ps patra.Problems) patra.Problems {
	slices.SortStableFunc(ps, func(a, b patra.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return ps
}
