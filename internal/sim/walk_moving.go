package sim

import (
	"cmp"
	"slices"
)

// list reads the whole walk of a world that moves. A paper that has moved may lie anywhere, so all of those are looked at;
// the others lie in the days of the walk.
func (k *walk) list() {
	if k.read {
		return
	}
	k.read, k.found = true, nil
	w := k.world
	look := func(d day, n, count int) {
		if s := w.sketch(d, n, count); w.shows(&s) && k.want.wants(w, s) {
			k.found = append(k.found, s)
		}
	}
	for d := k.span.first; d <= k.span.last; d++ {
		for n, count := 0, w.count(d); n < count; n++ {
			look(d, n, count)
		}
	}
	for _, e := range w.moves.list[:w.epoch] {
		if d := e.paper.day; e.to != 0 && (d < k.span.first || d > k.span.last) {
			look(d, e.paper.n, w.count(d))
		}
	}
	slices.SortFunc(k.found, func(a, b sketch) int {
		return cmp.Or(cmp.Compare(k.rank(a), k.rank(b)), cmp.Compare(a.day, b.day), cmp.Compare(a.n, b.n))
	})
}

// rank is what the papers are ordered by. The newest first means by the day of entry, which no change moves; without an
// order a paper keeps its place among the others, whoever else comes and goes.
func (k *walk) rank(s sketch) int64 {
	switch k.order {
	case ascending:
		return s.changed
	case descending:
		return -s.indexed
	}
	return int64(mix(k.world.seed^uint64(s.day)<<32|uint64(s.n)) >> 1)
}

func (k *walk) nextFound() (sketch, bool) {
	k.list()
	if k.n >= len(k.found) {
		return sketch{}, false
	}
	k.n++
	return k.found[k.n-1], true
}
