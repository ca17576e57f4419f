package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Duration is a length of time that a person writes as 60s, 10m, 12h, 90d or 1d12h. A day is always 24 hours here: a
// length of time has no calendar.
type Duration time.Duration

var errDuration = errors.New("is not a length of time such as 90s, 10m, 12h or 90d")

// UnmarshalText reads a length of time that is not negative.
func (d *Duration) UnmarshalText(text []byte) error {
	written := string(text)
	if strings.HasPrefix(written, "-") {
		return fmt.Errorf("%q is below zero, and a length of time cannot be", written)
	}
	days, rest, found := strings.Cut(written, "d")
	if !found {
		days, rest = "0", written
	}
	n, err := strconv.ParseUint(days, 10, 32)
	if err != nil || strings.ContainsAny(rest, "+-") {
		return fmt.Errorf("%q %w", written, errDuration)
	}
	var part time.Duration
	if rest != "" || !found {
		if part, err = time.ParseDuration(rest); err != nil {
			return fmt.Errorf("%q %w", written, errDuration)
		}
	}
	if n > uint64((math.MaxInt64-part)/day) {
		return fmt.Errorf("%q is longer than can be counted", written)
	}
	*d = Duration(time.Duration(n)*day + part)
	return nil
}

// String writes the duration the way a person would: 1m and not 1m0s, 90d and not 2160h0m0s.
func (d Duration) String() string {
	rest := time.Duration(d)
	days := ""
	if rest >= day {
		days = strconv.FormatInt(int64(rest/day), 10) + "d"
		if rest %= day; rest == 0 {
			return days
		}
	}
	text := rest.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return days + text
}

// MarshalText writes what UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
