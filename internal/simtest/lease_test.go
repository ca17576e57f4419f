package simtest

import (
	"sync"
	"time"

	"patra"
)

// held is a task in somebody's hands.
type held struct {
	lease patra.Lease
	until time.Time
}

// leases is who has which task until when, as told by those who were heard: whoever takes a task over before the lease of
// the one before is at its end did not go by the store's clock.
type leases struct {
	w    *world
	mu   sync.Mutex
	held map[int64]held
}

func (l *leases) taken(c *patra.Claim, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h, ok := l.held[c.TaskID]; ok {
		if h.until.After(now) {
			l.w.judge.find("lease", "task %d was taken over %s before its lease was at its end", c.TaskID, h.until.Sub(now))
		}
		l.w.note("takeover", nil)
	}
	l.held[c.TaskID] = held{c.Lease, now.Add(c.For)}
}

func (l *leases) renewed(lease patra.Lease, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h, ok := l.held[lease.TaskID]; ok && h.lease.Fence == lease.Fence {
		l.held[lease.TaskID] = held{lease, now.Add(lease.For)}
	} else if ok && h.lease.Fence > lease.Fence {
		l.w.judge.find("fence", "an owner of task %d wrote with fence %d after another had %d", lease.TaskID, lease.Fence, h.lease.Fence)
	}
}

func (l *leases) over(c *patra.Claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, c.TaskID)
}
