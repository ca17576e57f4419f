package sim

import (
	"slices"
	"testing"
	"time"
)

// A living world is a function of the time: who asks, and how often, makes no difference.
func TestALivingWorldMovesWithTheTime(t *testing.T) {
	var counts [2][]int
	var happened [2]int64
	for i, asked := range []int{1, 3} {
		c, now := small(20), newClock()
		c.To, c.Living, c.Now = newYear.AddDate(0, 0, 90), true, now.now
		now.t = newYear
		s := New(c)
		for range 90 {
			now.pass(24 * time.Hour)
			for range asked {
				get(t, s.Handler(), "rows", "0")
			}
			counts[i] = append(counts[i], s.Crossref().Count(newYear, newYear.AddDate(0, 0, 90)))
		}
		happened[i] = s.Stats().Moves
		late, changed := map[string]int{}, 0
		for v := range s.Crossref().Journal() {
			switch delay := v.From.Sub(v.At); {
			case v.From.IsZero():
			case v.Number == 2:
				changed++
				if delay < 0 || delay > time.Second {
					t.Errorf("%s changed at %s and says %s", v.ID, v.From, v.At)
				}
			case delay <= 28*time.Minute:
				late["minutes"]++
			case delay <= 21*time.Hour:
				late["hours"]++
			default:
				late["days"]++
			}
		}
		if journal, all := slices.Collect(s.Crossref().Journal()), slices.Collect(s.Crossref().Chronicle()); len(all) != len(journal) {
			t.Errorf("%d versions were to be, and %d were", len(all), len(journal))
		}
		if changed < 50 || late["minutes"] == 0 || late["hours"] == 0 || late["days"] == 0 {
			t.Errorf("%d changed, late %v", changed, late)
		}
	}
	if happened[0] != happened[1] || happened[0] == 0 {
		t.Errorf("%v moves", happened)
	}
	for i := range counts[0] {
		if counts[0][i] != counts[1][i] {
			t.Fatalf("day %d has %d or %d", i, counts[0][i], counts[1][i])
		}
	}
}
