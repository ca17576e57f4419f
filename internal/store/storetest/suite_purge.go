package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// purging: events go when they are old and every sink has them, from the front, and never one that somebody needs.
func purging(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	ctx, c := t.Context(), w.Take()
	for rev := range 4 {
		w.Clock.Move(24 * time.Hour)
		w.Page(c, int64(rev+1), true, w.Record("a", Origin+patra.Instant(rev)*patra.Hour, fmt.Sprint("a", rev)), w.Record("b", Origin+patra.Instant(rev)*patra.Hour, fmt.Sprint("b", rev)))
	}
	n, last, err := w.AssignSequence(ctx)
	w.must(err)
	for n > 0 {
		n, last, err = w.AssignSequence(ctx)
		w.must(err)
	}
	purge := func(why string, before patra.Instant, want int64, sinks ...string) {
		t.Helper()
		total := int64(0)
		for {
			n, err := w.PurgeEvents(ctx, before, sinks)
			w.must(err)
			if total += n; n == 0 {
				break
			}
		}
		if total != want {
			t.Errorf("%s: %d events went, want %d", why, total, want)
		}
		CheckInvariants(t, Inspect(t, w.URL))
	}
	now := w.Clock.Instant()
	w.must(w.EnsureSink(ctx, "one", false))
	w.must(w.EnsureSink(ctx, "two", false))
	role := func(sink string) *patra.LeaderLease {
		r, ok, err := w.AcquireLease(ctx, patra.RelayLease(sink), store.NewOwner(), time.Hour)
		if err != nil || !ok {
			t.Fatalf("%v, %v", ok, err)
		}
		return &r
	}
	one, two := role("one"), role("two")
	purge("nobody has anything", now+1, 0, "one", "two")
	w.must(w.MarkSent(ctx, one, "one", patra.DeliveryResult{Position: last}))
	purge("one sink has nothing", now+1, 0, "one", "two")
	w.must(w.MarkSent(ctx, two, "two", patra.DeliveryResult{Position: last, Failed: []patra.Delivery{{Seq: last - 1, Key: patra.Hash(1), State: patra.DeliveryWaiting}}}))
	purge("a sink that nobody was at yet", now+1, 0, "one", "two", "three")
	purge("none is so old", now-4*patra.Day, 0, "one", "two")
	events, err := w.EventsAfter(ctx, 0, 1000, 1<<30)
	w.must(err)
	old := int64(0)
	for _, ev := range events { // from the front, until one that is younger
		if ev.Time >= now-2*patra.Day {
			break
		}
		old++
	}
	if old < 2 || old >= last-2 {
		t.Fatalf("%d of %d events are old", old, last)
	}
	purge("those that are old", now-2*patra.Day, old, "one", "two")
	purge("up to one that waits", now+1, last-2-old, "one", "two")
	if _, err := w.Rewind(ctx, "one", last-3, "me", ""); !errors.Is(err, store.ErrPurged) {
		t.Errorf("rewound to what is gone: %v", err)
	}
	if was, err := w.Rewind(ctx, "one", last-2, "me", ""); err != nil || was != last {
		t.Errorf("rewound from %d, %v", was, err)
	}
	if err := w.RemoveSink(ctx, "two", "me", "gone"); !errors.Is(err, patra.ErrIllegalMove) {
		t.Errorf("a sink that is sent to was forgotten: %v", err)
	}
	w.must(w.ReleaseLease(ctx, *two))
	w.must(w.RemoveSink(ctx, "two", "me", "gone"))
	if err := w.RemoveSink(ctx, "two", "me", "gone"); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("forgotten twice: %v", err)
	}
	purge("what a rewind wants again", now+1, 0, "one")
	one = role("one")
	w.must(w.MarkSent(ctx, one, "one", patra.DeliveryResult{Position: last}))
	purge("the rest", now+1, 2, "one")
	w.must(w.EnsureSink(ctx, "three", false))
	sinks, err := w.Sinks(ctx)
	w.must(err)
	if len(sinks) != 2 || sinks[1].Position != last || sinks[1].Lag != 0 {
		t.Errorf("%+v", sinks)
	}
	w.Clock.Move(time.Hour)
	w.Page(c, 9, true, w.Record("a", Origin+9*patra.Hour, "later"))
	if n, next, err := w.AssignSequence(ctx); err != nil || n != 1 || next != last+1 {
		t.Errorf("%d events got numbers up to %d, %v", n, next, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
