package query

import (
	"maps"
	"slices"
	"strings"
)

// nearest is the name that word was most likely meant to be, or nothing if none is near.
func nearest[T any](word string, names map[string]T) string {
	best, least := "", -1
	for _, name := range slices.Sorted(maps.Keys(names)) {
		limit := min(max(len(word), len(name))/3, 3) // beyond one slip in three letters a suggestion is a guess
		d := distance(strings.ToLower(word), strings.ToLower(name))
		if d <= limit && (least < 0 || d < least) {
			best, least = name, d
		}
	}
	return best
}

// didYouMean is a hint for an unknown name.
func didYouMean[T any](word string, names map[string]T, what string) string {
	if name := nearest(word, names); name != "" {
		return "did you mean " + name + "?"
	}
	if len(names) == 0 {
		return "no " + what + " is declared"
	}
	return what + ": " + strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// distance counts the letters to change, add, drop or swap with their neighbour. Names are short.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
		for j := 1; j <= len(b); j++ {
			if i == 0 {
				rows[i][j] = j
				continue
			}
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
