package sim

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Quota is how many requests the provider answers in a longer time, all protocols and clients together. Every request
// counts, whatever comes of it. Windows begin at whole multiples of their length since 1970, by the provider's own clock.
type Quota struct {
	Limit int64         // 0 is no quota, and then nothing is said of one
	Every time.Duration // default a day
	Ahead time.Duration // how far the provider's clock is ahead of ours
}

// quota counts. Safe for concurrent use.
type quota struct {
	Quota

	mu     sync.Mutex
	window int64
	used   int64
	most   int64
	over   int64
}

func newQuota(q Quota) *quota {
	if q.Every <= 0 {
		q.Every = 24 * time.Hour
	}
	return &quota{Quota: q}
}

// counted is what a request was told of the quota.
type counted struct {
	known bool
	over  bool
	left  int64
	reset time.Duration
}

// count counts a request. One that is refused does not count.
func (q *quota) count(now time.Time) counted {
	if q.Limit <= 0 {
		return counted{}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	since := now.Add(q.Ahead).UnixNano()
	if window := since / int64(q.Every); window != q.window {
		q.window, q.used = window, 0
	}
	c := counted{known: true, over: q.used >= q.Limit, reset: q.Every - time.Duration(since%int64(q.Every))}
	if c.over {
		q.over++
		return c
	}
	q.used++
	q.most = max(q.most, q.used)
	c.left = q.Limit - q.used
	return c
}

// tell writes the headers: what is left, and the seconds until there is more.
func (c counted) tell(h http.Header) {
	if c.known {
		h.Set("X-RateLimit-Remaining", strconv.FormatInt(c.left, 10))
		h.Set("X-RateLimit-Reset", strconv.FormatInt(int64(c.reset/time.Second), 10))
	}
}

func (q *quota) stats() (most, over int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.most, q.over
}
