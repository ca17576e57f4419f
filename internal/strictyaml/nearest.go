package strictyaml

import (
	"slices"
	"strings"
)

// Nearest finds the candidate that word was most likely meant to be; false says that none is near enough to suggest.
// Case and the marks that people put between words do not count: per_partition is perPartition.
func Nearest(word string, candidates []string) (string, bool) {
	best, least := "", -1
	w := folded(word)
	for _, c := range candidates {
		f := folded(c)
		// One slip in three letters, and never more than three: beyond that a suggestion is a guess.
		limit := min(max(len(w), len(f))/3, 3)
		if d := distance(w, f, limit); d <= limit && (least < 0 || d < least) {
			best, least = c, d
		}
	}
	if least >= 0 && least < 2 {
		return best, true
	}
	// Two slips may make another word of it, even the opposite: INCLUSIVE is INCLUSIVE_DAY rather than EXCLUSIVE.
	for _, c := range candidates {
		if begins(folded(c), w) {
			return c, true
		}
	}
	if least >= 0 {
		return best, true
	}
	for _, c := range candidates {
		if begins(w, folded(c)) {
			return c, true
		}
	}
	return "", false
}

// begins tells whether word begins with start, as warning does with warn. Shorter starts say nothing.
func begins(word, start []rune) bool {
	return len(start) >= 3 && len(word) >= len(start) && slices.Equal(word[:len(start)], start)
}

var foldMarks = strings.NewReplacer("_", "", "-", "", " ", "")

func folded(word string) []rune { return []rune(strings.ToLower(foldMarks.Replace(word))) }

// distance counts the letters to change, add, drop or swap with their neighbour to get from a to b. It stops counting
// at limit+1 when the lengths alone say that it is over, which keeps absurdly long words cheap.
func distance(a, b []rune, limit int) int {
	if diff := len(a) - len(b); diff > limit || -diff > limit {
		return limit + 1
	}
	var before []int // the row before the last
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
