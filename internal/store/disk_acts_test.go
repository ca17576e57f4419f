package store_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

const (
	preparedFile = "prepared.json"
	pageOfHours  = 10 // a record for each hour, ten on a page
	diskSink     = "bus"
	diskGate     = "demo"
)

// prepared is what a child must be told of the store that it finds.
type prepared struct {
	Claim   *patra.Claim      `json:",omitempty"`
	Page    patra.OpenPage    `json:",omitzero"`
	Slice   patra.Slice       `json:",omitzero"`
	Role    patra.LeaderLease `json:",omitzero"`
	Plan    patra.Plan        `json:",omitzero"`
	Cursor  patra.Cursor      `json:",omitzero"`
	Version int64             `json:",omitempty"`
	Last    int64             `json:",omitempty"`
	Note    json.RawMessage   `json:",omitempty"`
}

func readPrepared(t testing.TB, folder string) (p prepared) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, preparedFile))
	check(t, err)
	check(t, json.Unmarshal(raw, &p))
	return p
}

// diskAct is one transaction of the store.
type diskAct struct {
	name    string
	prepare func(*storetest.World) prepared
	do      func(*storetest.World, prepared) error
}

func actNamed(t testing.TB, name string) diskAct {
	t.Helper()
	i := slices.IndexFunc(diskActs, func(a diskAct) bool { return a.name == name })
	if i < 0 {
		t.Fatalf("there is no act %q", name)
	}
	return diskActs[i]
}

// diskActs are the transactions that everything depends on.
var diskActs = []diskAct{
	{"claim", func(w *storetest.World) prepared {
		w.Add(storetest.Days(storetest.Origin, 1)...)
		return prepared{}
	}, func(w *storetest.World, _ prepared) error {
		c, err := w.Claim(w.T.Context(), patra.ClaimRequest{Owner: "child", Lease: storetest.Lease})
		if err == nil && c == nil {
			err = fmt.Errorf("nothing to claim")
		}
		return err
	}},
	{"open page", func(w *storetest.World) prepared { return prepared{Claim: taken(w)} }, func(w *storetest.World, p prepared) error {
		_, err := w.OpenPage(w.T.Context(), p.Claim, w.Clock.Instant(), pageAt(p.Claim, 1, w))
		return err
	}},
	{"commit page", func(w *storetest.World) prepared {
		c := taken(w)
		return prepared{Claim: c, Page: opened(w, c, 1)}
	}, func(w *storetest.World, p prepared) error {
		next := pageAt(p.Claim, 2, w)
		_, _, err := w.CommitPage(w.T.Context(), p.Claim, w.Clock.Instant(), "work", p.Page, hours(w, p.Claim.Slice.Window, 1), &next)
		return err
	}},
	// The slice ends, and with it the watermark moves.
	{"advance", func(w *storetest.World) prepared {
		c := taken(w)
		readFrom(w, c, 1)
		return prepared{Claim: c}
	}, func(w *storetest.World, p prepared) error { return w.Succeed(p.Claim, patra.StateSealed) }},
	{"end early", func(w *storetest.World) prepared {
		c := takenWeek(w)
		return prepared{Claim: c}
	}, func(w *storetest.World, p prepared) error { return endEarly(w, p.Claim) }},
	{"split", func(w *storetest.World) prepared {
		check(w.T, endEarly(w, takenWeek(w)))
		return prepared{Slice: toCut(w)[0]}
	}, func(w *storetest.World, p prepared) error { return cut(w, p.Slice) }},
	{"number", func(w *storetest.World) prepared {
		readFrom(w, taken(w), 1)
		_, err := w.StoreID(w.T.Context())
		check(w.T, err)
		return prepared{}
	}, func(w *storetest.World, _ prepared) error {
		_, _, err := w.AssignSequence(w.T.Context())
		return err
	}},
	{"mark sent", func(w *storetest.World) prepared {
		readFrom(w, taken(w), 1)
		check(w.T, w.EnsureSink(w.T.Context(), diskSink, false))
		_, last, err := w.AssignSequence(w.T.Context())
		check(w.T, err)
		role, ok, err := w.AcquireLease(w.T.Context(), patra.RelayLease(diskSink), "child", storetest.Lease)
		if check(w.T, err); !ok {
			w.T.Fatal("the role cannot be had")
		}
		return prepared{Role: role, Last: last}
	}, func(w *storetest.World, p prepared) error {
		// One event was refused and waits, the others were taken.
		return w.MarkSent(w.T.Context(), &p.Role, diskSink, patra.DeliveryResult{Position: p.Last, Failed: []patra.Delivery{{Seq: p.Last, Key: "k", State: patra.DeliveryWaiting, Attempts: 1}}})
	}},
	{"gate turn", func(w *storetest.World) prepared {
		check(w.T, turnGate(w))
		return prepared{}
	}, func(w *storetest.World, _ prepared) error { return turnGate(w) }},
	{"start plan", func(w *storetest.World) prepared {
		p := w.StartPlanFor(w.Cursor, storetest.Day(0)) // another one of the same kind shows what a plan has
		body, err := w.Snapshot(w.T.Context(), p.Spec)
		check(w.T, err)
		p.Window = storetest.Day(1)
		p.Key, p.ID = patra.PlanKey(p), 0
		p.InstanceID, err = w.AcceptTrigger(w.T.Context(), w.Clock.Instant(), patra.Trigger{Scheduler: patra.SchedulerManual, JobID: "test", LogID: "another", Trigger: patra.TriggerManual,
			TriggeredAt: w.Clock.Instant(), Params: json.RawMessage(`{}`), Source: p.Source, Endpoint: p.Endpoint, Operation: patra.Harvest})
		check(w.T, err)
		return prepared{Plan: p, Note: body}
	}, func(w *storetest.World, p prepared) error {
		body := append(p.Note[:len(p.Note)-1:len(p.Note)-1], `,"changed":1}`...) // a snapshot of its own is written too
		p.Plan.Spec = patra.HashBytes(body)
		_, err := w.StartPlan(w.T.Context(), w.Clock.Instant(), p.Plan, patra.Snapshot{Fingerprint: p.Plan.Spec, Source: p.Plan.Source, Endpoint: p.Plan.Endpoint, Operation: patra.Harvest, Body: body})
		return err
	}},
	{"add slices", func(w *storetest.World) prepared {
		plan := w.StartPlanFor(w.Cursor, patra.Window{From: storetest.Origin, To: storetest.Day(9).To})
		c, _, _, err := w.Need(w.T.Context(), w.Cursor.ID)
		check(w.T, err)
		return prepared{Plan: plan, Version: c.PlanVersion}
	}, func(w *storetest.World, p prepared) error {
		return w.AddSlices(w.T.Context(), w.Clock.Instant(), p.Plan.ID, p.Version, storetest.Days(storetest.Origin, 10), patra.TriggerManual, 5)
	}},
}

