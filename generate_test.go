package patra_test

import (
	"time"

	"pgregory.net/rapid"

	"patra"
)

// The small universe: instants are integers from low to high, so that a set of them can be held instant by instant.
const low, high = patra.Instant(-12), patra.Instant(36)

// points is a set of instants held one by one: the model that interval algebra is compared with.
type points [high - low]bool

func (s *points) add(w patra.Window) {
	for i := max(w.From, low); i < min(w.To, high); i++ {
		s[i-low] = true
	}
}

func (s *points) has(i patra.Instant) bool { return low <= i && i < high && s[i-low] }

// hasAll reports whether every instant of [from, to) is in the set.
func (s *points) hasAll(from, to patra.Instant) bool {
	for i := from; i < to; i++ {
		if !s.has(i) {
			return false
		}
	}
	return true
}

func pointsOf(ws ...patra.Window) *points {
	s := &points{}
	for _, w := range ws {
		s.add(w)
	}
	return s
}

// smallInstant draws from the universe, its end included.
func smallInstant() *rapid.Generator[patra.Instant] {
	return rapid.Map(rapid.Int64Range(int64(low), int64(high)), func(i int64) patra.Instant { return patra.Instant(i) })
}

// smallWindow draws windows of the universe, some of them empty or inverted.
func smallWindow() *rapid.Generator[patra.Window] {
	return rapid.Custom(func(t *rapid.T) patra.Window {
		from := smallInstant().Draw(t, "from")
		return patra.Window{From: from, To: min(high, from+patra.Instant(rapid.IntRange(-1, 9).Draw(t, "length")))}
	})
}

func smallWindows() *rapid.Generator[[]patra.Window] { return rapid.SliceOfN(smallWindow(), 0, 9) }

// earliest and latest bound the instants that can be written down.
var earliest, latest = patra.Date(1, time.January, 1), patra.Date(10000, time.January, 1) - 1

// anyInstant draws from everything that can be written, often near today and often on a round moment.
func anyInstant() *rapid.Generator[patra.Instant] {
	return rapid.Custom(func(t *rapid.T) patra.Instant {
		from, to := patra.Date(1940, time.January, 1), patra.Date(2040, time.January, 1)
		if rapid.IntRange(0, 3).Draw(t, "era") == 0 {
			from, to = earliest, latest
		}
		i := patra.Instant(rapid.Int64Range(int64(from), int64(to)).Draw(t, "instant"))
		if rapid.Bool().Draw(t, "round") {
			i = max(earliest, anyUnit().Draw(t, "round to").Floor(i))
		}
		return i
	})
}

func anyUnit() *rapid.Generator[patra.Unit] { return rapid.SampledFrom(patra.Units) }

// anyPeriod draws periods of whole seconds that a source might name.
func anyPeriod() *rapid.Generator[patra.Period] {
	return rapid.Custom(func(t *rapid.T) patra.Period {
		return patra.Period{
			Months: rapid.IntRange(0, 30).Draw(t, "months"),
			Days:   rapid.IntRange(0, 70).Draw(t, "days"),
			Clock:  time.Duration(rapid.IntRange(0, 200_000).Draw(t, "seconds")) * time.Second,
		}
	})
}

func ptr[T any](v T) *T { return &v }
