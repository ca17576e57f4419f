package storetest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// Run checks every promise of the store on one engine.
func Run(t *testing.T, e Engine) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Engine)
	}{
		{"four migrators at once leave one schema", migrators},
		{"a store without tables is refused", noTables},
		{"ids are compared byte for byte", byteExact},
		{"the same plan is found, not made twice", samePlan},
		{"a moved cursor refuses slices", movedCursor},
		{"two planners never double a slice", twoPlanners},
		{"a snapshot comes back as it was stored", snapshots},
		{"a hundred tasks and eight workers: each is claimed once", claimOnce},
		{"partitions take turns and priorities go first", fairness},
		{"the partition limit holds back, and only that partition", partitionLimit},
		{"a task is not claimed before it is due", notDue},
		{"an expired lease is taken over under a new fence", takeover},
		{"a worker that lost its lease can write nothing", fenced},
		{"a heartbeat keeps the lease", heartbeat},
		{"a voluntary release gives the attempt back", release},
		{"a task that wears out its workers fails", wornOut},
		{"a page is one transaction", pageIsAtomic},
		{"commit and next announcement are one transaction", announceNext},
		{"a record is decided against what is stored", decide},
		{"the same id twice on a page is counted", duplicates},
		{"quarantine holds what is no record", quarantine},
		{"a scan is resumed after its last committed page", resume},
		{"ids of a search are noted once and settled one by one", twoPhases},
		{"no slice closes without proof", proof},
		{"the watermark waits for the gap, whatever the order", watermark},
		{"a dispute holds back completeness, not the watermark", dispute},
		{"failed tasks are retried unless covered elsewhere", retry},
		{"an export reads every record once", export},
		{"the views for people can be read", views},
		{"a source is applied once, and again changes nothing", registryApply},
		{"a changed source closes one row and opens one", registryChange},
		{"appliers at once leave one open row", registryAtOnce},
		{"a second open row is refused", registryTwice},
		{"words are resolved to codes", dictionary},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, e) })
	}
}

func migrators(t *testing.T, e Engine) {
	url := e.URL(t)
	var wg sync.WaitGroup
	applied := make([]int, 4)
	for i := range applied {
		s := e.Connect(t, url)
		wg.Go(func() {
			steps, err := s.Migrate(t.Context())
			if err != nil {
				t.Error(err)
			}
			applied[i] = len(steps)
		})
	}
	wg.Wait()
	slices.Sort(applied)
	if applied[3] == 0 || applied[0]+applied[1]+applied[2] != 0 {
		t.Errorf("steps applied by each: %v; one should have done all", applied)
	}
}

func noTables(t *testing.T, e Engine) {
	s := e.Connect(t, e.URL(t))
	if err := s.Check(t.Context()); !errors.Is(err, store.ErrNeedsMigration) {
		t.Errorf("Check of an empty store: %v", err)
	}
}

func byteExact(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	ids := []string{"00123", "123", "a", "a ", "A", "é", "e\u0301", "x\x00y", "10.1/<b>'\"\\%_;--"}
	var records []patra.Observation
	for _, id := range ids {
		records = append(records, w.Record(id, Origin, id))
	}
	if n := w.Page(w.Take(), 1, false, records...); n.Insert != int64(len(ids)) {
		t.Fatalf("counts %+v", n)
	}
	for _, id := range ids {
		r, err := w.Store.Record(t.Context(), "demo", "work", id)
		if err != nil || r == nil || r.ProviderID != id {
			t.Errorf("record %q: %+v, %v", id, r, err)
		}
	}
}

func samePlan(t *testing.T, e Engine) {
	w := NewWorld(t, e, 2)
	again := w.StartPlanFor(w.Cursor, w.Plan.Window)
	if again.ID != w.Plan.ID || again.Status != patra.Ready || again.SliceCount != 2 {
		t.Errorf("second trigger gave plan %d %s with %d slices", again.ID, again.Status, again.SliceCount)
	}
}

func movedCursor(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	plan := w.StartPlanFor(w.Cursor, patra.Window{From: Origin, To: Origin + 9*patra.Day})
	err := w.AddSlices(t.Context(), w.Clock.Instant(), plan.ID, w.Cursor.PlanVersion, Days(Origin+patra.Day, 2), patra.TriggerManual, 5)
	if !errors.Is(err, patra.ErrPlanMoved) {
		t.Fatalf("slices made from an old reading: %v", err)
	}
	if rows, err := w.Slices(t.Context(), store.Filter{Plan: plan.ID}); err != nil || len(rows) != 0 {
		t.Errorf("%d slices were inserted all the same, %v", len(rows), err)
	}
}

