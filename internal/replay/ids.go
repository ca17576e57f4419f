package replay

import "strings"

// mostCommas is how many commas one id may have and still be found.
const mostCommas = 4

// SplitIDs takes a position apart that is some ids with commas between them. An id may hold commas itself, so the ids that the
// scan knows decide. What nobody knows is cut at every comma.
func SplitIDs(position string, known func(ids []string) (map[string]bool, error)) ([]string, error) {
	parts := strings.Split(position, ",")
	is, err := known(parts)
	if err != nil || len(is) == len(parts) {
		return parts, err
	}
	var longer []string
	for i := range parts {
		for j := i + 2; j <= min(i+1+mostCommas, len(parts)); j++ {
			longer = append(longer, strings.Join(parts[i:j], ","))
		}
	}
	more, err := known(longer)
	if err != nil {
		return parts, err
	}
	var ids []string
	for i := 0; i < len(parts); {
		n := 1
		for j := min(i+1+mostCommas, len(parts)); j > i+1; j-- { // the longest that is known
			if more[strings.Join(parts[i:j], ",")] {
				n = j - i
				break
			}
		}
		ids = append(ids, strings.Join(parts[i:i+n], ","))
		i += n
	}
	return ids, nil
}
