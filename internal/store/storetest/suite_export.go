package storetest

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// version is one version of one record.
type version struct {
	id  int64
	rev int64
}

// haulage is an export with a cursor, played against a database.
type haulage struct {
	*World
	t     *testing.T
	db    *sql.DB
	taken map[version]int // how often each version was taken
}

func (h *haulage) want(owner string) store.Export {
	return store.Export{Name: "nightly", FilterHash: patra.Hash("all"), Filter: []byte(`{}`), Place: "-", Owner: owner}
}

// take is one export. between is called after every record that was taken; cut ends it early, as a crash does.
func (h *haulage) take(cut int, between func()) (finished bool) {
	h.t.Helper()
	ctx := h.t.Context()
	e, err := h.BeginExport(ctx, h.want(store.NewOwner()), true)
	h.must(err)
	haul := patra.ExportWindow{From: e.TakenTo, To: *e.HaulTo}
	got := map[version]int{}
	stop := errors.New("cut off")
	err = h.Extract(ctx, store.ExportQuery{Changed: &haul}, func(r patra.Record) error {
		if cut--; cut == 0 {
			return stop
		}
		if r.ChangedAt <= haul.From || r.ChangedAt > haul.To {
			h.t.Errorf("a record that changed at %v is no part of %v", r.ChangedAt, haul)
		}
		got[version{r.ID, r.Rev}]++
		between()
		return nil
	})
	if errors.Is(err, stop) { // nothing of it counts, and the same haul is taken again
		return false
	}
	h.must(err)
	h.must(h.SealExport(ctx, e, "", int64(len(got))))
	h.must(h.FinishExport(ctx, e))
	for v, n := range got {
		if h.taken[v] += n; h.taken[v] > 1 {
			h.t.Errorf("version %d of record %d was taken %d times", v.rev, v.id, h.taken[v])
		}
	}
	// What exists now and changed until the end of the haul was taken, now or before.
	scan(h.t, h.db, fmt.Sprintf("SELECT id, rev, changed_at FROM ing_record WHERE changed_at <= %d", haul.To), func(r *sql.Rows) error {
		var v version
		var at int64
		err := r.Scan(&v.id, &v.rev, &at)
		if h.taken[v] != 1 {
			h.t.Errorf("version %d of record %d, changed at %v, was passed by: the export has everything until %v", v.rev, v.id, patra.Instant(at), haul.To)
		}
		return err
	})
	return true
}

// writer is a transaction that writes a version and ends later.
type writer struct {
	tx  *sql.Tx
	id  int64
	at  patra.Instant
	due time.Time
}

const bump = "UPDATE ing_record SET rev = rev + 1, changed_at = %d WHERE id = %d"

// lateWriters plays writers whose transactions end up to two minutes after they wrote, and exports that are cut off, in
// between. On the MySQL family they are transactions that are really open. SQLite has one writer, so there a late one
// appears with the time at which it would have written.
func lateWriters(t *testing.T, e Engine) {
	const records = 40
	w := NewWorld(t, e, 1)
	h := &haulage{World: w, t: t, db: Inspect(t, w.URL), taken: map[version]int{}}
	var all []patra.Observation
	for i := range records {
		all = append(all, w.Record(fmt.Sprint(i), Origin, "first"))
	}
	w.Page(w.Take(), 1, true, all...)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	busy := map[int64]*writer{}
	end := func(k *writer) {
		if k.tx == nil {
			exec(t, h.db, fmt.Sprintf(bump, k.at, k.id))
		} else {
			w.must(k.tx.Commit())
		}
		delete(busy, k.id)
	}
	step := func() { // time goes by; transactions begin and end
		w.Clock.Move(time.Duration(r.IntN(8000)) * time.Millisecond)
		for _, k := range busy {
			if !k.due.After(w.Clock.Now()) {
				end(k)
			}
		}
		id := int64(1 + r.IntN(records))
		if busy[id] != nil || len(busy) > 6 {
			return
		}
		// The lateness leaves room for the one step that time goes on before its end is noticed.
		k := &writer{id: id, at: w.Clock.Instant(), due: w.Clock.Now().Add(time.Duration(r.IntN(111)) * time.Second)}
		if e.Name != "sqlite" {
			var err error
			k.tx, err = h.db.BeginTx(t.Context(), nil)
			w.must(err)
			_, err = k.tx.Exec(fmt.Sprintf(bump, k.at, k.id))
			w.must(err)
		}
		busy[id] = k
	}
	for range 30 {
		for range r.IntN(12) {
			step()
		}
		cut := 0
		if r.IntN(3) == 0 {
			cut = 1 + r.IntN(10)
		}
		h.take(cut, func() {
			if r.IntN(4) == 0 {
				step()
			}
		})
	}
	for _, k := range busy {
		end(k)
	}
	w.Clock.Move(3 * time.Minute)
	for !h.take(0, func() {}) {
	}
	var n int
	w.must(h.db.QueryRow("SELECT COUNT(*) FROM ing_record").Scan(&n))
	if n != records || len(h.taken) <= records {
		t.Errorf("%d records, %d versions taken", n, len(h.taken))
	}
}

