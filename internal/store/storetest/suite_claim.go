package storetest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

func claimOnce(t *testing.T, e Engine) {
	w := NewWorld(t, e, 100)
	var mu sync.Mutex
	owners := map[int64][]string{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			owner := store.NewOwner()
			for turn := uint64(0); ; turn++ {
				c, err := w.Claim(t.Context(), patra.ClaimRequest{Owner: owner, Lease: Lease, Turn: turn})
				if err != nil {
					t.Error(err)
					return
				}
				if c == nil {
					if states, err := w.Tasks(t.Context(), store.Filter{Status: patra.Queued}); err == nil && len(states) == 0 {
						return
					}
					continue
				}
				mu.Lock()
				owners[c.TaskID] = append(owners[c.TaskID], owner)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(owners) != 100 {
		t.Errorf("%d of 100 tasks were claimed", len(owners))
	}
	for id, by := range owners {
		if len(by) != 1 {
			t.Errorf("task %d was claimed %d times", id, len(by))
		}
	}
	runs, err := w.Runs(t.Context(), store.Filter{Limit: 1000})
	if err != nil || len(runs) != 100 {
		t.Errorf("%d runs for 100 claims, %v", len(runs), err)
	}
}

func fairness(t *testing.T, e Engine) {
	w := NewWorld(t, e, 6)
	w.AddPlan("other", "works", 6, 5)
	w.Clock.Move(time.Second)
	seen := map[string]int{}
	for turn := range uint64(6) {
		seen[w.TryTake(patra.ClaimRequest{Turn: turn}).Task.Source]++
	}
	if seen["demo"] != 3 || seen["other"] != 3 {
		t.Errorf("six claims were shared %v", seen)
	}
	db := Inspect(t, w.URL)
	exec(t, db, `UPDATE ing_task SET priority = 8 WHERE provenance_code = 'demo' AND status_code = 'QUEUED'`)
	exec(t, db, `UPDATE ing_task SET scheduled_at = scheduled_at - 1000 WHERE provenance_code = 'demo' AND status_code = 'QUEUED'`)
	if c := w.TryTake(patra.ClaimRequest{Turn: 0}); c.Task.Source != "other" {
		t.Error("a task of priority 8 went before one of priority 2")
	}
	if c := w.TryTake(patra.ClaimRequest{Turn: 7}); c.Task.Source != "demo" {
		t.Error("the eighth claim did not take the oldest task")
	}
}

func partitionLimit(t *testing.T, e Engine) {
	w := NewWorld(t, e, 6)
	w.AddPlan("other", "works", 1, 5)
	w.Clock.Move(time.Second)
	sources := []string{}
	for turn := range uint64(8) {
		if c := w.TryTake(patra.ClaimRequest{Turn: turn, PerPartition: 2}); c != nil {
			sources = append(sources, c.Task.Source)
		}
	}
	slices.Sort(sources)
	if !slices.Equal(sources, []string{"demo", "demo", "other"}) {
		t.Errorf("claimed %v", sources)
	}
}

// limitHeld: whoever stopped while it had the limit of a partition keeps nobody from the work of others.
func limitHeld(t *testing.T, e Engine) {
	if strings.HasPrefix(e.Name, "sqlite") {
		t.Skip("whoever has the file has all of it")
	}
	w := NewWorld(t, e, 100)
	w.AddPlan("other", "works", 6, 5)
	w.Clock.Move(time.Second)
	db := Inspect(t, w.URL)
	exec(t, db, `UPDATE ing_task SET priority = 8 WHERE provenance_code = 'other'`)
	if c := w.TryTake(patra.ClaimRequest{PerPartition: 50}); c.Task.Source != "demo" {
		t.Fatal("a task of priority 8 went first")
	}
	held, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	w.must(err)
	defer held.Rollback()
	var version int64
	w.must(held.QueryRow(`SELECT version FROM ing_control WHERE scope_code = 'OPERATION' AND scope_key = 'demo/works/HARVEST' AND kind_code = 'LIMIT' FOR UPDATE`).Scan(&version))
	if c := w.TryTake(patra.ClaimRequest{PerPartition: 50}); c == nil || c.Task.Source != "other" {
		t.Errorf("nobody gets the work of others: %+v", c)
	}
	var wg sync.WaitGroup
	claims := make([]*patra.Claim, 4)
	for i := range claims { // among those who ask together, too
		wg.Go(func() { claims[i] = w.TryTake(patra.ClaimRequest{PerPartition: 50, Turn: uint64(i)}) })
	}
	wg.Wait()
	for i, c := range claims {
		if c == nil || c.Task.Source != "other" {
			t.Errorf("asker %d: %+v", i, c)
		}
	}
}

func notDue(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	fault := &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeNetwork, Text: "gone"}
	w.must(w.Finish(t.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, Fault: fault, RetryIn: 10 * time.Second}))
	for _, turn := range []uint64{0, 7} {
		if w.TryTake(patra.ClaimRequest{Turn: turn}) != nil {
			t.Fatal("claimed before it was due")
		}
	}
	w.Clock.Move(11 * time.Second)
	again := w.Take()
	if again.Task.Attempts != 2 || again.Fence != 2 {
		t.Errorf("second attempt: %d attempts, fence %d", again.Task.Attempts, again.Fence)
	}
}

