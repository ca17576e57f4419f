package sim

import "time"

// dateField is one of the times a paper has. The time of indexing is the one the world is ordered by; each other one
// lies from earliest to latest days after it (before, if negative), so that a search by any of them needs to look at
// a few days only. The shift is always whole days and none for the first and the last paper of a day: by every field,
// each day has a paper in its first and one in its last millisecond. In a world that moves, the times of change and of
// revision move with a paper and lie wherever they like; its walks look at everything.
type dateField struct {
	earliest, latest day
	at               func(*subject) int64 // Unix milliseconds
}

var (
	byIndexed   = &dateField{0, 0, func(s *subject) int64 { return s.sketch.indexed }}
	byChanged   = &dateField{0, 0, func(s *subject) int64 { return s.sketch.changed }}
	byRevised   = &dateField{0, 20, func(s *subject) int64 { return s.revised() }}
	byPublished = &dateField{-40, 0, func(s *subject) int64 { return s.shifted(0x9b15, -40, 0) }}
	byEntered   = &dateField{-2, 0, func(s *subject) int64 { return s.shifted(0xe417, -2, 0) }}
	byCreated   = &dateField{-3001, 0, func(s *subject) int64 { return s.sketch.created }}
)

func (s *subject) revised() int64 {
	if s.sketch.version > 0 {
		return s.sketch.changed
	}
	return s.shifted(0x4e71, 0, 20)
}

func (s *subject) shifted(salt uint64, earliest, latest int64) int64 {
	if s.sketch.edge {
		return s.sketch.indexed
	}
	return s.sketch.indexed + (earliest+int64(s.draw(salt)%uint64(latest-earliest+1)))*msPerDay
}

func dateText(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.DateOnly) }

func secondText(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05Z") }
