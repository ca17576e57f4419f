package patra_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

func TestAnInstantReadsBackAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := anyInstant().Draw(t, "instant")
		if got, err := patra.ParseInstant(i.String()); err != nil || got != i {
			t.Fatalf("%d is written %s and read %d, %v", i, i, got, err)
		}
		if patra.InstantOf(i.Time()) != i || i.Time().Location() != time.UTC {
			t.Fatalf("%s becomes %s", i, i.Time())
		}
		text, err := json.Marshal(i)
		if err != nil {
			t.Fatal(err)
		}
		var back patra.Instant
		if err := json.Unmarshal(text, &back); err != nil || back != i {
			t.Fatalf("%s reads back as %s, %v", text, back, err)
		}
	})
}

func TestAMomentIsFlooredToAMicrosecondBeforeAndAfter1970(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, ns := anyInstant().Draw(t, "instant"), rapid.IntRange(0, 999).Draw(t, "nanoseconds")
		if got := patra.InstantOf(i.Time().Add(time.Duration(ns))); got != i {
			t.Fatalf("%s and %d ns is %s", i, ns, got)
		}
	})
}

func TestInstantsAreWrittenInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := patra.UnitMillisecond.Floor(anyInstant().Draw(t, "a"))
		b := patra.UnitMillisecond.Floor(anyInstant().Draw(t, "b"))
		if (a < b) != (a.String() < b.String()) {
			t.Fatalf("%d and %d are written %s and %s", a, b, a, b)
		}
	})
}

func TestInstantForms(t *testing.T) {
	day := patra.Date(2026, time.January, 31)
	for text, want := range map[string]patra.Instant{
		"2026-01-31":                       day,
		"2026-01-31T00:00":                 day,
		"2026-01-31T09:30":                 day + 9*patra.Hour + 30*patra.Minute,
		"2026-01-31T09:30:15":              day + 9*patra.Hour + 30*patra.Minute + 15*patra.Second,
		"2026-01-31T09:30:15Z":             day + 9*patra.Hour + 30*patra.Minute + 15*patra.Second,
		"2026-01-31T09:30:15.25Z":          day + 9*patra.Hour + 30*patra.Minute + 15*patra.Second + 250*patra.Millisecond,
		"2026-01-31T01:00:00+02:00":        day - patra.Hour,
		"2026-01-30T22:00:00-02:00":        day,
		"2026-01-31T00:00:00.000000999Z":   day,
		"1969-12-31T23:59:59.999999999Z":   -1,
		"2024-02-29":                       patra.Date(2024, time.February, 29),
		"0001-01-01":                       earliest,
		"9999-12-31T23:59:59.999999Z":      latest,
		"0001-01-01T01:00:00+01:00":        earliest,
		"9999-12-31T22:59:59.999999-01:00": latest,
	} {
		if got, err := patra.ParseInstant(text); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestWhatIsNoMomentIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "yesterday", "2026", "2026-01", "2026-1-31", "2026-02-29", "2026-13-01", "2026-01-32", "31.01.2026", "01/31/2026", "2026-01-31 09:30", "2026-01-31T24:00:00Z",
		"2026-01-31T09:60:00Z", "2026-01-31T09:30:60Z", " 2026-01-31", "2026-01-31 ", "20260131", "2026-01-31Z", "2026-01-31T09", "1767225600", "2026-01-31T09:30:00z",
		"0000-12-31", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "10000-01-01", "-0001-01-01", "+2026-01-31",
	} {
		if got, err := patra.ParseInstant(text); err == nil {
			t.Errorf("%q was read as %s", text, got)
		}
	}
}

func TestAnInstantIsWrittenWithMillisecondsOrMicroseconds(t *testing.T) {
	for want, i := range map[string]patra.Instant{
		"1970-01-01T00:00:00.000Z":    0,
		"1970-01-01T00:00:00.000001Z": 1,
		"1970-01-01T00:00:00.001Z":    patra.Millisecond,
		"1969-12-31T23:59:59.999999Z": -1,
		"2026-03-01T00:00:00.000Z":    patra.Date(2026, time.March, 1),
	} {
		if i.String() != want {
			t.Errorf("%d is written %s, want %s", i, i, want)
		}
	}
}

func TestAddMovesByWholeMicroseconds(t *testing.T) {
	for _, tt := range []struct {
		from patra.Instant
		by   time.Duration
		want patra.Instant
	}{{0, time.Second, patra.Second}, {patra.Day, -24 * time.Hour, 0}, {5, 1500 * time.Nanosecond, 6}, {5, 0, 5}} {
		if got := tt.from.Add(tt.by); got != tt.want {
			t.Errorf("%d plus %s is %d, want %d", tt.from, tt.by, got, tt.want)
		}
	}
}

func TestSubtractingNeverRoundsUp(t *testing.T) {
	if got := patra.Instant(5).Add(-1500 * time.Nanosecond); got != 3 {
		t.Errorf("5 less 1.5 us is %d, want 3", got)
	}
}
