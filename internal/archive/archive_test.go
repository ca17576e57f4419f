package archive_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"patra"
	"patra/internal/archive"
	"patra/internal/blob"
	"patra/internal/store/storetest"
)

// tables are those that an archive touches.
var tables = []string{"ing_request", "ing_task_run_batch", "ing_task_item", "ing_cursor_event", "ing_archive", "ing_archive_batch", "ing_archive_sent", "ing_archive_body"}

// dump is everything in those tables, as text.
func dump(t *testing.T, url string) map[string]string {
	t.Helper()
	db := storetest.Inspect(t, url)
	all := map[string]string{}
	for _, table := range tables {
		rows, err := db.Query(`SELECT * FROM ` + table + ` ORDER BY 1, 2, 3`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		names, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for rows.Next() {
			values, places := make([]any, len(names)), make([]any, len(names))
			for i := range values {
				places[i] = &values[i]
			}
			if err := rows.Scan(places...); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(values) // bytes and texts look different here, so that one is not taken for the other
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
			b.WriteByte('\n')
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		all[table] = b.String()
	}
	return all
}

type world struct {
	*storetest.World
	*archive.Archiver
	dir string
}

func newWorld(t *testing.T, e storetest.Engine) world {
	t.Helper()
	w := storetest.Eventful(t, e)
	dir := t.TempDir()
	place, err := blob.OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	return world{w, &archive.Archiver{Store: w.Store, Place: place}, dir}
}

// sound asks whether every promise is kept.
func (w world) sound(t *testing.T) {
	t.Helper()
	if broken, err := w.Verify(t.Context(), nil); err != nil || len(broken) > 0 {
		t.Errorf("broken: %+v, %v", broken, err)
	}
}

// somePlan is one that has tasks for the archive.
func (w world) somePlan(t *testing.T) int64 {
	t.Helper()
	tasks, err := w.Archivable(t.Context(), 0, w.Clock.Instant().Add(time.Second), 1)
	if err != nil || len(tasks) == 0 {
		t.Fatal(tasks, err)
	}
	return tasks[0].PlanID
}

// What goes into the archive and comes back is the same to the byte, and the store is sound all the while.
func TestThereAndBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		w := newWorld(t, e)
		before := dump(t, w.URL)
		now := w.Clock.Instant()
		later := now.Add(time.Second)
		done, err := w.Run(t.Context(), now, later)
		if err != nil || done.Tasks < 5 || done.Pages < 5 || done.Items == 0 || done.Files != 1 {
			t.Fatalf("%+v, %v", done, err)
		}
		w.sound(t)
		if again, err := w.Run(t.Context(), now, later); err != nil || again.Tasks != 0 {
			t.Errorf("moved twice: %+v, %v", again, err)
		}
		if left := dump(t, w.URL); len(left["ing_task_run_batch"]) >= len(before["ing_task_run_batch"]) || len(left["ing_request"]) >= len(before["ing_request"]) {
			t.Error("nothing went away")
		}
		tasks, err := w.Tasks(t.Context(), storetestFilter)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			if _, err := w.Restore(t.Context(), "task", task.ID); err != nil {
				t.Fatal(err)
			}
		}
		w.sound(t)
		for table, want := range before {
			if got := dump(t, w.URL)[table]; got != want {
				t.Errorf("%s was\n%sand is\n%s", table, want, got)
			}
		}
	})
}

// The events of a cursor become one, in two rounds, and come back as they were. The chain is whole all the while.
func TestEventsThereAndBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		place, err := blob.OpenFiles(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		base := storetest.NewWorld(t, e, 0)
		w := world{World: base, Archiver: &archive.Archiver{Store: base.Store, Place: place}}
		var moments []patra.Instant
		for day := range 9 {
			w.Add(storetest.Stretch(storetest.Day(day)))
			w.Work(w.Take())
			moments = append(moments, w.Clock.Instant())
			w.Clock.Move(time.Hour)
		}
		before := dump(t, w.URL)
		for round, until := range []patra.Instant{moments[4], moments[8].Add(time.Hour)} {
			n, err := w.CompactEvents(t.Context(), base.Store, w.Clock.Instant(), until, "somebody")
			if err != nil || n < 4 {
				t.Errorf("round %d: %d events, %v", round, n, err)
			}
			w.sound(t)
			var broken int
			if err := storetest.Inspect(t, w.URL).QueryRow("SELECT COUNT(*) FROM v_check_chain").Scan(&broken); err != nil || broken > 0 {
				t.Errorf("round %d: to people %d chains look broken, %v", round, broken, err)
			}
			if n, err := w.CompactEvents(t.Context(), base.Store, w.Clock.Instant(), until, "somebody"); err != nil || n > 0 {
				t.Errorf("round %d once more: %d events, %v", round, n, err)
			}
		}
		if left := strings.Count(dump(t, w.URL)["ing_cursor_event"], "\n"); left != 2 { // one for all, and the last
			t.Errorf("%d events are left", left)
		}
		w.Clock.Move(time.Hour)
		if n, err := w.RestoreEvents(t.Context(), base.Store, base.Cursor.ID); err != nil || n < 9 {
			t.Errorf("%d events came back, %v", n, err)
		}
		w.sound(t)
		if got := dump(t, w.URL)["ing_cursor_event"]; got != before["ing_cursor_event"] {
			t.Errorf("the events were\n%sand are\n%s", before["ing_cursor_event"], got)
		}
	})
}

