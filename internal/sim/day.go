package sim

import "time"

// A day is a UTC calendar day, counted from 1 January of the year 1 so that every day a person can name is positive.
type day int

const (
	msPerDay     = 24 * 60 * 60 * 1000
	epochDay day = 719162 // 1 January 1970
)

func dayOf(t time.Time) day {
	t = t.UTC()
	midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return epochDay + day(midnight.Unix()/(24*60*60))
}

func dayOfMS(ms int64) day { return dayOf(time.UnixMilli(ms)) }

func (d day) ms() int64 { return int64(d-epochDay) * msPerDay }

func (d day) time() time.Time { return time.UnixMilli(d.ms()).UTC() }

func (d day) weekend() bool {
	w := d.time().Weekday()
	return w == time.Saturday || w == time.Sunday
}
