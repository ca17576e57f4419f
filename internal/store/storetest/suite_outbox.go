package storetest

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"patra"
)

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
	var text string
	scan(t, Inspect(t, w.URL), `SELECT o.event_type, r.provider_id, o.rev, v.change_code FROM ing_outbox o
		JOIN ing_record r ON r.id = o.record_id JOIN ing_record_rev v ON v.record_id = o.record_id AND v.rev = o.rev ORDER BY o.id`, func(r *sql.Rows) error {
		var kind, id, as string
		var rev int64
		err := r.Scan(&kind, &id, &rev, &as)
		text += fmt.Sprintf("%s %q %d %s\n", kind, id, rev, as)
		return err
	})
	want := `patra.record.upserted "\"1\"\n" 1 INSERT
patra.record.upserted "2" 1 INSERT
patra.record.upserted "\"1\"\n" 2 UPDATE
patra.record.deleted "\"1\"\n" 3 DELETED
`
	if text != want {
		t.Error(text)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
