package sim

// sketch is the cheap part of a paper: enough for filters to decide, before any text is written. Walking a sparse
// filter over a million papers stays a matter of milliseconds because of it.
type sketch struct {
	day     day
	n       int // place within the day, in the order of indexing
	dice    dice
	kind    string
	slot    int64 // Unix milliseconds: the first of the stretch of time that is this paper's alone
	indexed int64
	created int64
	changed int64 // when its newest version was indexed; the same as indexed, unless the world moves
	version int   // how often it was changed
	edge    bool  // the first or the last paper of its day
}

// sketch draws the n-th of count papers of a day. Every paper has its own slot of the day, so the order of n is the
// order of time. The first is indexed at midnight and the last in the day's last millisecond: a reader who is wrong
// about either end of a window loses a paper.
func (w *World) sketch(d day, n, count int) sketch {
	s := sketch{day: d, n: n, edge: n == 0 || n == count-1, dice: newDice(w.seed^uint64(d)<<32, uint64(n))}
	s.slot = slotStart(d, n, count)
	s.kind = drawKind(&s.dice)
	s.indexed = s.slot + int64(s.dice.n(int(max(slotStart(d, n+1, count)-s.slot, 1))))
	switch n {
	case 0:
		s.indexed = d.ms()
	case count - 1:
		s.indexed = d.ms() + msPerDay - 1
	}
	s.created = drawCreated(&s.dice, s.slot)
	w.revise(&s)
	return s
}

func slotStart(d day, n, count int) int64 { return d.ms() + int64(n)*msPerDay/int64(count) }

// drawCreated makes most papers new on the day they are indexed, and the rest old ones that were indexed again.
func drawCreated(d *dice, notAfter int64) int64 {
	if d.percent(60) {
		return notAfter
	}
	return notAfter - int64(1+d.n(3000))*msPerDay + int64(d.n(3600))*1000
}

func drawKind(d *dice) string {
	r := d.n(100)
	for _, k := range kindShares {
		if r < k.percent {
			return k.name
		}
		r -= k.percent
	}
	return kindShares[0].name
}

var kindShares = []struct {
	name    string
	percent int
}{
	{"journal-article", 74}, {"book-chapter", 10}, {"proceedings-article", 8},
	{"posted-content", 4}, {"dataset", 2}, {"monograph", 2},
}
