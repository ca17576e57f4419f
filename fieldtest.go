package patra

import (
	"fmt"
	"regexp"
	"strings"
)

// FieldTest is a condition on one field of a record.
type FieldTest struct {
	Path  []string // names, outermost first
	Op    string   // =, !=, ~ (contains), >=, <=, >, <
	Value string
}

var fieldTest = regexp.MustCompile(`^([^=~<>!]*?)\s*(!=|>=|<=|=|~|>|<)(.*)$`)

var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// ParseFieldTest reads conditions such as `type=journal-article`, `title~heart` and `published>=2026`.
func ParseFieldTest(text string) (FieldTest, error) {
	found := fieldTest.FindStringSubmatch(text)
	if found == nil {
		return FieldTest{}, fmt.Errorf("%q is no condition; write field=value, field~text, field>=value or field!=value", text)
	}
	t := FieldTest{Path: strings.Split(found[1], "."), Op: found[2], Value: strings.TrimSpace(found[3])}
	for _, name := range t.Path {
		if !fieldName.MatchString(name) {
			return t, fmt.Errorf("%q is not the name of a field; write one such as title, or authors.family inside another", found[1])
		}
	}
	return t, nil
}

// JSONPath is where the field stands, for a database. Names are checked before, so they cannot say anything else.
func (t FieldTest) JSONPath() string { return `$."` + strings.Join(t.Path, `"."`) + `"` }

// EscapeLike writes text so that LIKE ... ESCAPE '!' takes it literally.
func EscapeLike(text string) string {
	return strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(text)
}
