package sim

// order is the order in which a walk meets the works.
type order int

const (
	unordered  order = iota // no promise: neither days nor works come in the order of time
	ascending               // by time of indexing
	descending              // the same, backwards
)

// walk is a place in the ordered list of the works of a selection. It holds no works, so thousands of walks are cheap.
type walk struct {
	world *World
	want  selection
	order order
	day   int // days of the selection that are behind us
	n     int // works of the current day that are behind us
}

func newWalk(w *World, want selection, o order) walk {
	want.first, want.last = max(want.first, w.first), min(want.last, w.end-1)
	return walk{world: w, want: want, order: o}
}

// next gives the next wanted work, and false after the last.
func (k *walk) next() (sketch, bool) {
	days := int(k.want.last-k.want.first) + 1
	for k.day < days {
		d := k.want.first + day(k.order.place(k.day, days))
		count := k.world.count(d)
		for k.n < count {
			s := k.world.sketch(d, k.order.place(k.n, count), count)
			k.n++
			if k.want.wants(k.world, s) {
				return s, true
			}
		}
		k.day, k.n = k.day+1, 0
	}
	return sketch{}, false
}

// total counts the whole walk, whatever its place.
func (k walk) total() int {
	if k.want.onlyDays() {
		return k.world.countAll(k.want.first, k.want.last)
	}
	k.order, k.day, k.n = ascending, 0, 0
	total := 0
	for {
		if _, ok := k.next(); !ok {
			return total
		}
		total++
	}
}

// skip passes over so many works.
func (k *walk) skip(works int) {
	for range works {
		if _, ok := k.next(); !ok {
			return
		}
	}
}

// place gives the i-th of n places. Without an order it steps by a number coprime to n near the golden section, which
// meets every place once and never looks sorted: a client that forgot to ask for an order must not get one by luck.
func (o order) place(i, n int) int {
	switch o {
	case ascending:
		return i
	case descending:
		return n - 1 - i
	}
	step := max(n*618/1000, 1)
	for gcd(step, n) != 1 {
		step++
	}
	return (i*step + n/2) % n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
