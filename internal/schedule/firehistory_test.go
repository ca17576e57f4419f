package schedule

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

func must(t rapid.TB, text string) Cron {
	t.Helper()
	c, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func at(t rapid.TB, text string) patra.Instant {
	t.Helper()
	i, err := patra.ParseInstant(text)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// looks are glances at the clock, one after the other, with the fire that each of them brings.
type looks []struct{ now, fire string }

func TestDue(t *testing.T) {
	tests := []struct {
		name, cron  string
		start, last string // last is empty: never
		looks       looks
	}{
		{"a new job waits for its first time", "15 2 * * *", "2026-11-15T10:00", "", looks{
			{"2026-11-15T10:00", ""}, {"2026-11-16T02:14:59", ""}, {"2026-11-16T02:15", "2026-11-16T02:15"}}},
		{"a new job that starts on its time waits for the next", "15 2 * * *", "2026-11-15T02:15", "", looks{
			{"2026-11-15T02:15", ""}, {"2026-11-15T02:16", ""}, {"2026-11-16T02:15", "2026-11-16T02:15"}}},
		{"a job that missed nothing waits", "15 2 * * *", "2026-11-15T10:00", "2026-11-15T02:15", looks{
			{"2026-11-15T10:00", ""}, {"2026-11-16T02:15", "2026-11-16T02:15"}}},
		{"one that was missed is made good", "15 2 * * *", "2026-11-15T10:00", "2026-11-14T02:15", looks{
			{"2026-11-15T10:00", "2026-11-15T02:15"}, {"2026-11-15T10:01", ""}}},
		{"many that were missed are made good once", "* * * * *", "2026-11-15T10:00:30", "2026-10-01", looks{
			{"2026-11-15T10:00:30", "2026-11-15T10:00"}, {"2026-11-15T10:00:59", ""}, {"2026-11-15T10:01", "2026-11-15T10:01"}}},
		{"a fire is done once, however often one looks", "* * * * *", "2026-11-15T10:00", "", looks{
			{"2026-11-15T10:01", "2026-11-15T10:01"}, {"2026-11-15T10:01", ""}, {"2026-11-15T10:01:59.999999Z", ""}}},
		{"the machine slept", "*/10 * * * *", "2026-11-15T10:00", "", looks{
			{"2026-11-15T10:10", "2026-11-15T10:10"}, {"2026-11-17T07:05", "2026-11-17T07:00"}, {"2026-11-17T07:05:30", ""}, {"2026-11-17T07:10", "2026-11-17T07:10"}}},
		{"the clock goes back a little", "15 2 * * *", "2026-11-15T02:00", "", looks{
			{"2026-11-15T02:15", "2026-11-15T02:15"}, {"2026-11-15T02:14:58", ""}, {"2026-11-15T02:15", ""}, {"2026-11-16T02:15", "2026-11-16T02:15"}}},
		{"the clock goes back an hour, which was done", "*/20 * * * *", "2026-11-15T09:50", "", looks{
			{"2026-11-15T10:00", "2026-11-15T10:00"}, {"2026-11-15T10:20", "2026-11-15T10:20"}, {"2026-11-15T10:40", "2026-11-15T10:40"},
			{"2026-11-15T09:45", ""}, {"2026-11-15T10:00", ""}, {"2026-11-15T10:20", ""}, {"2026-11-15T10:41", ""}, {"2026-11-15T11:00", "2026-11-15T11:00"}}},
		{"the clock goes back before the start", "@hourly", "2026-11-15T10:00", "", looks{
			{"2026-11-15T08:30", ""}, {"2026-11-15T09:00", "2026-11-15T09:00"}, {"2026-11-15T10:00", "2026-11-15T10:00"}}},
		{"a clock that was a year ahead silences nobody", "15 2 * * *", "2026-11-15T02:00", "", looks{
			{"2026-11-15T02:15", "2026-11-15T02:15"}, {"2027-11-15T12:00", "2027-11-15T02:15"}, {"2026-11-15T12:00", ""},
			{"2026-11-16T02:15", "2026-11-16T02:15"}, {"2027-11-14T02:15", "2027-11-14T02:15"}, {"2027-11-15T02:15", ""}, {"2027-11-16T02:15", "2027-11-16T02:15"}}},
		{"a fire of the future in the store silences nobody", "15 2 * * *", "2026-11-15T02:14", "2026-11-17T02:15", looks{
			{"2026-11-15T02:14", ""}, {"2026-11-15T02:15", "2026-11-15T02:15"}, {"2026-11-16T02:15", "2026-11-16T02:15"}, {"2026-11-17T02:15", ""}, {"2026-11-18T02:15", "2026-11-18T02:15"}}},
		{"other times than when it was last fired", "@hourly", "2026-11-15T10:30", "2026-11-15T02:15", looks{
			{"2026-11-15T10:30", "2026-11-15T10:00"}, {"2026-11-15T10:31", ""}}},
		{"once in four years", "0 0 29 2 *", "2026-11-15", "2020-02-29", looks{
			{"2026-11-15", "2024-02-29"}, {"2028-02-28", ""}, {"2028-03-01", "2028-02-29"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var last *patra.Instant
			if tt.last != "" {
				last = new(at(t, tt.last))
			}
			c, p := must(t, tt.cron), remember(at(t, tt.start), last)
			for _, look := range tt.looks {
				got, ok := p.due(at(t, look.now), c)
				if ok != (look.fire != "") || ok && got != at(t, look.fire) {
					t.Fatalf("at %s: got %s, %v, want %q", look.now, got, ok, look.fire)
				}
			}
		})
	}
}

// Whatever the clock does, a fire is never in the future, never done twice, and never left out where time went by
// minute after minute.
func TestNoFireIsDoneTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := must(t, rapid.SampledFrom([]string{"* * * * *", "*/7 * * * *", "5,50 * * * *", "15 2 * * *"}).Draw(t, "cron"))
		now := patra.Date(2026, time.November, 15)
		p := remember(now, nil)
		done := map[patra.Instant]bool{}
		for range rapid.IntRange(1, 300).Draw(t, "looks") {
			before := now
			switch rapid.SampledFrom([]string{"on", "on", "on", "on", "leap", "back"}).Draw(t, "clock") {
			case "on":
				now += patra.Instant(rapid.Int64Range(0, int64(patra.Minute)).Draw(t, "by"))
			case "leap":
				now += patra.Instant(rapid.Int64Range(0, int64(3*patra.Day)).Draw(t, "by"))
			case "back":
				now -= patra.Instant(rapid.Int64Range(0, int64(3*patra.Day)).Draw(t, "by"))
			}
			fire, ok := p.due(now, c)
			newest, _ := c.Last(now)
			switch {
			case ok && (fire != newest || done[fire]):
				t.Fatalf("at %s: %s is fired, which was done: %v", now, fire, done[fire])
			case !ok && newest > before && !done[newest]:
				t.Fatalf("at %s: %s is left out", now, newest)
			}
			if ok {
				done[fire] = true
			}
		}
	})
}

