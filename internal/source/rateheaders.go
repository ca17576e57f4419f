package source

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"patra"
)

const (
	// longestInterval is the longest time over which a rate is told. What is counted for longer is a quota.
	longestInterval = 24 * time.Hour
	// mostTold is more than any provider permits; whatever is above it is not a rate.
	mostTold = 1_000_000
)

// Parse reads what the headers of an answer say about the rate: what is permitted, and how long to wait if nothing is left
// of it. Nonsense says nothing.
func (h RateHeaders) Parse(header http.Header, now time.Time) (told patra.AdvertisedLimit, wait time.Duration) {
	if limit, ok := count(header, h.Limit); ok && limit > 0 {
		if every, ok := h.every(header); ok {
			told.PerSecond = float64(limit) / every.Seconds()
		}
	}
	if n, ok := count(header, h.Concurrency); ok && n > 0 {
		told.Concurrency = int(n)
	}
	if left, ok := count(header, h.Remaining); ok && left == 0 {
		wait = h.reset(header, now)
	}
	return told, wait
}

// count reads a whole number from a header.
func count(header http.Header, name string) (n int64, ok bool) {
	if name == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(header.Get(name)), 10, 64)
	return n, err == nil && n >= 0 && n <= mostTold
}

// every is the interval of which the limit speaks: with a unit, or in seconds.
func (h RateHeaders) every(header http.Header) (time.Duration, bool) {
	if h.Interval == "" {
		if h.Per > 0 {
			return time.Duration(h.Per), true
		}
		return time.Second, true
	}
	text := strings.TrimSpace(header.Get(h.Interval))
	every, err := time.ParseDuration(text)
	if err != nil {
		every, err = seconds(text)
	}
	return every, err == nil && every > 0 && every <= longestInterval
}

func seconds(text string) (time.Duration, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > int64(math.MaxInt64/time.Second) {
		return -1, err
	}
	return time.Duration(n) * time.Second, nil
}

// reset is how long it takes until something is permitted again, and not longer than a provider can ask of us.
func (h RateHeaders) reset(header http.Header, now time.Time) time.Duration {
	return min(resetIn(header, h.Reset, h.ResetIs, now, longestInterval), maxRetryAfter)
}

// resetIn reads the header that says when there is more again; 0 if it says nothing. The same header means different things
// at different providers, so the source says what it is. A moment is measured against the answer's own Date where there is
// one, so that our clock does not matter. One that has passed, or is further ahead than the longest, says nothing.
func resetIn(header http.Header, name, is string, now time.Time, longest time.Duration) time.Duration {
	if name == "" {
		return 0
	}
	n, ok := headerNumber(header.Get(name))
	if !ok || n <= 0 {
		return 0
	}
	if is == resetEpoch {
		if date, err := http.ParseTime(header.Get("Date")); err == nil {
			now = date
		}
		n -= float64(now.UnixMilli()) / 1000
	}
	if n <= 0 || n > longest.Seconds() {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}
