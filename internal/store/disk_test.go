package store_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patra/internal/crashtest"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// diskVariable holds the orders of a child, and sweepVariable asks for every fault instead of one in many.
const (
	diskVariable  = "PATRA_TEST_DISK_CHILD"
	sweepVariable = "DISK_SWEEP"
)

// diskOrders are what a child does: one transaction on a store that somebody prepared.
type diskOrders struct {
	Folder string
	Act    string
	Again  bool // after an error it tries once more, as whoever waits for a disk does; else it is gone at once
}

const storeFile = "patra.db"

func (o diskOrders) url() string { return "sqlite:" + filepath.Join(o.Folder, storeFile) }

// TestDiskChild is not a test but the process that the disk is broken under.
func TestDiskChild(t *testing.T) {
	raw := os.Getenv(diskVariable)
	if raw == "" {
		t.Skip("a child of TestDisk")
	}
	var o diskOrders
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // faults are counted by thread
	act := actNamed(t, o.Act)
	if err := o.child(t, act); err != nil {
		fmt.Printf("refused: %v\n", err)
		os.Exit(3) // without closing anything, as a process ends that somebody kills after its complaint
	}
}

func (o diskOrders) child(t *testing.T, act diskAct) error {
	w := &storetest.World{T: t, Clock: storetest.NewClock(), URL: o.url()}
	for try := 1; ; try++ {
		err := o.once(t, w, act)
		if err == nil || !o.Again || try == 2 {
			return err
		}
		fmt.Printf("refused: %v\n", err)
	}
}

// once opens the store, unless it is open, acts, says so, and closes it.
func (o diskOrders) once(t *testing.T, w *storetest.World, act diskAct) (err error) {
	if w.Store == nil {
		s, err := store.Open(t.Context(), o.url(), store.WithClock(w.Clock.Now))
		if err != nil {
			return fmt.Errorf("open: %w", err)
		}
		w.Store = s
	}
	if err := act.do(w, readPrepared(t, o.Folder)); err != nil {
		return err
	}
	fmt.Println("ack")
	if err := w.Close(); err != nil {
		fmt.Printf("closing: %v\n", err) // what was acknowledged stays so
	}
	return nil
}

// diskTrial is one child and what became of its transaction.
type diskTrial struct {
	acked, there bool
	complaints   []string
}

// sweep breaks the disk under one act at all of its writes.
type sweep struct {
	act           diskAct
	base          string
	before, after string // all that is in the tables
	calls         map[string]int
}

// The disk breaks at each write, each sync, each truncation and each deletion of the file of a store and of its log, while one
// of the transactions is written that everything depends on: the process dies there, or the call says that it failed.
// Whatever was acknowledged is there, whole; what was not is there whole or not at all; and somebody else does the rest.
func TestDisk(t *testing.T) {
	crashtest.Need(t)
	// In the short form each act has a few faults, which are others for each act.
	step := 37
	if os.Getenv(sweepVariable) != "" {
		step = 1
	}
	var table []string
	var mu sync.Mutex
	t.Run("acts", func(t *testing.T) {
		for _, act := range diskActs {
			t.Run(act.name, func(t *testing.T) {
				t.Parallel()
				line := sweepAct(t, act, step)
				mu.Lock()
				defer mu.Unlock()
				table = append(table, line...)
			})
		}
	})
	slices.Sort(table)
	t.Logf("each line is a transaction and a kind of fault:\n%s", strings.Join(append([]string{
		fmt.Sprintf("%-12s %-17s %7s %6s %12s %12s %13s %13s", "transaction", "fault", "planned", "made", "acknowledged", "not, absent", "not, complete", "said an error")}, table...), "\n"))
}

