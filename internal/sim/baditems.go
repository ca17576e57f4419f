package sim

// What poisoned papers have in place of the date by which a client would order them. No calendar has that day.
const (
	badDate   = "2026-02-31"
	badSecond = badDate + "T24:61:00Z"
	badMoment = `"indexed":{"date-parts":[[2026,2,31]],"date-time":"` + badSecond + `","timestamp":0}`
)

// poisoned tells whether the date of a paper is none, in everything that is served of it. The filters know better: a
// window has its poisoned papers like any others.
func (w *World) poisoned(s *sketch) bool {
	if w.poison == 0 {
		return false
	}
	d := newDice(w.seed^0xbad, uint64(s.day)<<32|uint64(s.n))
	return d.chance(w.poison)
}

func (s *subject) poisoned() bool { return s.world.poisoned(&s.sketch) }

// orBad is a date as a provider writes it, or what a poisoned paper has in its place.
func orBad(s *subject, date string) string {
	if s.poisoned() {
		return badDate
	}
	return date
}
