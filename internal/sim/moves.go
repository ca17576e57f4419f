package sim

import (
	"sync"
	"time"
)

// moves are how the world changes while it is read. The schedule is a function of the seed and is worked off by the
// number of requests, or in a living world by the time; an epoch is so many entries of it done. What the world was in an
// epoch can be asked for at any time. Safe for concurrent use.
type moves struct {
	every int // requests between two entries; 0 in a living world
	list  []move
	of    map[origin]int // a paper's entry in the list; it has one at most

	mu      sync.Mutex
	done    []time.Time // when each entry came into force
	stopped bool
}

// origin is where a paper is from: it stays the same wherever the paper goes.
type origin struct {
	day day
	n   int
}

// move is an entry: a paper gets a new version with a newer date, or comes late.
type move struct {
	paper origin
	to    int64 // the new date in Unix milliseconds; 0 for one that comes late
	at    int64 // in a living world: when it happens, in Unix milliseconds
}

// today is how many days at the end of a world changed papers go to. A client that reads them last finds every change.
const today = 2

// newMoves draws the schedule: a good part of the papers that lie before today change, and every second day has one
// that comes late. One a day is enough to make a count wrong and leaves it right when it is read again. The first and the
// last paper of a day stay, so that every day keeps its edges.
func newMoves(w *World, every int) *moves {
	m := &moves{every: every, of: map[origin]int{}}
	d := newDice(w.seed^0x30fe, uint64(w.first))
	for at := w.first; at < w.end-today; at++ {
		count := w.count(at)
		if count > 2 && (at-w.first)%2 == 0 {
			m.list = append(m.list, move{paper: origin{at, 1 + d.n(count-2)}})
		}
		for n := 1; n < count-1; n++ {
			if d.percent(30) {
				m.list = append(m.list, move{paper: origin{at, n}, to: 1})
			}
		}
	}
	for i := len(m.list) - 1; i > 0; i-- {
		j := d.n(i + 1)
		m.list[i], m.list[j] = m.list[j], m.list[i]
	}
	m.date(w)
	return m
}

// date gives the changes their dates, in the order of the schedule and after everything that the papers said before.
func (m *moves) date(w *World) {
	kept := m.list[:0]
	begin, step := (w.end - today).ms(), today*msPerDay/int64(len(m.list)+1)
	for i, e := range m.list {
		s := &subject{world: w, sketch: w.sketch(e.paper.day, e.paper.n, w.count(e.paper.day))}
		if _, twice := m.of[e.paper]; twice || e.to != 0 && byRevised.at(s) >= begin {
			continue
		}
		if e.to != 0 {
			e.to = begin + int64(i)*step
		}
		m.of[e.paper] = len(kept)
		kept = append(kept, e)
	}
	m.list = kept
}

// pass does what is due at the n-th request and gives the epoch.
func (m *moves) pass(number uint64, now time.Time) int {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.every == 0 {
		m.live(now)
		return len(m.done)
	}
	for !m.stopped && len(m.done) < min(int(number)/m.every, len(m.list)) {
		m.done = append(m.done, now)
	}
	return len(m.done)
}

func (m *moves) epoch() int {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.done)
}

func (m *moves) stop() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopped = true
}

// when is the time an entry came into force; false if it has not.
func (m *moves) when(entry int) (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if entry >= len(m.done) {
		return time.Time{}, false
	}
	return m.done[entry], true
}

// asOf is the world as it was in an epoch.
func (w *World) asOf(epoch int) *World {
	if w.moves == nil {
		return w
	}
	then := *w
	then.epoch = epoch
	return &then
}

// present is the world as it is.
func (w *World) present() *World { return w.asOf(w.moves.epoch()) }

// revise brings a sketch to the version of the world's epoch.
func (w *World) revise(s *sketch) {
	s.changed = s.indexed
	if w.moves == nil {
		return
	}
	if i, ok := w.moves.of[origin{s.day, s.n}]; ok && i < w.epoch && w.moves.list[i].to != 0 {
		s.version, s.changed = 1, w.moves.list[i].to
	}
}

// before is a paper as it was before it changed.
func (s sketch) before() sketch {
	s.version, s.changed = 0, s.indexed
	return s
}

// shows tells whether a paper is there already.
func (w *World) shows(s *sketch) bool {
	if w.moves == nil {
		return true
	}
	i, ok := w.moves.of[origin{s.day, s.n}]
	return !ok || i < w.epoch || w.moves.list[i].to != 0
}
