package sim

// condition is what a query asks of a paper, in whatever language it was written.
type condition interface {
	holds(*subject) bool
	// span gives the days of indexing outside of which it cannot hold.
	span() span
	// exact tells whether it holds for every paper of the span.
	exact() bool
}

// search makes a condition a picker.
type search struct{ condition }

func (s search) wants(w *World, sk sketch) bool {
	return s.holds(&subject{world: w, sketch: sk})
}

func (s search) onlyDays() bool { return s.exact() }

func walkOf(w *World, c condition, o order) walk { return newWalk(w, search{c}, c.span(), o) }

type everything struct{}

func (everything) holds(*subject) bool { return true }
func (everything) span() span          { return span{0, farDay} }
func (everything) exact() bool         { return true }

type nothing struct{}

func (nothing) holds(*subject) bool { return false }
func (nothing) span() span          { return span{1, 0} }
func (nothing) exact() bool         { return true }

type both struct{ a, b condition }

func (c both) holds(s *subject) bool { return c.a.holds(s) && c.b.holds(s) }
func (c both) span() span            { return c.a.span().and(c.b.span()) }
func (c both) exact() bool           { return c.a.exact() && c.b.exact() }

type either struct{ a, b condition }

func (c either) holds(s *subject) bool { return c.a.holds(s) || c.b.holds(s) }
func (c either) span() span            { return c.a.span().or(c.b.span()) }
func (c either) exact() bool           { return false }

type without struct{ condition }

func (c without) holds(s *subject) bool { return !c.condition.holds(s) }
func (c without) span() span            { return span{0, farDay} }
func (c without) exact() bool           { return false }

// test is any condition that says nothing about days.
type test func(*subject) bool

func (t test) holds(s *subject) bool { return t(s) }
func (t test) span() span            { return span{0, farDay} }
func (t test) exact() bool           { return false }

// dated holds for times in [from, to), in Unix milliseconds. An end that is included is written as the beginning of
// what comes after it: of the next day, or of the next second, since a time is known to its second and its fraction
// belongs to it.
type dated struct {
	by       *dateField
	from, to int64
}

func onDays(by *dateField, s span) dated { return dated{by, s.first.ms(), (s.last + 1).ms()} }

func (c dated) holds(s *subject) bool {
	at := c.by.at(s)
	return c.from <= at && at < c.to
}

func (c dated) span() span {
	if c.from >= c.to {
		return nothing{}.span()
	}
	return span{dayOfMS(c.from) - c.by.latest, dayOfMS(c.to-1) - c.by.earliest}
}

func (c dated) exact() bool {
	return (c.by == byIndexed || c.by == byChanged) && (c.from >= c.to || c.from%msPerDay == 0 && c.to%msPerDay == 0)
}
