package sim

// span is a stretch of days, both ends included; it is empty if the first lies after the last.
type span struct{ first, last day }

// farDay is beyond any world.
const farDay day = 1 << 22

func (s span) empty() bool { return s.first > s.last }

func (s span) and(o span) span { return span{max(s.first, o.first), min(s.last, o.last)} }

// or is the shortest stretch that holds both.
func (s span) or(o span) span {
	switch {
	case s.empty():
		return o
	case o.empty():
		return s
	}
	return span{min(s.first, o.first), max(s.last, o.last)}
}
