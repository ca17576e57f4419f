package config

import (
	"fmt"
	"maps"
	"slices"

	"patra"
	"patra/internal/strictyaml"
)

// findings looks at the names. Whether a secret is really there is not known here: that matters to whoever sends it.
func (s Secrets) findings() []finding {
	var all findings
	for _, name := range slices.Sorted(maps.Keys(s)) {
		path := strictyaml.Join("secrets", name)
		all.add(finding{paths: []string{path}, code: strictyaml.CodeBadValue, text: fmt.Sprintf("%q is not the name of a secret", name),
			hint: "use small letters, digits, hyphens and underscores, at most 47, as in the auth block of the source"}, patra.IsSecretName(name))
		all.add(finding{paths: []string{path}, code: strictyaml.CodeBadValue, text: fmt.Sprintf("the secret %q is nowhere", name),
			hint: `write "env:NAME" for an environment variable or "file:/path" for a file, or leave it out`}, s[name].String() != "")
	}
	return all
}