func sweepAct(t *testing.T, act diskAct, step int) (table []string) {
	s := prepareSweep(t, act)
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.calls)) {
		all = append(all, fmt.Sprintf("%d %s", s.calls[name], name))
	}
	t.Logf("%s: %s", act.name, strings.Join(all, ", "))
	said := map[string]int{}
	defer func() {
		for _, words := range slices.Sorted(maps.Keys(said)) {
			t.Logf("said %d times: %s", said[words], words)
		}
	}()
	for i, k := range []struct {
		name  string
		kind  crashtest.Kind
		again bool
	}{{"killed", crashtest.Kill, false}, {"EIO, gone", crashtest.IOError, false}, {"EIO, again", crashtest.IOError, true}, {"ENOSPC, again", crashtest.NoSpace, true}} {
		faults := s.faults(step, i, k.kind)
		var made, acked, absent, complete, refused int
		for _, f := range faults {
			trial := s.try(t, &f, k.again)
			made++
			switch {
			case trial.acked:
				acked++
			case trial.there:
				complete++
			default:
				absent++
			}
			if len(trial.complaints) > 0 {
				refused++
			}
			for _, words := range trial.complaints {
				said[words]++
			}
		}
		if len(faults) == 0 || made != len(faults) {
			t.Errorf("%s: %d faults of %d", k.name, made, len(faults))
		}
		table = append(table, fmt.Sprintf("%-12s %-17s %7d %6d %12d %12d %13d %13d", act.name, k.name, len(faults), made, acked, absent, complete, refused))
	}
	return table
}

// faults are those of one kind: all of them, or one in so many, but never none.
func (s *sweep) faults(step, shift int, kind crashtest.Kind) []crashtest.Fault {
	var run crashtest.Run
	for name, n := range s.calls {
		for range n {
			run.Calls = append(run.Calls, name)
		}
	}
	all := run.Every(1, kind)
	if step == 1 {
		return all
	}
	var some []crashtest.Fault
	for i := (len(s.act.name)*7 + shift*11) % min(step, len(all)); i < len(all); i += step {
		some = append(some, all[i])
	}
	return some
}

// prepareSweep makes the store that every child gets a copy of, and sees what a child does that nothing happens to.
func prepareSweep(t *testing.T, act diskAct) *sweep {
	t.Helper()
	s := &sweep{act: act, base: t.TempDir()}
	w := storetest.NewWorld(t, storetest.Engine{Name: "sqlite", URL: func(testing.TB) string { return diskOrders{Folder: s.base}.url() }}, 0)
	raw, err := json.Marshal(act.prepare(w))
	check(t, err)
	check(t, os.WriteFile(filepath.Join(s.base, preparedFile), raw, 0o600))
	check(t, w.Close())
	w.Store, err = store.Open(t.Context(), w.URL, store.WithClock(w.Clock.Now)) // closed with the world
	check(t, err)
	s.before = dump(t, w.URL)
	check(t, w.Close())
	folder := s.fresh(t)
	run := s.run(t, folder, nil, false)
	if run.Err != nil || !strings.Contains(run.Out, "ack\n") {
		t.Fatalf("undisturbed: %v\n%s", run.Err, run.Out)
	}
	s.calls = run.Counts()
	for _, must := range []string{"pwrite64", "unlink"} {
		if s.calls[must] == 0 {
			t.Fatalf("no %s was seen: %v", must, s.calls)
		}
	}
	if s.calls["fsync"]+s.calls["fdatasync"] == 0 {
		t.Fatalf("nothing was made durable: %v", s.calls)
	}
	s.after = dump(t, diskOrders{Folder: folder}.url())
	if s.before == s.after {
		t.Fatal("the act changes nothing")
	}
	return s
}

func (s *sweep) fresh(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	check(t, os.CopyFS(folder, os.DirFS(s.base)))
	return folder
}

