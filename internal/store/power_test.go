package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"patra"
	"patra/internal/crashtest"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

const (
	powerVariable = "PATRA_TEST_POWER_CHILD"
	powerSeed     = "DISK_SEED"
)

// TestPowerChild is not a test but the process whose power is cut. It works in several sessions, and says what it has done.
func TestPowerChild(t *testing.T) {
	folder := os.Getenv(powerVariable)
	if folder == "" {
		t.Skip("a child of TestPower")
	}
	w := &storetest.World{T: t, Clock: storetest.NewClock(), URL: diskOrders{Folder: folder}.url()}
	for session := 1; ; session++ {
		s, err := store.Open(t.Context(), w.URL, store.WithClock(w.Clock.Now))
		check(t, err)
		w.Store = s
		if session == 1 { // an empty file too is a state that power cuts know
			if _, err := s.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			fmt.Println("ack tables")
			w.Cursor, w.Plan = w.AddPlan("demo", "works", powerDays(), 5)
			fmt.Println("ack plan", powerDays())
		}
		more := workOneDay(w)
		check(t, s.Close()) // the log goes into the file, and is deleted
		if !more {
			return
		}
	}
}

// powerDays is how many tasks there are.
func powerDays() int {
	if os.Getenv(sweepVariable) != "" {
		return 3
	}
	return 2
}

// workOneDay does one task from its claim to its events at the sink, and acknowledges each step.
func workOneDay(w *storetest.World) (more bool) {
	ctx := w.T.Context()
	c := w.TryTake(patra.ClaimRequest{})
	if c == nil {
		return false
	}
	fmt.Println("ack claim", c.TaskID, c.Fence, c.Owner)
	for ordinal, more := int64(1), true; more; ordinal++ {
		more = commit(w, c, opened(w, c, ordinal))
		fmt.Println("ack page", c.TaskID, ordinal)
	}
	check(w.T, w.Succeed(c, patra.StateSealed))
	fmt.Println("ack end", c.TaskID)
	check(w.T, w.EnsureSink(ctx, diskSink, false))
	_, last, err := w.AssignSequence(ctx)
	check(w.T, err)
	fmt.Println("ack number", last)
	role, ok, err := w.AcquireLease(ctx, patra.RelayLease(diskSink), "relay", storetest.Lease)
	if check(w.T, err); !ok {
		w.T.Fatal("the role cannot be had")
	}
	check(w.T, w.MarkSent(ctx, &role, diskSink, patra.DeliveryResult{Position: last}))
	fmt.Println("ack sent", last)
	check(w.T, w.ReleaseLease(ctx, role))
	check(w.T, turnGate(w))
	state, _, err := w.GateState(ctx, diskGate)
	check(w.T, err)
	fmt.Println("ack gate", int64(state.Arrival))
	return true
}

