package patra

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"
)

// TieBreak says which of two versions with the same time of the provider stays.
type TieBreak string

// What a source may say about equal times.
const (
	EqualOverwrite TieBreak = "OVERWRITE" // the one that was asked for later; this holds where nothing is said
	EqualKeep      TieBreak = "KEEP"      // the one that was asked for first
	EqualBy        TieBreak = "BY"        // the one whose mark is greater
)

// Nulls says what becomes of fields that a newer version does not have.
type Nulls string

// What a source may say about missing fields. Where nothing is said, a version that is there overwrites, and one that
// says that the record is gone leaves what we know of it.
const (
	NullsOverwrite Nulls = "OVERWRITE" // they are gone
	NullsFill      Nulls = "FILL"      // they stay as they were
)

// Merge is how the versions of a record are brought together. It is one for all endpoints of a source, because they give
// versions of the same records.
type Merge struct {
	EqualTime TieBreak
	Nulls     Nulls
}

// Newer orders versions: by the provider's time, then as the source wants it, then by when we asked, then by hash so that
// a tie has one answer. A version without the provider's time is older than one with it. The order is total, so the
// newest of some versions is the same in whatever order they arrive.
//
// There is one exception. A deletion that has no time of its own is a fact of the moment at which we asked: it ends what
// was seen before, and ends with what is seen after. Beside it, old copies that a provider sends late can make the end
// depend on the order.
func (m Merge) Newer(v, than Version) bool {
	if v.gone() || than.gone() {
		return cmp.Or(cmp.Compare(v.ObservedAt, than.ObservedAt), cmp.Compare(v.Hash, than.Hash)) > 0
	}
	seen := cmp.Or(cmp.Compare(v.ObservedAt, than.ObservedAt), cmp.Compare(v.Hash, than.Hash))
	if m.EqualTime == EqualKeep && v.UpdatedAt != nil { // without any time there is nothing that could be equal
		seen = -seen
	}
	order := compareOptional(v.UpdatedAt, than.UpdatedAt)
	if order == 0 && m.EqualTime == EqualBy {
		order = compareMarks(v.Mark, than.Mark)
	}
	return cmp.Or(order, seen) > 0
}

// compareMarks compares what the source says decides: whole numbers by their size and above all else, other texts byte by
// byte, and no mark below any.
func compareMarks(a, b string) int {
	an, bn := wholeNumber(a), wholeNumber(b)
	if an && bn {
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}
	if an != bn {
		if an {
			return 1
		}
		return -1
	}
	return cmp.Compare(a, b)
}

func wholeNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Decide compares an arriving version with the stored one (nil if there is none).
func (m Merge) Decide(old *Version, arriving Version) Decision {
	switch {
	case old == nil:
		return Insert
	case old.Hash == arriving.Hash:
		return Same
	case m.Newer(arriving, *old):
		return Replace
	}
	return Stale
}

// KeepsMissingFields reports whether a version takes over fields of the one that it replaces.
func (m Merge) KeepsMissingFields(arriving Version) bool {
	return m.Nulls == NullsFill || (m.Nulls == "" && arriving.Deleted)
}

// Fill is the fields of a newer version over those of the one before. A field that is null or not there is taken from the
// older one, which then is only as old as what we happened to see: with FILL the fields that the newest version has are
// the same in whatever order versions arrive, and the others are not.
func Fill(older, newer json.RawMessage) (json.RawMessage, error) {
	var below, above map[string]json.RawMessage
	if err := json.Unmarshal(older, &below); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(newer, &above); err != nil {
		return nil, err
	}
	maps.DeleteFunc(above, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	if below == nil {
		below = map[string]json.RawMessage{}
	}
	maps.Copy(below, above)
	return json.Marshal(below)
}
