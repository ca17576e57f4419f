package source

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"patra"
)

// Change is a rule about new versions: under which code it is told that something appeared, changed or became so. Exactly
// one of the three is a mapping, such as "$.abstract" or the name of a field of the mapping.
type Change struct {
	Appeared string `yaml:"appeared" json:"appeared,omitempty"` // there is something where there was nothing
	Changed  string `yaml:"changed" json:"changed,omitempty"`   // there is something else
	Matches  string `yaml:"matches" json:"matches,omitempty"`   // it is so, and was not so before
	Like     string `yaml:"like" json:"like,omitempty"`         // of matches: only texts like this
}

// Changes are the rules by their codes.
type Changes map[string]Change

var (
	changeCode = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,47}$`)
	fieldName  = regexp.MustCompile(`^[a-zA-Z_]\w*$`)
)

// what is when a rule speaks, and what it looks at.
func (c Change) what() (patra.ChangeWhen, string) {
	switch {
	case c.Appeared != "":
		return patra.WhenAppeared, c.Appeared
	case c.Changed != "":
		return patra.WhenChanged, c.Changed
	}
	return patra.WhenMatches, c.Matches
}

// text is the mapping that a rule looks at: its own, or that of a field.
func (c Change) text(m Mapping) string {
	_, text := c.what()
	if of, is := m[text]; is && fieldName.MatchString(text) {
		return of
	}
	return text
}

// compiledChange is a compiled rule.
type compiledChange struct {
	code  string
	at    *mapping
	like  *regexp.Regexp
	field int // the field that says the same, or -1
}

func (c *compiler) watches(rules Changes, m Mapping, fields []field) (all []compiledChange) {
	for _, code := range slices.Sorted(maps.Keys(rules)) {
		text := rules[code].text(m)
		same := slices.IndexFunc(fields, func(f field) bool { return m[f.name] == text })
		all = append(all, compiledChange{code, c.mapping(text), c.regexp(rules[code].Like), same})
	}
	return all
}

// Changes are the rules as the store goes by them.
func (p *Program) Changes() patra.ChangeRules {
	rules := patra.ChangeRules{Key: p.rules, When: map[string]patra.ChangeWhen{}}
	for code, c := range p.Spec.Changes {
		rules.When[code], _ = c.what()
	}
	return rules
}

// shortHash is how much of a hash tells two values of one record apart.
const shortHash = 12

// facts is what the rules find in an item; nil where there are no rules. What cannot be read is as good as not there: the
// item itself has been read.
func (p *Program) facts(doc any, fields fieldTexts, room *itemBuffer) *patra.FactHashes {
	if len(p.watches) == 0 {
		return nil
	}
	f := &patra.FactHashes{Rules: p.rules}
	for i := range p.watches {
		w := &p.watches[i]
		text := w.text(doc, fields, room)
		if len(text) == 0 || string(text) == `""` || string(text) == `[]` {
			continue
		}
		if f.Found == nil {
			f.Found = map[string]string{}
		}
		f.Found[w.code] = patra.HashBytes(text)[:shortHash]
	}
	return f
}

// text is what a rule finds in an item, as JSON; nothing if it finds nothing.
func (w *compiledChange) text(doc any, fields fieldTexts, room *itemBuffer) []byte {
	if w.field >= 0 && w.like == nil && fields.ends != nil {
		return fields.of(w.field)
	}
	if w.like == nil {
		if out, some, ok := w.at.inPlace(room.text[:0], doc); ok {
			if room.text = out; !some {
				return nil
			}
			return out
		}
	}
	v, err := w.at.read(doc)
	if err != nil || v == nil || w.like != nil && !anyText(v, w.like) {
		return nil
	}
	text, err := appendValue(room.text[:0], v)
	if err != nil {
		return nil
	}
	room.text = text
	return text
}

// anyText reports whether a value, or one in a list, is a text like this.
func anyText(v any, like *regexp.Regexp) bool {
	if list, is := v.([]any); is {
		return slices.ContainsFunc(list, func(v any) bool { return anyText(v, like) })
	}
	text, ok := textOf(v)
	return ok && like.MatchString(text)
}

func (c *checker) changes(f *File) {
	for _, code := range slices.Sorted(maps.Keys(f.Changes)) {
		rule, at := f.Changes[code], "changes."+code
		if !changeCode.MatchString(code) {
			c.add(at, "BAD_VALUE", fmt.Sprintf("%q is no code", code), "write capital letters, digits and underscores, at most 48, such as ABSTRACT_ADDED")
		}
		said := 0
		for _, text := range []string{rule.Appeared, rule.Changed, rule.Matches} {
			if text != "" {
				said++
			}
		}
		if said != 1 {
			c.add(at, "REQUIRED", "a change says one of appeared, changed and matches", "write {appeared: \"$.abstract\"}")
			continue
		}
		if rule.Like != "" && rule.Matches == "" {
			c.add(at+".like", "BAD_VALUE", "like belongs to matches", "write {matches: PATH, like: PATTERN}")
		}
		if _, err := regexp.Compile(rule.Like); err != nil {
			c.add(at+".like", "BAD_VALUE", "like is no regular expression: "+err.Error(), "")
		}
		c.changePath(at, rule, f)
	}
}

// changePath tries a rule at each endpoint that gives records.
func (c *checker) changePath(at string, rule Change, f *File) {
	for _, name := range slices.Sorted(maps.Keys(f.Endpoints)) {
		e := f.Endpoints[name]
		if e.Role == roleSearch && e.Detail != nil {
			continue
		}
		m := f.Mapping
		if len(e.Mapping) > 0 {
			m = e.Mapping
		}
		if _, err := parseMapping(e.Response.Format, rule.text(m)); err != nil {
			c.once(at, "BAD_PATH", err.Error(), "write a path that every endpoint with records understands, or the name of a field of the mapping")
		}
	}
}
