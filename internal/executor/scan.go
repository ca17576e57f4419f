package executor

import (
	"hash/maphash"

	"patra"
)

// scan is one walk from the first page.
type scan struct {
	no       int64
	ordinal  int64
	position string
	seed     maphash.Seed
	ids      map[uint64]struct{}
	places   map[uint64]struct{} // positions that the walk was led to
	carried  int64               // distinct items of pages that an earlier run of this scan committed
	nameless int64               // quarantined items without an id: seen, though nobody can say which they are
	lastBody string
	total    *int64
	walked   patra.ScanProgress
	edge     patra.Instant // the stretch of time, by the grain of the source, in which the last record lies
	tied     int64         // distinct items of that stretch: more of it may follow
}

func (s *scan) seen() int64 { return s.carried + s.nameless + int64(len(s.ids)) }

// been notes a position, and reports whether the walk was there before.
func (s *scan) been(position string) bool {
	h := maphash.String(s.seed, position)
	_, was := s.places[h]
	s.places[h] = struct{}{}
	return was
}

// saw counts an item once for each id.
func (s *scan) saw(id string) {
	if id == "" {
		s.nameless++
		return
	}
	s.ids[maphash.String(s.seed, id)] = struct{}{}
}

// sawRecord counts a record, and those that share its stretch of time. One that lies outside of what was asked for counts for
// nothing: the provider does not count it either.
func (s *scan) sawRecord(o patra.Observation, strays func(*patra.Instant) bool, grain patra.Unit) {
	if strays(o.UpdatedAt) {
		return
	}
	before := len(s.ids)
	s.saw(o.ID)
	if o.UpdatedAt == nil {
		return
	}
	if at := grain.Floor(*o.UpdatedAt); at != s.edge {
		s.edge, s.tied = at, 0
	}
	s.tied += int64(len(s.ids) - before)
}

// count keeps what a committed page brought.
func (s *scan) count(res patra.PageResult, strays func(*patra.Instant) bool, grain patra.Unit) {
	if res.Total != nil {
		s.total = res.Total
	}
	for _, o := range res.Records {
		s.sawRecord(o, strays, grain)
	}
	for _, q := range res.Quarantined {
		s.saw(q.ID)
	}
}
