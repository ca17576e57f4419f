package patra

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a zone means the same on every machine
)

// The windows of quotas.
const (
	QuotaHour  = "HOUR"
	QuotaDay   = "DAY"
	QuotaMonth = "MONTH"
)

// QuotaGrace is how long after its charge a request may reach the provider. One that has waited for half of it before it
// leaves is charged again, as it may have come into another window.
const QuotaGrace = time.Minute

// QuotaWindow is one stretch of time in which a provider permits so many requests.
type QuotaWindow struct {
	Code string
	Window
	Limit int64
}

// QuotaUse is how much of a quota is used in one window.
type QuotaUse struct {
	Key    string  `json:"key"`
	Window string  `json:"window"`
	From   Instant `json:"from"`
	To     Instant `json:"to"` // then it begins anew
	Limit  int64   `json:"limit"`
	Usable int64   `json:"usable"` // what is not kept in reserve
	Used   int64   `json:"used"`
}

// Left is what may still be used.
func (u QuotaUse) Left() int64 { return max(u.Usable-u.Used, 0) }

// Rate is how many were used a second, on the average of the window so far. A window that is hardly open says nothing
// yet.
func (u QuotaUse) Rate(now Instant) float64 {
	passed := min(now, u.To) - u.From
	if passed < Minute {
		return 0
	}
	return float64(u.Used) / (float64(passed) / float64(Second))
}

// Forecast tells until when a quota lasts if so many a second are used from now on. If it lasts beyond the reset, until
// is the reset. A quota that is used up lasts until now.
func Forecast(used, usable int64, reset, now Instant, perSecond float64) (until Instant, lasts bool) {
	left := usable - used
	if left <= 0 {
		return min(now, reset), false
	}
	if now >= reset || perSecond <= 0 {
		return reset, true
	}
	seconds := float64(left) / perSecond
	if seconds >= reset.Sub(now).Seconds() {
		return reset, true
	}
	return now + Instant(seconds*float64(Second)), false
}

// QuotaReserve is the part of a limit that is in reserve, in hundredths, rounded up: it is not less than was promised.
func QuotaReserve(limit int64, hundredths int) int64 {
	return limit/100*int64(hundredths) + (limit%100*int64(hundredths)+99)/100
}

// Usable is what a limit leaves beside the reserve.
func (q QuotaLimit) Usable(limit int64) int64 { return max(limit-QuotaReserve(limit, q.Reserve), 0) }

// QuotaShare is how much of the usable part an operation may use: a harvest all of it, history only a part, and an update
// half of what is between. Whoever has the smaller share stops earlier, and what is left then is for the others.
func QuotaShare(op Operation, backfill float64) float64 {
	if backfill <= 0 || backfill > 1 {
		backfill = 1
	}
	switch op {
	case Backfill:
		return backfill
	case Update:
		return (1 + backfill) / 2
	}
	return 1
}

// ShareOf is a share of what is usable, and at least one request: otherwise an operation could never do anything.
func ShareOf(usable int64, share float64) int64 {
	return min(max(int64(float64(usable)*share), 1), usable)
}

// QuotaCharge is what a request takes of a quota.
type QuotaCharge struct {
	Cost      int64
	Operation Operation
	Share     float64 // of what is usable, how much its operation may use
}

// Refusal is why a window has no room for a charge.
func (q QuotaLimit) Refusal(key string, w QuotaWindow, used int64, c QuotaCharge, now Instant) *QuotaError {
	usable := q.Usable(w.Limit)
	return &QuotaError{Key: key, Window: w.Code, From: w.From, Reset: w.To, Again: w.To.Add(q.Skew), At: now,
		Used: used, Usable: usable, Limit: w.Limit, Operation: c.Operation, Hard: used+c.Cost > usable}
}

