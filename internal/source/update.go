package source

import (
	"cmp"
	"fmt"

	"patra"
)

// Update is how known records are looked at again. It holds for all endpoints, because they give the same records.
type Update struct {
	Gone Gone `yaml:"gone" json:"gone,omitzero"`
}

// Gone is when a record that the provider refuses to give by its id is gone; what is left out is taken from
// patra.DefaultGoneRule.
type Gone struct {
	Refusals int64         `yaml:"refusals" json:"refusals,omitempty"`
	Over     *patra.Period `yaml:"over" json:"over,omitempty"` // PT0S: however short the time between them
}

// maxRefusals bounds how many refusals a source may ask for: with more, nothing would ever be gone.
const maxRefusals = 100

func (g Gone) rule() patra.GoneRule {
	rule := patra.GoneRule{Refusals: cmp.Or(g.Refusals, patra.DefaultGoneRule.Refusals), Over: patra.DefaultGoneRule.Over}
	if g.Over != nil {
		rule.Over = *g.Over
	}
	return rule
}

// Gone is when a record of this source that is refused is gone.
func (p *Program) Gone() patra.GoneRule { return p.Spec.Update.Gone.rule() }

func (c *checker) update(u Update) {
	c.notZero("update.gone.refusals", u.Gone.Refusals == 0)
	if n := u.Gone.Refusals; n < 0 || n > maxRefusals {
		c.add("update.gone.refusals", "BAD_VALUE", fmt.Sprintf("refusals %d is not between 1 and %d", n, maxRefusals), "write {refusals: 3, over: P7D}")
	}
}
