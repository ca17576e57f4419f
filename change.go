package patra

import (
	"maps"
	"slices"
)

// ChangeWhen is when a rule speaks about a new version.
type ChangeWhen string

// When a rule speaks.
const (
	WhenAppeared ChangeWhen = "APPEARED" // there is something where there was nothing
	WhenChanged  ChangeWhen = "CHANGED"  // there is something else
	WhenMatches  ChangeWhen = "MATCHES"  // it is so, and was not so before; a first version is enough
)

// ChangeRules are what a source says is worth telling about new versions, by code.
type ChangeRules struct {
	Key  string // of the rules themselves: facts that other rules found are not compared with ours
	When map[string]ChangeWhen
}

// FactHashes is what the rules of a source found in one version: for each code a short hash of what stands there. A code that
// is not there found nothing.
type FactHashes struct {
	Rules string            `json:"rules"`
	Found map[string]string `json:"found,omitempty"`
}

// Derive gives the codes of a new version. The former one is nil if there is none; had says whether there was one, as one
// that was stored under other rules has no facts that could be compared: then nothing is said, because nothing is known.
func (r ChangeRules) Derive(had bool, former, latter *FactHashes) []string {
	if latter == nil || had && (former == nil || former.Rules != latter.Rules) {
		return nil
	}
	var codes []string
	for code, when := range r.When {
		before := ""
		if former != nil {
			before = former.Found[code]
		}
		if when.speaks(had, before, latter.Found[code]) {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return codes
}

func (w ChangeWhen) speaks(had bool, before, after string) bool {
	switch w {
	case WhenAppeared:
		return had && before == "" && after != ""
	case WhenChanged:
		return had && before != "" && after != "" && before != after
	case WhenMatches:
		return before == "" && after != ""
	}
	return false
}

// Overlay is what is known of a record whose newest version says nothing but that it is gone: what it says, over what was
// known before.
func (f *FactHashes) Overlay(former *FactHashes) *FactHashes {
	if f == nil || former == nil || former.Rules != f.Rules {
		return f
	}
	both := maps.Clone(former.Found)
	if both == nil {
		both = map[string]string{}
	}
	maps.Copy(both, f.Found)
	return &FactHashes{f.Rules, both}
}
