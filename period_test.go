package patra_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

func TestAPeriodReadsBackAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := patra.Period{
			Months: rapid.IntRange(0, 100_000).Draw(t, "months"),
			Days:   rapid.IntRange(0, 999_999).Draw(t, "days"),
			Clock:  time.Duration(rapid.IntRange(0, 999_999*3600).Draw(t, "seconds")) * time.Second,
		}
		got, err := patra.ParsePeriod(p.String())
		if err != nil || got != p {
			t.Fatalf("%+v is written %s and read %+v, %v", p, p, got, err)
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back patra.Period
		if err := json.Unmarshal(text, &back); err != nil || back != p {
			t.Fatalf("%s reads back as %+v, %v", text, back, err)
		}
	})
}

func TestTheLargestPeriodsReadBackAndLargerOnesAreRefused(t *testing.T) {
	for _, text := range []string{"P999999Y11M", "P999999D", "PT999999H"} {
		p, err := patra.ParsePeriod(text)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := patra.ParsePeriod(p.String()); err != nil || back != p {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"P999999Y12M", "P1W999999D", "PT999999H1S", "P1000000D"} {
		if p, err := patra.ParsePeriod(text); err == nil {
			t.Errorf("%s is %s", text, p)
		}
	}
}

func TestAPeriodIsTheSumOfItsUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := map[string]int{}
		draw := func(unit string) string {
			if !rapid.Bool().Draw(t, "with "+unit) {
				return ""
			}
			n[unit] = rapid.IntRange(0, 9999).Draw(t, unit)
			return fmt.Sprintf("%d%s", n[unit], unit[:1])
		}
		date := draw("Y") + draw("Month") + draw("W") + draw("D")
		clock := draw("H") + draw("Minute") + draw("S")
		if clock != "" {
			clock = "T" + clock
		}
		if date+clock == "" {
			return
		}
		got, err := patra.ParsePeriod("P" + date + clock)
		want := patra.Period{Months: 12*n["Y"] + n["Month"], Days: 7*n["W"] + n["D"], Clock: time.Duration(n["H"]*3600+n["Minute"]*60+n["S"]) * time.Second}
		if err != nil || got != want {
			t.Fatalf("P%s%s is %+v, %v; want %+v", date, clock, got, err, want)
		}
	})
}

func TestPeriodsByExample(t *testing.T) {
	for text, want := range map[string]patra.Period{
		"P1D": {Days: 1}, "P2W": {Days: 14}, "P1W3D": {Days: 10}, "P1M": {Months: 1}, "P1Y2M": {Months: 14}, "PT30M": {Clock: 30 * time.Minute},
		"P1DT12H": {Days: 1, Clock: 12 * time.Hour}, "PT0S": {}, "P0D": {}, "P007D": {Days: 7}, "P1Y2M3W4DT5H6M7S": {Months: 14, Days: 25, Clock: 5*time.Hour + 6*time.Minute + 7*time.Second},
	} {
		if got, err := patra.ParsePeriod(text); err != nil || got != want || got.IsZero() != (want == patra.Period{}) {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
	}
	for want, p := range map[string]patra.Period{
		"PT0S": {}, "P14D": {Days: 14}, "P1Y2M": {Months: 14}, "P1MT1M": {Months: 1, Clock: time.Minute}, "PT25H1S": {Clock: 25*time.Hour + time.Second},
	} {
		if p.String() != want {
			t.Errorf("%+v is written %s, want %s", p, p, want)
		}
	}
}

func TestAPeriodIsReadStrictly(t *testing.T) {
	for _, text := range []string{
		"", "P", "PT", "P1", "PT1", "1D", "D", "P1H", "PT1D", "PT1Y", "PT1W", "P1S", "P1.5D", "P1,5D", "PT0.5S", "-P1D", "+P1D", "P-1D", "P+1D", "P1DT", "P1D ", " P1D", "P 1D", "P1D\n",
		"p1d", "P1d", "Pt1h", "PT1h", "P1D1D", "P1Y1Y", "P1D1M", "P1W1M", "P1D1W", "PT1S1M", "PT1M1H", "PT1M1M", "PT1HT1M", "P1T1D", "PD", "PTH", "P1DD", "PP1D", "P1DP1D",
		"P1000000D", "P99999999999999999999D", "P١D", "P１D", "P1Ð", "1 day", "24h", "P1DT1", "PT1H2", "P1X", "P0x1D", "P1_0D", "P1e1D", "null", "P1D\x00",
	} {
		if p, err := patra.ParsePeriod(text); err == nil {
			t.Errorf("%q was read as %s", text, p)
		} else if !strings.Contains(err.Error(), "P1D, PT30M or P1M") {
			t.Errorf("%q: %q does not say what to write", text, err)
		}
	}
}

func TestDaysAndClockComeBackToWhereTheyBegan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, p := anyInstant().Draw(t, "instant"), anyPeriod().Draw(t, "period")
		p.Months = 0
		if got := p.Before(p.After(i)); got != i {
			t.Fatalf("%s after %s and back is %s", p, i, got)
		}
		if got := p.After(p.Before(i)); got != i {
			t.Fatalf("%s before %s and back is %s", p, i, got)
		}
		if want := i + patra.Instant(p.Days)*patra.Day + patra.Instant(p.Clock.Microseconds()); p.After(i) != want {
			t.Fatalf("%s after %s is %s, want %s: every day in UTC has 24 hours", p, i, p.After(i), want)
		}
	})
}

func TestMonthsComeBackToTheFirstOfTheMonth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := patra.UnitMonth.Floor(anyInstant().Draw(t, "instant"))
		p := patra.Period{Months: rapid.IntRange(0, 300).Draw(t, "months")}
		want := first.Time().Year()*12 + int(first.Time().Month()) + p.Months
		if after := p.After(first).Time(); after.Year()*12+int(after.Month()) != want || after.Day() != 1 || p.Before(p.After(first)) != first {
			t.Fatalf("%s after %s is %s", p, first, p.After(first))
		}
	})
}

func TestAPeriodNeverLeadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, p := anyInstant().Draw(t, "instant"), anyPeriod().Draw(t, "period")
		if moved := !p.IsZero(); (p.After(i) > i) != moved || (p.Before(i) < i) != moved {
			t.Fatalf("%s after %s is %s, before it %s", p, i, p.After(i), p.Before(i))
		}
	})
}
