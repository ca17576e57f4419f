package patra_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

func TestAnInstantLiesBetweenItsFloorAndTheNextBoundary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, u := anyInstant().Draw(t, "instant"), anyUnit().Draw(t, "unit")
		floor, ceil := u.Floor(i), u.Ceil(i)
		if floor > i || i >= u.Next(floor) {
			t.Fatalf("%s floors to %s, whose next boundary is %s", i, floor, u.Next(floor))
		}
		if ceil < i || u.Prev(ceil) >= i {
			t.Fatalf("%s has the ceiling %s, whose previous boundary is %s", i, ceil, u.Prev(ceil))
		}
		if (floor == i) != (ceil == i) || (floor != i && u.Next(floor) != ceil) {
			t.Fatalf("%s lies between %s and %s", i, floor, ceil)
		}
	})
}

func TestBoundariesStayWhereTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := anyUnit().Draw(t, "unit")
		b := u.Floor(anyInstant().Draw(t, "instant"))
		if u.Floor(b) != b || u.Ceil(b) != b {
			t.Fatalf("the boundary %s moves to %s or %s", b, u.Floor(b), u.Ceil(b))
		}
		if u.Prev(u.Next(b)) != b || u.Next(u.Prev(b)) != b {
			t.Fatalf("there and back from %s: %s and %s", b, u.Prev(u.Next(b)), u.Next(u.Prev(b)))
		}
		if u.Floor(u.Next(b)) != u.Next(b) || u.Floor(u.Prev(b)) != u.Prev(b) {
			t.Fatalf("the neighbours of %s are no boundaries", b)
		}
	})
}

func TestACoarserBoundaryIsABoundaryOfEveryFinerGrain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := anyInstant().Draw(t, "instant")
		for n, coarser := range patra.Units {
			for _, finer := range patra.Units[:n] {
				if b := coarser.Floor(i); finer.Floor(b) != b {
					t.Fatalf("%s is a boundary of %s and not of %s", b, coarser, finer)
				}
				if coarser.Floor(finer.Floor(i)) != coarser.Floor(i) {
					t.Fatalf("%s floored by %s first floors elsewhere by %s", i, finer, coarser)
				}
			}
		}
	})
}

func TestGrainsByExample(t *testing.T) {
	at := func(text string) patra.Instant {
		i, err := patra.ParseInstant(text)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	tests := []struct {
		unit              patra.Unit
		in, floor, ceil   string
		afterFloor, prior string // the boundaries around the floor
	}{
		{patra.UnitDay, "2024-02-29T12:00:00Z", "2024-02-29", "2024-03-01", "2024-03-01", "2024-02-28"},
		{patra.UnitMonth, "2024-02-29T12:00:00Z", "2024-02-01", "2024-03-01", "2024-03-01", "2024-01-01"},
		{patra.UnitMonth, "2024-03-31T23:59:59.999Z", "2024-03-01", "2024-04-01", "2024-04-01", "2024-02-01"},
		{patra.UnitMonth, "2025-12-31", "2025-12-01", "2026-01-01", "2026-01-01", "2025-11-01"},
		{patra.UnitDay, "1969-12-31T23:59:59.999999Z", "1969-12-31", "1970-01-01", "1970-01-01", "1969-12-30"},
		{patra.UnitHour, "1969-12-31T22:30:00Z", "1969-12-31T22:00:00Z", "1969-12-31T23:00:00Z", "1969-12-31T23:00:00Z", "1969-12-31T21:00:00Z"},
		{patra.UnitMonth, "1900-02-28T01:00:00Z", "1900-02-01", "1900-03-01", "1900-03-01", "1900-01-01"},
		{patra.UnitMinute, "2026-01-01T00:00:59.5Z", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", "2026-01-01T00:01:00Z", "2025-12-31T23:59:00Z"},
		{patra.UnitSecond, "1969-12-31T23:59:59.000001Z", "1969-12-31T23:59:59Z", "1970-01-01", "1970-01-01", "1969-12-31T23:59:58Z"},
		{patra.UnitMillisecond, "2026-01-01T00:00:00.000999Z", "2026-01-01", "2026-01-01T00:00:00.001Z", "2026-01-01T00:00:00.001Z", "2025-12-31T23:59:59.999Z"},
	}
	for _, tt := range tests {
		t.Run(string(tt.unit)+" of "+tt.in, func(t *testing.T) {
			floor := tt.unit.Floor(at(tt.in))
			for _, c := range []struct {
				what      string
				got, want patra.Instant
			}{
				{"floor", floor, at(tt.floor)}, {"ceil", tt.unit.Ceil(at(tt.in)), at(tt.ceil)},
				{"next", tt.unit.Next(floor), at(tt.afterFloor)}, {"prev", tt.unit.Prev(floor), at(tt.prior)},
			} {
				if c.got != c.want {
					t.Errorf("%s is %s, want %s", c.what, c.got, c.want)
				}
			}
		})
	}
}

func TestMonthsHaveTheirOwnLengths(t *testing.T) {
	days := map[int]int{2023: 365, 2024: 366, 1900: 365, 2000: 366}
	for year, want := range days {
		first := patra.Date(year, time.January, 1)
		at, sum := first, patra.Instant(0)
		for range 12 {
			next := patra.UnitMonth.Next(at)
			sum, at = sum+(next-at)/patra.Day, next
		}
		if int(sum) != want || at != patra.Date(year+1, time.January, 1) {
			t.Errorf("%d has %d days and ends at %s", year, sum, at)
		}
	}
}
