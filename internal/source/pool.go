package source

import "sync"

// pool are documents that nobody uses now. A pool of the standard library forgets what it has at every second collection of
// what nobody uses, and pages bring about one each: almost every one of them had to grow a list of nodes anew. It is safe for
// concurrent use.
type pool[T any] struct {
	mu   sync.Mutex
	free []pooled[T]
	room int // of all of them
}

type pooled[T any] struct {
	doc  *T
	room int
}

const (
	// most is how much room is kept for the next item or page: what one of unusual size needed is let go.
	most = 8 << 20
	// mostSpare is how much is kept by all documents that nobody uses, and mostSpares how many there are.
	mostSpare, mostSpares = 2 * most, 16
)

// get gives a document, which may be new.
func (s *pool[T]) get() *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.free) - 1
	if last < 0 {
		return new(T)
	}
	t := s.free[last]
	s.free[last], s.free = pooled[T]{}, s.free[:last]
	s.room -= t.room
	return t.doc
}

// put gives one back, with the room that it has.
func (s *pool[T]) put(doc *T, room int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) < mostSpares && s.room+room <= mostSpare {
		s.free = append(s.free, pooled[T]{doc, room})
		s.room += room
	}
}
