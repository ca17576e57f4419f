package storetest

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"patra"
	"patra/internal/store"
)

// outOfOrder has transactions that take their row ids in one order and commit in another, and some that never do, while
// somebody reads. Whoever reads by row ids loses events here.
func outOfOrder(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	db := Inspect(t, w.URL)
	const rounds, width = 8, 6
	var position int64
	seen, byID := map[string]int{}, map[string]bool{}
	var lastID int64
	look := func() {
		for n := 1; n > 0; {
			var err error
			n, _, err = w.AssignSequence(t.Context())
			w.must(err)
		}
		events, err := w.EventsAfter(t.Context(), position, 1000, 1<<20)
		w.must(err)
		for _, ev := range events {
			if ev.Seq != position+1 {
				t.Fatalf("%d comes after %d", ev.Seq, position)
			}
			position = ev.Seq
			seen[ev.Subject]++
		}
		scan(t, db, fmt.Sprintf(`SELECT id, subject FROM ing_outbox WHERE record_id IS NULL AND id > %d ORDER BY id`, lastID), func(r *sql.Rows) error {
			var subject string
			err := r.Scan(&lastID, &subject)
			byID[subject] = true
			return err
		})
	}
	want := 0
	for round := range rounds {
		open := make([]*sql.Tx, 0, width)
		for i := range width {
			if e.Name == "sqlite" && i > 0 { // it has one writer: the next transaction begins when this one is over
				open = finish(t, open, &want, look)
			}
			tx, err := db.BeginTx(t.Context(), nil)
			w.must(err)
			subject := fmt.Sprintf("plan/%d-%d", round, i)
			_, err = tx.Exec(`INSERT INTO ing_outbox (event_type, rev, event_key, subject, payload, created_at) VALUES ('patra.plan.ready', 0, ?, ?, '{"source":"x"}', 1)`, patra.HashBytes([]byte(subject)), subject)
			w.must(err)
			open = append(open, tx)
		}
		finish(t, open, &want, look)
	}
	look()
	told := 0
	for subject, n := range seen {
		if n != 1 {
			t.Errorf("%s was read %d times", subject, n)
		}
		if len(subject) > 6 && subject[6] == '-' {
			told++
		}
	}
	if told != want {
		t.Errorf("%d events were read, and %d were committed", told, want)
	}
	if e.Name != "sqlite" {
		t.Logf("by row ids %d events would have been read of %d", len(byID), len(seen))
	}
	CheckInvariants(t, db)
}

// finish ends transactions in a random order, most of them well, and looks after each.
func finish(t *testing.T, open []*sql.Tx, want *int, look func()) []*sql.Tx {
	t.Helper()
	rand.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	for _, tx := range open {
		end := tx.Rollback
		if rand.IntN(5) > 0 {
			end = tx.Commit
			*want++
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		look()
	}
	return open[:0]
}

// numbersInOrder has several who give numbers while versions are written: no version gets its number before an older one.
func numbersInOrder(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	other := e.Connect(t, w.URL)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				if _, _, err := other.AssignSequence(t.Context()); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for rev := int64(1); rev <= 12; rev++ {
		w.Clock.Move(1e9)
		w.Page(c, rev, true, w.Record("a", Origin+patra.Instant(rev)*patra.Hour, fmt.Sprint(rev)), w.Record("b", Origin+patra.Instant(rev)*patra.Hour, fmt.Sprint("b", rev)))
	}
	close(stop)
	wg.Wait()
	for n := 1; n > 0; {
		var err error
		n, _, err = w.AssignSequence(t.Context())
		w.must(err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

// toldOfWork is what is said about plans, tasks and watermarks: once, with what made it true.
func toldOfWork(t *testing.T, e Engine) {
	w := NewWorld(t, e, 2)
	ended := func(want patra.PlanEnd) {
		t.Helper()
		plans, err := w.Plans(t.Context(), store.Filter{Limit: 1})
		w.must(err)
		if plans[0].Status != patra.Ready || plans[0].Ended != want {
			t.Errorf("the plan is %s and ended %q, not %q", plans[0].Status, plans[0].Ended, want)
		}
	}
	ended("")
	w.Work(w.Take(), w.Record("1", Origin, "x"))
	c := w.Take()
	w.Page(c, 1, false)
	ended("")
	w.must(w.Finish(t.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: patra.LevelFatal, Code: "X", Text: "no"}}))
	ended(patra.PlanFailed)
	if n, err := w.Retry(t.Context(), w.Plan.ID); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	c = w.Take()
	w.Page(c, 1, false)
	ended("")
	w.must(w.Succeed(c, patra.StateSealed))
	ended(patra.PlanDone)
	got := map[string]int{}
	scan(t, Inspect(t, w.URL), `SELECT event_type FROM ing_outbox WHERE record_id IS NULL`, func(r *sql.Rows) error {
		var kind string
		err := r.Scan(&kind)
		got[kind]++
		return err
	})
	moves := 0
	scan(t, Inspect(t, w.URL), `SELECT COUNT(*) FROM ing_cursor_event`, func(r *sql.Rows) error { return r.Scan(&moves) })
	want := map[string]int{"patra.plan.ready": 1, "patra.task.succeeded": 2, "patra.task.failed": 1, "patra.cursor.advanced": moves, "patra.plan.finished": 2}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
