package executor

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// memoryPerByte is how much memory a byte of an answer takes while its page is in hand: the body, and what was read
// from it.
const memoryPerByte = 3

// memoryBudget is what all pages in the hands of a process may take together. A page that may be large waits until there is
// room for it.
type memoryBudget struct {
	once  sync.Once
	total int64
	room  *semaphore.Weighted
}

// of makes the store of memory on its first use; 0 is no limit.
func (m *memoryBudget) of(total int64) *memoryBudget {
	m.once.Do(func() {
		if m.total = total; total > 0 {
			m.room = semaphore.NewWeighted(total)
		}
	})
	return m
}

// memoryReservation is one page's part of it. It is used by one goroutine at a time.
type memoryReservation struct {
	of   *memoryBudget
	have int64
}

func (x *Executor) allowance() *memoryReservation {
	return &memoryReservation{of: x.memory.of(x.Config.Memory)}
}

// leastBody is what any answer may have.
const leastBody = 1 << 20

// estimateBodySize is how large an answer is taken to be before it is there: twice the largest that came from the same place, and
// never more than may come. Whoever kept room for the largest that may come would work on two pages at a time.
func estimateBodySize(seen, maxBody int64) int64 { return min(max(2*seen, leastBody), maxBody) }

// want is the memory for an answer of so many bytes. It is never more than there is.
func (a *memoryReservation) want(body int64) int64 { return min(body*memoryPerByte, a.of.total) }

// acquire waits for room, unless there is some already.
func (a *memoryReservation) acquire(ctx context.Context, body int64) error {
	if a.have > 0 || a.of.room == nil {
		return nil
	}
	n := a.want(body)
	if err := a.of.room.Acquire(ctx, n); err != nil {
		return context.Cause(ctx)
	}
	a.have = n
	return nil
}

// tryTake takes room if there is any.
func (a *memoryReservation) tryTake(body int64) bool {
	if a.of.room == nil {
		return true
	}
	n := a.want(body)
	if !a.of.room.TryAcquire(n) {
		return false
	}
	a.have = n
	return true
}

// shrinkTo gives back what the page did not need. One that needs more takes it if there is any; if not, it is there all the same,
// and the next from there is expected to be as large.
func (a *memoryReservation) shrinkTo(body int64) {
	if a.of.room == nil {
		return
	}
	n := max(a.want(body), 1)
	switch {
	case n < a.have:
		a.of.room.Release(a.have - n)
		a.have = n
	case n > a.have && a.of.room.TryAcquire(n-a.have):
		a.have = n
	}
}

// release gives everything back.
func (a *memoryReservation) release() {
	if a.have > 0 {
		a.of.room.Release(a.have)
		a.have = 0
	}
}