func taken(w *storetest.World) *patra.Claim {
	w.Add(storetest.Days(storetest.Origin, 1)...)
	return w.Take()
}

// takenWeek is a task of a week whose first days were read in order.
func takenWeek(w *storetest.World) *patra.Claim {
	w.Add(storetest.Week(storetest.Origin))
	c := w.Take()
	for ordinal := int64(1); ordinal <= 6; ordinal++ {
		commit(w, c, opened(w, c, ordinal))
	}
	return c
}

func endEarly(w *storetest.World, c *patra.Claim) error {
	return w.Early(c, patra.OrderAscending, patra.TrustNone, patra.Window{From: storetest.Origin, To: storetest.Day(2).From})
}

func toCut(w *storetest.World) []patra.Slice {
	w.T.Helper()
	all, err := w.PartialSlices(w.T.Context(), 0, 100)
	check(w.T, err)
	return all
}

// cut makes two of what a slice left.
func cut(w *storetest.World, parent patra.Slice) error {
	rest := patra.RemainingWindow(parent.Window, *parent.Confirmed)
	middle := rest[0].From + patra.Day
	return w.SplitInto(parent, storetest.Stretch(patra.Window{From: rest[0].From, To: middle}), storetest.Stretch(patra.Window{From: middle, To: rest[0].To}))
}

func turnGate(w *storetest.World) error {
	return w.UpdateGateState(w.T.Context(), diskGate, func(_ patra.Instant, _ time.Duration, was patra.RateState) patra.RateState {
		was.Arrival += patra.Second
		return was
	})
}

// pageAt is a page whose names follow from where it is.
func pageAt(c *patra.Claim, ordinal int64, w *storetest.World) patra.PageOpen {
	return patra.PageOpen{BatchNo: ordinal, ScanNo: c.Task.ScanNo, Phase: patra.PhaseSearch, Ordinal: ordinal, PageSize: pageOfHours, Before: fmt.Sprint("at ", ordinal),
		RequestID: fmt.Sprintf("%d/%d/%d/%d", c.TaskID, c.Fence, c.Task.ScanNo, ordinal), GateKey: diskGate, Cost: 1, AcquiredAt: w.Clock.Instant()}
}

func opened(w *storetest.World, c *patra.Claim, ordinal int64) patra.OpenPage {
	w.T.Helper()
	page, err := w.OpenPage(w.T.Context(), c, w.Clock.Instant(), pageAt(c, ordinal, w))
	check(w.T, err)
	return page
}

