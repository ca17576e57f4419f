package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// paper is our own description, as a client reads it.
type paper struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]map[string]any `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	ID         string `json:"operationId"`
	Parameters []struct {
		Name     string         `json:"name"`
		In       string         `json:"in"`
		Required bool           `json:"required"`
		Schema   map[string]any `json:"schema"`
	} `json:"parameters"`
	Body *struct {
		Content map[string]struct {
			Schema map[string]any `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema map[string]any `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

func readPaper(t testing.TB, b []byte) paper {
	t.Helper()
	var p paper
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// resolve follows references.
func (p paper) resolve(schema map[string]any) map[string]any {
	for {
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		schema = p.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]
	}
}

// check says where a value is not what a schema says; nothing if it is.
func (p paper) check(schema map[string]any, v any, at string) error {
	schema = p.resolve(schema)
	if err := checkType(schema, v, at); err != nil {
		return err
	}
	if options, ok := schema["enum"].([]any); ok && v != nil && !slices.Contains(options, v) {
		return fmt.Errorf("%s is %v, which is none of %v", at, v, options)
	}
	switch v := v.(type) {
	case map[string]any:
		return p.checkObject(schema, v, at)
	case []any:
		items, _ := schema["items"].(map[string]any)
		for i, item := range v {
			if items == nil {
				break
			}
			if err := p.check(items, item, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p paper) checkObject(schema map[string]any, v map[string]any, at string) error {
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Errorf("%s has no %s", at, name)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range v {
		s, known := properties[name].(map[string]any)
		if !known {
			switch more := schema["additionalProperties"].(type) {
			case bool:
				if !more {
					return fmt.Errorf("%s.%s is not described", at, name)
				}
				continue
			case map[string]any:
				s = more
			default:
				continue
			}
		}
		if err := p.check(s, value, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func checkType(schema map[string]any, v any, at string) error {
	var types []any
	switch t := schema["type"].(type) {
	case nil:
		return nil
	case string:
		types = []any{t}
	case []any:
		types = t
	}
	is := "null"
	switch n := v.(type) {
	case bool:
		is = "boolean"
	case string:
		is = "string"
	case float64:
		is = "number"
		if n == math.Trunc(n) && slices.Contains(types, "integer") {
			is = "integer"
		}
	case []any:
		is = "array"
	case map[string]any:
		is = "object"
	}
	if !slices.Contains(types, any(is)) {
		return fmt.Errorf("%s is %s, and should be %v: %.100v", at, is, types, v)
	}
	return nil
}

var hole = regexp.MustCompile(`\{([^}]+)\}`)

// What describes our routes is itself as it should be: names are unique, references lead somewhere, and every parameter of a
// path is described.
func TestTheDocumentIsSound(t *testing.T) {
	b, err := (&app{}).document()
	if err != nil {
		t.Fatal(err)
	}
	p, ids := readPaper(t, b), map[string]bool{}
	for path, methods := range p.Paths {
		for method, op := range methods {
			if op.ID == "" || ids[op.ID] {
				t.Errorf("%s %s has the operation id %q, which is empty or somebody else's", method, path, op.ID)
			}
			ids[op.ID] = true
			for _, name := range hole.FindAllStringSubmatch(path, -1) {
				found := 0
				for _, q := range op.Parameters {
					if q.In == "path" && q.Name == name[1] && q.Required {
						found++
					}
				}
				if found != 1 {
					t.Errorf("%s %s describes {%s} %d times", method, path, name[1], found)
				}
			}
			for _, q := range op.Parameters {
				if q.In == "path" && !strings.Contains(path, "{"+q.Name+"}") {
					t.Errorf("%s %s describes {%s}, which it does not have", method, path, q.Name)
				}
				bounded(t, p, q.Schema, method+" "+path+" "+q.Name)
			}
			if op.Body != nil {
				bounded(t, p, op.Body.Content["application/json"].Schema, method+" "+path)
			}
		}
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	refs(tree, func(ref string) {
		if _, ok := p.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]; !ok {
			t.Errorf("%s leads nowhere", ref)
		}
	})
}

// bounded sees that no text of an input is without end.
func bounded(t *testing.T, p paper, schema map[string]any, at string) {
	t.Helper()
	schema = p.resolve(schema)
	if schema["type"] == "string" && schema["maxLength"] == nil && schema["enum"] == nil {
		t.Errorf("%s is a text without end", at)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, s := range properties {
		bounded(t, p, s.(map[string]any), at+"."+name)
	}
}

func refs(tree any, found func(string)) {
	switch v := tree.(type) {
	case map[string]any:
		for name, value := range v {
			if ref, ok := value.(string); ok && name == "$ref" {
				found(ref)
			}
			refs(value, found)
		}
	case []any:
		for _, value := range v {
			refs(value, found)
		}
	}
}
