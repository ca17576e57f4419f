package sim

import (
	"slices"
	"sync"
)

// stormLength is how many requests a storm meets after its first.
const stormLength = 5

// deck are the faults that must have happened: each has its turn until it has found something to happen to. A short harvest
// meets them all, which chance alone would not see to. Safe for concurrent use.
type deck struct {
	every uint64

	mu   sync.Mutex
	left []fault
}

func newDeck(f Faults) *deck {
	d := &deck{every: uint64(max(f.DealEvery, 0))}
	for _, c := range f.chances() {
		times := 1
		if c.fault == faultThrottle && f.RetryAfter {
			times = len(dialects) // one for each way of saying when to come back
		}
		for ; times > 0 && c.p > 0 && d.every > 0; times-- {
			d.left = append(d.left, c.fault)
		}
	}
	return d
}

// deal gives the fault whose turn it is, and puts it behind the others; nothing if it is nobody's turn.
func (d *deck) deal(number uint64) fault {
	if d.every == 0 || number%d.every != 0 {
		return faultNone
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.left) == 0 {
		return faultNone
	}
	f := d.left[0]
	d.left = append(slices.Clone(d.left[1:]), f)
	return f
}

// done takes a fault that has happened out of the deck.
func (d *deck) done(f fault) {
	if f == faultNone || d.every == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.left, f); i >= 0 {
		d.left = slices.Delete(d.left, i, i+1)
	}
}

// fate is what shall happen to a request: what a storm does to all, what has its turn, or what is drawn.
func (s *Server) fate(f *Faults, number uint64) fault {
	if s.storm.Add(-1) >= 0 {
		return faultStorm
	}
	next := faultNone
	if f.DealEvery > 0 {
		next = s.deck.deal(number)
	}
	if next == faultNone {
		next = f.fate(s.cfg.Seed, number)
	}
	if next == faultStorm {
		s.storm.Store(stormLength)
	}
	return next
}