// hours is what the provider has on a page of a window: a record for each hour, oldest first.
func hours(w *storetest.World, of patra.Window, ordinal int64) patra.PageResult {
	var records []patra.Observation
	from := of.From + patra.Instant(ordinal-1)*pageOfHours*patra.Hour
	until := min(of.To, from+pageOfHours*patra.Hour)
	for at := from; at < until; at += patra.Hour {
		records = append(records, w.Record("hour "+at.String(), at, "as it was at "+at.String()))
	}
	res := w.Result(until < of.To, records...)
	latest := until - patra.Hour
	res.Order, res.TimeMin, res.TimeMax = patra.OrderAscending, &from, &latest
	return res
}

func commit(w *storetest.World, c *patra.Claim, page patra.OpenPage) (more bool) {
	w.T.Helper()
	res := hours(w, c.Slice.Window, page.Ordinal)
	_, _, err := w.CommitPage(w.T.Context(), c, w.Clock.Instant(), "work", page, res, nil)
	check(w.T, err)
	return res.HasNext
}

// readFrom reads a task from a page to its end.
func readFrom(w *storetest.World, c *patra.Claim, ordinal int64) {
	w.T.Helper()
	for commit(w, c, opened(w, c, ordinal)) {
		ordinal++
	}
}

// finishWork is another process that does all that is left: it takes over what others had, cuts what waits for it, reads to
// the end, and sends what is to be sent. Then everything is there once.
func finishWork(w *storetest.World) {
	w.T.Helper()
	ctx := w.T.Context()
	for {
		for _, sl := range toCut(w) {
			check(w.T, cut(w, sl))
		}
		w.Clock.Move(soon)
		before := fences(w)
		c := w.TryTake(patra.ClaimRequest{})
		if c == nil {
			break
		}
		if c.Fence != before[c.TaskID]+1 {
			w.T.Errorf("task %d was taken for the %dth time after %d times", c.TaskID, c.Fence, before[c.TaskID])
		}
		if c.Resume == nil || c.Resume.HasNext {
			readFrom(w, c, c.Task.NextOrdinal)
		}
		check(w.T, w.Succeed(c, patra.StateSealed))
	}
	check(w.T, w.EnsureSink(ctx, diskSink, false))
	var last int64
	for n := 1; n > 0; {
		var err error
		n, last, err = w.AssignSequence(ctx)
		check(w.T, err)
	}
	role, ok, err := w.AcquireLease(ctx, patra.RelayLease(diskSink), store.NewOwner(), storetest.Lease)
	if check(w.T, err); !ok {
		w.T.Fatal("nobody can take the role")
	}
	check(w.T, w.MarkSent(ctx, &role, diskSink, patra.DeliveryResult{Position: last}))
	check(w.T, turnGate(w))
	exact(w)
}

func fences(w *storetest.World) map[int64]int64 {
	w.T.Helper()
	db := storetest.Inspect(w.T, w.URL)
	defer db.Close()
	all := map[int64]int64{}
	rows, err := db.Query("SELECT id, lease_count FROM ing_task")
	check(w.T, err)
	defer rows.Close()
	for rows.Next() {
		var id, n int64
		check(w.T, rows.Scan(&id, &n))
		all[id] = n
	}
	check(w.T, rows.Err())
	return all
}

// exact: each hour up to the end of what was planned is there once, in its first version, and was told once; the
// watermark is at the end.
func exact(w *storetest.World) {
	w.T.Helper()
	db := storetest.Inspect(w.T, w.URL)
	defer db.Close()
	var want int64
	numbers := map[string]int64{}
	for name, query := range map[string]string{
		"planned to":    "SELECT COALESCE(MAX(window_to), 0) FROM ing_plan_slice",
		"watermark":     "SELECT normalized_instant FROM ing_cursor",
		"records":       "SELECT COUNT(*) FROM ing_record WHERE rev = 1",
		"other records": "SELECT COUNT(*) FROM ing_record WHERE rev <> 1",
		"told":          "SELECT COUNT(*) FROM ing_outbox WHERE event_type LIKE 'patra.record.%' AND seq IS NOT NULL",
		"not told":      "SELECT COUNT(*) FROM ing_outbox WHERE seq IS NULL",
		"left":          "SELECT COUNT(*) FROM ing_task WHERE status_code NOT IN ('SUCCEEDED', 'PARTIAL')",
	} {
		var n int64
		check(w.T, db.QueryRow(query).Scan(&n))
		numbers[name] = n
	}
	if to := numbers["planned to"]; to != 0 {
		want = (to - int64(storetest.Origin)) / int64(patra.Hour)
		if numbers["watermark"] != to {
			w.T.Errorf("the watermark is at %s and not at %s", patra.Instant(numbers["watermark"]), patra.Instant(to))
		}
	}
	if numbers["records"] != want || numbers["told"] != want || numbers["other records"] != 0 || numbers["not told"] != 0 || numbers["left"] != 0 {
		w.T.Errorf("of %d records it is %v", want, numbers)
	}
}
