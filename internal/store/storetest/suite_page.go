package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

func pageIsAtomic(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	page, err := w.OpenAt(c, 1, 1, 1)
	w.must(err)
	res := w.Result(false, w.Record("1", Origin, "one"), w.Record("2", Origin, "two"))
	res.Quarantined = []patra.RejectedItem{{ItemNo: 3, Code: "BAD", Fragment: []byte("x")}, {ItemNo: 3, Code: "BAD", Fragment: []byte("y")}} // breaks a unique key
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
	changes, err := w.RecordVersions(t.Context(), r.ID)
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

// The row of a page says what was repaired to read it.
func repairs(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	for ordinal, repaired := range []patra.Repairs{nil, {"INVALID_BYTE": 2, "BARE_AMPERSAND": 1}} {
		page, err := w.OpenAt(c, int64(ordinal)+1, 1, int64(ordinal)+1)
		w.must(err)
		res := w.Result(true, w.Record(fmt.Sprint(ordinal), Origin, "a"))
		res.Repairs = repaired
		_, _, err = w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, res, nil)
		w.must(err)
	}
	pages, err := w.Store.Batches(t.Context(), store.Filter{Limit: 10})
	w.must(err)
	if len(pages) != 2 || len(pages[1].Repairs) > 0 || pages[0].Repairs.Total() != 3 || pages[0].Repairs.String() != "1 bare ampersand, 2 invalid byte" {
		t.Errorf("the pages: %+v", pages)
	}
}

func quarantine(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	page, err := w.OpenAt(c, 1, 1, 1)
	w.must(err)
	res := w.Result(false, w.Record("1", Origin, "a"))
	res.Quarantined = []patra.RejectedItem{{ItemNo: 2, Code: patra.CodeMissingID, Path: "$.DOI", Fragment: []byte("{\"x\":\"\xff\"}")}}
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
	if again.Resume == nil || again.Resume.After != "on" || !again.Resume.HasNext || again.Task.NextOrdinal != 3 {
		t.Errorf("resumes at %+v, ordinal %d", again.Resume, again.Task.NextOrdinal)
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
	if c.Resume == nil || c.Resume.HasNext || c.Task.NextDetail != 1 {
		t.Errorf("resumes at %+v, detail %d", c.Resume, c.Task.NextDetail)
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
	end := patra.RunResult{Status: patra.Succeeded, Proof: &patra.Proof{ScanNo: 1, State: patra.StateSealed, Trust: patra.TrustNone, Details: true}}
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
	answers, err := w.CoverageEntries(t.Context(), w.Cursor.ID)
	if err != nil || len(answers) != 1 || answers[0].KnownMissing != 1 || answers[0].Stored != 3 {
		t.Errorf("answers %+v, %v", answers, err)
	}
	sl := c.Slice
	for id, want := range map[string]patra.Status{"A": patra.ItemDone, "c": patra.ItemMissing, "C": ""} {
		named, err := w.NamedBy(t.Context(), c.Task.Source, id, 5)
		switch {
		case err != nil:
			t.Fatal(err)
		case want == "" && len(named) == 0:
		case len(named) != 1 || named[0] != (store.NamedID{SliceID: sl.ID, CursorID: w.Cursor.ID, Window: sl.Window, Status: want}):
			t.Errorf("%s is named by %+v", id, named)
		}
	}
	var held []string
	w.must(w.RecordsOfWindow(t.Context(), w.Cursor.ID, c.Task.Source, sl.Fetch, func(r store.WindowRecord) { held = append(held, r.ID) }))
	slices.Sort(held)
	narrow := patra.Window{From: sl.Fetch.From + 1, To: sl.Fetch.To}
	w.must(w.RecordsOfWindow(t.Context(), w.Cursor.ID, c.Task.Source, narrow, func(r store.WindowRecord) { t.Errorf("%s came with a window that is not inside", r.ID) }))
	stored, err := w.StoredIDs(t.Context(), c.Task.Source, "work", "", []string{"a", "A", "c", "B"})
	if err != nil || fmt.Sprint(held) != "[A a b]" || len(stored) != 2 || !stored["a"] || !stored["A"] {
		t.Errorf("held %v, stored %v, %v", held, stored, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func looseRequests(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	at := w.Clock.Instant()
	open := patra.RequestOpen{RequestID: store.NewOwner(), Kind: patra.RequestProbe, GateKey: "demo", Cost: 1, Waited: 5, AcquiredAt: at}
	id, err := w.OpenRequest(t.Context(), at, open)
	w.must(err)
	read := func() (kind string, run, batch, finished *int64) {
		w.must(Inspect(t, w.URL).QueryRow(`SELECT kind_code, run_id, batch_id, finished_at FROM ing_request`).Scan(&kind, &run, &batch, &finished))
		return kind, run, batch, finished
	}
	if kind, run, batch, finished := read(); kind != patra.RequestProbe || run != nil || batch != nil || finished != nil {
		t.Errorf("opened as %s of run %v and page %v, finished at %v", kind, run, batch, finished)
	}
	if _, err := w.OpenRequest(t.Context(), at, open); err == nil {
		t.Error("the same request has two rows")
	}
	w.must(w.CloseRequest(t.Context(), id, patra.Exchange{SentAt: at, FinishedAt: at + 1, Status: 200, Bytes: 7, Outcome: patra.OutcomeOK}))
	if _, _, _, finished := read(); finished == nil || *finished != int64(at)+1 {
		t.Errorf("finished at %v", finished)
	}
	if err := w.CloseRequest(t.Context(), id+1, patra.Exchange{}); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("a request that is not there: %v", err)
	}
	// What is sent with a key of its own, at an endpoint or at an address that counts on its own, is sent to the source all
	// the same; its neighbours are others.
	for n, key := range []string{"demo", "demo#ncbi", "demo#wos", "demo/works", "demo/works#ncbi", "host:api.example.org", "demo2", "demo-x", "demo\"", "Demo#ncbi"} {
		id, err := w.OpenRequest(t.Context(), at, patra.RequestOpen{RequestID: store.NewOwner(), Kind: "SEARCH", GateKey: key, Cost: 1, AcquiredAt: at})
		w.must(err)
		bytes := int64(600)
		if n > 5 {
			bytes = 1_000_000
		}
		w.must(w.CloseRequest(t.Context(), id, patra.Exchange{SentAt: at, FinishedAt: at + 1, Status: 200, Bytes: bytes, Outcome: patra.OutcomeOK}))
	}
	if d, err := w.History(t.Context(), "host:api.example.org", "demo", "works", "x", w.Plan.Window); err != nil || d.PageBytes != 600 {
		t.Errorf("a page has %d bytes, %v", d.PageBytes, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