// Told finds the window that a provider speaks of, and how much of it is used by what it says. What cannot be is not
// believed, and neither is what may be about a window that has ended.
func (q QuotaLimit) Told(now Instant, t AdvertisedQuota) (w QuotaWindow, used int64, ok bool) {
	const longest = 32 * 24 * time.Hour
	if t.Left < 0 || t.ResetIn < 0 || t.ResetIn > longest {
		return w, 0, false
	}
	if t.ResetIn > 0 {
		w, ok = q.ending(now, now.Add(t.ResetIn))
	} else {
		w, ok = q.unnamed(now)
	}
	return w, w.Limit - t.Left, ok && t.Left <= w.Limit
}

// ending is the window around now that ends at a moment, as nearly as clocks agree.
func (q QuotaLimit) ending(now, reset Instant) (found QuotaWindow, ok bool) {
	nearest := q.Skew + time.Minute
	for _, w := range q.Charged(now) {
		if off := w.To.Sub(reset).Abs(); off <= nearest {
			found, nearest, ok = w, off, true
		}
	}
	return found, ok
}

// unnamed is the window that a provider means if it does not say when it ends: the day, or the only one that it has.
// Near its beginning it may still mean the one before.
func (q QuotaLimit) unnamed(now Instant) (found QuotaWindow, ok bool) {
	all := q.At(now)
	for _, w := range all {
		if w.Code == QuotaDay || len(all) == 1 {
			return w, now >= w.From.Add(q.Skew+QuotaGrace)
		}
	}
	return found, false
}

// limits are the windows that are counted, the shortest first.
func (q QuotaLimit) limits() []QuotaWindow {
	all := []QuotaWindow{{Code: QuotaHour, Limit: q.Hourly}, {Code: QuotaDay, Limit: q.Daily}, {Code: QuotaMonth, Limit: q.Monthly}}
	return slices.DeleteFunc(all, func(w QuotaWindow) bool { return w.Limit <= 0 })
}

// location is where the provider's days begin. A zone that is not known here was refused when the source was read.
func (q QuotaLimit) location() *time.Location {
	if loc, ok := locations.Load(q.Zone); ok {
		return loc.(*time.Location)
	}
	loc, err := time.LoadLocation(q.Zone)
	if err != nil {
		loc = time.UTC
	}
	locations.Store(q.Zone, loc)
	return loc
}

// locations are those that were read already: each is a file.
var locations sync.Map

// At are the windows that a moment lies in, by our clock.
func (q QuotaLimit) At(t Instant) (all []QuotaWindow) {
	loc := q.location()
	for _, w := range q.limits() {
		w.Window = quotaWindow(w.Code, t, loc)
		all = append(all, w)
	}
	return all
}

// Charged are the windows that a request counts in if it is charged at a moment: all that the provider's clock may show
// until it has left. With room in each of them its own count stays within the limit, wherever it sees the boundary.
func (q QuotaLimit) Charged(t Instant) (all []QuotaWindow) {
	loc := q.location()
	first, last := t.Add(-q.Skew), t.Add(q.Skew+QuotaGrace)
	for _, w := range q.limits() {
		for w.Window = quotaWindow(w.Code, first, loc); ; w.Window = quotaWindow(w.Code, w.To, loc) {
			all = append(all, w)
			if w.To > last {
				break
			}
		}
	}
	return all
}

// quotaWindow is the hour, day or month around a moment, as clocks and calendars at a place have it.
func quotaWindow(code string, t Instant, loc *time.Location) Window {
	if code == QuotaHour {
		return hourAround(t.Time().In(loc))
	}
	y, m, d := t.Time().In(loc).Date()
	days, months := 1, 0
	if code == QuotaMonth {
		d, days, months = 1, 0, 1
	}
	w := Window{From: dayBegins(y, m, d, loc), To: dayBegins(y, m+time.Month(months), d+days, loc)}
	// Where clocks were once set back over midnight, a day came twice: the moment is in the one before.
	for w.From > t {
		d, m = d-days, m-time.Month(months)
		w = Window{From: dayBegins(y, m, d, loc), To: w.From}
	}
	return w
}