func TestWhatIsRememberedStaysSmall(t *testing.T) {
	c, start := must(t, "* * * * *"), patra.Date(2026, time.November, 15)
	onTime, late := remember(start, nil), remember(start, nil)
	for i := range patra.Instant(10_000) {
		onTime.due(start+i*patra.Minute, c)
		late.due(start+2*i*patra.Minute, c)
	}
	if len(onTime.fired) != 1 {
		t.Errorf("a job on time has %d spans", len(onTime.fired))
	}
	if len(late.fired) != maxSpans {
		t.Errorf("a job that is always late has %d spans", len(late.fired))
	}
	for i := range patra.Instant(10_000) {
		if fire, ok := late.due(start+2*i*patra.Minute, c); ok {
			t.Fatalf("%s is fired again", fire)
		}
	}
}

func TestTheClockIsLookedAtOften(t *testing.T) {
	tests := []struct {
		now, next string
		want      time.Duration
	}{
		{"2026-11-15T02:00", "2026-11-15T02:15", pulse},
		{"2026-11-15T02:14:50", "2026-11-15T02:15", 10 * time.Second},
		{"2026-11-15T02:14:59.999999Z", "2026-11-15T02:15", time.Microsecond},
	}
	for _, tt := range tests {
		if got := wait(at(t, tt.now), at(t, tt.next)); got != tt.want {
			t.Errorf("at %s: got %s, want %s", tt.now, got, tt.want)
		}
	}
	if got := wait(-1, never); got != pulse {
		t.Errorf("got %s", got)
	}
}
