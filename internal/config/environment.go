package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"patra"
	"patra/internal/strictyaml"
)

// prefix begins the name of every variable of ours.
const prefix = "PATRA_"

// environmentFile stands in a problem where the name of a file would.
const environmentFile = "environment"

// Allowed are the variables of ours that are no keys of the file; one that ends in * allows all that begin like it.
var Allowed = [...]string{"PATRA_CONFIG", "PATRA_TEST_*"}

// fileOnly are the keys that no variable sets, and what they are: one text cannot say it.
var fileOnly = map[string]string{"schedules": "a list", "sinks": "a list", "secrets": "a table", "sources.insecure": "a list", "evidence.keepFor": "a table", "alerts.notify": "a list", "alerts.sources": "a table", "alerts.rules.off": "a list"}

// Variable is the name of the variable that sets the key at path: PATRA_STORE_URL for store.url.
func Variable(path string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// environment makes a table of "NAME=value" lines; as for a process, the last of a name counts.
func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok {
			env[name] = value
		}
	}
	return env
}

// override lays the PATRA_ variables over cfg and tells which paths came from there. As in the file, an empty value
// leaves what was there. What a variable holds is taken as it is: ${env:NAME} means something in the file only.
func override(cfg *Config, env map[string]string) (from map[string]bool, problems patra.Problems) {
	paths := map[string]string{} // by variable
	for _, path := range strictyaml.Paths(cfg) {
		paths[Variable(path)] = path
	}
	from = map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		path, known := paths[name]
		switch {
		case !strings.HasPrefix(name, prefix) || allowed(name):
		case !known:
			problems = append(problems, unknownVariable(name, paths))
		case env[name] != "":
			from[path] = true
			for _, p := range problemsOf(strictyaml.Set(cfg, path, env[name])) {
				problems = append(problems, inEnvironment(p))
			}
		}
	}
	return from, problems
}

// inEnvironment says that a value came from a variable, and from which: the path alone would send a person to the
// file.
func inEnvironment(p patra.Problem) patra.Problem {
	p.File, p.Line, p.Col = environmentFile, 0, 0
	p.Text = Variable(p.Path) + ": " + p.Text
	return p
}

func allowed(name string) bool {
	for _, a := range Allowed {
		if begin, any := strings.CutSuffix(a, "*"); name == a || any && strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// unknownVariable suggests by what follows the prefix, which all have in common and which would make all look near.
func unknownVariable(name string, paths map[string]string) patra.Problem {
	for key, what := range fileOnly {
		if v := Variable(key); name == v || strings.HasPrefix(name, v+"_") {
			return patra.Problem{
				Code: CodeUnknownEnv, File: environmentFile,
				Text: fmt.Sprintf("the variable %q is not used: %s is %s, and comes from the file only", name, key, what),
				Hint: "unset it, and write " + key + " into the file",
			}
		}
	}
	candidates := []string{}
	for known := range paths {
		candidates = append(candidates, strings.TrimPrefix(known, prefix))
	}
	for _, a := range Allowed {
		if !strings.HasSuffix(a, "*") {
			candidates = append(candidates, strings.TrimPrefix(a, prefix))
		}
	}
	slices.Sort(candidates)
	hint := "unset it: variables that begin with " + prefix + " set keys of the configuration"
	if near, ok := strictyaml.Nearest(strings.TrimPrefix(name, prefix), candidates); ok {
		hint = fmt.Sprintf("did you mean %q?", prefix+near)
	}
	return patra.Problem{
		Code: CodeUnknownEnv, File: environmentFile, Text: fmt.Sprintf("unknown variable %q", name), Hint: hint,
	}
}
