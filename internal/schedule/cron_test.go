package schedule_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/schedule"
)

func cron(t rapid.TB, text string) schedule.Cron {
	t.Helper()
	c, err := schedule.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func instant(t rapid.TB, text string) patra.Instant {
	t.Helper()
	at, err := patra.ParseInstant(text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestNextIsTheFirstFireAfter(t *testing.T) {
	tests := []struct{ name, cron, after, want string }{
		{"each day", "15 2 * * *", "2026-11-15T02:14:59.999999Z", "2026-11-15T02:15"},
		{"strictly after", "15 2 * * *", "2026-11-15T02:15", "2026-11-16T02:15"},
		{"within the second", "15 2 * * *", "2026-11-15T02:15:00.000001Z", "2026-11-16T02:15"},
		{"over the end of a year", "0 0 1 1 *", "2026-01-01", "2027-01-01"},
		{"steps", "*/20 * * * *", "2026-11-15T02:21", "2026-11-15T02:40"},
		{"lists and ranges", "0 8-10,20 * * *", "2026-11-15T10:00", "2026-11-15T20:00"},
		{"a range over midnight", "0 22-1 * * *", "2026-11-15T22:00", "2026-11-15T23:00"},
		{"names", "0 0 * feb SUN", "2026-11-15", "2027-02-07"},
		{"seven is Sunday", "0 0 * * 7", "2026-11-14", "2026-11-15"},
		{"Friday or the 13th", "0 0 13 * 5", "2026-11-14", "2026-11-20"},
		{"the 13th or Friday", "0 0 13 * 5", "2026-12-11", "2026-12-13"},
		{"a day with a star is no day", "0 0 */2 * 1", "2026-11-15", "2026-11-23"},
		{"short months are left out", "0 0 31 * *", "2026-11-15", "2026-12-31"},
		{"leap years", "0 0 29 2 *", "2026-11-15", "2028-02-29"},
		{"eight years without one", "0 0 29 2 *", "2096-02-29", "2104-02-29"},
		{"forty years without one", "0 0 29 2 */7", "2088-02-29", "2128-02-29"},
		{"hourly", "@hourly", "2026-11-15T02:15", "2026-11-15T03:00"},
		{"daily", "@daily", "2026-11-15T02:15", "2026-11-16"},
		{"weekly", "@weekly", "2026-11-15T02:15", "2026-11-22"},
		{"monthly", "@monthly", "2026-11-15T02:15", "2026-12-01"},
		{"yearly", "@yearly", "2026-11-15T02:15", "2027-01-01"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, want := cron(t, tt.cron), instant(t, tt.want)
			if got := c.Next(instant(t, tt.after)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if got, ok := c.Last(want); !ok || got != want {
				t.Errorf("the newest at %s is %s, %v", want, got, ok)
			}
		})
	}
}

func TestLastIsTheNewestFireAtOrBefore(t *testing.T) {
	tests := []struct{ name, cron, at, want string }{
		{"just now", "15 2 * * *", "2026-11-15T02:15", "2026-11-15T02:15"},
		{"a moment ago", "15 2 * * *", "2026-11-15T02:15:00.000001Z", "2026-11-15T02:15"},
		{"in a moment", "15 2 * * *", "2026-11-15T02:14:59.999999Z", "2026-11-14T02:15"},
		{"over the end of a year", "15 2 * 12 *", "2027-06-01", "2026-12-31T02:15"},
		{"leap years", "0 0 29 2 *", "2026-11-15", "2024-02-29"},
		{"eight years without one", "0 0 29 2 *", "2104-02-28", "2096-02-29"},
		{"forty years without one", "0 0 29 2 */7", "2128-02-28", "2088-02-29"},
		{"the first of all", "@yearly", "1970-12-31", "1970-01-01"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := cron(t, tt.cron).Last(instant(t, tt.at)); !ok || got != instant(t, tt.want) {
				t.Errorf("got %s, %v, want %s", got, ok, tt.want)
			}
		})
	}
}

func TestNothingIsDueAtTheEndsOfTime(t *testing.T) {
	daily := cron(t, "@daily")
	if got := daily.Next(math.MinInt64); got != 0 {
		t.Errorf("the first fire is at %s", got)
	}
	if got, ok := daily.Last(-1); ok {
		t.Errorf("before 1970 there was one at %s", got)
	}
	if got, ok := cron(t, "0 0 2 1 *").Last(1); ok {
		t.Errorf("before the first one there was one at %s", got)
	}
	for _, at := range []patra.Instant{instant(t, "9999-12-31"), math.MaxInt64} {
		if got := daily.Next(at); got != math.MaxInt64 {
			t.Errorf("after %s there is one at %s", at, got)
		}
		if got, ok := daily.Last(at); !ok || got != instant(t, "9999-12-31") {
			t.Errorf("the last of all is %s, %v", got, ok)
		}
	}
	var none schedule.Cron
	if got := none.Next(0); got != math.MaxInt64 || !none.IsZero() || daily.IsZero() {
		t.Errorf("no schedule is due at %s", got)
	}
	if got, ok := none.Last(math.MaxInt64); ok {
		t.Errorf("no schedule was due at %s", got)
	}
}

func TestWhatIsNoScheduleIsRefusedWithTheReason(t *testing.T) {
	tests := []struct{ name, text, why string }{
		{"nothing", "", "it is empty"},
		{"spaces", " \t ", "it is empty"},
		{"a word", "daily", "it has 1 of 5 fields"},
		{"four fields", "15 2 * *", "it has 4 of 5 fields"},
		{"seconds", "0 15 2 * * *", "it has 6 fields instead of 5, and neither seconds nor years can be given"},
		{"a year", "15 2 * * * 2026", "it has 6 fields"},
		{"a time zone", "TZ=Europe/Berlin 15 2 * * *", "times are in UTC, and a time zone cannot be given"},
		{"an odd time zone", "TZ=0", "times are in UTC, and a time zone cannot be given"},
		{"another time zone", "CRON_TZ=Asia/Tokyo @daily", "times are in UTC, and a time zone cannot be given"},
		{"a small time zone", "tz=utc 15 2 * * *", "times are in UTC, and a time zone cannot be given"},
		{"the minute", "60 2 * * *", `the minute "60" is not understood, which can be * or 0 to 59, a range 1-5`},
		{"the hour", "15 24 * * *", `the hour "24" is not understood, which can be * or 0 to 23,`},
		{"the day", "15 2 0 * *", `the day "0" is not understood, which can be * or 1 to 31,`},
		{"the month", "15 2 * Febr *", `the month "Febr" is not understood, which can be * or 1 to 12 or JAN to DEC,`},
		{"the weekday", "15 2 * * 8", `the weekday "8" is not understood, which can be * or 0 to 7 or SUN to SAT,`},
		{"a wide step", "*/60 * * * *", `the minute "*/60"`},
		{"no step", "*/0 * * * *", `the minute "*/0"`},
		{"a signed step", "*/+5 * * * *", `the minute "*/+5"`},
		{"an empty step", "*/ * * * *", `the minute "*/"`},
		{"two steps", "*/5/2 * * * *", `the minute "*/5/2"`},
		{"a signed number", "+5 * * * *", `the minute "+5"`},
		{"a range that begins too far", "60-5 * * * *", `the minute "60-5"`},
		{"a range that begins nowhere", "* 70-2 * * *", `the hour "70-2"`},
		{"a step that begins too far", "70/5 * * * *", `the minute "70/5"`},
		{"a range without an end", "5- * * * *", `the minute "5-"`},
		{"a range of ranges", "1-5-9 * * * *", `the minute "1-5-9"`},
		{"a star in a range", "* *-5 * * *", `the hour "*-5"`},
		{"a list of nothing", ", * * * *", `the minute ","`},
		{"a list with a hole", "1,,3 * * * *", `the minute "1,,3"`},
		{"a question mark", "15 2 ? * *", `the day "?"`},
		{"the last day", "15 2 L * *", `the day "L"`},
		{"the third Friday", "15 2 * * FRI#3", `the weekday "FRI#3"`},
		{"a hash", "H 2 * * *", `the minute "H"`},
		{"a huge number", "99999999999999999999 2 * * *", `the minute "99999999999999999999"`},
		{"a word that is not known", "@sometimes", "of the words with @ there are @hourly, @daily, @weekly, @monthly and @yearly"},
		{"a pace instead of times", "@every 1h", "of the words with @"},
		{"a pace in five words", "@every 1 2 3 4", "of the words with @"},
		{"no times at all", "@manual", "of the words with @"},
		{"a day that never comes", "0 0 30 2 *", "its day never comes"},
		{"days that never come", "0 0 31 4,6,9,11 *", "its day never comes"},
		{"a novel", strings.Repeat("0,", 200) + "0 * * * *", "it has more than 200 characters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := schedule.Parse(tt.text)
			if err == nil {
				t.Fatalf("%q was read, and is next due at %s", tt.text, c.Next(0))
			}
			if got := err.Error(); !strings.Contains(got, "is not a schedule: "+tt.why) || !strings.HasSuffix(got, `in UTC, as in "15 2 * * *"`) {
				t.Errorf("got %s", got)
			}
			if !c.IsZero() {
				t.Errorf("%s came with the refusal", c)
			}
		})
	}
}

func TestAScheduleIsWrittenAsItWasRead(t *testing.T) {
	var c schedule.Cron
	if err := json.Unmarshal([]byte(`" 15 2 * * MON "`), &c); err != nil || c.String() != "15 2 * * MON" {
		t.Fatalf("got %q, %v", c, err)
	}
	if text, err := json.Marshal(c); err != nil || string(text) != `"15 2 * * MON"` {
		t.Errorf("got %s, %v", text, err)
	}
	if err := c.UnmarshalText([]byte("never")); err == nil || c.String() != "15 2 * * MON" {
		t.Errorf("got %q, %v", c, err)
	}
}

func TestTheExampleIsASchedule(t *testing.T) {
	cron(t, schedule.Example)
}
