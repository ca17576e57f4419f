package storetest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"testing"

	"patra"
	"patra/internal/query"
	"patra/internal/store"
)

// ofRepository plans one day of a repository, as the first source that had several wrote it: its address is a parameter.
func (w *World) ofRepository(name string) (patra.Cursor, patra.Plan) {
	w.T.Helper()
	ctx, now := w.T.Context(), w.Clock.Instant()
	ns := patra.HarvestNamespace("oai", "records", "datestamp", query.All().Hash(), map[string]string{"baseUrl": name})
	c, err := w.EnsureCursor(ctx, now, patra.Cursor{Namespace: ns, Origin: Origin, OriginCode: patra.OriginUser, ExprProtoHash: query.All().Hash(), Repository: name})
	w.must(err)
	body := []byte(fmt.Sprintf(`{"http":{"baseUrl":"${param.baseUrl}"},"parameters":{"baseUrl":%q},"v":1}`, name))
	p := w.draft(c, patra.Window{From: Origin, To: Origin + patra.Day})
	p.Spec, p.Repository = patra.HashBytes(body), name
	p.Key = patra.PlanKey(p)
	plan, err := w.StartPlan(ctx, now, p, patra.Snapshot{Fingerprint: p.Spec, Source: "oai", Endpoint: "records", Operation: patra.Harvest, Body: json.RawMessage(body)})
	w.must(err)
	c, _, _, err = w.Need(ctx, c.ID)
	w.must(err)
	w.must(w.AddSlices(ctx, now, plan.ID, c.PlanVersion, Days(Origin, 1), patra.TriggerManual, 5))
	w.must(w.EndSlicing(ctx, plan.ID, patra.SlicingEnd{Status: patra.Ready}))
	return c, plan
}

const (
	repositoryA = "https://a.example.org/oai"
	repositoryB = "https://b.example.org/oai/"
)

// twoRepositories reads the same ids from two repositories; the items without a place are in quarantine.
func twoRepositories(w *World) {
	w.T.Helper()
	for _, name := range []string{repositoryA, repositoryB} {
		_, plan := w.ofRepository(name)
		c := w.TryTake(patra.ClaimRequest{PlanID: plan.ID})
		if c == nil || c.Task.Repository != name {
			w.T.Fatalf("%s: %+v", name, c)
		}
		page, err := w.OpenAt(c, 1, 1, 1)
		w.must(err)
		res := w.Result(false, w.Record("1", Origin, "1 at "+name), w.Record("1!", Origin, "1! at "+name), w.Record("2", Origin, "2 at "+name))
		res.Quarantined = []patra.RejectedItem{{ItemNo: 9, ID: "bad", Code: patra.CodeMissingID, Path: "$.id", Fragment: []byte(`{}`)}}
		counts, _, err := w.CommitPage(w.T.Context(), c, w.Clock.Instant(), "work", page, res, nil)
		if err != nil || counts != (patra.Counts{Insert: 3, Quarantine: 1}) {
			w.T.Fatalf("%s: %+v, %v", name, counts, err)
		}
		w.must(w.Succeed(c, patra.StateSealed))
	}
}

