package sim

// A PMID is a number, and it grows with the time a paper was entered. Every day has room for the largest number of
// papers it could have, so that an id can be looked up without an index.
func (w *World) pmid(d day, n int) int64 { return int64(d-w.first)*w.pmidsPerDay() + int64(n) + 1 }

func (w *World) pmidsPerDay() int64 { return int64(w.perDay)*3/2 + 2 }

// entered gives the paper of a PMID.
func (w *World) entered(pmid int64) (sketch, bool) {
	if pmid < 1 {
		return sketch{}, false
	}
	d, n := w.pmidDay(pmid), int((pmid-1)%w.pmidsPerDay())
	count := w.count(d)
	if n >= count {
		return sketch{}, false
	}
	s := w.sketch(d, n, count)
	return s, w.shows(&s)
}

// pmidDay is the day whose room a PMID lies in, in this world or after it.
func (w *World) pmidDay(pmid int64) day {
	return w.first + day(min((pmid-1)/w.pmidsPerDay(), int64(farDay)))
}
