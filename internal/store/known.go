package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"patra"
)

var (
	selectKnown  = stmt{"select_known", `SELECT id, provider_id, repository, NULL FROM ing_record WHERE provenance_code = ? AND id > ? AND deleted = 0 ORDER BY id LIMIT ?`}
	selectFields = stmt{"select_known_fields", `SELECT id, provider_id, repository, fields FROM ing_record WHERE provenance_code = ? AND id > ? AND deleted = 0 ORDER BY id LIMIT ?`}
)

// knownAtOnce is how many records are looked at in one read, so that nobody waits for it.
const knownAtOnce = 5000

// SeedItems puts the known ids of some buckets on the list of a task, as if a search had given them, and tells how many
// are on it. A task that was interrupted has its list already and keeps it.
func (s *Store) SeedItems(ctx context.Context, c *patra.Claim, now patra.Instant, r patra.SliceRange) (int64, error) {
	var ids []string
	var err error
	if r.Key == patra.PickedIDs || r.Key == patra.NamedIDs {
		ids, err = s.listed(ctx, c.Task.PlanID, r)
	} else {
		ids, err = s.known(ctx, c.Task, r)
	}
	if err != nil {
		return 0, err
	}
	var items int64
	err = s.write(ctx, "seed items", func(t *tx) error {
		if err := t.renewLease(c.Lease, patra.PhaseDetail, c.Task.ScanNo, c.Task.NextDetail); err != nil {
			return err
		}
		var open, gone int64
		if _, err := t.one(itemSum, []any{c.TaskID, c.Task.ScanNo}, &items, &open, &gone); err != nil || items > 0 {
			return err
		}
		if err := t.addItems(c, now, patra.OpenPage{PageOpen: patra.PageOpen{ScanNo: c.Task.ScanNo}}, ids); err != nil {
			return err
		}
		_, err := t.one(itemSum, []any{c.TaskID, c.Task.ScanNo}, &items, &open, &gone)
		return err
	})
	return items, err
}

// settleKnown writes what became of ids that were known before for everything beside the list of the task: signals that
// asked for them, what is in quarantine under them, and records that the provider does not have any more.
func (t *tx) settleKnown(p pageContext, res patra.PageResult) error {
	c, recordType, outcomes := p.claim, p.recordType, res.Items
	r := c.Slice.Spec.Range
	if r == nil || r.Kind != patra.RangeBucket || len(outcomes) == 0 {
		return nil
	}
	if r.Key == patra.NamedIDs { // signals name theirs
		if err := t.settleSignals(c, recordType, outcomes); err != nil {
			return err
		}
	}
	if patra.ForeignIDs(r.Key) {
		return nil
	}
	for _, ids := range outcomes { // what a record has not resolved by now is as bad as before
		if err := t.moveItems(c.Task, recordType, ids, patra.Open, patra.Retrying); err != nil {
			return err
		}
	}
	return t.addRefusals(p, res.Gone, res.Refused)
}

// known are the ids in some buckets: of the source itself, of another, or what a field of another says.
func (s *Store) known(ctx context.Context, of patra.Task, r patra.SliceRange) (ids []string, err error) {
	from, field := patra.KnownIDs(r.Key, of.Source)
	own := !patra.ForeignIDs(r.Key) // of another source all repositories are meant
	st := selectKnown
	if field != "" {
		st = selectFields
	}
	for after, n := int64(0), knownAtOnce; n == knownAtOnce; {
		n = 0
		err := s.read(ctx).rows(st, func(rows *sql.Rows) error {
			var id, repository string
			var fields json.RawMessage
			if err := rows.Scan(&after, textInto{&id}, textInto{&repository}, jsonInto{&fields}); err != nil {
				return err
			}
			n++
			if own && repository != of.Repository {
				return nil
			}
			id = localID(repository, id)
			for _, id := range idsIn(id, fields, field) {
				if b := patra.Bucket(id, r.Of.To); r.From <= b && b < r.To {
					ids = append(ids, id)
				}
			}
			return nil
		}, from, after, knownAtOnce)
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// idsIn is the id of a record, or what a field of it says: a text or several.
func idsIn(id string, fields json.RawMessage, field string) []string {
	if field == "" {
		return []string{id}
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(fields, &all) != nil {
		return nil
	}
	var one string
	if json.Unmarshal(all[field], &one) == nil && one != "" {
		return []string{one}
	}
	var many []string
	if json.Unmarshal(all[field], &many) != nil {
		return nil
	}
	return many
}
