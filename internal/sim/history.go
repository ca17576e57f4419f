package sim

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// history is what the server remembers of one client: its searches, each under a key that counts from 1.
type history struct {
	mu       sync.Mutex
	searches []storedSearch
}

// storedSearch is a search and what it found, without the papers.
type storedSearch struct {
	want  condition
	order order
	total int
}

// maxSearches a history holds; a client that needs more can begin another.
const maxSearches = 1000

// histories are the ones that live. Safe for concurrent use.
type histories struct {
	shelf[*history]
	seed   uint64
	opened atomic.Uint64
}

func newHistories(seed uint64, ttl time.Duration) *histories {
	return &histories{seed: seed, shelf: newShelf[*history](ttl)}
}

// store adds a search to the history of a WebEnv, or to a new one if it is empty.
func (h *histories) store(env string, s storedSearch, now time.Time) (webenv string, key int, err error) {
	var kept *history
	if env == "" {
		d := newDice(h.seed^uint64(now.UnixNano()), h.opened.Add(1))
		env = fmt.Sprintf("MCID_%016x%016x", d.pcg.Uint64(), d.pcg.Uint64())
		kept = &history{}
		h.put(env, kept, now)
	} else {
		var ok bool
		if kept, ok = h.find(env, now); !ok {
			return "", 0, sentence("Unable to obtain query: WebEnv is unknown or has expired")
		}
	}
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if len(kept.searches) >= maxSearches {
		return "", 0, sentence("Too many queries in one WebEnv")
	}
	kept.searches = append(kept.searches, s)
	return env, len(kept.searches), nil
}

// recall gives a search by its key.
func (h *histories) recall(env string, key int, now time.Time) (storedSearch, error) {
	kept, ok := h.find(env, now)
	if !ok {
		return storedSearch{}, sentence("Unable to obtain query #" + itoa(key) + ": WebEnv is unknown or has expired")
	}
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if key < 1 || key > len(kept.searches) {
		return storedSearch{}, sentence("Unable to obtain query #" + itoa(key))
	}
	return kept.searches[key-1], nil
}
