package query

import (
	"fmt"
	"strconv"
	"time"

	"patra"
)

// dateFormats are the formats that have a name, because a name is harder to get wrong than a layout.
var dateFormats = map[string]string{
	"ISO_MONTH":       "2006-01",
	"ISO_DATE":        "2006-01-02",
	"ISO_DATETIME":    "2006-01-02T15:04:05Z",
	"ISO_MILLIS":      "2006-01-02T15:04:05.000Z",
	"SLASH_DATE":      "2006/01/02",
	"COMPACT_DATE":    "20060102",
	"COMPACT_MINUTES": "200601021504",
}

// Formats that are counts, not layouts.
const (
	epochSeconds = "EPOCH_SECONDS"
	epochMillis  = "EPOCH_MILLIS"
)

// format is the field's format, or the ISO one as fine as its precision.
func (f Field) format() string {
	switch {
	case f.Format != "":
		return f.Format
	case f.precision() == patra.UnitMonth:
		return "ISO_MONTH"
	case f.precision() == patra.UnitDay:
		return "ISO_DATE"
	case f.precision() == patra.UnitMillisecond:
		return "ISO_MILLIS"
	}
	return "ISO_DATETIME"
}

// date writes a moment as the provider wants it.
func (f Field) date(i patra.Instant) string {
	switch name := f.format(); name {
	case epochSeconds:
		return strconv.FormatInt(int64(i/patra.Second), 10)
	case epochMillis:
		return strconv.FormatInt(int64(i/patra.Millisecond), 10)
	default:
		return i.Time().Format(layout(name))
	}
}

func layout(format string) string {
	if l, ok := dateFormats[format]; ok {
		return l
	}
	return format
}

// checkFormat tries the format on a moment whose every part is different: what does not read back was lost.
func (f Field) checkFormat() error {
	i := f.precision().Floor(patra.InstantOf(time.Date(2023, 11, 28, 17, 45, 56, 789e6, time.UTC)))
	var back patra.Instant
	switch name := f.format(); name {
	case epochSeconds, epochMillis:
		count, err := strconv.ParseInt(f.date(i), 10, 64)
		if err != nil {
			return err
		}
		back = patra.Instant(count) * patra.Millisecond
		if name == epochSeconds {
			back = patra.Instant(count) * patra.Second
		}
	default:
		t, err := time.Parse(layout(name), f.date(i))
		if err != nil {
			return fmt.Errorf("%q is not a date format", f.Format)
		}
		back = patra.InstantOf(t)
	}
	if back != i {
		return fmt.Errorf("the format %q does not hold a %s", f.format(), f.precision())
	}
	return nil
}
