package storetest

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"patra"
)

// newcomers writes a page of records of every kind, most of them plain and new, and looks at what is stored and told of each.
func newcomers(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	w.Page(c, 1, true, w.Record("5", Origin, "old"), with(w.Record("70", Origin, "old"), func(o *patra.Observation) {
		o.Facts = &patra.FactHashes{Rules: "k", Found: map[string]string{"title": "y"}}
	}))
	// The id of a row that is gone is not given again, and those of the new ones are in a row all the same.
	db := Inspect(t, w.URL)
	exec(t, db, `INSERT INTO ing_record (provenance_code, record_type, provider_id, rev, content_sha256, deleted, fields, raw, raw_code, first_seen_at, observed_at, changed_at, last_refreshed_at, batch_id, expr_hash, spec_fingerprint, created_at)
		SELECT provenance_code, record_type, 'gone', rev, content_sha256, deleted, fields, raw, raw_code, first_seen_at, observed_at, changed_at, last_refreshed_at, batch_id, expr_hash, spec_fingerprint, created_at FROM ing_record WHERE provider_id = '5'`)
	exec(t, db, `DELETE FROM ing_record WHERE provider_id = 'gone'`)
	w.Clock.Move(time.Second)

	rules := patra.ChangeRules{Key: "k", When: map[string]patra.ChangeWhen{"correction": patra.WhenMatches, "title": patra.WhenChanged}}
	want := map[string]string{}
	var page []patra.Observation
	add := func(id, as, event, notes, remarks string, change func(*patra.Observation)) {
		o := w.Record(id, Origin+patra.Instant(len(page))*patra.Second, "content of "+id)
		change(&o)
		page = append(page, o)
		rev := 1
		if as != string(patra.Insert) {
			rev = 2
		}
		updated := int64(-1)
		if o.UpdatedAt != nil {
			updated = int64(*o.UpdatedAt)
		}
		want[id] = fmt.Sprint(rev, " ", as, " ", event, " ", o.Hash, " ", updated, " ", o.ObservedAt, " ", o.Deleted, " ", o.MergedInto, " ", string(o.Fields), " ", string(o.Raw), " ", o.RawCode, " ", notes, " ", remarks)
	}
	plain := func(*patra.Observation) {}
	for i := range 64 { // all sizes of statements: 25, 25, 5, 5 and four times 1
		add(fmt.Sprint(100+i), "INSERT", "patra.record.upserted", "", "", plain)
	}
	add("5", "UPDATE", "patra.record.upserted", "", "", plain)
	add("70", "DELETED", "patra.record.deleted", "", `{"facts":{"rules":"k","found":{"title":"y"}}}`, func(o *patra.Observation) { o.Deleted, o.Facts = true, &patra.FactHashes{Rules: "k"} })
	add("71", "INSERT", "patra.record.deleted", "", "", func(o *patra.Observation) { o.Deleted = true })
	add("110x", "INSERT", "patra.record.merged", `{"merged_into":"5"}`, "", func(o *patra.Observation) { o.MergedInto = "5" })
	add("120x", "INSERT", "patra.record.retracted", "", `{"retracted":true}`, func(o *patra.Observation) { o.Retracted = true })
	add("130x", "INSERT", "patra.record.upserted", `{"changes":["correction"]}`, `{"facts":{"rules":"k","found":{"correction":"x"}}}`, func(o *patra.Observation) {
		o.Facts = &patra.FactHashes{Rules: "k", Found: map[string]string{"correction": "x"}}
	})
	add("131x", "INSERT", "patra.record.upserted", "", `{"mark":"m","facts":{"rules":"k","found":{"title":"x"}}}`, func(o *patra.Observation) {
		o.Mark, o.Facts = "m", &patra.FactHashes{Rules: "k", Found: map[string]string{"title": "x"}}
	})
	add("132x", "INSERT", "patra.record.upserted", "", "", func(o *patra.Observation) { o.RawCode, o.Raw = "XML", []byte("<a/>") })
	add("133x", "INSERT", "patra.record.upserted", "", "", func(o *patra.Observation) { o.ObservedAt -= patra.Second })
	add("134x", "INSERT", "patra.record.upserted", "", "", func(o *patra.Observation) { o.UpdatedAt = nil })

	open, err := w.OpenAt(c, 2, c.Task.ScanNo, 2)
	w.must(err)
	res := w.Result(true, page...)
	res.Changes = rules
	counts, _, err := w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", open, res, nil)
	w.must(err)
	if counts != (patra.Counts{Insert: 72, Update: 2}) {
		t.Errorf("counts %+v", counts)
	}

	got := map[string]string{}
	scan(t, db, `SELECT r.provider_id, r.rev, v.change_code, o.event_type, r.content_sha256, COALESCE(r.provider_updated_at, -1), r.observed_at, r.deleted, COALESCE(r.merged_into, ''), r.fields, r.raw, r.raw_code,
		COALESCE(v.record_remarks, ''), COALESCE(r.record_remarks, ''),
		CASE WHEN v.content_sha256 = r.content_sha256 AND COALESCE(v.provider_updated_at, -1) = COALESCE(r.provider_updated_at, -1) AND v.observed_at = r.observed_at AND v.batch_id = r.batch_id
		    AND v.created_at = r.last_refreshed_at AND o.created_at = v.created_at AND r.created_at = r.first_seen_at AND r.provenance_code = 'demo' AND r.record_type = 'work' AND r.changed_at > 0
		    AND r.expr_hash <> r.spec_fingerprint THEN 1 ELSE 0 END, r.batch_id
		FROM ing_record r JOIN ing_record_rev v ON v.record_id = r.id AND v.rev = r.rev JOIN ing_outbox o ON o.record_id = r.id AND o.rev = r.rev ORDER BY r.id`, func(r *sql.Rows) error {
		var rev, updated, observed, batch int64
		var deleted, agree bool
		var id, as, event, hash, into, fields, raw, code, notes, remarks string
		err := r.Scan(&id, &rev, &as, &event, &hash, &updated, &observed, &deleted, &into, &fields, &raw, &code, &notes, &remarks, &agree, &batch)
		got[id] = fmt.Sprint(rev, " ", as, " ", event, " ", hash, " ", updated, " ", patra.Instant(observed), " ", deleted, " ", into, " ", fields, " ", raw, " ", code, " ", notes, " ", remarks)
		if !agree || batch != open.BatchID {
			t.Errorf("%s and what is told of it do not agree", id)
		}
		return err
	})
	for _, id := range slices.SortedFunc(maps.Keys(want), cmp.Compare) {
		if got[id] != want[id] {
			t.Errorf("%s is\n%s\nand not\n%s", id, got[id], want[id])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d records are told of, and not %d", len(got), len(want))
	}
	CheckInvariants(t, db)
}