// What a record says of where it came from stays, and leads to what has to be brought back.
func TestLineageStays(t *testing.T) {
	w := newWorld(t, storetest.Engines()[0])
	var batches []int64
	if err := w.Records(t.Context(), "", func(r patra.Record) error { batches = append(batches, r.BatchID); return nil }); err != nil || len(batches) == 0 {
		t.Fatal(batches, err)
	}
	want := map[int64]patra.Lineage{}
	for _, b := range batches {
		l, err := w.Lineage(t.Context(), b)
		if err != nil || l == nil {
			t.Fatal(err)
		}
		want[b] = *l
	}
	if _, err := w.Run(t.Context(), w.Clock.Instant(), w.Clock.Instant().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	for b, l := range want {
		got, err := w.Lineage(t.Context(), b)
		if err != nil || got == nil || *got != l {
			t.Fatalf("batch %d: %+v, want %+v, %v", b, got, l, err)
		}
	}
	for _, by := range []struct {
		kind string
		id   int64
	}{{"batch", batches[0]}, {"run", want[batches[len(batches)-1]].Run}, {"plan", want[batches[0]].Plan}} {
		if done, err := w.Restore(t.Context(), by.kind, by.id); err != nil || done.Tasks == 0 {
			t.Errorf("%v: %+v, %v", by, done, err)
		}
	}
	w.sound(t)
}

// Damage is noticed, and nothing is half brought back.
func TestADamagedArchive(t *testing.T) {
	for name, damage := range map[string]func(string, []byte) error{
		"a bit":      func(p string, d []byte) error { d[len(d)/2] ^= 1; return os.WriteFile(p, d, 0o600) },
		"the end":    func(p string, d []byte) error { return os.WriteFile(p, d[:len(d)/2], 0o600) },
		"everything": func(p string, _ []byte) error { return os.WriteFile(p, []byte("nonsense"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, storetest.Engines()[0])
			plan := w.somePlan(t)
			if _, err := w.Run(t.Context(), w.Clock.Instant(), w.Clock.Instant().Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(w.dir, "pages/*/*/*/*.zst"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			data, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(files[0], data); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Restore(t.Context(), "plan", plan); !errors.Is(err, archive.ErrDamaged) {
				t.Errorf("%v", err)
			}
			w.sound(t)
		})
	}
}

// Two archivers at once, and a file that nobody could write: the store stays sound.
func TestTwoAtOnceAndNoRoom(t *testing.T) {
	w := newWorld(t, storetest.Engines()[0])
	now := w.Clock.Instant()
	plan := w.somePlan(t)
	full := &archive.Archiver{Store: w.World.Store, Place: noRoom{}}
	if done, err := full.Run(t.Context(), now, now.Add(time.Second)); !errors.Is(err, errNoRoom) || done.Tasks > 0 {
		t.Errorf("%+v, %v", done, err)
	}
	w.sound(t)
	other := &archive.Archiver{Store: meanwhile{w.World.Store, new(sync.Once), func() {
		if _, err := w.Run(t.Context(), now, now.Add(time.Second)); err != nil {
			t.Error(err)
		}
	}}, Place: w.Place}
	if done, err := other.Run(t.Context(), now, now.Add(time.Second)); err != nil || done.Tasks > 0 {
		t.Errorf("%+v, %v", done, err)
	}
	w.sound(t)
	if done, err := w.Restore(t.Context(), "plan", plan); err != nil || int(done.Tasks) == 0 {
		t.Errorf("%+v, %v", done, err)
	}
	w.sound(t)
}

// An event that is sent after its page was archived says the same as before: where it came from too.
func TestEventsKeepTheirLineage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		w := newWorld(t, e)
		read := func() (all []string) {
			for n := 1; n > 0; {
				var err error
				if n, _, err = w.AssignSequence(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			events, err := w.EventsAfter(t.Context(), 0, 10_000, 1<<30)
			if err != nil || len(events) == 0 {
				t.Fatal(len(events), err)
			}
			for _, e := range events {
				all = append(all, string(e.Data))
			}
			return all
		}
		before := read()
		if done, err := w.Run(t.Context(), w.Clock.Instant(), w.Clock.Instant().Add(time.Second)); err != nil || done.Pages == 0 {
			t.Fatal(done, err)
		}
		for i, after := range read() {
			if after != before[i] {
				t.Fatalf("the event was\n%s\nand is\n%s", before[i], after)
			}
		}
	})
}

// Two archivers at once find a task that has no rows at all: to both it looks the same before and after.
func TestTwoAtOnceAndNothingToMove(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		w := newWorld(t, e)
		now := w.Clock.Instant()
		tasks, err := w.Archivable(t.Context(), 0, now.Add(time.Second), 1)
		if err != nil || len(tasks) == 0 {
			t.Fatal(tasks, err)
		}
		db := storetest.Inspect(t, w.URL)
		for _, table := range []string{"ing_task_run_batch", "ing_task_item"} {
			if _, err := db.Exec(`DELETE FROM `+table+` WHERE task_id = ?`, tasks[0].TaskID); err != nil {
				t.Fatal(err)
			}
		}
		other := &archive.Archiver{Store: meanwhile{w.World.Store, new(sync.Once), func() {
			if _, err := w.Run(t.Context(), now, now.Add(time.Second)); err != nil {
				t.Error(err)
			}
		}}, Place: w.Place}
		if done, err := other.Run(t.Context(), now, now.Add(time.Second)); err != nil || done.Tasks > 0 {
			t.Errorf("%+v, %v", done, err)
		}
	})
}
