package sim

import (
	"iter"
	"time"
)

// Work is a paper exactly as the provider serves it, in a list or alone.
type Work struct {
	ID        string
	IndexedAt time.Time // as the served text says it: whole seconds, UTC
	JSON      []byte
	Poisoned  bool // the date in the text is none, and IndexedAt what the provider knows
}

// DayCount is the number of works of one UTC day.
type DayCount struct {
	Day   time.Time
	Count int
}

// Truth gives every work indexed on the UTC days [from, to), in ascending order of indexing. Each work's bytes are
// its own.
func (s *Server) Truth(from, to time.Time) iter.Seq[Work] {
	return func(yield func(Work) bool) {
		want := selection{first: dayOf(from), last: dayOf(to) - 1}
		for k := newWalk(s.world.present(), &want, span{want.first, want.last}, ascending); ; {
			sk, ok := k.next()
			if !ok || !yield(workOf(k.world.paper(sk))) {
				return
			}
		}
	}
}

// Counts gives the number of works of each UTC day in [from, to), the empty days too.
func (s *Server) Counts(from, to time.Time) []DayCount {
	var list []DayCount
	for d := dayOf(from); d < dayOf(to); d++ {
		list = append(list, DayCount{d.time(), s.world.count(d)})
	}
	return list
}

func workOf(p Paper) Work {
	var j jsonText
	writeWork(&j, &p)
	return Work{ID: p.DOI, IndexedAt: time.UnixMilli(p.Indexed).UTC().Truncate(time.Second), JSON: j.b, Poisoned: p.poisoned}
}
