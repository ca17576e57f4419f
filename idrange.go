package patra

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// IDRange is a half-open range of whole numbers [From, To): ids of a provider, or buckets of ids.
type IDRange struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// IsEmpty reports whether no number lies inside.
func (r IDRange) IsEmpty() bool { return r.From >= r.To }

// String writes `from~to`.
func (r IDRange) String() string { return fmt.Sprintf("%d~%d", r.From, r.To) }

// Cut divides r into at most n ranges of nearly the same length. The pieces tile r exactly.
func (r IDRange) Cut(n int64) []IDRange {
	if r.IsEmpty() {
		return nil
	}
	length := r.To - r.From
	n = min(max(n, 1), length)
	pieces := make([]IDRange, 0, n)
	step, rest := length/n, length%n
	for from := r.From; from < r.To; {
		to := from + step
		if int64(len(pieces)) < rest {
			to++
		}
		pieces = append(pieces, IDRange{From: from, To: to})
		from = to
	}
	return pieces
}

// Tile reports whether the parts together are all of r. Parts may overlap: what was read twice was read.
func (r IDRange) Tile(parts []IDRange) bool {
	sorted := slices.Clone(parts)
	slices.SortFunc(sorted, func(a, b IDRange) int { return cmp.Compare(a.From, b.From) })
	reach := r.From
	for _, p := range sorted {
		if p.From > reach {
			break
		}
		reach = max(reach, p.To)
	}
	return reach >= r.To
}

// KnownIDs says where the ids of a bucket are from: a source, and the field of its records that holds them, which is
// empty for the ids of the records themselves. The key is OwnIDs, SOURCE or SOURCE.FIELD.
func KnownIDs(key, own string) (source, field string) {
	if key == OwnIDs {
		return own, ""
	}
	source, field, _ = strings.Cut(key, ".")
	return source, field
}

// What the ids of a bucket are, where they are neither all of the source's nor all of another's: a list that was made with
// the plan.
const (
	PickedIDs = "picked" // known records, chosen by a rule
	NamedIDs  = "named"  // ids that somebody named, known or not
)

// ForeignIDs reports whether the ids of a bucket are those of another source, which need not have a record here.
func ForeignIDs(key string) bool { return key != OwnIDs && key != PickedIDs && key != NamedIDs }

// Bucket is the place of an id among n buckets. It depends on nothing but the id, so everybody finds it there.
func Bucket(id string, n int64) int64 {
	sum := sha256.Sum256([]byte(id))
	return int64(binary.BigEndian.Uint64(sum[:8]) % uint64(n))
}
