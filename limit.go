package patra

import (
	"slices"
	"time"
)

// When fewer tasks of a partition run, and when more of them again.
const (
	RefusalsEnough = 5                 // as many requests to slow down ...
	RefusalsWithin = 300 * time.Second // ... in this time are one too many tasks
	LimitQuiet     = 2 * time.Minute   // as long as nothing happens, a step is taken back after this time
	SlowPage       = 3 * time.Second   // an average answer that takes longer is slow
	SlowPages      = 20                // of so many pages
)

// Why fewer tasks of a partition run.
const (
	DownRefused = "RATE_LIMITED"
	DownSlow    = "LATENCY"
	DownStore   = "STORE_BUSY"
)

// Limit is how many tasks of a partition run at the same time, when that is fewer than configured.
type Limit struct {
	At    int64 // 0: no limit
	Of    int64 // how many ran without it
	Until Instant
}

// Down is one step fewer, of what runs without a limit. One task always runs.
func (l Limit) Down(now Instant, of int64) Limit {
	if at := l.Now(now); at > 0 {
		of, l.Of = at, max(l.Of, of)
	} else {
		l.Of = of
	}
	return Limit{At: max(of-1, 1), Of: l.Of, Until: now.Add(LimitQuiet)}
}

// Up is the limit after the quiet time until now: a step for each LimitQuiet of it.
func (l Limit) Up(now Instant) Limit {
	if l.At == 0 || now < l.Until {
		return l
	}
	steps := 1 + int64(now.Sub(l.Until)/LimitQuiet)
	if l.At+steps >= l.Of {
		return Limit{}
	}
	return Limit{At: l.At + steps, Of: l.Of, Until: l.Until.Add(time.Duration(steps) * LimitQuiet)}
}

// Now is how many tasks may run at a moment; 0 is any number.
func (l Limit) Now(now Instant) int64 { return l.Up(now).At }

// CountRefusal adds a request to slow down to those before, and says whether they are too many. Those that were enough for a
// step are forgotten: each step needs as many again.
func CountRefusal(before []Instant, now Instant) (kept []Instant, enough bool) {
	kept = slices.DeleteFunc(append(slices.Clone(before), now), func(at Instant) bool { return at <= now.Add(-RefusalsWithin) })
	if len(kept) < RefusalsEnough {
		return kept, false
	}
	return nil, true
}

// Limit is the row as the rules see it.
func (c Control) Limit() Limit {
	if c.State != Limited {
		return Limit{}
	}
	return Limit{At: c.Detail.Limit, Of: c.Detail.Of, Until: c.Until}
}
