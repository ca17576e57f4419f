package patra_test

import (
	"testing"

	"pgregory.net/rapid"

	"patra"
)

func TestAWalkIsTooLongOrTooTroubledOnlyBeyondItsLimits(t *testing.T) {
	limits := patra.DefaultWalkLimits()
	second := patra.Second
	for _, c := range []struct {
		name string
		walk func(s *patra.WalkLoad) patra.Instant
		want string
	}{
		{"nothing happened", func(*patra.WalkLoad) patra.Instant { return 0 }, ""},
		{"one page less than too many", func(s *patra.WalkLoad) patra.Instant { pages(s, 1999); return 0 }, ""},
		{"too many pages", func(s *patra.WalkLoad) patra.Instant { pages(s, 2000); return 0 }, patra.ReslicePages},
		{"four refusals", func(s *patra.WalkLoad) patra.Instant { refused(s, 4, second); return 4 * second }, ""},
		{"five refusals in five minutes", func(s *patra.WalkLoad) patra.Instant { refused(s, 5, 75*second); return 300 * second }, patra.ResliceThrottled},
		{"five refusals in more than that", func(s *patra.WalkLoad) patra.Instant { refused(s, 5, 76*second); return 304 * second }, ""},
		{"five refusals long ago", func(s *patra.WalkLoad) patra.Instant { refused(s, 5, second); return 900 * second }, ""},
		{"the latest five count", func(s *patra.WalkLoad) patra.Instant { refused(s, 20, 60*second); return 19 * 60 * second }, patra.ResliceThrottled},
		{"as many errors as pages", func(s *patra.WalkLoad) patra.Instant { pages(s, 25); failures(s, 25); return 0 }, patra.ResliceErrors},
		{"as many errors as chance brings", func(s *patra.WalkLoad) patra.Instant { pages(s, 26); failures(s, 24); return 0 }, ""},
		{"errors of forty-nine", func(s *patra.WalkLoad) patra.Instant { pages(s, 20); failures(s, 29); return 0 }, ""},
		{"errors that are long past", func(s *patra.WalkLoad) patra.Instant { failures(s, 30); pages(s, 48); return 0 }, ""},
	} {
		s := patra.WalkLoad{Limits: limits}
		if now := c.walk(&s); s.Exceeded(now) != c.want {
			t.Errorf("%s: %q, want %q", c.name, s.Exceeded(now), c.want)
		}
	}
}

func pages(s *patra.WalkLoad, n int) {
	for range n {
		s.Page()
	}
}

func failures(s *patra.WalkLoad, n int) {
	for range n {
		s.Failed(0, false)
	}
}

func refused(s *patra.WalkLoad, n int, every patra.Instant) {
	for i := range n {
		s.Failed(patra.Instant(i)*every, true)
	}
}

// The ring of the latest requests says the same as a list of all of them.
func TestTheShareOfErrorsIsThatOfTheLatestRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := patra.WalkLimits{ErrorShare: rapid.Float64Range(0.01, 1).Draw(t, "share"), Recent: rapid.IntRange(1, 20).Draw(t, "recent")}
		s := patra.WalkLoad{Limits: limits}
		all := rapid.SliceOfN(rapid.Bool(), 0, 80).Draw(t, "failed")
		for _, failed := range all {
			if failed {
				s.Failed(0, false)
			} else {
				s.Page()
			}
		}
		failed := 0
		for _, f := range all[max(0, len(all)-limits.Recent):] {
			if f {
				failed++
			}
		}
		want := len(all) >= limits.Recent && float64(failed) >= limits.ErrorShare*float64(limits.Recent)
		if got := s.Exceeded(0) == patra.ResliceErrors; got != want {
			t.Fatalf("%v of %v: %v", limits, all, got)
		}
	})
}

func TestAnEstimateIsBadlyWrongOnlyByFar(t *testing.T) {
	limits := patra.DefaultWalkLimits()
	expected := func(n int64, g patra.EstimateMethod) *patra.Estimate { return &patra.Estimate{Records: n, Grounds: g} }
	for _, c := range []struct {
		name     string
		expected *patra.Estimate
		seen     int64
		want     bool
	}{
		{"as expected", expected(10_000, patra.ByCount), 10_000, false},
		{"three times", expected(10_000, patra.ByHistory), 30_000, false},
		{"more than three times", expected(10_000, patra.ByHistory), 30_001, true},
		{"few, whatever was expected", expected(1, patra.ByHistory), 5000, false},
		{"nobody knew", expected(100, patra.ByConstant), 90_000, false},
		{"nobody said", nil, 90_000, false},
	} {
		if limits.Overran(c.expected, c.seen) != c.want {
			t.Error(c.name)
		}
	}
}
