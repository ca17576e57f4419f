package sim

import "sync"

// lies remembers which questions were answered wrongly. A count that is trusted may be wrong once for one question and
// is right when the question is asked again, because no client could tell a count that is wrong for ever from the truth;
// so may a page that ends a walk too early, where only the count gives it away. Safe for concurrent use.
type lies struct {
	mu   sync.Mutex
	told map[string]lieState
}

type lieState int

const (
	telling lieState = 1 + iota // the count is wrong until the walk has come to its end, or another begins
	told
)

func newLies() *lies { return &lies{told: map[string]lieState{}} }

// once tells whether a lie may be told about a question, and remembers it.
func (l *lies) once(question string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told[question] != 0 {
		return false
	}
	l.told[question] = told
	return true
}

// throughout is a lie that begins if it is wanted and none was told before, and goes on up to the answer that ends the
// walk: a client that looks at the last count, or at the first, sees it. A walk may be left before its end, because its
// client was killed or has cut the question; so the lie also ends where the question is asked from its beginning again.
func (l *lies) throughout(question string, wanted bool, at stage) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.told[question] == 0 && wanted:
		l.told[question] = telling
	case l.told[question] == telling && at.start:
		l.told[question] = told
	}
	if l.told[question] != telling {
		return false
	}
	if at.end {
		l.told[question] = told
	}
	return true
}

// stage is where in a walk an answer is: whether it was asked for from the beginning, and whether it has nothing more.
type stage struct{ start, end bool }

// The questions of a call to a provider whose counts are trusted are named; the others are lied to whenever fate says so.

// wrongTotal gives the count to say in place of the true one. The lie about a named question lasts for one walk; about
// others it is about this answer only, and so it changes from request to request.
func (c *call) wrongTotal(question string, total int, at stage) int {
	wanted := c.fate == faultTotal
	if question != "" {
		wanted = c.lies.throughout(question, wanted, at)
	}
	if !wanted {
		return total
	}
	if c.did == faultNone {
		c.did = faultTotal
	}
	d := newDice(uint64(total)^0x707a1, c.number)
	off := 1 + d.n(max(total/4, 2))
	if d.percent(50) && total > off {
		return total - off
	}
	return total + off
}

// rows is how many items to give of so many that were asked for: fewer, if that is the fate of the request.
func (c *call) rows(asked int) int {
	if c.fate != faultShort || asked < 2 {
		return asked
	}
	c.did = faultShort
	return (asked + 1) / 2
}

// emptied tells whether a page that has items is to have none, where the question has a count to give it away.
func (c *call) emptied(question string) bool {
	if c.fate != faultEmptyPage || question != "" && !c.lies.once(question) {
		return false
	}
	c.did = faultEmptyPage
	return true
}

// doubled tells whether one of the items of a page is to be there twice. A question is named where that pushes another
// item out of a walk by numbers.
func (c *call) doubled(items int, question string) bool {
	if c.fate != faultDouble || items == 0 || question != "" && !c.lies.once(question) {
		return false
	}
	c.did = faultDouble
	return true
}

// unfollowed tells whether a full page is to keep to itself where the next one is. The count gives it away.
func (c *call) unfollowed(full bool, question string) bool {
	if c.fate != faultNoNext || !full || !c.lies.once(question) {
		return false
	}
	c.did = faultNoNext
	return true
}

// outdated adds to a page what one of its papers was before it changed, as an index does that has not caught up.
func (c *call) outdated(page []sketch) []sketch {
	if c.fate != faultOld {
		return page
	}
	for _, s := range page {
		if s.version > 0 {
			c.did = faultOld
			return append(page, s.before())
		}
	}
	return page
}
