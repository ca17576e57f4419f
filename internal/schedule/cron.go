package schedule

import (
	"math"
	"strings"
	"time"

	"github.com/netresearch/go-cron"

	"patra"
)

// never stands for a time that does not come.
const never = patra.Instant(math.MaxInt64)

// lastYear is the last year in which anything is due, as it is the last that a date can be written in.
const lastYear = 9999

// searchYears bounds the search for a fire. The rarest day is a 29th of February on one day of the week, which stays
// away for 40 years around 2100.
const searchYears = 40

var parser = cron.MustNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor).
	WithMaxSearchYears(searchYears)

// Cron is the times at which a job is due, in UTC. The zero value is never due.
type Cron struct {
	text string
	spec *cron.SpecSchedule
}

// Parse reads minute, hour, day, month and weekday as crontab(5) has them, or a word such as @daily. Seconds, time zones
// and days that never come are refused.
func Parse(text string) (Cron, error) {
	text = strings.TrimSpace(text)
	if why := shape(text); why != "" {
		return Cron{}, refusal(text, why)
	}
	parsed, err := parser.Parse(text)
	spec, ok := parsed.(*cron.SpecSchedule)
	if err != nil || !ok {
		return Cron{}, refusal(text, explain(text))
	}
	spec.Location = time.UTC
	spec.DowOrDom = eitherDay(text)
	c := Cron{text: text, spec: spec}
	if c.Next(patra.Date(2000, time.January, 1)) == never {
		return Cron{}, refusal(text, "its day never comes")
	}
	return c, nil
}

// eitherDay tells whether a day of the month and a day of the week are both given. As in crontab(5) either of them is
// enough then, and one that begins with a * counts as not given.
func eitherDay(text string) bool {
	parts := strings.Fields(text)
	return len(parts) == len(fields) && parts[2][0] != '*' && parts[4][0] != '*'
}

// IsZero tells whether there is nothing to be due.
func (c Cron) IsZero() bool { return c.spec == nil }

// Next is the first fire after an instant, or the end of time if there is none. Nothing is due before 1970 or after the
// year 9999.
func (c Cron) Next(after patra.Instant) patra.Instant {
	if c.IsZero() {
		return never
	}
	t := c.spec.Next(max(after, -1).Time())
	if t.IsZero() || t.Year() > lastYear {
		return never
	}
	return patra.InstantOf(t)
}

// Last is the newest fire at or before an instant; false says that there is none.
func (c Cron) Last(at patra.Instant) (patra.Instant, bool) {
	if c.IsZero() || at < 0 {
		return 0, false
	}
	// The search looks for what is earlier, in whole seconds.
	before := min(at, patra.Date(lastYear+1, time.January, 1)-1).Time().Truncate(time.Second).Add(time.Second)
	t := c.spec.Prev(before)
	if t.IsZero() || t.Unix() < 0 {
		return 0, false
	}
	return patra.InstantOf(t), true
}

// String is the text that was read.
func (c Cron) String() string { return c.text }

// MarshalText writes what UnmarshalText reads.
func (c Cron) MarshalText() ([]byte, error) { return []byte(c.text), nil }

// UnmarshalText reads what Parse reads.
func (c *Cron) UnmarshalText(text []byte) error {
	read, err := Parse(string(text))
	if err != nil {
		return err
	}
	*c = read
	return nil
}
