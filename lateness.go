package patra

import (
	"slices"
	"time"
)

// Lateness is what look-backs found: records that became visible in windows that had been read to their end.
type Lateness struct {
	Late  int64           `json:"late"`  // found by reading again
	Total int64           `json:"total"` // all records that were read in the same time
	Days  map[int64]int64 `json:"days"`  // late records by how many whole days after their own time they were seen
}

// Rate is the share of records that came late.
func (l Lateness) Rate() float64 {
	if l.Total == 0 {
		return 0
	}
	return float64(l.Late) / float64(l.Total)
}

// How the safety lag follows the late arrivals.
const (
	lateTooMany = 0.005
	lateFew     = 0.001
	lagUp       = 5 * time.Minute
	lagDown     = time.Minute
	lagMost     = time.Hour
	lateEnough  = 200 // records below which a share says nothing
)

// AdaptLag moves a safety lag with the measured late arrivals: up when many records come late, slowly down again when
// few do. It never goes below what the source asks for, and never above an hour unless the source asks for more.
func AdaptLag(last, configured time.Duration, l Lateness) time.Duration {
	lag := max(last, configured)
	if configured >= lagMost || l.Total < lateEnough {
		return min(lag, max(configured, lagMost))
	}
	switch rate := l.Rate(); {
	case rate > lateTooMany:
		lag += lagUp
	case rate < lateFew:
		lag = max(lag-lagDown, configured)
	}
	return min(lag, lagMost)
}

// SuggestLookback is how many days a look-back needs so that all but one in a thousand late records are found; 0 when no
// record came late.
func (l Lateness) SuggestLookback() int64 {
	days := make([]int64, 0, len(l.Days))
	var sum int64
	for d, n := range l.Days {
		days = append(days, d)
		sum += n
	}
	slices.Sort(days)
	var found int64
	for _, d := range days {
		found += l.Days[d]
		if found*1000 >= sum*999 {
			return d + 1
		}
	}
	return 0
}
