package config

import (
	"fmt"
	"path/filepath"
	"regexp"

	"patra"
	"patra/internal/secret"
	"patra/internal/strictyaml"
)

// reference finds ${env:NAME} and ${file:PATH}. It takes anything as a name, so that a badly written one is noticed and not
// sent to a database as a password.
var reference = regexp.MustCompile(`\$\{(env|file):([^}]*)(\}?)`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand puts the variables and files in where values of the file refer to them. Only values: keys stay as they are, and
// what is put in is never looked at again. A file must be as secret as every other secret.
func expand(doc *strictyaml.Document, env map[string]string) patra.Problems {
	var problems patra.Problems
	doc.Rewrite(func(path, text string) (string, bool) {
		ok := true
		text = reference.ReplaceAllStringFunc(text, func(ref string) string {
			value, bad := resolve(ref, env)
			if bad.Code == "" {
				return value
			}
			ok = false
			problems = append(problems, doc.Problem(path, bad.Code, bad.Text, bad.Hint))
			return ref
		})
		return text, ok
	})
	return problems
}

// resolve is what a reference stands for, or what is wrong with it.
func resolve(ref string, env map[string]string) (value string, bad patra.Problem) {
	m := reference.FindStringSubmatch(ref)
	kind, name, closed := m[1], m[2], m[3] != ""
	switch {
	case kind == "file" && (!closed || !filepath.IsAbs(name)):
		return "", patra.Problem{Code: strictyaml.CodeBadValue, Text: "a reference to a file is badly written", Hint: "write ${file:/path/of/the/file}"}
	case kind == "file":
		value, err := secret.ReadFile(name)
		if err != nil {
			return "", patra.Problem{Code: CodeUnreadable, Text: "the file of a secret cannot be used: " + err.Error(), Hint: "see that it is there, and that only the user of patra may read it"}
		}
		return value, patra.Problem{}
	case !closed || !variableName.MatchString(name):
		return "", patra.Problem{Code: strictyaml.CodeBadValue, Text: "a reference to the environment is badly written", Hint: "write ${env:NAME}"}
	}
	value, set := env[name]
	if !set {
		return "", patra.Problem{Code: CodeMissingEnv, Text: fmt.Sprintf("the environment variable %q is not set", name), Hint: "set it, or write the value here"}
	}
	return value, patra.Problem{}
}
