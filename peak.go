package patra

import (
	"container/heap"
	"slices"
)

// stamp is when something left, and what it counts.
type stamp struct {
	at   Instant
	cost int64
}

// Peak is the most that came in any stretch of a length. It is told of moments in their order, and remembers those of
// one stretch.
type Peak struct {
	Most int64
	At   Instant // the end of that stretch

	span   Instant
	recent []stamp
	now    int64
}

// NewPeak looks for the busiest stretch of a length.
func NewPeak(span Instant) *Peak { return &Peak{span: span} }

// Add counts what came at a moment, which is none before the last one.
func (p *Peak) Add(at Instant, cost int64) {
	old := 0
	for old < len(p.recent) && p.recent[old].at <= at-p.span {
		p.now -= p.recent[old].cost
		old++
	}
	p.recent = append(slices.Delete(p.recent, 0, old), stamp{at, cost})
	p.now += cost
	if p.now > p.Most {
		p.Most, p.At = p.now, at
	}
}

// inOrder brings moments into their order that come nearly so: each time we know a moment before which nothing comes any
// more. What waits is bounded: more than that at once means that the clocks are not to be trusted anyway.
type inOrder struct{ waiting stamps }

const mostWaiting = 1 << 14

func (o *inOrder) add(s stamp, tell func(stamp)) {
	heap.Push(&o.waiting, s)
	if len(o.waiting) > mostWaiting {
		tell(heap.Pop(&o.waiting).(stamp))
	}
}

// until tells of everything up to a moment.
func (o *inOrder) until(at Instant, tell func(stamp)) {
	for len(o.waiting) > 0 && o.waiting[0].at <= at {
		tell(heap.Pop(&o.waiting).(stamp))
	}
}

// stamps are a heap with the oldest on top.
type stamps []stamp

// Len implements heap.Interface.
func (s stamps) Len() int { return len(s) }

// Less implements heap.Interface.
func (s stamps) Less(i, j int) bool { return s[i].at < s[j].at }

// Swap implements heap.Interface.
func (s stamps) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

// Push implements heap.Interface.
func (s *stamps) Push(x any) { *s = append(*s, x.(stamp)) }

// Pop implements heap.Interface.
func (s *stamps) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}
