package source

import (
	"fmt"

	"patra"
)

// Notice is a place in an item that says something about a record which should be looked at again: a retraction notice
// names the work that it retracts.
type Notice struct {
	Path   string `yaml:"path" json:"path"`
	Equals string `yaml:"equals" json:"equals,omitempty"` // empty: that it is there at all
	Reason string `yaml:"reason" json:"reason"`
	Target string `yaml:"target" json:"target,omitempty"` // self, or where the ids stand, with functions as in mapping
}

// targetSelf is a notice of a record about itself.
const targetSelf = "self"

// notice is a compiled Notice. Without a target it speaks of its own record.
type notice struct {
	Notice
	path   path
	target *mapping
}

func (c *compiler) notice(n Notice) notice {
	out := notice{Notice: n, path: c.path(n.Path)}
	if n.Target != "" && n.Target != targetSelf {
		out.target = c.mapping(n.Target)
	}
	return out
}

// signals are the records that an item says should be looked at again.
func (p *Program) signals(raw []byte, doc any, id string) (all []patra.Signal) {
	for _, n := range p.notices {
		if !isTrue(n.path.find(doc), n.Equals) {
			continue
		}
		for _, target := range n.targets(doc, id) {
			if target != "" && len(target) <= maxID && !p.repaired(raw, target) {
				all = append(all, patra.Signal{ID: target, Reason: patra.SignalReason(n.Reason), By: id})
			}
		}
	}
	return all
}

func (n notice) targets(doc any, self string) (ids []string) {
	if n.target == nil {
		return []string{self}
	}
	found, err := n.target.read(doc)
	if err != nil { // a notice that cannot be read is no reason to lose the record
		return nil
	}
	list, ok := found.([]any)
	if !ok {
		list = []any{found}
	}
	for _, v := range list {
		if text, ok := textOf(v); ok {
			ids = append(ids, text)
		}
	}
	return ids
}

// isTrue reports whether something was found that says so.
func isTrue(found []any, equals string) bool {
	for _, v := range found {
		text, _ := textOf(v)
		if v != nil && v != false && (equals == "" || text == equals) {
			return true
		}
	}
	return false
}

// noticeReasons are the reasons that a source may give.
func noticeReasons() (words []string) {
	for _, r := range patra.SignalReasons {
		words = append(words, string(r))
	}
	return words
}

func (c *checker) notice(at, format string, n Notice) {
	c.path(at+".path", format, n.Path)
	c.oneOf(at+".reason", n.Reason, noticeReasons()...)
	if n.Target == "" || n.Target == targetSelf {
		return
	}
	if _, err := parseMapping(format, n.Target); err != nil {
		c.add(at+".target", "BAD_MAPPING", fmt.Sprintf("target: %s", err), "write self, or the path of the ids: $['update-to'][*].DOI | lower")
	}
}
