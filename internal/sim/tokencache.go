package sim

import (
	"sync"
	"time"
)

// shelf is what a server remembers between requests: a bounded number of things under their tokens, each until it has
// lain untouched for the time to live. Safe for concurrent use; the things themselves are not guarded.
type shelf[T any] struct {
	ttl time.Duration

	mu   sync.Mutex
	kept map[string]*kept[T]
}

type kept[T any] struct {
	thing T
	used  time.Time
}

func newShelf[T any](ttl time.Duration) shelf[T] {
	return shelf[T]{ttl: ttl, kept: map[string]*kept[T]{}}
}

// put remembers a thing, forgetting the one used longest ago if there are too many.
func (s *shelf[T]) put(token string, thing T, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(now)
	s.kept[token] = &kept[T]{thing, now}
}

func (s *shelf[T]) makeRoom(now time.Time) {
	oldest := ""
	for token, k := range s.kept {
		if s.expired(k, now) {
			delete(s.kept, token)
		} else if oldest == "" || k.used.Before(s.kept[oldest].used) {
			oldest = token
		}
	}
	if len(s.kept) >= maxScrolls {
		delete(s.kept, oldest)
	}
}

// find gives the thing of a token and starts its idle time anew; false if it is unknown or was idle for too long.
func (s *shelf[T]) find(token string, now time.Time) (thing T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kept[token]
	if k == nil || s.expired(k, now) {
		delete(s.kept, token)
		return thing, false
	}
	k.used = now
	return k.thing, true
}

// drop forgets a token and tells whether it was known.
func (s *shelf[T]) drop(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.kept[token]
	delete(s.kept, token)
	return known
}

func (s *shelf[T]) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept)
}

func (s *shelf[T]) expired(k *kept[T], now time.Time) bool { return now.Sub(k.used) > s.ttl }
