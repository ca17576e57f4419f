package store_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// What is read again under the lock is what was to be read with it.
func TestATaskIsReadTheSameWithAndUnderItsLock(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		w := storetest.NewWorld(t, e, 1)
		c := w.Take()
		w.Page(c, 1, true)
		if err := w.Finish(t.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true}); err != nil {
			t.Fatal(err)
		}
		w.Clock.Move(time.Second)
		peeked, reread, err := w.ReadTwice(t.Context(), c.TaskID)
		if err != nil || !reflect.DeepEqual(peeked, reread) {
			t.Errorf("%+v\n%+v\n%v", peeked, reread, err)
		}
		if peeked.Fence != 2 || peeked.Resume == nil || !peeked.Resume.HasNext {
			t.Errorf("%+v", peeked)
		}
		again := w.Take()
		if again.RunID == 0 || again.RunID == c.RunID {
			t.Errorf("run %d follows run %d", again.RunID, c.RunID)
		}
		again.RunID, again.Owner, again.For = 0, "", 0
		if !reflect.DeepEqual(peeked, *again) {
			t.Errorf("read %+v\ntook %+v", peeked, *again)
		}
	})
}

// Whoever closes the last slices of a plan holds it. Claims of its other tasks do not wait for that, and take others no more than they would.
func TestAPlanThatSomebodyHoldsKeepsNobodyFromItsTasks(t *testing.T) {
	engines := storetest.Engines()
	if len(engines) < 2 {
		t.Skip("an embedded store has one writer")
	}
	w := storetest.NewWorld(t, engines[1], 2)
	other, err := storetest.Inspect(t, w.URL).Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Rollback()
	for _, table := range []string{"ing_plan", "ing_plan_slice"} {
		rows, err := other.Query("SELECT id FROM " + table + " FOR UPDATE")
		if err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
	if c := w.TryTake(patra.ClaimRequest{}); c == nil {
		t.Error("nothing was to be had")
	}
}

// A server that has the lanes that it had is asked few questions for a claim.
func TestAClaimAsksAServerLittle(t *testing.T) {
	engines := storetest.Engines()
	if len(engines) < 2 {
		t.Skip("there is no server")
	}
	w := storetest.NewWorld(t, engines[1], 40)
	sent := map[string]int{}
	s := engines[1].Connect(t, w.URL, store.WithClock(w.Clock.Now), store.WithTrace(func(name, _ string, _ []any) { sent[name]++ }))
	for turn := range uint64(10) {
		clear(sent)
		c, err := s.Claim(t.Context(), patra.ClaimRequest{Owner: "me", Lease: time.Hour, Turn: turn, PerPartition: 20})
		if err != nil || c == nil {
			t.Fatal(c, err)
		}
		names := slices.Sorted(maps.Keys(sent))
		// The first one has to find the lanes; with a limit, the places are counted under their lock.
		want := []string{"find_lanes", "insert_runs", "peek_control", "peek_tasks", "running_in", "take_tasks"}
		if turn > 0 && (!slices.Equal(names, want) || sent["find_lanes"] != 1) {
			t.Errorf("turn %d: %v", turn, sent)
		}
	}
}
