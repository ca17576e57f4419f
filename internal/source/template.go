package source

import (
	"fmt"
	"regexp"
	"strings"
)

// Vars are values that a source file may name. They are filled in when a request is sent and never stored.
type Vars struct {
	Contact string
	Version string
}

var placeholder = regexp.MustCompile(`\$\{([^}]*)\}`)

// checkTemplate refuses a placeholder that nobody fills.
func checkTemplate(text string, params map[string]Parameter) error {
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		name, isParam := strings.CutPrefix(m[1], "param.")
		_, known := params[name]
		if m[1] != "contact" && m[1] != "version" && !(isParam && known) {
			return fmt.Errorf("${%s} is not known here", m[1])
		}
	}
	return nil
}

// fill replaces the placeholders once; what a value itself contains is data and stays.
func (v Vars) fill(text string, params map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(hole string) string {
		name := hole[2 : len(hole)-1]
		if param, ok := strings.CutPrefix(name, "param."); ok {
			return params[param]
		}
		switch name {
		case "contact":
			return v.Contact
		case "version":
			return v.Version
		}
		return hole
	})
}
