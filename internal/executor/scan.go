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
	places   map[uint64]struct{} // positions that the walk was led to
	evidence *patra.ScanEvidence // of the pages of the search
	settled  int64               // ids that were known before, where there is no search
	resumed  bool                // an earlier run of this scan committed pages
	lastBody string
	total    *int64
	walked   patra.ScanProgress
	edge     patra.Instant // the stretch of time, by the grain of the source, in which the last record lies
	tied     int64         // distinct items of that stretch: more of it may follow
}

// seen is how many distinct records the scan has read.
func (s *scan) seen() int64 { return s.settled + s.evidence.Distinct }

// been notes a position, and reports whether the walk was there before.
func (s *scan) been(position string) bool {
	h := maphash.String(s.seed, position)
	_, was := s.places[h]
	s.places[h] = struct{}{}
	return was
}

// fresh are the records of a page that the scan has not read before, told before the page becomes part of the evidence. Its rows are
// its records, with what was quarantined between them.
func (s *scan) fresh(res patra.PageResult) (fresh []patra.Observation) {
	bad, next := res.Quarantined, 0
	for i, row := range res.Rows {
		if len(bad) > 0 && bad[0].ItemNo == i+1 {
			bad = bad[1:]
			continue
		}
		if !s.evidence.Has(row.ID) {
			fresh = append(fresh, res.Records[next])
		}
		next++
	}
	return fresh
}

// count keeps what a committed page brought: its total, and how many records share the last stretch of time.
func (s *scan) count(total *int64, fresh []patra.Observation, strays func(*patra.Instant) bool, grain patra.Unit) {
	if total != nil {
		s.total = total
	}
	for _, o := range fresh {
		if o.UpdatedAt == nil || strays(o.UpdatedAt) {
			continue
		}
		if at := grain.Floor(*o.UpdatedAt); at != s.edge {
			s.edge, s.tied = at, 0
		}
		s.tied++
	}
}