// Records of two repositories behind one source stand side by side; what is asked of one is asked of it alone.
func repositories(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	twoRepositories(w)
	seesTwo(w)
	ctx := t.Context()
	if n, err := w.AddSignals(ctx, w.Clock.Instant(), "oai", "work", repositoryA, []string{"1"}, patra.SignalManual, "", "me"); err != nil || n != 1 {
		t.Errorf("%d signals, %v", n, err)
	}
	if n, err := w.AddSignals(ctx, w.Clock.Instant(), "oai", "work", repositoryB, []string{"1"}, patra.SignalManual, "", "me"); err != nil || n != 1 {
		t.Errorf("the other one's record: %d signals, %v", n, err)
	}
	before := w.Clock.Instant() + 1
	for by, want := range map[patra.SelectorKind]int64{patra.PickSignals: 1, patra.PickStale: 3} {
		if n, err := w.CountCandidates(ctx, "oai", "work", patra.RecordSelector{By: by, Before: &before, Most: 10, Repository: repositoryB}); err != nil || n != want {
			t.Errorf("%s: %d of one repository, %v", by, n, err)
		}
	}
	if n, err := w.CountKnown(ctx, "oai", repositoryA); err != nil || n != 3 {
		t.Errorf("%d known, %v", n, err)
	}
	// The same again, with one that is new: only that is.
	_, plan := w.ofRepository(repositoryA + "?again")
	c := w.TryTake(patra.ClaimRequest{PlanID: plan.ID})
	c.Task.Repository = repositoryA
	if got := w.Page(c, 1, true, w.Record("1", Origin, "1 at "+repositoryA), w.Record("3", Origin, "3")); got != (patra.Counts{Insert: 1, Same: 1}) {
		t.Errorf("read again: %+v", got)
	}
	fault := patra.Fault{Level: patra.LevelFatal, Code: patra.CodeAuth, Text: "no"}
	at := patra.WorkScope{Source: "oai", Endpoint: "records", Operation: patra.Harvest, Repository: repositoryA}
	w.must(second(w.Halt(ctx, at, fault)))
	for name, held := range map[string]bool{repositoryA: true, repositoryB: false} {
		at.Repository = name
		if h, err := w.Admit(ctx, at); err != nil || h.Allowed() == held {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

// seesTwo looks at the records, the cursors and the quarantine of two repositories.
func seesTwo(w *World) {
	w.T.Helper()
	ctx := w.T.Context()
	for _, id := range []string{"1", "1!", "2"} {
		found, err := w.RecordsWithID(ctx, "oai", "work", id)
		if err != nil || len(found) != 2 || found[0].ProviderID != id || found[0].Repository == found[1].Repository {
			w.T.Errorf("%s: %+v, %v", id, found, err)
		}
	}
	for _, name := range []string{repositoryA, repositoryB} {
		r, err := w.RecordOf(ctx, "oai", "work", name, "1")
		if err != nil || r == nil || string(r.Fields) != fmt.Sprintf(`{"c":%q}`, "1 at "+name) {
			w.T.Errorf("%s: %+v, %v", name, r, err)
		}
		if q, err := w.Quarantine(ctx, store.QuarantineFilter{Source: "oai", Repository: name}); err != nil || len(q) != 1 || q[0].RecordID != "bad" {
			w.T.Errorf("%s: %+v, %v", name, q, err)
		}
	}
	cursors, err := w.Cursors(ctx, store.Filter{Source: "oai"})
	if err != nil || len(cursors) != 2 || cursors[0].Repository != repositoryB || cursors[1].Repository != repositoryA {
		w.T.Errorf("%+v, %v", cursors, err)
	}
	events, err := w.EventList(ctx, store.EventQuery{Source: "oai", Type: string(patra.EventUpserted)}, store.ListPage{Limit: 100})
	subjects := map[string]bool{}
	for _, ev := range events {
		subjects[ev.Subject] = true
	}
	if err != nil || len(subjects) != 6 || !subjects["oai/work/1 "+repositoryA] {
		w.T.Errorf("%v, %v", subjects, err)
	}
}

// Adopt runs the migration that gives records to their repositories once more. The test of the store sets it: goose runs a
// migration by its version only, and on a server the later ones cannot run twice.
var Adopt func(*store.Store) error

// A store from before repositories were told apart gives each the records that the frozen source says were read from it.
func adoptedRepositories(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	w.Work(w.Take(), w.Record("of one provider", Origin, "x"))
	_, plan := w.ofRepository(repositoryA)
	c := w.TryTake(patra.ClaimRequest{PlanID: plan.ID})
	c.Task.Repository = ""
	w.Page(c, 1, true, w.Record("1", Origin, "one"), w.Record("2", Origin, "two"))
	db := Inspect(t, w.URL)
	exec(t, db, `UPDATE ing_plan SET repository = NULL`)
	exec(t, db, `UPDATE ing_cursor SET repository = NULL`)
	exec(t, db, `UPDATE ing_task SET partition_key = 'oai/records/HARVEST' WHERE provenance_code = 'oai'`)
	for range 2 { // a process may end after the work and before the version is written
		w.must(Adopt(w.Store))
	}
	for _, id := range []string{"1", "2"} {
		if r, err := w.RecordOf(t.Context(), "oai", "work", repositoryA, id); err != nil || r == nil || r.ProviderID != id {
			t.Errorf("%s: %+v, %v", id, r, err)
		}
	}
	if r, err := w.Store.Record(t.Context(), "demo", "work", "of one provider"); err != nil || r == nil || r.Repository != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if task := w.Task(c.TaskID); task.Repository != repositoryA {
		t.Errorf("%+v", task)
	}
	scan(t, db, `SELECT partition_key FROM ing_task WHERE provenance_code = 'oai'`, func(r *sql.Rows) error {
		var key string
		err := r.Scan(&key)
		if key != "oai/records/HARVEST/"+repositoryA {
			t.Errorf("partition %s", key)
		}
		return err
	})
}
