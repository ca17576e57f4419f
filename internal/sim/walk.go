package sim

// order is the order in which a walk meets the works.
type order int

const (
	unordered  order = iota // no promise: neither days nor works come in the order of time
	ascending               // by time of indexing
	descending              // the same, backwards
)

// picker decides which papers a walk stops at.
type picker interface {
	wants(w *World, s sketch) bool
	onlyDays() bool // every paper of the walk's days is wanted, so they can be counted without looking at any
}

// walk is a place in the ordered list of the papers that are wanted of some days. It holds no papers, so thousands of
// walks are cheap.
type walk struct {
	world *World
	want  picker
	span  span
	order order
	day   int // days of the span that are behind us
	n     int // papers of the current day that are behind us

	found []sketch // the whole walk, where the world moves; then the day is the epoch, and n counts in the list
	read  bool
}

func newWalk(w *World, want picker, days span, o order) walk {
	k := walk{world: w, want: want, span: days.and(span{w.first, w.end - 1}), order: o}
	if w.moves != nil {
		k.day = w.epoch
	}
	return k
}

// resume takes a walk to a place that it had before. A moving world is taken back to what it was then.
func (k *walk) resume(d, n int) {
	k.day, k.n, k.read = d, n, false
	k.world = k.world.asOf(d)
}

func (k *walk) days() int { return int(k.span.last-k.span.first) + 1 }

// today is the day that the walk is in and the number of its papers.
func (k *walk) today() (day, int) {
	d := k.span.first + day(k.order.place(k.day, k.days()))
	return d, k.world.count(d)
}

// next gives the next wanted paper, and false after the last.
func (k *walk) next() (sketch, bool) {
	if k.world.moves != nil {
		return k.nextFound()
	}
	for k.day < k.days() {
		d, count := k.today()
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

// take gives the next papers, at most so many.
func (k *walk) take(most int) []sketch {
	var list []sketch
	for len(list) < most {
		s, ok := k.next()
		if !ok {
			break
		}
		list = append(list, s)
	}
	return list
}

// left tells whether there is a next paper, without going on to it.
func (k walk) left() bool {
	_, ok := k.next()
	return ok
}

// total counts the whole walk, whatever its place.
func (k walk) total() int {
	if k.world.moves != nil {
		k.list()
		return len(k.found)
	}
	if k.want.onlyDays() {
		return k.world.countAll(k.span.first, k.span.last)
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

// skip passes over so many papers, whole days at a time if it can.
func (k *walk) skip(papers int) {
	if k.world.moves != nil {
		k.n += papers
		return
	}
	if !k.want.onlyDays() {
		for range papers {
			if _, ok := k.next(); !ok {
				return
			}
		}
		return
	}
	for papers > 0 && k.day < k.days() {
		_, count := k.today()
		if left := count - k.n; papers >= left {
			k.day, k.n, papers = k.day+1, 0, papers-left
			continue
		}
		k.n, papers = k.n+papers, 0
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