// The power fails after each write of a whole harvest, from the first table to the last event. What was not made durable is
// lost, or there, or there in part, in any order. Whatever was acknowledged is there, the file is sound, and the rest of the
// work is done once.
func TestPower(t *testing.T) {
	crashtest.Need(t)
	folder := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPowerChild$")
	cmd.Env = append(os.Environ(), powerVariable+"="+folder)
	p := crashtest.Record(t, cmd, folder)
	if p.Err != nil {
		t.Fatal(p.Err)
	}
	said := strings.Count(p.Said(p.Len()), "ack ")
	if said < 5*powerDays() {
		t.Fatalf("only %d steps were acknowledged:\n%s", said, p.Said(p.Len()))
	}
	seed, err := strconv.ParseUint(os.Getenv(powerSeed), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("%d calls, %d acknowledgements; %s=%d draws the same", p.Len(), said, powerSeed, seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	step := p.Len() / 15
	if os.Getenv(sweepVariable) != "" {
		step = 1
	}
	states := 0
	for moment := 1 + draw.IntN(step); moment <= p.Len(); moment += step {
		disk := p.At(moment)
		afterPowerCut(t, p, disk, moment, "nothing", crashtest.Nothing)
		afterPowerCut(t, p, disk, moment, "everything", crashtest.Everything) // as a kill does
		share := []float64{0.5, 0.1, 0.9}[moment%3]
		afterPowerCut(t, p, disk, moment, fmt.Sprintf("%.0f %%", 100*share), crashtest.Drawn(draw, share))
		states += 3
	}
	t.Logf("%d states of the disk after a power cut were opened", states)
}

func afterPowerCut(t *testing.T, p *crashtest.Power, disk *crashtest.Disk, moment int, name string, luck crashtest.Luck) {
	t.Helper()
	folder := t.TempDir()
	defer os.RemoveAll(folder)
	disk.Restart(t, folder, luck)
	at := fmt.Sprintf("a power cut after %d calls that left %s of what was not durable", moment, name)
	w := &storetest.World{T: t, Clock: storetest.NewClock(), URL: diskOrders{Folder: folder}.url()}
	opened, err := store.Open(t.Context(), w.URL, store.WithClock(w.Clock.Now))
	w.Store = opened
	if err != nil {
		t.Fatalf("after %s it cannot be opened: %v", at, err)
	}
	defer w.Close()
	acks := p.Said(moment)
	if _, err := w.Migrate(t.Context()); err != nil { // it may have been cut off half way
		t.Fatalf("after %s: %v", at, err)
	}
	w.T = named{t, at}
	durable(w, acks)
	sound(t, w.URL, at)
	w.Clock.Move(soon)
	if strings.Contains(acks, "ack plan") {
		finishWork(w)
		sound(t, w.URL, at+", then all the work")
	}
	if t.Failed() {
		t.Fatalf("that was %s; acknowledged was\n%s", at, acks)
	}
}

// named says in every complaint after what it was.
type named struct {
	*testing.T
	after string
}

func (n named) Fatal(args ...any) {
	n.Helper()
	n.T.Fatal(append([]any{"after", n.after}, args...)...)
}

// durable: every acknowledgement is true.
func durable(w *storetest.World, acks string) {
	w.T.Helper()
	db := storetest.Inspect(w.T, w.URL)
	defer db.Close()
	holds := func(ack, query string, args ...any) {
		w.T.Helper()
		var ok bool
		if err := db.QueryRow(query, args...).Scan(&ok); err != nil || !ok {
			w.T.Errorf("%q was acknowledged and is not there, %v", ack, err)
		}
	}
	for line := range strings.Lines(acks) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "ack" {
			continue
		}
		args := make([]any, len(f)-2)
		for i, a := range f[2:] {
			args[i] = a
		}
		switch f[1] {
		case "plan":
			holds(line, "SELECT COUNT(*) = ? + 0 FROM ing_plan_slice", args...)
		case "claim": // a fence that was given never comes back
			holds(line, "SELECT lease_count >= ?2 + 0 FROM ing_task WHERE id = ?1", args[:2]...)
			holds(line, "SELECT COUNT(*) = 1 FROM ing_task_run WHERE task_id = ?1 AND attempt_no = ?2 + 0 AND lease_owner = ?3", args...)
		case "page":
			holds(line, "SELECT COUNT(*) = 1 FROM ing_task_run_batch WHERE task_id = ?1 AND ordinal = ?2 AND status_code = 'SUCCEEDED'", args...)
		case "end":
			holds(line, "SELECT status_code = 'SUCCEEDED' FROM ing_task WHERE id = ?1", args...)
		case "number":
			holds(line, "SELECT MAX(seq) >= ?1 + 0 FROM ing_outbox", args...)
		case "sent":
			holds(line, "SELECT position >= ?1 + 0 FROM ing_lease WHERE name = '"+patra.RelayLease(diskSink)+"'", args...)
		case "gate":
			holds(line, "SELECT arrival_at >= ?1 + 0 FROM ing_rate_gate WHERE gate_key = '"+diskGate+"'", args...)
		}
	}
}
