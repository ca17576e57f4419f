package source

import (
	"fmt"
	"regexp"
	"strings"
)

// Vars are the values a header may name. They are filled in when a request is sent and never stored.
type Vars struct {
	Contact string
	Version string
}

var placeholder = regexp.MustCompile(`\$\{([^}]*)\}`)

// checkTemplate refuses a placeholder that nobody fills.
func checkTemplate(text string) error {
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if m[1] != "contact" && m[1] != "version" {
			return fmt.Errorf("${%s} is not known here", m[1])
		}
	}
	return nil
}

// fill replaces the placeholders once; what a value itself contains is data and stays.
func (v Vars) fill(text string) string {
	return strings.NewReplacer("${contact}", v.Contact, "${version}", v.Version).Replace(text)
}
