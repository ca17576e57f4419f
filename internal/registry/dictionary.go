package registry

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"patra"
	"patra/internal/source"
	"patra/internal/strictyaml"
)

// codeType says which type of code stands at some paths of a source file.
type codeType struct {
	path *regexp.Regexp
	kind string
}

// codeTypes are the places of a source file that hold codes. In the patterns .* is any key, and * after a word
// an index, if there is one.
var codeTypes = compileTypes(map[string]string{
	"endpoints.*.role":                     "reg_endpoint_role",
	"endpoints.*.request.method":           "http_method",
	"endpoints.*.request.send":             "reg_send",
	"endpoints.*.pagination.type":          "reg_pagination_type",
	"endpoints.*.pagination.stability":     "reg_stability",
	"endpoints.*.pagination.order":         "reg_list_order",
	"endpoints.*.pagination.key":           "reg_list_key",
	"endpoints.*.pagination.token.state":   "reg_token_state",
	"endpoints.*.pagination.token.onSame":  "reg_token_same",
	"endpoints.*.pagination.token.encode":  "reg_token_encode",
	"endpoints.*.pagination.end*":          "ing_end",
	"endpoints.*.response.format":          "reg_format",
	"endpoints.*.response.noId":            "reg_no_id",
	"endpoints.*.response.total.trust":     "ing_total",
	"endpoints.*.response.errors*.means":   "reg_failure_means",
	"endpoints.*.response.signals*.reason": "ing_signal_reason",
	"merge.nulls":                          "reg_merge_nulls",
	"endpoints.*.window.mode":              "reg_window_mode",
	"endpoints.*.window.align":             "reg_time_unit",
	"endpoints.*.window.precision":         "reg_time_unit",
	"endpoints.*.window.upper":             "reg_window_upper",
	"endpoints.*.window.discover.words.*":  "reg_time_unit",
	"endpoints.*.window.order":             "ing_order",
	"endpoints.*.window.strategy":          "ing_slice_strategy",
	"endpoints.*.auth.type":                "reg_auth_type",
	"endpoints.*.auth.in":                  "reg_auth_place",
	"defaults.auth.type":                   "reg_auth_type",
	"defaults.auth.in":                     "reg_auth_place",
	"query.fields.*.type":                  "reg_field_type",
	"query.fields.*.ops*":                  "reg_expr_op",
	"query.fields.*.match*":                "reg_expr_match",
	"query.fields.*.open*":                 "reg_expr_end",
	"query.fields.*.precision":             "reg_time_unit",
	"query.fields.*.upper":                 "reg_expr_upper",
	"query.render*.op":                     "reg_expr_op",
	"query.render*.match":                  "reg_expr_match",
	"query.params.*.transform*":            "reg_transform",
	"query.language.escape":                "reg_expr_escape",
	"endpoints.*.auth.signer":              "reg_auth_signer",
	"defaults.auth.signer":                 "reg_auth_signer",
})

func compileTypes(patterns map[string]string) []codeType {
	var all []codeType
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		p := regexp.QuoteMeta(pattern)
		p = strings.ReplaceAll(p, `\.\*`, `(?:\.[^.\[\]]+|\["(?:[^"\\]|\\.)*"\])`) // a key
		p = strings.ReplaceAll(p, `\*`, `(?:\[\d+\])?`)                            // an index, or the one value of a list
		all = append(all, codeType{regexp.MustCompile("^" + p + "$"), patterns[pattern]})
	}
	return all
}

// kindAt is the type of code at a path; empty where anything may stand.
func kindAt(path string) string {
	for _, t := range codeTypes {
		if t.path.MatchString(path) {
			return t.kind
		}
	}
	return ""
}

// Load reads a source file that may use other words for codes, as the dictionary knows them.
func Load(file string, data []byte, d patra.Dictionary) (*source.File, error) {
	f, err := reworded(file, data, d)
	if err != nil {
		return f, err
	}
	return f, Check(f, d)
}

// Read is Load where there is no store: with the words that the program itself knows.
func Read(file string, data []byte) (*source.File, error) { return reworded(file, data, Words()) }

func reworded(file string, data []byte, d patra.Dictionary) (*source.File, error) {
	return source.LoadWithAliases(file, data, func(path, text string) string {
		kind := kindAt(path)
		if kind == "" {
			return text
		}
		code, _ := d[kind].Resolve(text)
		return code
	})
}

// Check reports every code of a file that the dictionary does not know.
func Check(f *source.File, d patra.Dictionary) error {
	t, err := toTree(f)
	if err != nil {
		return err
	}
	values := leaves(t, true)
	var found patra.Problems
	for _, path := range slices.Sorted(maps.Keys(values)) {
		kind, word := kindAt(path), fmt.Sprint(values[path])
		if kind == "" || word == "" || slices.Contains(d[kind].Items, word) {
			continue
		}
		p := patra.Problem{Code: "UNKNOWN_CODE", Path: path, Text: fmt.Sprintf("%q is not among the codes of %s in the store", word, kind), Hint: "known: " + strings.Join(d[kind].Items, ", ")}
		if near, ok := strictyaml.Nearest(word, d[kind].Items); ok {
			p.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		found = append(found, p)
	}
	return found.Err()
}