func twoPlanners(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	window := patra.Window{From: Origin + patra.Day, To: Origin + 21*patra.Day}
	var wg sync.WaitGroup
	for i := range 4 {
		plan := w.StartPlanFor(w.Cursor, patra.Window{From: window.From, To: window.To + patra.Instant(i)*patra.Day})
		wg.Go(func() {
			for {
				c, covered, live, err := w.Need(t.Context(), w.Cursor.ID)
				if err != nil {
					t.Error(err)
					return
				}
				var need []patra.Slice
				for _, gap := range patra.NewCoverage(window).Minus(covered.Union(live)) {
					need = append(need, Days(gap.From, int((gap.To-gap.From)/patra.Day))...)
				}
				err = w.AddSlices(t.Context(), w.Clock.Instant(), plan.ID, c.PlanVersion, need, patra.TriggerManual, 5)
				if !errors.Is(err, patra.ErrPlanMoved) {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	wg.Wait()
	rows, err := w.Slices(t.Context(), store.Filter{Cursor: w.Cursor.ID, Limit: 1000})
	if err != nil || len(rows) != 21 {
		t.Errorf("four planners made %d slices for 21 days, %v", len(rows), err)
	}
}

func snapshots(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	body, err := w.Snapshot(t.Context(), w.Plan.Spec)
	if err != nil || string(body) != `{"v":1}` {
		t.Errorf("snapshot %s, %v", body, err)
	}
	if _, err := w.Snapshot(t.Context(), patra.Hash("other")); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("unknown snapshot: %v", err)
	}
}

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

func notDue(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	fault := &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeNetwork, Text: "gone"}
	w.must(w.Finish(t.Context(), c, w.Clock.Instant(), patra.Closing{Status: patra.Queued, Fault: fault, RetryIn: 10 * time.Second}))
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
			"give back": w.Finish(t.Context(), c, w.Clock.Instant(), patra.Closing{Status: patra.Queued, GiveBack: true}),
			"give up":   w.Finish(t.Context(), c, w.Clock.Instant(), patra.Closing{Status: patra.Failed}),
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
		w.must(w.Finish(t.Context(), c, w.Clock.Instant(), patra.Closing{Status: patra.Queued, GiveBack: true}))
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

func pageIsAtomic(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	page, err := w.OpenAt(c, 1, 1, 1)
	w.must(err)
	res := w.Result(false, w.Record("1", Origin, "one"), w.Record("2", Origin, "two"))
	res.Quarantined = []patra.Quarantined{{ItemNo: 3, Code: "BAD", Fragment: []byte("x")}, {ItemNo: 3, Code: "BAD", Fragment: []byte("y")}} // breaks a unique key
	if _, _, err := w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, res, nil); err == nil {
		t.Fatal("a page that cannot be stored whole was stored")
	}
	if n, err := w.CountRecords(t.Context(), "demo"); err != nil || n != 0 {
		t.Errorf("%d records of a page that failed, %v", n, err)
	}
	if task := w.Task(c.TaskID); task.NextOrdinal != 1 {
		t.Errorf("the checkpoint moved to %d", task.NextOrdinal)
	}
	w.must(second(w.Commit(c, page, false, w.Record("1", Origin, "one"))))
	if err := second(w.Commit(c, page, false)); err == nil {
		t.Error("the same page was committed twice")
	}
}

func announceNext(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	page, err := w.OpenAt(c, 1, 1, 1)
	w.must(err)
	next := patra.PageOpen{BatchNo: 2, ScanNo: 1, Phase: patra.PhaseSearch, Ordinal: 2, Before: "on", RequestID: store.NewOwner(), GateKey: "demo", AcquiredAt: w.Clock.Instant()}
	_, opened, err := w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, w.Result(true), &next)
	w.must(err)
	batches, err := w.Batches(t.Context(), store.Filter{Task: c.TaskID})
	if err != nil || len(batches) != 2 || batches[0].ID != opened.BatchID || batches[0].Status != patra.Running {
		t.Errorf("batches %+v, %v", batches, err)
	}
	w.must(second(w.Commit(c, *opened, false)))
	w.must(w.Succeed(c, patra.StateSealed))
	CheckInvariants(t, Inspect(t, w.URL))
}

func decide(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	newer := Origin + patra.Hour
	for i, step := range []struct {
		updated patra.Instant
		content string
		want    patra.Counts
		rev     int64
		stored  string
	}{
		{Origin, "one", patra.Counts{Insert: 1}, 1, "one"},
		{Origin, "one", patra.Counts{Same: 1}, 1, "one"},
		{newer, "two", patra.Counts{Update: 1}, 2, "two"},
		{Origin, "old", patra.Counts{Stale: 1}, 2, "two"},
		{newer, "three", patra.Counts{Update: 1}, 3, "three"}, // the same time, observed later
		{newer + 1000, "three", patra.Counts{Same: 1}, 3, "three"},
	} {
		w.Clock.Move(time.Second)
		got := w.Page(c, int64(i+1), true, w.Record("1", step.updated, step.content))
		r, err := w.Store.Record(t.Context(), "demo", "work", "1")
		w.must(err)
		if got != step.want || r.Rev != step.rev || r.ContentSHA256 != patra.Hash(step.stored) {
			t.Errorf("step %d: counts %+v, rev %d", i+1, got, r.Rev)
		}
	}
	r, err := w.Store.Record(t.Context(), "demo", "work", "1")
	w.must(err)
	if *r.UpdatedAt != newer+1000 {
		t.Errorf("the provider's time did not move with an equal version: %s", r.UpdatedAt)
	}
	changes, err := w.Changes(t.Context(), r.ID)
	if err != nil || len(changes) != 3 || changes[2].Change != patra.Replace {
		t.Errorf("biography %+v, %v", changes, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func duplicates(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	got := w.Page(w.Take(), 1, false, w.Record("1", Origin, "a"), w.Record("1", Origin+1000, "b"), w.Record("2", Origin, "c"), w.Record("1", Origin, "a"))
	if got != (patra.Counts{Insert: 2, Dup: 2}) {
		t.Errorf("counts %+v", got)
	}
	r, err := w.Store.Record(t.Context(), "demo", "work", "1")
	if err != nil || r.ContentSHA256 != patra.Hash("b") {
		t.Errorf("the newest of three was not kept, %v", err)
	}
}

func quarantine(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	page, err := w.OpenAt(c, 1, 1, 1)
	w.must(err)
	res := w.Result(false, w.Record("1", Origin, "a"))
	res.Quarantined = []patra.Quarantined{{ItemNo: 2, Code: patra.CodeMissingID, Path: "$.DOI", Fragment: []byte("{\"x\":\"\xff\"}")}}
	counts, _, err := w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, res, nil)
	if err != nil || counts.Quarantine != 1 || counts.Total() != 2 {
		t.Errorf("counts %+v, %v", counts, err)
	}
	var fragment []byte
	w.must(Inspect(t, w.URL).QueryRow(`SELECT fragment FROM ing_quarantine`).Scan(&fragment))
	if string(fragment) != "{\"x\":\"\xff\"}" {
		t.Errorf("fragment %q", fragment)
	}
}

func resume(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	w.Page(c, 1, true, w.Record("1", Origin, "a"))
	w.Page(c, 2, true, w.Record("2", Origin, "b"))
	w.Clock.Move(2 * Lease)
	again := w.Take()
	if again.Resume == nil || again.Resume.After != "on" || !again.Resume.HasNext || again.Task.NextOrdinal != 3 || again.Seen != 2 {
		t.Errorf("resumes at %+v, ordinal %d, seen %d", again.Resume, again.Task.NextOrdinal, again.Seen)
	}
	page, err := w.OpenAt(again, 1, 1, 3)
	w.must(err)
	w.must(second(w.Commit(again, page, false)))
	w.must(w.Succeed(again, patra.StateSealed))
	CheckInvariants(t, Inspect(t, w.URL))
}

func twoPhases(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	search := func(ordinal int64, hasNext bool, ids ...string) {
		page, err := w.OpenAt(c, ordinal, 1, ordinal)
		w.must(err)
		res := w.Result(hasNext)
		res.IDs = ids
		_, _, err = w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, res, nil)
		w.must(err)
	}
	search(1, true, "a", "b", "b")
	search(2, false, "b", "A", "c")
	w.Clock.Move(2 * Lease) // the worker dies between the phases
	c = w.Take()
	if c.Resume == nil || c.Resume.HasNext || c.Seen != 4 || c.Task.NextDetail != 1 {
		t.Errorf("resumes at %+v, seen %d, detail %d", c.Resume, c.Seen, c.Task.NextDetail)
	}
	items, err := w.Items(t.Context(), c, 1, 0, 3)
	if err != nil || fmt.Sprint(items) != "[{1 a} {2 b} {3 A}]" {
		t.Errorf("items %v, %v", items, err)
	}
	detail := func(ordinal int64, outcomes map[patra.Status][]string, records ...patra.Observation) error {
		page, err := w.OpenPage(t.Context(), c, w.Clock.Instant(), patra.PageOpen{BatchNo: 10 + ordinal, ScanNo: 1, Phase: patra.PhaseDetail, Ordinal: ordinal, RequestID: store.NewOwner(), GateKey: "demo", AcquiredAt: w.Clock.Instant()})
		w.must(err)
		res := w.Result(false, records...)
		res.Items = outcomes
		_, _, err = w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, res, nil)
		return err
	}
	w.must(detail(1, map[patra.Status][]string{patra.ItemDone: {"a", "b"}}, w.Record("a", Origin, "1"), w.Record("b", Origin, "2")))
	end := patra.Closing{Status: patra.Succeeded, Proof: &patra.Proof{ScanNo: 1, State: patra.StateSealed, Trust: patra.TrustNone, Details: true}}
	if err := w.Finish(t.Context(), c, w.Clock.Instant(), end); !errors.Is(err, patra.ErrNoProof) {
		t.Errorf("two ids are open: %v", err)
	}
	if err := detail(2, map[patra.Status][]string{patra.ItemDone: {"a"}}); !errors.Is(err, patra.ErrIllegalMove) {
		t.Errorf("an id was settled twice: %v", err)
	}
	w.Clock.Move(2 * Lease)
	c = w.Take()
	if c.Task.NextDetail != 2 {
		t.Errorf("the second phase resumes at %d", c.Task.NextDetail)
	}
	w.must(detail(2, map[patra.Status][]string{patra.ItemDone: {"A"}, patra.ItemMissing: {"c"}}, w.Record("A", Origin, "3")))
	w.must(w.Finish(t.Context(), c, w.Clock.Instant(), end))
	answers, err := w.Answers(t.Context(), w.Cursor.ID)
	if err != nil || len(answers) != 1 || answers[0].KnownMissing != 1 || answers[0].Stored != 3 {
		t.Errorf("answers %+v, %v", answers, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func proof(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	unread := w.Take()
	if err := w.Succeed(unread, patra.StateSealed); !errors.Is(err, patra.ErrNoProof) {
		t.Errorf("no page at all: %v", err)
	}
	halfway := w.Take()
	w.Page(halfway, 1, true)
	if err := w.Succeed(halfway, patra.StateSealed); !errors.Is(err, patra.ErrNoProof) {
		t.Errorf("more pages were announced: %v", err)
	}
	holed := w.Take()
	w.Page(holed, 1, true)
	w.Page(holed, 3, false)
	if err := w.Succeed(holed, patra.StateSealed); !errors.Is(err, patra.ErrNoProof) {
		t.Errorf("page 2 is missing: %v", err)
	}
	if c := w.Watermark(); c.Value != Origin {
		t.Errorf("the watermark moved to %s", c.Value)
	}
}

func watermark(t *testing.T, e Engine) {
	const days = 12
	w := NewWorld(t, e, days)
	var claims []*patra.Claim
	for range days {
		claims = append(claims, w.Take())
	}
	rand.Shuffle(days, func(i, j int) { claims[i], claims[j] = claims[j], claims[i] })
	stuck := claims[0]
	var done patra.Coverage
	for _, c := range claims[1:] {
		w.Work(c)
		done = done.Union(patra.NewCoverage(c.Slice.Window))
		if got, want := w.Watermark().Value, done.Frontier(Origin); got != want {
			t.Fatalf("watermark %s, the coverage reaches to %s", got, want)
		}
	}
	if got := w.Watermark(); got.Value != stuck.Slice.Window.From || got.SealedThrough != got.Value {
		t.Errorf("watermark %s, sealed %s, but %s is missing", got.Value, got.SealedThrough, stuck.Slice.Window)
	}
	w.Work(stuck)
	if got := w.Watermark(); got.Value != Origin+days*patra.Day || got.SealedThrough != got.Value {
		t.Errorf("watermark %s, sealed %s after everything was read", got.Value, got.SealedThrough)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func dispute(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	for range 3 {
		c := w.Take()
		w.Page(c, 1, false)
		state := patra.StateSealed
		if c.Slice.Window.From == Origin+patra.Day {
			state = patra.StateDisputed
		}
		w.must(w.Succeed(c, state))
	}
	if got := w.Watermark(); got.Value != Origin+3*patra.Day || got.SealedThrough != Origin+patra.Day {
		t.Errorf("watermark %s, complete through %s", got.Value, got.SealedThrough)
	}
	// The day is read again and agrees now.
	plan := w.StartPlanFor(w.Cursor, patra.Window{From: Origin + patra.Day, To: Origin + 2*patra.Day})
	c, _, _, err := w.Need(t.Context(), w.Cursor.ID)
	w.must(err)
	again := Days(Origin+patra.Day, 1)
	again[0].Purpose = patra.PurposeReconcile
	w.must(w.AddSlices(t.Context(), w.Clock.Instant(), plan.ID, c.PlanVersion, again, patra.TriggerManual, 5))
	w.Clock.Move(time.Second)
	w.Work(w.Take())
	if got := w.Watermark(); got.SealedThrough != Origin+3*patra.Day {
		t.Errorf("complete through %s after the dispute was settled", got.SealedThrough)
	}
}

func retry(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	fault := &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Text: "no"}
	var failed []*patra.Claim
	for range 3 {
		c := w.Take()
		w.must(w.Finish(t.Context(), c, w.Clock.Instant(), patra.Closing{Status: patra.Failed, Fault: fault}))
		failed = append(failed, c)
	}
	_, covered, live, err := w.Need(t.Context(), w.Cursor.ID)
	if err != nil || len(covered) != 0 || len(live) != 0 {
		t.Fatalf("failed slices count as covered %v or live %v, %v", covered, live, err)
	}
	// Another plan takes over the first day and does it.
	plan := w.StartPlanFor(w.Cursor, patra.Window{From: Origin, To: Origin + patra.Day})
	c, _, _, err := w.Need(t.Context(), w.Cursor.ID)
	w.must(err)
	w.must(w.AddSlices(t.Context(), w.Clock.Instant(), plan.ID, c.PlanVersion, Days(Origin, 1), patra.TriggerManual, 5))
	w.Work(w.Take())
	n, err := w.Retry(t.Context(), w.Plan.ID)
	if err != nil || n != 2 {
		t.Errorf("%d of 3 were queued again, %v", n, err)
	}
	for range 2 {
		w.Work(w.Take())
	}
	if got := w.Watermark(); got.Value != Origin+3*patra.Day {
		t.Errorf("watermark %s", got.Value)
	}
	_ = failed
}

func export(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	const n = 1203 // more than two pages of the export
	var records []patra.Observation
	for i := range n {
		records = append(records, w.Record(fmt.Sprintf("%05d", i), Origin, fmt.Sprint(i)))
	}
	if got := w.Page(c, 1, false, records...); got.Insert != n {
		t.Fatalf("counts %+v", got)
	}
	seen := map[string]bool{}
	err := w.Records(t.Context(), "demo", func(r patra.Record) error {
		if seen[r.ProviderID] {
			t.Errorf("%s twice", r.ProviderID)
		}
		seen[r.ProviderID] = true
		return nil
	})
	if err != nil || len(seen) != n {
		t.Errorf("%d of %d records, %v", len(seen), n, err)
	}
	line, err := w.Lineage(t.Context(), 1)
	if err != nil || line == nil || line.Task != c.TaskID || line.Run != c.RunID || line.Slice != c.Slice.ID {
		t.Errorf("lineage %+v, %v", line, err)
	}
}

func views(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	w.Work(w.Take(), w.Record("1", Origin, "a"))
	db := Inspect(t, w.URL)
	for _, view := range []string{"v_plan", "v_slice", "v_task", "v_batch", "v_cursor", "v_coverage", "v_record"} {
		rows := 0
		scan(t, db, "SELECT * FROM "+view, func(*sql.Rows) error { rows++; return nil })
		if rows != 1 {
			t.Errorf("%s has %d rows", view, rows)
		}
	}
	var from string
	w.must(db.QueryRow("SELECT window_from FROM v_coverage").Scan(&from))
	if at, err := patra.ParseInstant(from); err != nil || at != Origin {
		t.Errorf("v_coverage shows %q", from)
	}
	for _, check := range []string{"v_check_counts", "v_check_chain"} {
		scan(t, db, "SELECT * FROM "+check, func(*sql.Rows) error { t.Errorf("%s has a row", check); return nil })
	}
}

func exec(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}
