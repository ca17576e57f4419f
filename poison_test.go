package patra_test

import (
	"testing"

	"patra"
)

func TestHowManyBadItemsAreTooMany(t *testing.T) {
	for _, c := range []struct {
		bad, all   int
		page, over bool
	}{
		{0, 0, false, false}, {5, 5, false, false}, {6, 6, true, false}, {6, 30, false, false}, {6, 29, true, false},
		{10, 10, true, false}, {11, 11, true, true}, {11, 55, false, false}, {11, 54, true, true}, {200, 10_000, false, false},
	} {
		if patra.TooManyBadItems(c.bad, c.all) != c.page || patra.TooManyBadItemsAcross(c.bad, c.all) != c.over {
			t.Errorf("%d of %d: %v on one page, %v on many", c.bad, c.all, patra.TooManyBadItems(c.bad, c.all), patra.TooManyBadItemsAcross(c.bad, c.all))
		}
	}
}
