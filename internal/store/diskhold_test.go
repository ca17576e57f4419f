package store_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

const stopVariable = "PATRA_TEST_STOPPED_CHILD"

// TestStoppedChild is not a test but a process that is stopped in the middle of a transaction, with the lock of the file in
// its hands.
func TestStoppedChild(t *testing.T) {
	raw := os.Getenv(stopVariable)
	if raw == "" {
		t.Skip("a child of TestDiskLockOfAStoppedProcess")
	}
	var o diskOrders
	check(t, json.Unmarshal([]byte(raw), &o))
	s, err := store.Open(t.Context(), o.url())
	check(t, err)
	check(t, s.UpdateGateState(t.Context(), diskGate, func(_ patra.Instant, _ time.Duration, was patra.RateState) patra.RateState {
		check(t, syscall.Kill(os.Getpid(), syscall.SIGSTOP))
		<-t.Context().Done() // another thread may be the one that is stopped first
		was.Arrival += 1000 * patra.Second
		return was
	}))
}

// A process is stopped while it has the file for itself. Others read, and wait with what they have to write;
// when it dies they go on, and nothing of it is there.
func TestDiskLockOfAStoppedProcess(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	w := storetest.NewWorld(t, storetest.Engine{Name: "sqlite", URL: func(testing.TB) string { return diskOrders{Folder: folder}.url() }}, 0)
	check(t, turnGate(w))
	raw, err := json.Marshal(diskOrders{Folder: folder})
	check(t, err)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStoppedChild$")
	child.Env = append(os.Environ(), stopVariable+"="+string(raw))
	check(t, child.Start())
	gone := make(chan struct{})
	t.Cleanup(func() { child.Process.Kill() })
	var status syscall.WaitStatus
	for !status.Stopped() {
		if _, err := syscall.Wait4(child.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || status.Exited() {
			t.Fatal(status, err)
		}
	}
	if _, err := storetest.Inspect(t, w.URL).Exec("BEGIN IMMEDIATE"); err == nil { // which does not wait
		t.Error("it was stopped, and has not the file for itself")
	}
	if state, _, err := w.GateState(t.Context(), diskGate); err != nil || state.Arrival != patra.Second {
		t.Errorf("whoever only reads gets %+v, %v", state, err)
	}
	go func() { // somebody patient is already waiting, or about to
		defer close(gone)
		if err := turnGate(w); err != nil {
			t.Error(err)
		}
	}()
	check(t, child.Process.Kill())
	if _, err := child.Process.Wait(); err != nil {
		t.Log(err) // it was waited for above
	}
	<-gone
	if state, _, err := w.GateState(t.Context(), diskGate); err != nil || state.Arrival != 2*patra.Second {
		t.Errorf("in the end it is %+v, %v", state, err)
	}
	sound(t, w.URL, "a process died that had the file for itself")
}

// Somebody reads for long, and what is written meanwhile cannot leave the log. Writers go on; and when the reader is done
// the log is used again from its beginning and does not grow any more.
func TestDiskLogUnderALongReader(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	w := storetest.NewWorld(t, storetest.Engine{Name: "sqlite", URL: func(testing.TB) string { return diskOrders{Folder: folder}.url() }}, 0)
	check(t, turnGate(w))
	size := func() int64 {
		info, err := os.Stat(filepath.Join(folder, storeFile+"-wal"))
		check(t, err)
		return info.Size()
	}
	write := func(n int) {
		for range n {
			check(t, turnGate(w))
		}
	}
	reader := storetest.Inspect(t, w.URL)
	tx, err := reader.BeginTx(t.Context(), nil)
	check(t, err)
	var was, is int64
	const arrival = "SELECT arrival_at FROM ing_rate_gate"
	check(t, tx.QueryRow(arrival).Scan(&was))
	const frames, turns = 1000, 1500 // SQLite empties its log when it has a thousand pages
	write(turns)
	held := size()
	if held < frames*16<<10 {
		t.Errorf("%d bytes: the log was emptied under a reader, or little was written", held)
	}
	if check(t, tx.QueryRow(arrival).Scan(&is)); is != was {
		t.Errorf("whoever reads one moment sees %d after %d", is, was)
	}
	check(t, tx.Rollback())
	write(2 * turns)
	if now := size(); now > held+held/10 {
		t.Errorf("the log had %d bytes, and has %d long after its reader was done", held, now)
	}
	if state, _, err := w.GateState(t.Context(), diskGate); err != nil || state.Arrival != (1+3*turns)*patra.Second {
		t.Errorf("in the end it is %+v, %v", state, err)
	}
	sound(t, w.URL, "a long reader")
}

// Somebody puts an older copy of the store in its place while a task is in hand. In the copy the task is free, and is taken by
// another with the same number; the first must not write in its name, nor in the name of whoever took it.
func TestDiskRestoredUnderAnExecutor(t *testing.T) {
	t.Parallel()
	w := storetest.NewWorld(t, storetest.Engines()[0], 1)
	copied := filepath.Join(t.TempDir(), storeFile)
	_, err := w.Backup(t.Context(), copied, func(int64, int64) {})
	check(t, err)
	first := w.Take()
	page := opened(w, first, 1)
	w.URL = "sqlite:" + copied
	w.Store, err = store.Open(t.Context(), w.URL, store.WithClock(w.Clock.Now))
	check(t, err)
	defer w.Close()
	refused := func(when string) {
		t.Helper()
		if _, _, err := w.CommitPage(t.Context(), first, w.Clock.Instant(), "work", page, hours(w, first.Slice.Window, 1), nil); !errors.Is(err, patra.ErrLeaseLost) {
			t.Errorf("%s: a page was committed: %v", when, err)
		}
		if _, err := w.OpenPage(t.Context(), first, w.Clock.Instant(), pageAt(first, 1, w)); !errors.Is(err, patra.ErrLeaseLost) {
			t.Errorf("%s: a page was announced: %v", when, err)
		}
		if err := w.Succeed(first, patra.StateSealed); !errors.Is(err, patra.ErrLeaseLost) {
			t.Errorf("%s: a task was closed: %v", when, err)
		}
	}
	refused("nobody has the task")
	second := w.Take()
	if second.TaskID != first.TaskID || second.Fence != first.Fence {
		t.Fatalf("%+v was taken after %+v: nothing is repeated", second.Lease, first.Lease)
	}
	refused("somebody else has it, with the same number")
	sound(t, w.URL, "an older copy was put in its place")
	finishWork(w)
	sound(t, w.URL, "all the work on an older copy")
}
