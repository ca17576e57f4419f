package patra_test

import (
	"testing"

	"pgregory.net/rapid"

	"patra"
)

func TestEveryItemOfAPageIsCountedOnce(t *testing.T) {
	c := patra.Counts{Insert: 1, Update: 2, Same: 4, Stale: 8, Dup: 16, Quarantine: 32, Outside: 64}
	if got := c.Total(); got != 63 {
		t.Errorf("the total is %d; an item outside the window is counted beside the others, not again", got)
	}
}

func TestCountsAddUpFieldByField(t *testing.T) {
	draw := func(t *rapid.T, name string) patra.Counts {
		n := rapid.SliceOfN(rapid.Int64Range(0, 1000), 7, 7).Draw(t, name)
		return patra.Counts{Insert: n[0], Update: n[1], Same: n[2], Stale: n[3], Dup: n[4], Quarantine: n[5], Outside: n[6]}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		want := patra.Counts{Insert: a.Insert + b.Insert, Update: a.Update + b.Update, Same: a.Same + b.Same, Stale: a.Stale + b.Stale, Dup: a.Dup + b.Dup,
			Quarantine: a.Quarantine + b.Quarantine, Outside: a.Outside + b.Outside}
		if got := a.Add(b); got != want || got.Total() != a.Total()+b.Total() {
			t.Fatalf("%+v and %+v are %+v", a, b, got)
		}
	})
}

func TestRepairsAddUp(t *testing.T) {
	a, b := patra.Repairs{"X_Y": 1}, patra.Repairs{"X_Y": 2, "A": 1}
	if sum := a.Add(b); sum.String() != "1 a, 3 x y" || sum.Total() != 4 || a.Total() != 1 || b.Total() != 3 {
		t.Errorf("%s of %s and %s", sum, a, b)
	}
	if none := patra.Repairs(nil).Add(nil); none != nil || none.Total() != 0 || none.String() != "" {
		t.Errorf("%v", none)
	}
	if same := patra.Repairs(nil).Add(a); same.String() != "1 x y" {
		t.Errorf("%s", same)
	}
}
