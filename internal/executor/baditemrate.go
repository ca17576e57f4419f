package executor

import (
	"hash/maphash"
	"sync"

	"patra"
)

// spoilageMemory is how many items are remembered: enough for pages of any size, and few enough that a provider that has
// changed today is not excused by what it sent last week.
const spoilageMemory = 500

// badItemRate is what became of the last items of an endpoint. A page of three items of which none can be read says nothing by
// itself; the fourth such page does. An item that is met again, because a stretch is read twice, is no new one.
type badItemRate struct {
	mu       sync.Mutex
	seed     maphash.Seed
	met      map[uint64]struct{}
	bad, all int
}

func newSpoilage() *badItemRate {
	return &badItemRate{seed: maphash.MakeSeed(), met: map[uint64]struct{}{}}
}

// with counts the last items and those of a page.
func (s *badItemRate) with(res patra.PageResult) (bad, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum(res, false)
}

// add remembers a page that was stored.
func (s *badItemRate) add(res patra.PageResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bad, s.all = s.sum(res, true); s.all > spoilageMemory {
		s.bad, s.all = s.bad/2, s.all/2
	}
	if len(s.met) > spoilageMemory {
		clear(s.met)
	}
}

func (s *badItemRate) sum(res patra.PageResult, keep bool) (bad, all int) {
	bad, all = s.bad, s.all+len(res.Records)+len(res.IDs)
	for _, q := range res.Quarantined {
		sum := maphash.Bytes(s.seed, q.Fragment)
		if _, known := s.met[sum]; known {
			continue
		}
		bad, all = bad+1, all+1
		if keep {
			s.met[sum] = struct{}{}
		}
	}
	return bad, all
}

// forget begins anew, when a person has to look: what they say is right is not judged by what was before.
func (s *badItemRate) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad, s.all = 0, 0
	clear(s.met)
}
