package config

import (
	"fmt"
	"regexp"
	"strings"

	"patra"
	"patra/internal/strictyaml"
)

// reference finds ${env:NAME}. It takes anything as a name, so that a badly written one is noticed and not sent to a
// database as a password.
var reference = regexp.MustCompile(`\$\{env:([^}]*)(\}?)`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand puts the variables in where values of the file refer to them. Only values: keys stay as they are, and what a
// variable holds is never looked at again.
func expand(doc *strictyaml.Document, env map[string]string) patra.Problems {
	var problems patra.Problems
	doc.Rewrite(func(path, text string) (string, bool) {
		ok := true
		text = reference.ReplaceAllStringFunc(text, func(ref string) string {
			name := strings.TrimSuffix(strings.TrimPrefix(ref, "${env:"), "}")
			switch value, set := env[name]; {
			case !strings.HasSuffix(ref, "}") || !variableName.MatchString(name):
				ok = false
				problems = append(problems, doc.Problem(path, strictyaml.CodeBadValue,
					"a reference to the environment is badly written", "write ${env:NAME}"))
			case !set:
				ok = false
				problems = append(problems, doc.Problem(path, CodeMissingEnv,
					fmt.Sprintf("the environment variable %q is not set", name), "set it, or write the value here"))
			default:
				return value
			}
			return ref
		})
		return text, ok
	})
	return problems
}
