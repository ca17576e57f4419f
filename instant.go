package patra

import (
	"fmt"
	"strconv"
	"time"
)

// Instant is a moment in UTC, in microseconds since 1970. It is what the tables hold, so that no driver,
// session zone or rounding rule can move a watermark.
type Instant int64

// Microseconds of the common units.
const (
	Millisecond Instant = 1_000
	Second              = 1_000 * Millisecond
	Minute              = 60 * Second
	Hour                = 60 * Minute
	Day                 = 24 * Hour
)

// instantText is how a bound is written in hashes and to people: always UTC, always milliseconds.
const instantText = "2006-01-02T15:04:05.000Z"

// InstantOf floors t to a microsecond: a watermark is never rounded up.
func InstantOf(t time.Time) Instant { return Instant(t.UnixMicro()) }

// Date is midnight UTC of a calendar day.
func Date(year int, month time.Month, day int) Instant {
	return InstantOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// Time converts to the standard library's type, in UTC.
func (i Instant) Time() time.Time { return time.UnixMicro(int64(i)).UTC() }

// Add moves the instant by d, floored to a microsecond.
func (i Instant) Add(d time.Duration) Instant {
	us := Instant(d / time.Microsecond)
	if d%time.Microsecond < 0 {
		us--
	}
	return i + us
}

// Sub is the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i-j) * time.Microsecond }

// String writes the instant with milliseconds, or microseconds where they matter.
func (i Instant) String() string {
	if i%Millisecond != 0 {
		return i.Time().Format("2006-01-02T15:04:05.000000Z")
	}
	return i.Time().Format(instantText)
}

// MarshalText writes what String writes, so that JSON shows text.
func (i Instant) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads what ParseInstant reads.
func (i *Instant) UnmarshalText(text []byte) error {
	v, err := ParseInstant(string(text))
	*i = v
	return err
}

// instantForms are the spellings people may use for a moment: a day means its midnight in UTC.
var instantForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"}

// ParseInstant reads a day (`2026-01-31`) or an RFC 3339 time. A time without a zone is UTC.
func ParseInstant(text string) (Instant, error) {
	for _, form := range instantForms {
		t, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		if y := t.UTC().Year(); y < 1 || y > 9999 {
			return 0, fmt.Errorf("%s lies outside the years 1 to 9999", strconv.Quote(text))
		}
		return InstantOf(t), nil
	}
	return 0, fmt.Errorf("%s is not a date or time; write 2026-01-31 or 2026-01-31T09:30:00Z", strconv.Quote(text))
}
