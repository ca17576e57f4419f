package source

import (
	"encoding"
	"reflect"
	"strings"
)

// words are the values that a key may have, by its path in the schema; editors offer them.
var words = map[string][]string{
	"Endpoint.role":        {roleSearch, roleDetail},
	"Request.method":       {"GET", "POST"},
	"Request.send":         {sendQuery, sendForm, sendJSON},
	"Pagination.type":      {pageOffset, pagePage, pageToken, pageURL, pageTime},
	"Pagination.stability": {stabilityShifting, stabilityKeyset, stabilitySnapshot},
	"Pagination.order":     {orderAscending, orderDescending, orderFixed, orderRelevance, orderUnstable, orderNone},
	"Pagination.key":       {keyUnique},
	"Token.state":          {stateless, stateful},
	"Token.onSame":         {"END", "CONTINUE", "ERROR"},
	"Token.encode":         {"ALWAYS", "NEVER"},
	"Response.format":      {formatJSON, formatXML, formatJSONL, formatCSV},
	"Response.noId":        {"QUARANTINE", "HASH"},
	"Total.trust":          {"EXACT", "ESTIMATE", "NONE"},
	"Failure.means":        {meansRetry, meansRefused, meansFatal, meansSchema, meansEmpty, meansExpired},
	"Auth.type":            authTypes,
	"Auth.in":              {InHeader, InQuery, InBody},
	"Auth.signer":          Signers(),
	"Window.mode":          {"CALENDAR", "SLIDING"},
	"Window.upper":         {"INCLUSIVE_DAY", "INCLUSIVE_SECOND", "EXCLUSIVE", discovered},
	"Window.precision":     {"MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", discovered},
	"Window.align":         {"MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH"},
	"Window.strategy":      windowStrategies,
	"Merge.nulls":          nullsWords,
	"Notice.reason":        noticeReasons(),
	"File.apiVersion":      {"patra/v1"},
}

// Schema is the JSON Schema of a source file, made from the Go types, so that it cannot say something else.
func Schema() map[string]any {
	defs := map[string]any{}
	root := schemaOf(reflect.TypeFor[File](), defs)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Patra source file"
	root["$defs"] = defs
	return root
}

func schemaOf(t reflect.Type, defs map[string]any) map[string]any {
	if t.Kind() == reflect.Pointer {
		return schemaOf(t.Elem(), defs)
	}
	if t == reflect.TypeFor[Paths]() {
		return map[string]any{"oneOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}}
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Struct:
		return schemaOfStruct(t, defs)
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem(), defs)}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), defs)}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": []string{"string", "number", "boolean"}} // YAML's plain scalars may look like any of them
}

// schemaOfStruct describes a struct once, under $defs.
func schemaOfStruct(t reflect.Type, defs map[string]any) map[string]any {
	ref := map[string]any{"$ref": "#/$defs/" + t.Name()}
	if _, done := defs[t.Name()]; done {
		return ref
	}
	properties := map[string]any{}
	defs[t.Name()] = map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	addProperties(t, t.Name(), properties, defs)
	return ref
}

func addProperties(t reflect.Type, owner string, properties, defs map[string]any) {
	for f := range t.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if rest == "inline" {
			addProperties(f.Type, f.Type.Name(), properties, defs)
			continue
		}
		if name == "" {
			continue
		}
		s := schemaOf(f.Type, defs)
		if allowed, ok := words[owner+"."+name]; ok {
			s = map[string]any{"enum": allowed}
		}
		properties[name] = s
	}
}