func takeover(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	first := w.Take()
	_, err := w.OpenAt(first, 1, 1, 1)
	w.must(err)
	w.Clock.Move(Lease - time.Second)
	if w.TryTake(patra.ClaimRequest{}) != nil {
		t.Fatal("a lease that still runs was taken over")
	}
	w.Clock.Move(2 * time.Second)
	second := w.Take()
	if second.TaskID != first.TaskID || second.Fence != first.Fence+1 {
		t.Errorf("takeover: task %d fence %d", second.TaskID, second.Fence)
	}
	runs, err := w.Runs(t.Context(), store.Filter{Task: first.TaskID})
	if err != nil || len(runs) != 2 || runs[1].Status != patra.Lost {
		t.Errorf("runs after takeover: %+v, %v", runs, err)
	}
	batches, err := w.Batches(t.Context(), store.Filter{Task: first.TaskID})
	if err != nil || len(batches) != 1 || batches[0].Status != patra.Skipped {
		t.Errorf("batches after takeover: %+v, %v", batches, err)
	}
}

func fenced(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	zombie := w.Take()
	page, err := w.OpenAt(zombie, 1, 1, 1)
	w.must(err)
	w.Clock.Move(2 * Lease)
	owner := w.Take()
	impostor := *owner
	impostor.Owner = zombie.Owner // the right fence after a restore from backup, but not the right owner
	for name, c := range map[string]*patra.Claim{"an old fence": zombie, "another owner": &impostor} {
		before := dump(t, w)
		for what, err := range map[string]error{
			"heartbeat": w.Heartbeat(t.Context(), c.Lease),
			"open":      second(w.OpenAt(c, 2, 1, 1)),
			"commit":    second(w.Commit(c, page, false, w.Record("1", Origin, "spoilt"))),
			"fail":      second(w.FailPage(t.Context(), c, w.Clock.Instant(), page, patra.PageFailure{}, nil)),
			"succeed":   w.Succeed(c, patra.StateSealed),
			"give back": w.Finish(t.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true}),
			"give up":   w.Finish(t.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Failed}),
			"end early": w.Early(c, patra.OrderNone, patra.TrustNone, nothing),
		} {
			if !errors.Is(err, patra.ErrLeaseLost) {
				t.Errorf("%s with %s: %v", what, name, err)
			}
		}
		if after := dump(t, w); after != before {
			t.Errorf("with %s the tables changed:\n%s\n%s", name, before, after)
		}
	}
	w.Work(owner, w.Record("1", Origin, "good"))
	CheckInvariants(t, Inspect(t, w.URL))
}

func second[T any](_ T, err error) error { return err }

// dump is everything that a lost lease must not change.
func dump(t *testing.T, w *World) string {
	var all []any
	for _, table := range []string{"ing_task", "ing_plan_slice", "ing_task_run", "ing_task_run_batch", "ing_request", "ing_record", "ing_coverage", "ing_cursor"} {
		scan(t, Inspect(t, w.URL), "SELECT * FROM "+table+" ORDER BY 1", func(r *sql.Rows) error {
			names, err := r.Columns()
			if err != nil {
				return err
			}
			row := make([]any, len(names))
			into := make([]any, len(names))
			for i := range row {
				into[i] = &row[i]
			}
			err = r.Scan(into...)
			all = append(all, row)
			return err
		})
	}
	return fmt.Sprintf("%s", all)
}

func heartbeat(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	for range 5 {
		w.Clock.Move(Lease * 2 / 3)
		w.must(w.Heartbeat(t.Context(), c.Lease))
		w.must(w.Heartbeat(t.Context(), c.Lease)) // an update that changes nothing is still an update
		if w.TryTake(patra.ClaimRequest{}) != nil {
			t.Fatal("a renewed lease was taken over")
		}
	}
	w.Clock.Move(2 * Lease) // slow, but nobody has taken over: the work counts
	w.Work(c)
}

