package executor

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// memoryPerByte is how much memory a byte of an answer takes while its page is in hand: the body, and what was read
// from it.
const memoryPerByte = 3

// memory is what all pages in the hands of a process may take together. A page that may be large waits until there is
// room for it.
type memory struct {
	once  sync.Once
	total int64
	room  *semaphore.Weighted
}

// of makes the store of memory on its first use; 0 is no limit.
func (m *memory) of(total int64) *memory {
	m.once.Do(func() {
		if m.total = total; total > 0 {
			m.room = semaphore.NewWeighted(total)
		}
	})
	return m
}

// allowance is one page's part of it. It is used by one goroutine at a time.
type allowance struct {
	of   *memory
	have int64
}

func (x *Executor) allowance() *allowance { return &allowance{of: x.memory.of(x.Config.Memory)} }

// want is what a page may need at most: its largest body. It is never more than there is.
func (a *allowance) want(maxBody int64) int64 { return min(maxBody*memoryPerByte, a.of.total) }

// take waits for room, unless there is some already.
func (a *allowance) take(ctx context.Context, maxBody int64) error {
	if a.have > 0 || a.of.room == nil {
		return nil
	}
	n := a.want(maxBody)
	if err := a.of.room.Acquire(ctx, n); err != nil {
		return context.Cause(ctx)
	}
	a.have = n
	return nil
}

// tryTake takes room if there is any.
func (a *allowance) tryTake(maxBody int64) bool {
	if a.of.room == nil {
		return true
	}
	n := a.want(maxBody)
	if !a.of.room.TryAcquire(n) {
		return false
	}
	a.have = n
	return true
}

// keep gives back what the page did not need.
func (a *allowance) keep(n int64) {
	if n = max(n, 1); n < a.have {
		a.of.room.Release(a.have - n)
		a.have = n
	}
}

// free gives everything back.
func (a *allowance) free() {
	if a.have > 0 {
		a.of.room.Release(a.have)
		a.have = 0
	}
}