// openWriter: on SQLite an export does not fix its haul while somebody else is writing.
func openWriter(t *testing.T, e Engine) {
	if e.Name != "sqlite" {
		t.Skip("there is more than one writer")
	}
	w := NewWorld(t, e, 1)
	h := &haulage{World: w, t: t, db: Inspect(t, w.URL), taken: map[version]int{}}
	w.Page(w.Take(), 1, true, w.Record("1", Origin, "a"))
	w.Clock.Move(time.Hour)
	tx, err := h.db.BeginTx(t.Context(), nil)
	w.must(err)
	_, err = tx.Exec(fmt.Sprintf(bump, w.Clock.Instant()-10*patra.Minute, 1)) // much later than anybody would wait
	w.must(err)
	done := make(chan struct{})
	go func() { defer close(done); h.take(0, func() {}) }()
	select {
	case <-done:
		t.Error("the haul was fixed while a transaction was open")
	case <-time.After(100 * time.Millisecond):
	}
	w.must(tx.Commit())
	<-done
	if h.taken[version{1, 2}] != 1 {
		t.Errorf("taken: %v", h.taken)
	}
}

// changedWhen: the time of a change is the database's, however long ago the caller looked at its clock.
func changedWhen(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	for i, content := range []string{"a", "b"} { // a new record, and a new version
		page, err := w.OpenAt(c, int64(i+1), c.Task.ScanNo, int64(i+1))
		w.must(err)
		w.Clock.Move(time.Second)
		o := w.Record("1", Origin+patra.Instant(i), content)
		_, _, err = w.CommitPage(t.Context(), c, w.Clock.Instant()-10*patra.Minute, "work", page, w.Result(true, o), nil)
		w.must(err)
		r, err := w.Store.Record(t.Context(), "demo", "work", "1")
		if err != nil || r.ChangedAt != w.Clock.Instant() || r.Rev != int64(i+1) {
			t.Errorf("%+v, %v; it is %v", r, err, w.Clock.Instant())
		}
	}
}

// exportMoves: who began an export ends it, unless somebody took it over.
func exportMoves(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	h := &haulage{World: w, t: t}
	ctx := t.Context()
	first, err := w.BeginExport(ctx, h.want("first"), false)
	w.must(err)
	if to := w.Clock.Instant() - patra.Settling; *first.HaulTo != to || first.TakenTo >= 0 || !first.Fresh {
		t.Errorf("%+v", first)
	}
	if _, err := w.BeginExport(ctx, h.want("second"), false); !errors.Is(err, store.ErrExportOpen) {
		t.Errorf("a second one: %v", err)
	}
	other := h.want("second")
	other.FilterHash = patra.Hash("some")
	if _, err := w.BeginExport(ctx, other, true); !errors.Is(err, store.ErrExportFilter) {
		t.Errorf("another filter: %v", err)
	}
	w.Clock.Move(time.Hour)
	second, err := w.BeginExport(ctx, h.want("second"), true)
	if err != nil || *second.HaulTo != *first.HaulTo || second.Fresh {
		t.Errorf("taken over: %+v, %v", second, err)
	}
	if err := w.SealExport(ctx, first, "", 1); !errors.Is(err, store.ErrExportTaken) {
		t.Errorf("the first one seals: %v", err)
	}
	if err := w.FinishExport(ctx, second); !errors.Is(err, store.ErrExportTaken) {
		t.Errorf("finished before it is whole: %v", err)
	}
	w.must(w.SealExport(ctx, second, patra.Hash("file"), 7))
	if err := w.FinishExport(ctx, first); !errors.Is(err, store.ErrExportTaken) {
		t.Errorf("the first one finishes: %v", err)
	}
	third, err := w.BeginExport(ctx, h.want("third"), true) // after a crash
	if err != nil || third.State != store.ExportWritten || third.SHA256 != patra.Hash("file") {
		t.Errorf("%+v, %v", third, err)
	}
	w.must(w.FinishExport(ctx, third))
	all, err := w.Exports(ctx)
	if err != nil || len(all) != 1 || all[0].State != store.ExportDone || all[0].TakenTo != *first.HaulTo || all[0].Records != 7 || all[0].Exports != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	fourth, err := w.BeginExport(ctx, h.want("fourth"), false)
	w.must(err)
	w.must(w.AbandonExport(ctx, fourth))
	w.must(w.ResetExport(ctx, "nightly", "me"))
	if err := w.ResetExport(ctx, "nightly", "me"); !errors.Is(err, store.ErrExportUnknown) {
		t.Errorf("forgotten twice: %v", err)
	}
}