func release(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	for range 20 {
		c := w.Take()
		w.must(w.Finish(t.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true}))
		if task := w.Task(c.TaskID); task.Attempts != 0 || task.Status != patra.Queued {
			t.Fatalf("after a release: %+v", task)
		}
	}
	runs, err := w.Runs(t.Context(), store.Filter{})
	if err != nil || len(runs) != 20 || runs[0].Status != patra.Released {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func wornOut(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	var c *patra.Claim
	for range 5 {
		c = w.Take()
		w.Clock.Move(2 * Lease)
	}
	if w.TryTake(patra.ClaimRequest{}) != nil {
		t.Fatal("claimed a sixth time")
	}
	n, err := w.FailExhausted(t.Context())
	if err != nil || n != 1 {
		t.Fatalf("%d ended, %v", n, err)
	}
	task := w.Task(c.TaskID)
	var fault patra.Fault
	w.must(json.Unmarshal(task.LastError, &fault))
	if task.Status != patra.Failed || fault.Code != patra.CodeExhausted {
		t.Errorf("task %s, %s", task.Status, task.LastError)
	}
	if err := w.Succeed(c, patra.StateSealed); !errors.Is(err, patra.ErrLeaseLost) {
		t.Errorf("the last worker came back: %v", err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

// diedAtWork: a process is killed again and again, and each has read a page that none before it had read. That is no failure. Pages
// that earlier ones had read too are no progress.
func diedAtWork(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	var c *patra.Claim
	die := func() {
		t.Helper()
		w.Clock.Move(2 * Lease)
		if n, err := w.FailExhausted(t.Context()); err != nil || n != 0 {
			t.Fatalf("%d ended, %v", n, err)
		}
	}
	for n := range int64(12) {
		c = w.Take()
		if c.Task.ScanNo != 1 || c.Task.NextOrdinal != n+1 {
			t.Fatalf("attempt %d begins scan %d at page %d", n+1, c.Task.ScanNo, c.Task.NextOrdinal)
		}
		w.Page(c, n+1, true, w.Record(fmt.Sprint(n), Origin, "x"))
		die()
	}
	for n := range int64(8) { // it is walked once more, to prove it
		c = w.Take()
		page, err := w.OpenAt(c, 1, 2, n+1)
		w.must(err)
		_, err = w.Commit(c, page, true, w.Record(fmt.Sprint(n), Origin, "x"))
		w.must(err)
		die()
	}
	for c = w.TryTake(patra.ClaimRequest{}); c != nil; c = w.TryTake(patra.ClaimRequest{}) { // from the first page again, each time
		page, err := w.OpenAt(c, 1, c.Task.ScanNo+1, 1)
		w.must(err)
		_, err = w.Commit(c, page, true, w.Record("0", Origin, "x"))
		w.must(err)
		w.Clock.Move(2 * Lease)
	}
	if n, err := w.FailExhausted(t.Context()); err != nil || n != 1 {
		t.Errorf("%d ended, %v", n, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

// retryGoesOn: what was read a moment ago is not read again, what was read long ago is, and so is what was itself the fault.
func retryGoesOn(t *testing.T, e Engine) {
	for name, c := range map[string]struct {
		level patra.Level
		after time.Duration
		page  int64
	}{
		"a moment ago": {patra.LevelRetry, time.Minute, 3}, "long ago": {patra.LevelRetry, 2 * time.Hour, 1}, "a strange answer": {patra.LevelRequest, time.Minute, 1},
	} {
		w := NewWorld(t, e, 1)
		first := w.Take()
		w.Page(first, 1, true, w.Record("1", Origin, "x"))
		w.Page(first, 2, true, w.Record("2", Origin, "x"))
		w.must(w.Finish(t.Context(), first, w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: c.level, Code: patra.CodeHTTP, Text: "no"}}))
		w.Clock.Move(c.after)
		if n, err := w.Retry(t.Context(), w.Plan.ID); n != 1 || err != nil {
			t.Fatalf("%d revived, %v", n, err)
		}
		if again := w.Take(); again.Task.NextOrdinal != c.page || (again.Task.ScanNo == 1) != (c.page > 1) {
			t.Errorf("%s: it begins scan %d at page %d", name, again.Task.ScanNo, again.Task.NextOrdinal)
		}
		CheckInvariants(t, Inspect(t, w.URL))
	}
}
