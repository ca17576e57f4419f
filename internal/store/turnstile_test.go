package store

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"patra"
)

// One is inside at a time; those in a hurry go before those who wait in turn, who go as they came; whoever goes away keeps nobody.
func TestTurnstile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g writerLock
		var went []string
		out := make(chan struct{})
		if err := g.enter(t.Context(), inTurn); err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		for _, who := range []string{"a", "gone", "b", "urgent", "gone urgent", "c"} {
			when, ctx := inTurn, t.Context()
			if who == "urgent" || who == "gone urgent" {
				when = urgent
			}
			if who == "gone" || who == "gone urgent" {
				ctx = gone
			}
			go func() {
				if err := g.enter(ctx, when); err != nil {
					if !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					return
				}
				went = append(went, who)
				<-out
				g.leave()
			}()
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		if len(went) != 0 {
			t.Fatalf("%v went in while somebody was inside", went)
		}
		g.leave()
		for i, who := range []string{"urgent", "a", "b", "c"} {
			synctest.Wait()
			if len(went) != i+1 || went[i] != who {
				t.Fatalf("%v are or were inside, and %s should be the last", went, who)
			}
			out <- struct{}{}
		}
		synctest.Wait()
		if err := g.enter(t.Context(), inTurn); err != nil {
			t.Error(err)
		}
	})
}

// Those who want the same are served together, and whoever goes away keeps nobody.
func TestADeskServesGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d claimBatcher
		var groups []int
		busy := make(chan struct{})
		serve := func(group []*claimWaiter) {
			groups = append(groups, len(group))
			<-busy
			for _, a := range group {
				a.answer <- claimResult{}
			}
		}
		ask := func(ctx context.Context, plan int64, want error) {
			go func() {
				if _, err := d.claim(ctx, patra.ClaimRequest{PlanID: plan}, serve); !errors.Is(err, want) {
					t.Errorf("%v, not %v", err, want)
				}
			}()
			synctest.Wait()
		}
		gone, cancel := context.WithCancel(t.Context())
		ask(t.Context(), 1, nil)
		ask(gone, 1, context.Canceled) // it would lead the next group
		ask(t.Context(), 1, nil)
		ask(t.Context(), 2, nil)
		ask(t.Context(), 1, nil)
		cancel()
		synctest.Wait()
		close(busy)
		synctest.Wait()
		if !slices.Equal(groups, []int{1, 2, 1}) {
			t.Errorf("groups of %v", groups)
		}
		if d.open || len(d.waiting) > 0 {
			t.Error("the desk is still open")
		}
	})
}

// Whoever is told to lead and goes away leaves that to the next in the queue, and the last one closes the desk.
func TestADeskPassesTheLeadOn(t *testing.T) {
	var d claimBatcher
	a, b := &claimWaiter{answer: make(chan claimResult, 1)}, &claimWaiter{answer: make(chan claimResult, 1)}
	d.enqueue(a)
	d.enqueue(b)
	if !d.dequeue(a) {
		t.Fatal("it was not waiting")
	}
	if len(b.answer) != 1 || !d.open {
		t.Fatal("nobody leads")
	}
	if !d.dequeue(b) || d.open || len(d.waiting) > 0 {
		t.Error("the desk is still open")
	}
}
