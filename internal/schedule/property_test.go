package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/schedule"
)

// part is a field as a person thinks of it: its text and the numbers that it means.
type part struct {
	text string
	has  func(n int) bool
}

// times is a schedule in the same way. It shares nothing with the parser, so that it can tell whether that is right.
type times struct{ minute, hour, day, month, weekday part }

func (x times) String() string {
	return strings.Join([]string{x.minute.text, x.hour.text, x.day.text, x.month.text, x.weekday.text}, " ")
}

func (x times) due(at time.Time) bool {
	day, weekday := x.day.has(at.Day()), x.weekday.has(int(at.Weekday()))
	today := day && weekday
	if x.day.text[0] != '*' && x.weekday.text[0] != '*' {
		today = day || weekday
	}
	return x.minute.has(at.Minute()) && x.hour.has(at.Hour()) && x.month.has(int(at.Month())) && today
}

// parts draws a field that goes from low to high.
func parts(low, high int) *rapid.Generator[part] {
	return rapid.Custom(func(t *rapid.T) part {
		a, b := rapid.IntRange(low, high).Draw(t, "a"), rapid.IntRange(low, high).Draw(t, "b")
		switch rapid.SampledFrom([]string{"*", "n", "a,b", "a-b", "*/n"}).Draw(t, "shape") {
		case "n":
			return part{fmt.Sprint(a), func(n int) bool { return n == a }}
		case "a,b":
			return part{fmt.Sprintf("%d,%d", a, b), func(n int) bool { return n == a || n == b }}
		case "a-b":
			return part{fmt.Sprintf("%d-%d", a, b), func(n int) bool {
				if a > b {
					return n >= a || n <= b
				}
				return a <= n && n <= b
			}}
		case "*/n":
			step := rapid.IntRange(1, high-low).Draw(t, "step")
			return part{fmt.Sprintf("*/%d", step), func(n int) bool { return (n-low)%step == 0 }}
		}
		return part{"*", func(int) bool { return true }}
	})
}

func schedules() *rapid.Generator[times] {
	return rapid.Custom(func(t *rapid.T) times {
		return times{
			minute: parts(0, 59).Draw(t, "minute"), hour: parts(0, 23).Draw(t, "hour"), day: parts(1, 31).Draw(t, "day"),
			month: parts(1, 12).Draw(t, "month"), weekday: parts(0, 6).Draw(t, "weekday"),
		}
	}).Filter(func(x times) bool { _, err := schedule.Parse(x.String()); return err == nil })
}

func instants() *rapid.Generator[patra.Instant] {
	return rapid.Custom(func(t *rapid.T) patra.Instant {
		at := patra.Instant(rapid.Int64Range(0, int64(patra.Date(2200, time.January, 1))).Draw(t, "at"))
		if rapid.Bool().Draw(t, "whole") {
			at -= at % patra.Minute
		}
		return at
	})
}

func TestNextIsDueAndNothingIsBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, after := schedules().Draw(t, "schedule"), instants().Draw(t, "after")
		c := cron(t, x.String())
		next := c.Next(after)
		if next <= after || next%patra.Minute != 0 || !x.due(next.Time()) {
			t.Fatalf("%s: after %s comes %s", x, after, next)
		}
		if last, ok := c.Last(next); !ok || last != next {
			t.Fatalf("%s: the newest at %s is %s, %v", x, next, last, ok)
		}
		if last, ok := c.Last(next - 1); ok && last > after {
			t.Fatalf("%s: between %s and %s is %s", x, after, next, last)
		}
		// A week minute by minute is as far as it is worth looking: what is rarer has the days of other examples.
		for at := after - after%patra.Minute + patra.Minute; at < min(next, after+7*patra.Day); at += patra.Minute {
			if x.due(at.Time()) {
				t.Fatalf("%s: between %s and %s is %s", x, after, next, at)
			}
		}
	})
}

func TestLastIsDueAndNothingIsSince(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, at := schedules().Draw(t, "schedule"), instants().Draw(t, "at")
		c := cron(t, x.String())
		last, ok := c.Last(at)
		if !ok {
			if first := c.Next(-1); first <= at {
				t.Fatalf("%s: at %s there was none, and %s is one", x, at, first)
			}
			return
		}
		if last > at || !x.due(last.Time()) {
			t.Fatalf("%s: the newest at %s is %s", x, at, last)
		}
		if next := c.Next(last); next <= at {
			t.Fatalf("%s: since %s was %s", x, last, next)
		}
	})
}

// A year of fires is what the calendar says, whatever the field.
func TestAYearOfFires(t *testing.T) {
	tests := []struct {
		cron string
		want int
	}{
		{"* * * * *", 365 * 24 * 60}, {"*/7 * * * *", 365 * 24 * 9}, {"@hourly", 365 * 24}, {"15 2 * * *", 365},
		{"0 0 * * MON-FRI", 261}, {"0 0 31 * *", 7}, {"0 0 1,15 * *", 24}, {"30 12 29 2 *", 0}, {"0 0 13 * FRI", 52 + 9},
	}
	from, to := patra.Date(2026, time.January, 1), patra.Date(2027, time.January, 1)
	for _, tt := range tests {
		c := cron(t, tt.cron)
		var fires []patra.Instant
		for at := c.Next(from - 1); at < to; at = c.Next(at) {
			fires = append(fires, at)
		}
		if len(fires) != tt.want || !slices.IsSorted(fires) {
			t.Errorf("%s: got %d, want %d", tt.cron, len(fires), tt.want)
		}
	}
}
