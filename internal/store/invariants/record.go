package invariants

import "database/sql"

// notCommitted is that row x refers to a page that was never committed.
const notCommitted = `NOT EXISTS (SELECT 1 FROM ing_task_run_batch b WHERE b.id = x.batch_id AND b.status_code = 'SUCCEEDED')
		AND NOT EXISTS (SELECT 1 FROM ing_archive_batch a WHERE a.batch_id = x.batch_id)`

// purged is the number up to which events are gone.
const purged = `COALESCE((SELECT l.position FROM ing_lease l WHERE l.name = 'purged'), 0)`

// records is what is promised of records, their versions and what is set aside.
var records = []Invariant{
	{Text: "records come from committed pages only", Next: redeem, look: none("record", `SELECT x.id FROM ing_record x WHERE `+notCommitted)},
	{Text: "versions come from committed pages only", Next: redeem, look: none("record", `SELECT x.record_id FROM ing_record_rev x WHERE `+notCommitted)},
	{Text: "what is in quarantine comes from committed pages only", Next: redeem, look: none("quarantine", `SELECT x.id FROM ing_quarantine x WHERE `+notCommitted)},
	{Text: "quarantined items are there", Next: redeem, look: none("batch", `SELECT b.id FROM ing_task_run_batch b WHERE b.n_quarantine <> (SELECT COUNT(*) FROM ing_quarantine_seen s JOIN ing_quarantine q ON q.id = s.quarantine_id WHERE s.batch_id = b.id)`)},
	{Text: "what is open in quarantine is there once, and only that is known by its key", Next: redeem, look: none("quarantine", `SELECT q.id FROM ing_quarantine q
		WHERE (SELECT COUNT(*) FROM ing_quarantine_seen s WHERE s.quarantine_id = q.id AND s.open_key IS NOT NULL) > CASE WHEN q.status_code IN ('OPEN', 'RETRYING') THEN 1 ELSE 0 END`)},
	{Text: "an open signal has its key, and a closed one none", Next: redeem, look: none("signal", `SELECT id FROM ing_signal
		WHERE (status_code IN ('NEW', 'PLANNED')) <> (open_key IS NOT NULL) OR (status_code <> 'NEW') <> (plan_id IS NOT NULL)`)},
	{Text: "a record has one row for each of its versions", Next: redeem, look: none("record", `SELECT r.id FROM ing_record r WHERE r.rev <> (SELECT COUNT(*) FROM ing_record_rev v WHERE v.record_id = r.id)`)},
	// What every sink has is deleted, from the front: of a record the newest events are there, in a row.
	{Text: "a record has one event for each of its versions", Next: redeem, look: none("record", `SELECT r.id FROM ing_record r
		LEFT JOIN (SELECT record_id, COUNT(*) n, MIN(rev) lo, MAX(rev) hi FROM ing_outbox WHERE record_id IS NOT NULL GROUP BY record_id) o ON o.record_id = r.id
		WHERE (o.n IS NULL OR o.lo > 1) AND `+purged+` = 0 OR o.hi <> r.rev OR o.n <> o.hi - o.lo + 1`)},
	{Text: "an event tells of a version that is stored", Next: redeem, look: none("event", `SELECT o.id FROM ing_outbox o WHERE o.record_id IS NOT NULL
		AND NOT EXISTS (SELECT 1 FROM ing_record_rev v WHERE v.record_id = o.record_id AND v.rev = o.rev)`)},
	{Text: "the numbers of events have no holes", Next: report, look: none("event", `SELECT MAX(o.seq) FROM ing_outbox o HAVING MAX(o.seq) IS NOT NULL
		AND (MIN(o.seq) <> `+purged+` + 1 OR MAX(o.seq) - `+purged+` <> COUNT(o.seq) OR MAX(o.seq) <> (SELECT l.position FROM ing_lease l WHERE l.name = 'outbox'))`)},
	{Text: "no version has its number before an older one", Next: report, look: none("event", `SELECT o.id FROM ing_outbox o JOIN ing_outbox p ON p.record_id = o.record_id AND p.rev = o.rev - 1
		WHERE o.seq IS NOT NULL AND (p.seq IS NULL OR p.seq > o.seq)`)},
	{Text: "a record that was refused has an absence that lasts, and is gone if that is", Next: redeem, look: none("record", `SELECT r.id FROM ing_record r LEFT JOIN ing_absence a ON a.live_id = r.id
		WHERE r.record_remarks LIKE '%"refusals":%' AND (a.id IS NULL OR (a.status_code = 'GONE') <> (r.record_remarks LIKE '%"gone_at":%'))`)},
	{Text: "an absence begins with a refusal, and lasts until it is over", Next: redeem, look: none("absence", `SELECT a.id FROM ing_absence a
		WHERE (a.status_code IN ('MISSING', 'GONE')) <> (a.live_id IS NOT NULL) OR (a.live_id IS NULL) <> (a.ended_at IS NOT NULL) OR COALESCE(a.live_id, a.record_id) <> a.record_id
		OR a.refusals < 1 OR a.refused_at < a.missing_since OR (a.status_code = 'MISSING') AND a.gone_at IS NOT NULL OR (a.status_code = 'GONE') AND a.gone_at IS NULL
		OR a.gone_at < a.missing_since OR a.gone_at > a.refused_at`)},
	{Text: "inserts and updates of the ledger are the versions of the records", Next: redeem, look: uneven},
	{Text: "the raw content of a record is there", Next: redeem, look: none("record", `SELECT r.id FROM ing_record r WHERE r.raw_from IS NOT NULL AND (
		NOT EXISTS (SELECT 1 FROM ing_raw_piece p WHERE p.id = r.batch_id * 65536 + `+first+`) OR NOT EXISTS (SELECT 1 FROM ing_raw_piece p WHERE p.id = r.batch_id * 65536 + `+last+`)
		OR `+last+` > `+first+` + 1 AND `+last+` - `+first+` + 1 <> (SELECT COUNT(*) FROM ing_raw_piece p WHERE p.id >= r.batch_id * 65536 + `+first+` AND p.id <= r.batch_id * 65536 + `+last+`))`)},
	{Text: "a piece of a page is kept for as long as records lie in it", Next: report, look: unused},
}

