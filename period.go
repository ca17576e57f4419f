package patra

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Period is an ISO-8601 duration (`P1D`, `PT30M`, `P1M`). Months and days stay calendar units: a month is
// never thirty days, because a slice that ends on the wrong day owns the wrong records.
type Period struct {
	Months int
	Days   int
	Clock  time.Duration
}

// IsZero reports whether the period moves nothing.
func (p Period) IsZero() bool { return p == Period{} }

// After is the instant one period later.
func (p Period) After(i Instant) Instant { return p.shift(i, 1) }

// Before is the instant one period earlier.
func (p Period) Before(i Instant) Instant { return p.shift(i, -1) }

// firstMonday is where the grid of steps without months begins, so that a step of seven days is a week.
const firstMonday = 4 * Day

// Floor is the last point of the period's own grid at or before i: whole months are counted from the year 0, everything
// else from the first Monday of 1970.
func (p Period) Floor(i Instant) Instant {
	if p.Months > 0 {
		t := i.Time()
		month := t.Year()*12 + int(t.Month()) - 1
		return Date(0, time.Month(month-month%p.Months+1), 1)
	}
	length := Instant(p.Days)*Day + Instant(p.Clock.Microseconds())
	if length <= 0 {
		return i
	}
	rest := (i - firstMonday) % length
	if rest < 0 {
		rest += length
	}
	return i - rest
}

func (p Period) shift(i Instant, sign int) Instant {
	return InstantOf(i.Time().AddDate(0, sign*p.Months, sign*p.Days)).Add(time.Duration(sign) * p.Clock)
}

// String writes the shortest ISO form.
func (p Period) String() string {
	var b strings.Builder
	b.WriteByte('P')
	writeUnit(&b, p.Months/12, 'Y')
	writeUnit(&b, p.Months%12, 'M')
	writeUnit(&b, p.Days, 'D')
	if p.Clock != 0 {
		b.WriteByte('T')
		writeUnit(&b, int(p.Clock/time.Hour), 'H')
		writeUnit(&b, int(p.Clock%time.Hour/time.Minute), 'M')
		if s := p.Clock % time.Minute; s != 0 {
			b.WriteString(strconv.FormatFloat(s.Seconds(), 'f', -1, 64) + "S")
		}
	}
	if b.Len() == 1 {
		return "PT0S"
	}
	return b.String()
}

func writeUnit(b *strings.Builder, n int, unit byte) {
	if n != 0 {
		b.WriteString(strconv.Itoa(n))
		b.WriteByte(unit)
	}
}

// MarshalText writes the ISO form.
func (p Period) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the ISO form.
func (p *Period) UnmarshalText(text []byte) error {
	v, err := ParsePeriod(string(text))
	*p = v
	return err
}

// ParsePeriod reads an ISO-8601 duration strictly: every number has a unit, units come once and in order,
// nothing is negative, and `P` or `PT` alone is refused.
func ParsePeriod(text string) (Period, error) {
	bad := fmt.Errorf("%q is not a duration; write P1D, PT30M or P1M", text)
	rest, ok := strings.CutPrefix(text, "P")
	if !ok || rest == "" {
		return Period{}, bad
	}
	date, clock, hasClock := strings.Cut(rest, "T")
	if hasClock && clock == "" {
		return Period{}, bad
	}
	var p Period
	err := readUnits(date, "YMWD", func(unit byte, n int64) {
		switch unit {
		case 'Y':
			p.Months += int(n) * 12
		case 'M':
			p.Months += int(n)
		case 'W':
			p.Days += int(n) * 7
		case 'D':
			p.Days += int(n)
		}
	})
	if err == nil {
		err = readUnits(clock, "HMS", func(unit byte, n int64) {
			p.Clock += time.Duration(n) * map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second}[unit]
		})
	}
	if err != nil || p.Months > maxMonths || p.Days > maxDays || p.Clock > maxClock {
		return Period{}, bad
	}
	return p, nil
}

// ParseSpan reads a duration as people type it, such as 30d, 2w or 6h, or in the ISO form.
func ParseSpan(text string) (Period, error) {
	if n := len(text); n > 1 && strings.Trim(text[:n-1], "0123456789") == "" {
		switch unit := text[n-1]; unit {
		case 'd', 'w':
			text = "P" + strings.ToUpper(text)
		case 'h', 'm', 's':
			text = "PT" + strings.ToUpper(text)
		}
	}
	p, err := ParsePeriod(text)
	if err != nil {
		return p, fmt.Errorf("%q is not a duration; write 30d, 2w, 6h or P30D", text)
	}
	return p, nil
}

// No period of a harvest is longer; what is within reads back as it was printed.
const (
	maxMonths = 12*999_999 + 11
	maxDays   = 999_999
	maxClock  = 999_999 * time.Hour
)

// readUnits reads `12X34Y` where the letters must be a subsequence of order.
func readUnits(s, order string, use func(unit byte, n int64)) error {
	for s != "" {
		end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if end <= 0 || end > 6 { // six digits keep every product far from overflow
			return strconv.ErrSyntax
		}
		at := strings.IndexByte(order, s[end])
		if at < 0 {
			return strconv.ErrSyntax
		}
		n, err := strconv.ParseInt(s[:end], 10, 64)
		if err != nil {
			return err
		}
		use(s[end], n)
		order, s = order[at+1:], s[end+1:]
	}
	return nil
}