// extracts: what is taken out by arrival comes once, whatever changes meanwhile, and can be gone on with.
func extracts(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	db := Inspect(t, w.URL)
	const n = 1203
	var all []patra.Observation
	for i := range n {
		o := w.Record(fmt.Sprintf("%04d", i), Origin, fmt.Sprint(i))
		o.Deleted = i%3 == 0
		all = append(all, o)
	}
	w.Page(w.Take(), 1, true, all...)
	exec(t, db, "UPDATE ing_record SET provenance_code = 'other' WHERE id > 1000")
	for _, c := range []struct {
		x    store.ExportQuery
		want int
	}{
		{store.ExportQuery{}, n},
		{store.ExportQuery{Sources: []string{"other"}}, 203},
		{store.ExportQuery{Sources: []string{"other", "demo"}}, n},
		{store.ExportQuery{Sources: []string{"nobody"}}, 0},
		{store.ExportQuery{Present: true}, 802},
		{store.ExportQuery{RecordQuery: store.RecordQuery{Deleted: true}}, 401},
		{store.ExportQuery{RecordQuery: store.RecordQuery{Limit: 700}}, 700},
		{store.ExportQuery{UpTo: 600, After: patra.ExportPosition{ID: 100}}, 500},
		{store.ExportQuery{Changed: &patra.ExportWindow{From: 0, To: w.Clock.Instant()}}, n},
		{store.ExportQuery{Changed: &patra.ExportWindow{From: w.Clock.Instant(), To: w.Clock.Instant() + patra.Day}}, 0},
		{store.ExportQuery{Changed: &patra.ExportWindow{From: 0, To: w.Clock.Instant()}, Sources: []string{"other"}}, 203},
		{store.ExportQuery{Changed: &patra.ExportWindow{From: 0, To: w.Clock.Instant()}, After: patra.ExportPosition{Source: "demo", ChangedAt: w.Clock.Instant(), ID: 990}}, 213},
		{store.ExportQuery{Raw: true, Sources: []string{"demo"}}, 1000},
	} {
		seen := map[int64]bool{}
		raws := 0
		err := w.Extract(t.Context(), c.x, func(r patra.Record) error {
			if seen[r.ID] {
				t.Errorf("%d twice", r.ID)
			}
			if seen[r.ID] = true; string(r.Raw) != "null" {
				raws++
			}
			return nil
		})
		if err != nil || len(seen) != c.want || (raws == c.want) != (c.x.Raw || c.want == 0) {
			t.Errorf("%+v gives %d, want %d, %v", c.x, len(seen), c.want, err)
		}
	}
	seen := 0
	err := w.Extract(t.Context(), store.ExportQuery{}, func(r patra.Record) error {
		if seen++; r.ID%100 == 1 { // new versions, and new records
			exec(t, db, fmt.Sprintf("UPDATE ing_record SET rev = rev + 1, changed_at = changed_at + 1 WHERE id IN (%d, %d)", r.ID, r.ID+50))
			exec(t, db, fmt.Sprintf("INSERT INTO ing_record (provenance_code, record_type, provider_id, rev, content_sha256, deleted, fields, raw, raw_code, first_seen_at, observed_at, changed_at, last_refreshed_at, batch_id, expr_hash, spec_fingerprint, created_at) SELECT provenance_code, record_type, 'new %d', 1, content_sha256, 0, fields, raw, raw_code, 0, 0, 0, 0, 1, expr_hash, spec_fingerprint, 0 FROM ing_record WHERE id = 1", r.ID))
		}
		return nil
	})
	if err != nil || seen != n {
		t.Errorf("%d records while others were written, %v", seen, err)
	}
}