// dayBegins is the first moment of a day at a place, found by looking: there are days without a midnight, and days with
// two of them.
func dayBegins(y int, m time.Month, d int, loc *time.Location) Instant {
	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC) // its name, and not a moment
	before := Instant(-36) * Hour
	low, high := InstantOf(day)/Second+before/Second, InstantOf(day)/Second-before/Second
	for low < high {
		middle := low + (high-low)/2
		y, m, d := (middle * Second).Time().In(loc).Date()
		if time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Before(day) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low * Second
}

// hourAround is the time between two moments at which clocks show a full hour. Where clocks are set by half an hour there
// is one that is longer.
func hourAround(t time.Time) Window {
	from := fullHour(t)
	if began, _ := t.ZoneBounds(); !began.IsZero() && from.Before(began) {
		from = fullHour(began.Add(-1))
	}
	to := fullHour(t).Add(time.Hour)
	if _, ends := t.ZoneBounds(); !ends.IsZero() && !to.Before(ends) {
		if to = fullHour(ends); to.Before(ends) {
			to = to.Add(time.Hour)
		}
	}
	return Window{From: InstantOf(from), To: InstantOf(to)}
}

// fullHour is when a clock that is not set would have shown the last full hour.
func fullHour(t time.Time) time.Time {
	return t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
}

// QuotaError says that a request was not sent because a quota is used up.
type QuotaError struct {
	Key       string    `json:"key"`
	Window    string    `json:"window"`
	From      Instant   `json:"from"`
	Reset     Instant   `json:"reset"` // when the window ends
	Again     Instant   `json:"again"` // when it has ended by any clock that the provider may have
	At        Instant   `json:"at"`    // when it was refused
	Used      int64     `json:"used"`
	Usable    int64     `json:"usable"`
	Limit     int64     `json:"limit"`
	Operation Operation `json:"operation"`
	Hard      bool      `json:"hard"` // for every operation, and not only for the share of this one
}

// Error implements error.
func (e *QuotaError) Error() string {
	of := "quota of " + e.Key
	if !e.Hard {
		of = strings.ToLower(string(e.Operation)) + "'s share of the " + of
	} else {
		of = "the " + of
	}
	kept := ""
	if e.Usable < e.Limit {
		kept = fmt.Sprintf(", %s kept in reserve", thousands(e.Limit-e.Usable))
	}
	anew := e.Reset
	if e.At >= anew { // by our clock, and not by every clock that the provider may have
		anew = e.Again
	}
	return fmt.Sprintf("%s for %s is used up (%s of %s%s); it begins anew at %s", of, spans[e.Window], thousands(e.Used), thousands(e.Limit), kept, anew.Time().Format(time.RFC3339))
}

// Target is what it holds back: the source, or the endpoint where each counts on its own; and of that one operation, if
// only its share is used up.
func (e *QuotaError) Target(at WorkScope) Target {
	alone := strings.Contains(e.Key, "/")
	switch {
	case e.Hard && alone:
		return at.EndpointTarget()
	case e.Hard:
		return at.ProviderTarget()
	case alone:
		return at.PartitionTarget()
	}
	return at.ShareTarget()
}

// Wait is how long it takes until there is room again.
func (e *QuotaError) Wait() time.Duration { return max(e.Again.Sub(e.At), 0) }

// Defer is how long a task rests that met the quota: until the reset, and a little more, by dice from 0 to 1, so that not
// everybody comes in the same second. It is a part of what had to be waited, and never long.
func (e *QuotaError) Defer(dice float64) time.Duration {
	const least, most = 5 * time.Second, 2 * time.Minute
	wait := e.Wait()
	spread := min(max(wait/10, least), most)
	return wait + time.Duration(dice*float64(spread))
}

var spans = map[string]string{QuotaHour: "this hour", QuotaDay: "today", QuotaMonth: "this month"}

// thousands writes a number as people read it.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
