package schedule_test

import (
	"math"
	"strings"
	"testing"

	"patra"
	"patra/internal/schedule"
)

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"15 2 * * *", "*/20 8-10,20 1,15 feb MON-FRI", "0 0 29 2 */7", "@daily", "@every 1h", "@every -1ns", "TZ=0", "TZ= * * * * *",
		"CRON_TZ=UTC @hourly", "60-5 70/5 *-3 , 7", "0 0 30 2 *", "* * * * * *", "\x00 \xff * *\u00a0*", "H(0-5)/2 L 15W * 5#2", "1/18446744073709551615 * * * *",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := schedule.Parse(text)
		if err != nil {
			if !strings.Contains(err.Error(), schedule.Example) || !c.IsZero() {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if again, err := schedule.Parse(c.String()); err != nil || again.Next(0) != c.Next(0) {
			t.Fatalf("%q is written %q, which is not the same: %v", text, c, err)
		}
		for _, after := range []patra.Instant{math.MinInt64, -1, 0, 951_782_400_000_000, 1_794_700_000_000_001} {
			next := c.Next(after)
			if next <= after || next == math.MaxInt64 {
				t.Fatalf("%q: after %s comes %s", text, after, next)
			}
			if last, ok := c.Last(next); !ok || last != next {
				t.Fatalf("%q: the newest at %s is %s, %v", text, next, last, ok)
			}
		}
		if got := c.Next(math.MaxInt64); got != math.MaxInt64 {
			t.Fatalf("%q: after all comes %s", text, got)
		}
		c.Last(math.MaxInt64)
		c.Last(math.MinInt64)
	})
}
