package storetest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"patra"
)

// event is a row of the outbox with what it says.
type event struct {
	key, kind, subject, order string
	rev                       int64
	patra.RecordEvent
}

func events(t testing.TB, w *World) (all []event) {
	t.Helper()
	scan(t, Inspect(t, w.URL), `SELECT event_key, event_type, subject, order_key, rev, payload FROM ing_outbox ORDER BY id`, func(r *sql.Rows) error {
		var e event
		var payload []byte
		if err := r.Scan(&e.key, &e.kind, &e.subject, &e.order, &e.rev, &payload); err != nil {
			return err
		}
		err := json.Unmarshal(payload, &e.RecordEvent)
		all = append(all, e)
		return err
	})
	return all
}

func told(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	gone := w.Record("\"1\"\n", Origin+2*patra.Hour, "three")
	gone.Deleted = true
	for i, page := range [][]patra.Observation{
		{w.Record("\"1\"\n", Origin, "one"), w.Record("2", Origin, "x")},
		{w.Record("\"1\"\n", Origin, "one")},
		{w.Record("\"1\"\n", Origin+patra.Hour, "two"), w.Record("2", Origin-patra.Hour, "old")},
		{gone},
	} {
		w.Clock.Move(time.Second)
		w.Page(c, int64(i+1), true, page...)
	}
	got := events(t, w)
	if len(got) != 4 {
		t.Fatalf("%d events for 4 versions", len(got))
	}
	var text string
	for _, g := range got {
		previous := ""
		if g.Previous != nil {
			previous = *g.Previous
		}
		text += fmt.Sprintf("%s %q %d %v %s %v %v\n", g.kind, g.ID, g.Rev, g.UpdatedAt, g.Fields, g.Hash == patra.Hash("three"), previous == patra.Hash("two"))
		if g.key != g.Key() || g.order != g.OrderKey() || g.subject != g.Subject() || g.rev != g.Rev || g.Lineage.Task != c.TaskID || g.Lineage.Run != c.RunID || g.Lineage.Batch == 0 || g.Lineage.Plan != w.Plan.ID {
			t.Errorf("%+v", g)
		}
	}
	want := `patra.record.upserted "\"1\"\n" 1 2026-03-01T00:00:00.000Z {"c":"one"} false false
patra.record.upserted "2" 1 2026-03-01T00:00:00.000Z {"c":"x"} false false
patra.record.upserted "\"1\"\n" 2 2026-03-01T01:00:00.000Z {"c":"two"} false false
patra.record.deleted "\"1\"\n" 3 2026-03-01T02:00:00.000Z {"c":"three"} true true
`
	if text != want {
		t.Error(text)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