// first and last are the pieces of its page that the raw content of a record lies in.
const (
	first = `(r.raw_from >> 17)`
	last  = `((r.raw_from + r.raw_size - 1) >> 17)`
)

// unused adds up how many records the pieces say lie in them, and how many do.
func unused(l *checkRun) error {
	return l.each(`SELECT p.n, p.least, r.n FROM (SELECT COALESCE(SUM(live), 0) n, COALESCE(MIN(live), 1) least FROM ing_raw_piece) p,
		(SELECT COALESCE(SUM(`+last+` - `+first+` + 1), 0) n FROM ing_record r WHERE r.raw_from IS NOT NULL) r WHERE p.n <> r.n OR p.least < 1`, func(r *sql.Rows) error {
		var said, least, there float64
		err := r.Scan(&said, &least, &there)
		l.found("the pieces say %.0f and no fewer than %.0f each, the records %.0f", said, least, there)
		return err
	})
}

// uneven adds up both sides of the books, in one statement, so that no page is committed in between. A version that only
// says that another record has taken the place was no item of a page.
func uneven(l *checkRun) error {
	return l.each(`SELECT b.n + a.n, r.n FROM (SELECT COALESCE(SUM(n_insert + n_update), 0) n FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED') b,
		(SELECT COALESCE(SUM(written), 0) n FROM ing_archive) a, (SELECT COALESCE(SUM(rev), 0) - (SELECT COUNT(*) FROM ing_record_rev WHERE change_code = 'TAKEN_OVER') n FROM ing_record) r WHERE b.n + a.n <> r.n`, func(r *sql.Rows) error {
		var written, there int64
		err := r.Scan(&written, &there)
		l.found("the ledger counts %d, the records have %d", written, there)
		return err
	})
}
