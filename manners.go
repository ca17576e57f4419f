package patra

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// SentRequest is the row of a request, for whoever looks at how we ask.
type SentRequest struct {
	ID         int64
	Kind       string // PAGE, DETAIL, PROBE or AUTH
	Cost       int64
	Waited     time.Duration // for the gate
	AcquiredAt Instant       // when it asked the gate
	SentAt     Instant       // 0: it never left, or nobody knows
	FinishedAt Instant
	Status     int // 0: no answer came
	Bytes      int64
	Outcome    string
	RetryAfter time.Duration // how long the provider wanted to be left alone
}

// RequestDetail is a page of the second phase. The rows of requests say PAGE for both.
const RequestDetail = "DETAIL"

// RequestStats are how we asked under one key: what a provider could ask us about.
type RequestStats struct {
	Requests    int64            `json:"requests"` // that left
	Kinds       map[string]int64 `json:"kinds,omitempty"`
	Answered    int64            `json:"answered"` // with a status below 400
	TooMany     int64            `json:"refused_429"`
	Unavailable int64            `json:"refused_503"`
	Errors      int64            `json:"other_errors"` // other statuses, and answers that never came
	Open        int64            `json:"open"`         // announced; whether they left is not known, or not yet
	Bytes       int64            `json:"bytes"`
	Waited      time.Duration    `json:"-"` // for the gate, all together
	Waited95    time.Duration    `json:"-"` // nineteen of twenty waited no longer; rounded up

	PeakSecond   int64   `json:"peak_second"` // what requests cost that left in the busiest second
	PeakSecondAt Instant `json:"peak_second_at,omitzero"`
	PeakMinute   int64   `json:"peak_minute"`
	PeakMinuteAt Instant `json:"peak_minute_at,omitzero"`

	Cooldowns int64   `json:"cooldowns"`                        // times that the provider asked to be left alone
	OnTheWay  int64   `json:"on_the_way"`                       // requests that could not be called back any more then
	Broken    int64   `json:"sent_inside_cooldown"`             // requests that could: must be 0
	BrokenAt  Instant `json:"sent_inside_cooldown_at,omitzero"` // the first of them
}

// Refused is how many were refused because we were too fast, or the provider too busy.
func (m RequestStats) Refused() int64 { return m.TooMany + m.Unavailable }

// RefusedShare is the part that was refused, between 0 and 1.
func (m RequestStats) RefusedShare() float64 {
	return float64(m.Refused()) / float64(max(m.Requests, 1))
}

// MeanWait is how long a request waited for the gate.
func (m RequestStats) MeanWait() time.Duration {
	return m.Waited / time.Duration(max(m.Requests, 1))
}

// RequestStatsCounter counts the requests of one key as they come by, in the order in which they asked the gate, and keeps none of
// them: its size depends on how many are on their way at once and not on how many there were.
type RequestStatsCounter struct {
	manners        RequestStats
	grace          time.Duration
	order          inOrder
	second, minute *Peak
	waits          waitHistogram
	rests          []cooldownSpan
}

// cooldownSpan is a stretch in which nobody should send.
type cooldownSpan struct{ from, to Instant }

// NewRequestStats counts anew. Grace is how long after an answer a request may leave that was let out before: nobody can call
// it back.
func NewRequestStats(grace time.Duration) *RequestStatsCounter {
	return &RequestStatsCounter{manners: RequestStats{Kinds: map[string]int64{}}, grace: grace, second: NewPeak(Second), minute: NewPeak(60 * Second)}
}

// Add counts one request.
func (c *RequestStatsCounter) Add(r SentRequest) {
	m := &c.manners
	c.order.until(r.AcquiredAt, c.left) // whoever asks later leaves later
	if r.SentAt == 0 {
		if r.FinishedAt == 0 {
			m.Open++
		}
		return
	}
	c.order.add(stamp{r.SentAt, max(r.Cost, 1)}, c.left)
	m.Requests++
	m.Kinds[r.Kind]++
	m.Bytes += r.Bytes
	waited := min(r.Waited, r.SentAt.Sub(r.AcquiredAt)) // one whose cooldown was ended did not wait for all of it
	m.Waited += waited
	c.waits.add(waited)
	switch {
	case r.Status == 429:
		m.TooMany++
	case r.Status == 503:
		m.Unavailable++
	case r.Status > 0 && r.Status < 400:
		m.Answered++
	default:
		m.Errors++
	}
	if r.RetryAfter > 0 && r.FinishedAt > 0 {
		m.Cooldowns++
		c.ask(cooldownSpan{r.FinishedAt, r.FinishedAt.Add(r.RetryAfter)})
	}
}

// left counts a request when all that left before it are counted.
func (c *RequestStatsCounter) left(s stamp) {
	c.second.Add(s.at, s.cost)
	c.minute.Add(s.at, s.cost)
	for len(c.rests) > 0 && c.rests[0].to <= s.at {
		c.rests = c.rests[1:]
	}
	switch {
	case len(c.rests) == 0 || s.at <= c.rests[0].from:
	case s.at <= c.rests[0].from.Add(c.grace):
		c.manners.OnTheWay++
	default:
		if c.manners.Broken++; c.manners.BrokenAt == 0 {
			c.manners.BrokenAt = s.at
		}
	}
}

// ask keeps a rest in the order of their beginnings: of those that are not over, the first is the one to look at.
func (c *RequestStatsCounter) ask(r cooldownSpan) {
	i := len(c.rests)
	for i > 0 && c.rests[i-1].from > r.from {
		i--
	}
	c.rests = slices.Insert(c.rests, i, r)
}

// Manners is what was counted. Nothing can be added after it.
func (c *RequestStatsCounter) Manners() RequestStats {
	c.order.until(math.MaxInt64, c.left)
	m := c.manners
	m.PeakSecond, m.PeakSecondAt, m.PeakMinute, m.PeakMinuteAt = c.second.Most, c.second.At, c.minute.Most, c.minute.At
	m.Waited95 = c.waits.atMost(0.95)
	return m
}

// waitHistogram counts times in steps of an eighth of a power of two, so that any number of them takes the same room.
type waitHistogram struct {
	n     [64 * 8]int64
	total int64
}

func (w *waitHistogram) add(d time.Duration) {
	w.n[step(d)]++
	w.total++
}

// step is where a time is counted.
func step(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 0))
	if us < 8 {
		return int(us)
	}
	high := bits.Len64(us) - 1 // at least 3
	return (high-2)*8 + int(us>>(high-3))&7
}

// upper is the longest time of a step.
func upper(step int) time.Duration {
	if step < 8 {
		return time.Duration(step) * time.Microsecond
	}
	high := step/8 + 2
	return time.Duration((uint64(8+step%8+1)<<(high-3))-1) * time.Microsecond
}

// atMost is a time that a part of all did not pass.
func (w *waitHistogram) atMost(part float64) time.Duration {
	want := int64(math.Ceil(part * float64(w.total)))
	for i, n := range w.n {
		if want -= n; want <= 0 && w.total > 0 {
			return upper(i)
		}
	}
	return 0
}
