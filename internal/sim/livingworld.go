package sim

import (
	"cmp"
	"slices"
	"time"
)

// A living world moves with the time and not with the requests: what it is at a moment is a function of the seed and of
// that moment. Some papers are shown later than they are dated, by minutes, by hours or by days, and some change weeks
// after, with the moment of the change as their new date. It comes to rest some days before its end, so that whoever
// reads on has the chance to have everything.
const (
	lateShare   = 8  // percent of the papers that are shown late
	changeShare = 20 // percent that change
	rest        = 4  // days at the end in which nothing happens any more
	minuteMS    = int64(time.Minute / time.Millisecond)
	hourMS      = 60 * minuteMS
)

// newLife draws the schedule, in the order of time. The first and the last paper of a day stay where they are, as in every
// world that moves; but on every second day the last one, which is dated in the last millisecond, is shown minutes late.
func newLife(w *World) *moves {
	m := &moves{of: map[origin]int{}}
	end := (w.end - rest).ms()
	for at := w.first; at < w.end-rest; at++ {
		d, count := newDice(w.seed^0x11fe, uint64(at)), w.count(at)
		if count > 1 && at%2 == 0 {
			m.list = append(m.list, move{paper: origin{at, count - 1}, at: (at + 1).ms() + int64(10+d.n(18))*minuteMS})
		}
		for n := 1; n < count-1; n++ {
			s := w.sketch(at, n, count)
			switch p := d.n(100); {
			case p < lateShare:
				m.list = append(m.list, move{paper: origin{at, n}, at: s.indexed + lateness(&d)})
			case p < lateShare+changeShare:
				when := s.indexed + msPerDay + int64(d.n(40*24*60))*minuteMS + int64(d.n(60_000))
				revised := byRevised.at(&subject{world: w, sketch: s})
				when = max(when, revised+hourMS)
				m.list = append(m.list, move{paper: origin{at, n}, to: when, at: when})
			}
		}
	}
	m.list = slices.DeleteFunc(m.list, func(e move) bool { return e.at >= end })
	slices.SortFunc(m.list, func(a, b move) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.paper.day, b.paper.day), cmp.Compare(a.paper.n, b.paper.n))
	})
	for i, e := range m.list {
		m.of[e.paper] = i
	}
	return m
}

// lateness is how much later than its date a paper is shown: half of them within minutes, most others within a day, and
// one in ten after that.
func lateness(d *dice) int64 {
	switch p := d.n(10); {
	case p < 5:
		return int64(1+d.n(25)) * minuteMS
	case p < 9:
		return int64(1+d.n(20)) * hourMS
	}
	return int64(4+d.n(15)) * msPerDay
}

// live does what has happened up to now; the lock is held.
func (m *moves) live(now time.Time) {
	for !m.stopped && len(m.done) < len(m.list) && m.list[len(m.done)].at <= now.UnixMilli() {
		m.done = append(m.done, time.UnixMilli(m.list[len(m.done)].at))
	}
}

// destined is when an entry of a living world comes into force, whether or not that was already.
func (m *moves) destined(entry int) (time.Time, bool) { return time.UnixMilli(m.list[entry].at), true }