func (s *sweep) run(t *testing.T, folder string, f *crashtest.Fault, again bool) crashtest.Run {
	t.Helper()
	raw, err := json.Marshal(diskOrders{Folder: folder, Act: s.act.name, Again: again})
	check(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDiskChild$")
	cmd.Env = append(os.Environ(), diskVariable+"="+string(raw))
	return crashtest.Watch(t, cmd, folder, f, storeFile, storeFile+"-wal", storeFile+"-shm", storeFile+"-journal")
}

// try lets one fault happen, and looks at what it left.
func (s *sweep) try(t *testing.T, f *crashtest.Fault, again bool) (trial diskTrial) {
	t.Helper()
	folder := s.fresh(t)
	defer os.RemoveAll(folder)
	run := s.run(t, folder, f, again)
	if run.Injected != 1 {
		t.Errorf("%s: the fault was made %d times\n%s", f, run.Injected, run.Out)
	}
	for line := range strings.Lines(run.Out) {
		line = strings.TrimSpace(line)
		if words, ok := strings.CutPrefix(line, "refused: "); ok {
			trial.complaints = append(trial.complaints, words)
		}
		trial.acked = trial.acked || line == "ack"
	}
	o := diskOrders{Folder: folder}
	w := &storetest.World{T: t, Clock: storetest.NewClock(), URL: o.url()}
	opened, err := store.Open(t.Context(), w.URL, store.WithClock(w.Clock.Now))
	if err != nil {
		t.Errorf("%s: it cannot be opened: %v", f, err)
		return trial
	}
	defer opened.Close()
	w.Store = opened
	is := dump(t, w.URL)
	trial.there = is == s.after
	switch {
	case !trial.there && is != s.before:
		t.Errorf("%s: half of it is there:\n%s", f, differs(s.before, is))
	case trial.acked && !trial.there:
		t.Errorf("%s: it was acknowledged, and is not there\n%s", f, run.Out)
	case f.Kind != crashtest.Kill && !trial.acked && len(trial.complaints) == 0:
		t.Errorf("%s: neither acknowledged nor refused: %v\n%s", f, run.Err, run.Out)
	case again && !trial.acked:
		t.Errorf("%s: the disk was well again, and it was refused: %q", f, trial.complaints)
	}
	sound(t, w.URL, f.String())
	finishWork(w)
	sound(t, w.URL, f.String()+", then all the work")
	if t.Failed() {
		t.FailNow()
	}
	return trial
}

// sound looks at a store from outside.
func sound(t *testing.T, url, after string) {
	t.Helper()
	db := storetest.Inspect(t, url)
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("after %s the file is damaged: %s %v", after, verdict, err)
	}
	storetest.CheckInvariants(t, db)
	if t.Failed() {
		t.Errorf("that was after %s", after)
	}
}

// dump is all that is in the tables, but for what is drawn by chance.
func dump(t testing.TB, url string) string {
	t.Helper()
	db := storetest.Inspect(t, url)
	defer db.Close()
	var all strings.Builder
	for _, table := range texts(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_stat%' ORDER BY name") {
		rows, err := db.Query("SELECT * FROM " + table + " ORDER BY 1, 2")
		check(t, err)
		columns, err := rows.Columns()
		check(t, err)
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			check(t, rows.Scan(values...))
			fmt.Fprintf(&all, "%s:", table)
			for i, v := range values {
				if columns[i] != "lease_token" && columns[i] != "tstamp" {
					fmt.Fprintf(&all, " %s=%v", columns[i], *v.(*any))
				}
			}
			all.WriteByte('\n')
		}
		check(t, errors.Join(rows.Err(), rows.Close()))
	}
	return all.String()
}

func texts(t testing.TB, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.Query(query)
	check(t, err)
	defer rows.Close()
	for rows.Next() {
		var text string
		check(t, rows.Scan(&text))
		all = append(all, text)
	}
	check(t, rows.Err())
	return all
}

// differs are the lines of which only one of two has them.
func differs(a, b string) string {
	has := map[string]int{}
	for line := range strings.Lines(a) {
		has[line]--
	}
	for line := range strings.Lines(b) {
		has[line]++
	}
	var all []string
	for line, n := range has {
		if n != 0 {
			all = append(all, fmt.Sprintf("%+d %s", n, strings.TrimSpace(line)))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// soon is longer than any lease here.
const soon = 2 * time.Minute
