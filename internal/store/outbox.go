package store

import "patra"

var (
	insertEvents  = newRowset("insert_event", `INSERT INTO ing_outbox (event_type, record_id, rev, created_at) VALUES `, 4, 0, 3)
	insertChanges = newRowset("insert_record_rev", `INSERT INTO ing_record_rev (record_id, rev, change_code, content_sha256, provider_updated_at, observed_at, batch_id, created_at, record_remarks) VALUES `, 9, 2, 5, 6, 7)
)

// changes collects the new versions of a page: for the biographies of the records, and for those who listen. They are
// written in the transaction of the records. Whoever reads a version can rely on its being told, and nothing is told that
// was not stored.
type changes struct{ revs, events []any }

func (c *changes) add(now patra.Instant, recordID, rev int64, as patra.Decision, batchID int64, o patra.Observation, codes []string) {
	var notes any
	if len(codes) > 0 || o.MergedInto != "" {
		notes = asJSON(revNotes{codes, o.MergedInto})
	}
	c.revs = append(c.revs, recordID, rev, as, o.Hash, o.UpdatedAt, o.ObservedAt, batchID, now, notes)
	c.events = append(c.events, o.Event(), recordID, rev, now)
}

// addChanges writes what was collected.
func (t *tx) addChanges(c *changes) error {
	if err := t.addRows(insertChanges, c.revs); err != nil {
		return err
	}
	if err := t.addRows(insertEvents, c.events); err != nil {
		return err
	}
	c.revs, c.events = c.revs[:0], c.events[:0]
	return nil
}
