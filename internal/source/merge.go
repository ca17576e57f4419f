package source

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"patra"
)

// Merge is how versions of a record are told apart, and what becomes of fields that a newer one does not have.
type Merge struct {
	EqualTime string `yaml:"equalTime" json:"equalTime,omitempty"` // OVERWRITE, KEEP or BY(path)
	Nulls     string `yaml:"nulls" json:"nulls,omitempty"`         // OVERWRITE or FILL
}

var byForm = regexp.MustCompile(`^BY\((.+)\)$`)

// by is the path of what decides at equal times; empty if nothing does.
func (m Merge) by() string {
	if found := byForm.FindStringSubmatch(m.EqualTime); found != nil {
		return found[1]
	}
	return ""
}

// rule is what the file says, as the store goes by it.
func (m Merge) rule() patra.Merge {
	if m.by() != "" {
		return patra.Merge{EqualTime: patra.EqualBy, Nulls: patra.Nulls(m.Nulls)}
	}
	return patra.Merge{EqualTime: patra.TieBreak(m.EqualTime), Nulls: patra.Nulls(m.Nulls)}
}

// Merge is how records of this source are brought together with what is stored.
func (p *Program) Merge() patra.Merge { return p.Spec.Merge.rule() }

func (c *checker) merge(f *File) {
	m := f.Merge
	if m.EqualTime != "" && m.EqualTime != string(patra.EqualOverwrite) && m.EqualTime != string(patra.EqualKeep) && m.by() == "" {
		c.add("merge.equalTime", "BAD_VALUE", fmt.Sprintf("equalTime %q is not known", m.EqualTime), "write OVERWRITE, KEEP or BY(path)")
	}
	if m.Nulls != "" {
		c.oneOf("merge.nulls", m.Nulls, nullsWords...)
	}
	if m.by() == "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(f.Endpoints)) { // each of them gives versions of the same records
		e := f.Endpoints[name]
		if e.Role == roleSearch && e.Detail != nil {
			continue
		}
		if _, err := parsePath(e.Response.Format, m.by()); err != nil {
			c.once("merge.equalTime", "BAD_PATH", err.Error(), "write a path that every endpoint with records understands")
		}
	}
}

var nullsWords = []string{string(patra.NullsOverwrite), string(patra.NullsFill)}
