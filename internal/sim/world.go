package sim

// World is the truth: how many papers each day has, and what each of them says. It is a pure function of the seed,
// so two worlds of one configuration are equal and none of it is kept in memory. A world that moves is one of the seed and
// of how many requests it has had; a pointer to one is a view of it at some moment.
type World struct {
	seed    uint64
	first   day
	end     day // the first day after the last
	perDay  int
	exactly bool
	poison  float64 // share of the papers without a date
	huge    bool    // one paper of every other day has far too much to say
	moves   *moves  // nil for a world that stands still
	epoch   int     // how many of the moves this view of the world has seen
}

// An id has five base-36 digits for the place within the day; more papers than that could not be told apart.
const maxPerDay = 36 * 36 * 36 * 36 * 36

func newWorld(c Config) *World {
	w := &World{seed: c.Seed, first: dayOf(c.From), end: dayOf(c.To), perDay: min(max(c.PerDay, 0), maxPerDay/2), exactly: c.Exact, poison: c.Faults.Poison, huge: c.Faults.Huge}
	if c.Faults.MoveEvery > 0 {
		w.moves = newMoves(w, c.Faults.MoveEvery)
	} else if c.Living {
		w.moves = newLife(w)
	}
	return w
}

// count is the number of papers of a day. Weekdays draw from 0.75..1.5 and weekends from 0.5..0.875 of the mean,
// which leaves the mean of a week where it was asked for.
func (w *World) count(d day) int {
	if d < w.first || d >= w.end {
		return 0
	}
	if w.exactly {
		return w.perDay
	}
	dice := newDice(w.seed^0xda15, uint64(d))
	low, span := 0.75, 0.75
	if d.weekend() {
		low, span = 0.5, 0.375
	}
	return int(float64(w.perDay)*(low+span*float64(dice.n(1001))/1000) + 0.5)
}

// countAll adds up the days from first to last, both included.
func (w *World) countAll(first, last day) int {
	sum := 0
	for d := max(first, w.first); d <= last && d < w.end; d++ {
		sum += w.count(d)
	}
	return sum
}
