package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"patra"
)

// RecordPosition is where a look through records has come to. Which parts of it are used is up to the order.
type RecordPosition struct {
	Changed patra.Instant `json:"c,omitempty"` // by time of change
	ID      int64         `json:"i,omitempty"`
	Type    string        `json:"t,omitempty"` // by id of the provider
	Key     string        `json:"k,omitempty"`
}

// RecordPage is a part of the records that fit.
type RecordPage struct {
	Records []patra.Record
	Next    *RecordPosition // nil: there are no more
	Looked  int             // how many were looked at
}

var (
	newestKeys  = stmt{"newest_keys", `SELECT id, 0, '', '' FROM ing_record WHERE id < ? ORDER BY id DESC LIMIT ?`}
	changedKeys = stmt{"changed_keys", `SELECT id, changed_at, '', '' FROM ing_record WHERE provenance_code = ? AND changed_at <= ? AND changed_at >= ? AND (changed_at < ? OR id < ?)
		ORDER BY changed_at DESC, id DESC LIMIT ?`}
	namedKeys  = stmt{"named_keys", `SELECT id, 0, record_type, provider_id FROM ing_record WHERE provenance_code = ? AND record_type = ? AND provider_id > ? ORDER BY provider_id LIMIT ?`}
	absentKeys = stmt{"absent_keys", `SELECT live_id, 0, '', '' FROM ing_absence WHERE live_id < ? AND status_code IN (?, ?) AND (? = '' OR provenance_code = ?) ORDER BY live_id DESC LIMIT ?`}
	firstKeys  = stmt{"first_keys", strings.Replace(namedKeys.text, "provider_id > ?", "provider_id >= ?", 1)}
	nextType   = stmt{"next_type", `SELECT record_type FROM ing_record WHERE provenance_code = ? AND record_type > ? ORDER BY record_type LIMIT 1`}
)

// recordKey is a record by what an index knows of it.
type recordKey struct {
	id int64
	at RecordPosition
}

// FindPart looks for records, and stops when it has enough of them or has looked at most: it gives what it found, and where to
// go on. Of a source, those that changed last come first, or with an IDPrefix they come in the order of ids; of all sources,
// and of those that are missing or gone, those that arrived last come first. q.Limit says how many are enough.
func (s *Store) FindPart(ctx context.Context, q RecordQuery, from *RecordPosition, most int) (p RecordPage, err error) {
	t := s.read(ctx)
	for p.Looked < most {
		keys, done, err := t.recordKeys(q, &from)
		if err != nil {
			return p, err
		}
		found, err := t.recordsOf(q, keys)
		if err != nil {
			return p, err
		}
		for _, k := range keys {
			p.Looked++
			from = &k.at
			if rec, ok := found[k.id]; ok {
				p.Records = append(p.Records, rec)
			}
			if int64(len(p.Records)) == q.Limit {
				p.Next = from
				return p, nil
			}
		}
		if done {
			return p, nil
		}
	}
	p.Next = from
	return p, nil
}

// recordKeys reads the next few keys behind a position, in the order that the question has an index for. done says that there
// are no more behind them. A position moves on by itself where a type has no more.
func (t *tx) recordKeys(q RecordQuery, from **RecordPosition) (keys []recordKey, done bool, err error) {
	at := RecordPosition{}
	if *from != nil {
		at = **from
	}
	switch {
	case q.IDPrefix != "":
		return t.keysByName(q, at, from)
	case q.Missing || q.Gone: // they are few, and have an index of their own
		if *from == nil {
			at.ID = topmost
		}
		keys, err = t.keys(absentKeys, slices.Concat([]any{at.ID}, q.absences(), []any{q.Source, q.Source, chunk})...)
	case q.Source != "":
		since := patra.Instant(allTime)
		if q.ChangedSince != nil {
			since = *q.ChangedSince
		}
		if *from == nil {
			at = RecordPosition{Changed: -allTime, ID: topmost}
		}
		keys, err = t.keys(changedKeys, q.Source, at.Changed, since, at.Changed, at.ID, chunk)
	default:
		if *from == nil {
			at.ID = topmost
		}
		keys, err = t.keys(newestKeys, at.ID, chunk)
	}
	return keys, len(keys) < chunk, err
}

func (t *tx) keysByName(q RecordQuery, at RecordPosition, from **RecordPosition) (keys []recordKey, done bool, err error) {
	if at.Type == "" {
		if at, err = t.firstOfType(q, ""); err != nil || at.Type == "" {
			return nil, true, err
		}
	}
	st, key := namedKeys, at.Key
	if key == "" {
		st, key = firstKeys, q.IDPrefix
	}
	if keys, err = t.keys(st, q.Source, at.Type, key, chunk); err != nil {
		return nil, true, err
	}
	// Ids with the same beginning stand together.
	n := slices.IndexFunc(keys, func(k recordKey) bool { return !strings.HasPrefix(k.at.Key, q.IDPrefix) })
	if n < 0 && len(keys) == chunk {
		return keys, false, nil
	}
	if n >= 0 {
		keys = keys[:n]
	}
	if q.Type != "" {
		return keys, true, nil
	}
	next, err := t.firstOfType(q, at.Type)
	if err != nil || next.Type == "" {
		return keys, true, err
	}
	if len(keys) > 0 { // the last of this type leads to the first of the next
		keys[len(keys)-1].at = next
	}
	*from = &next
	return keys, false, nil
}

// firstOfType is the position before the first id of the type behind another; without a type if there is none.
func (t *tx) firstOfType(q RecordQuery, behind string) (at RecordPosition, err error) {
	at.Type = q.Type
	if q.Type == "" {
		if _, err = t.one(nextType, []any{q.Source, behind}, textInto{&at.Type}); err != nil {
			return at, err
		}
	}
	return at, nil
}

func (t *tx) keys(st stmt, args ...any) (all []recordKey, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var k recordKey
		err := r.Scan(&k.id, &k.at.Changed, textInto{&k.at.Type}, textInto{&k.at.Key})
		if k.at.Type == "" {
			k.at.ID = k.id
		}
		all = append(all, k)
		return err
	}, args...)
	return all, err
}

// recordsOf are those of some records that fit.
func (t *tx) recordsOf(q RecordQuery, keys []recordKey) (map[int64]patra.Record, error) {
	found := map[int64]patra.Record{}
	if len(keys) == 0 {
		return found, nil
	}
	where, args := q.where(t.s.dialect)
	for _, k := range keys {
		args = append(args, k.id)
	}
	all, err := t.records(stmt{"records_of", `SELECT ` + recordColumns + ` FROM ing_record r {bykey} WHERE ` + where + ` AND r.id IN (` + marks(len(keys)) + `)`}, args...)
	for _, rec := range all {
		found[rec.ID] = rec
	}
	return found, err
}
