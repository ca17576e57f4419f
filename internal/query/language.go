package query

import (
	"fmt"
	"strings"
	"unicode"
)

// Escape says how a query language holds a quote inside quotes.
type Escape string

// The ways to escape. REFUSE is the default: a language that was not asked about is not trusted with a quote.
const (
	EscapeRefuse    Escape = "REFUSE"
	EscapeBackslash Escape = "BACKSLASH"
	EscapeDouble    Escape = "DOUBLE"
)

// Language is how fragments are combined. A word that is absent is something that the language cannot say.
type Language struct {
	Param    string   `yaml:"param" json:"param"` // the standard parameter that the whole goes into
	And      string   `yaml:"and" json:"and,omitempty"`
	Or       string   `yaml:"or" json:"or,omitempty"`
	Not      string   `yaml:"not" json:"not,omitempty"`       // before an operand that may stand alone
	AndNot   string   `yaml:"andNot" json:"andNot,omitempty"` // between a positive operand and a negative one; default: and + not
	Group    string   `yaml:"group" json:"group,omitempty"`   // default: ({{q}})
	All      string   `yaml:"all" json:"all,omitempty"`       // matches everything; sent when no fragment is, and before a NOT that cannot stand alone
	Escape   Escape   `yaml:"escape" json:"escape,omitempty"`
	Special  *string  `yaml:"special" json:"special,omitempty"`   // what means something outside quotes; default: ASCII punctuation but _ . '
	Refuse   string   `yaml:"refuse" json:"refuse,omitempty"`     // what cannot be sent as data at all, even in quotes
	Reserved []string `yaml:"reserved" json:"reserved,omitempty"` // words that mean something outside quotes, besides the ones above
}

func (l *Language) andNot() string {
	switch {
	case l == nil:
		return ""
	case l.AndNot != "":
		return l.AndNot
	case l.And != "" && l.Not != "":
		return l.And + " " + l.Not
	}
	return ""
}

// negates reports whether the language has any NOT.
func (l *Language) negates() bool { return l != nil && (l.Not != "" || l.andNot() != "") }

func (l *Language) group(text string) string {
	shape := l.Group
	if shape == "" {
		shape = "({{q}})"
	}
	return strings.Replace(shape, "{{q}}", text, 1)
}

// special reports whether a character means something outside quotes. A minus does at the start of a word.
func (l *Language) special(r rune, first bool) bool {
	if l.Special != nil {
		return strings.ContainsRune(*l.Special, r) || r == '"' || r == '\\'
	}
	if r == '-' {
		return first
	}
	return r < unicode.MaxASCII && unicode.IsOneOf([]*unicode.RangeTable{unicode.Punct, unicode.Symbol}, r) && !strings.ContainsRune("_.'", r)
}

// quoted makes a value safe between quotes.
func (l *Language) quoted(v string) (string, error) {
	escape := EscapeRefuse
	if l != nil {
		if i := strings.IndexAny(v, l.Refuse); i >= 0 {
			return "", fmt.Errorf("the provider's language cannot hold %q as data", []rune(v[i:])[0])
		}
		escape = l.Escape
	}
	switch escape {
	case EscapeBackslash:
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v), nil
	case EscapeDouble:
		return strings.ReplaceAll(v, `"`, `""`), nil
	}
	if strings.Contains(v, `"`) {
		return "", fmt.Errorf("the provider's language cannot hold a quote inside quotes")
	}
	return v, nil
}

// bare makes a value safe outside quotes, where it has to be one word.
func (l *Language) bare(v string) (string, error) {
	if i := strings.IndexAny(v, l.Refuse); i >= 0 {
		return "", fmt.Errorf("the provider's language cannot hold %q as data", []rune(v[i:])[0])
	}
	for _, word := range append([]string{l.And, l.Or, l.Not, l.AndNot}, l.Reserved...) {
		if strings.EqualFold(v, word) {
			return "", fmt.Errorf("%s is a word of the provider's language, and the rule does not quote it", v)
		}
	}
	var b strings.Builder
	for i, r := range v {
		switch {
		case unicode.IsSpace(r):
			return "", fmt.Errorf("the value has several words, and the rule does not quote it")
		case l.special(r, i == 0):
			if l.Escape != EscapeBackslash {
				return "", fmt.Errorf("%q means something in the provider's language, and the rule does not quote it", r)
			}
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}
