package store

import (
	"context"
	"database/sql"
	"fmt"

	"patra"
)

var (
	selectStale = stmt{"select_stale", `SELECT provider_id, repository, 0 FROM ing_record WHERE provenance_code = ? AND record_type = ? AND COALESCE(repository, '') = ? AND deleted = 0 AND last_refreshed_at < ? ORDER BY last_refreshed_at, id LIMIT ?`}
	// A signal whose plan has come to its end without it is taken up again.
	selectWishes = stmt{"select_wishes", `SELECT s.provider_id, NULL, s.id FROM ing_signal s LEFT JOIN ing_plan p ON p.id = s.plan_id
		WHERE s.provenance_code = ? AND s.record_type = ? AND COALESCE(s.repository, '') = ? AND (s.status_code = 'NEW' OR (s.status_code = 'PLANNED' AND p.status_code IN ('READY', 'FAILED', 'CANCELLED')
		    AND NOT EXISTS (SELECT 1 FROM ing_plan_slice x WHERE x.plan_id = p.id AND x.status_code = 'READY'))) ORDER BY s.id LIMIT ?`}
	planSignal       = stmt{"plan_signal", `UPDATE ing_signal SET status_code = 'PLANNED', plan_id = ? WHERE id = ?`}
	hasCandidates    = stmt{"has_candidates", `SELECT COUNT(*) FROM ing_candidate WHERE plan_id = ?`}
	selectCandidates = stmt{"select_candidates", `SELECT provider_id FROM ing_candidate WHERE plan_id = ? AND bucket >= ? AND bucket < ? ORDER BY bucket, seq`}
	insertCandidates = newRowset("insert_candidate", `INSERT INTO ing_candidate (plan_id, bucket, seq, provider_id, reason_code, created_at) VALUES `, 6)
	specsOf          = stmt{"specs_of", `SELECT DISTINCT spec_fingerprint FROM ing_record WHERE provenance_code = ?`}
)

// listedAtOnce bounds how many records one list has, so that it fits into memory; the rest is for the next plan.
const listedAtOnce = 500_000

// selectedRecord is a record that a plan is for, and the signal that asked for it.
type selectedRecord struct {
	id     string
	signal int64
}

// selectRecords are the records of a pick, in the order in which they are to be fetched.
func (t *tx) selectRecords(source, recordType string, p patra.RecordSelector) (all []selectedRecord, err error) {
	add := func(r *sql.Rows) error {
		var c selectedRecord
		var repository string
		err := r.Scan(textInto{&c.id}, textInto{&repository}, &c.signal)
		c.id = localID(repository, c.id)
		all = append(all, c)
		return err
	}
	switch p.By {
	case patra.PickStale:
		return all, t.rows(selectStale, add, source, recordType, p.Repository, *p.Before, min(p.Most, listedAtOnce))
	case patra.PickMapping:
		if len(p.Specs) == 0 {
			return nil, nil
		}
		args := []any{source, recordType, p.Repository}
		for _, spec := range p.Specs {
			args = append(args, spec)
		}
		return all, t.rows(stmt{"select_other_mapping", `SELECT provider_id, repository, 0 FROM ing_record WHERE provenance_code = ? AND record_type = ? AND COALESCE(repository, '') = ? AND deleted = 0 AND spec_fingerprint IN (` + marks(len(p.Specs)) + `) ORDER BY id LIMIT ?`}, add, append(args, listedAtOnce)...)
	case patra.PickSignals:
		return all, t.rows(selectWishes, add, source, recordType, p.Repository, listedAtOnce)
	case patra.PickNamed:
		for _, id := range p.IDs {
			all = append(all, selectedRecord{id: id})
		}
		return all, nil
	}
	return nil, fmt.Errorf("pick by %q is not known", p.By)
}

// CountCandidates is how many records a pick would take now.
func (s *Store) CountCandidates(ctx context.Context, source, recordType string, p patra.RecordSelector) (int64, error) {
	all, err := s.read(ctx).selectRecords(source, recordType, p)
	return int64(len(distinct(all))), err
}

// distinct takes each id once, where it comes first.
func distinct(all []selectedRecord) (ids []string) {
	seen := make(map[string]bool, len(all))
	for _, c := range all {
		if !seen[c.id] {
			seen[c.id] = true
			ids = append(ids, c.id)
		}
	}
	return ids
}

// FreezeRecordList makes the list of a plan: the ids of a pick, dealt into buckets. A plan that has its list keeps it. Signals that
// are on it are planned from now on, and belong to this plan.
func (s *Store) FreezeRecordList(ctx context.Context, now patra.Instant, planID int64, source, recordType string, p patra.RecordSelector, buckets int64) error {
	return s.write(ctx, "freeze candidates", func(t *tx) error {
		if _, err := t.slicing(planID); err != nil { // nobody else makes the list meanwhile
			return err
		}
		var n int64
		if _, err := t.one(hasCandidates, []any{planID}, &n); err != nil || n > 0 || buckets == 0 {
			return err
		}
		all, err := t.selectRecords(source, recordType, p)
		if err != nil {
			return err
		}
		var rows []any
		seq := map[int64]int64{}
		for _, id := range distinct(all) {
			b := patra.Bucket(id, buckets)
			seq[b]++
			rows = append(rows, planID, b, seq[b], id, p.By, now)
		}
		if err := t.addRows(insertCandidates, rows); err != nil {
			return err
		}
		for _, c := range all {
			if c.signal == 0 {
				continue
			}
			if _, err := t.many(planSignal, planID, c.signal); err != nil {
				return err
			}
		}
		return nil
	})
}

// listed are the ids of some buckets of a plan's list.
func (s *Store) listed(ctx context.Context, planID int64, r patra.SliceRange) (ids []string, err error) {
	err = s.read(ctx).rows(selectCandidates, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(textInto{&id})
		ids = append(ids, id)
		return err
	}, planID, r.From, r.To)
	return ids, err
}

// SpecsOf are the fingerprints of all specs that the records of a source were last read by.
func (s *Store) SpecsOf(ctx context.Context, source string) (all []string, err error) {
	err = s.read(ctx).rows(specsOf, func(r *sql.Rows) error {
		var spec string
		err := r.Scan(&spec)
		all = append(all, spec)
		return err
	}, source)
	return all, err
}

var selectPatrols = stmt{"select_patrols", `SELECT p.provenance_code, p.endpoint_name, p.created_at, MAX(s.closed_at) FROM ing_plan p JOIN ing_plan_slice s ON s.plan_id = p.id
	WHERE (? = '' OR p.provenance_code = ?) AND p.operation_code = 'UPDATE' AND p.slice_strategy_code = 'ID_RANGE' AND p.campaign = 'stale' AND p.status_code = 'READY'
	GROUP BY p.id, p.provenance_code, p.endpoint_name, p.created_at HAVING COUNT(*) = SUM(CASE WHEN s.status_code = 'SUCCEEDED' THEN 1 ELSE 0 END) ORDER BY p.id`}

// RefreshProgress is how far the updates of stale records of a source have come.
type RefreshProgress struct {
	Source, Endpoint string
	First, Last      patra.Instant // when the first run was planned, and when the last was finished
	Runs             int64
}

// RefreshProgress lists finished patrols, of one source or of all. They cover no time, so they have no watermark: what there is to
// know about them stands in their plans.
func (s *Store) RefreshProgress(ctx context.Context, source string) (all []RefreshProgress, err error) {
	err = s.read(ctx).rows(selectPatrols, func(r *sql.Rows) error {
		var p RefreshProgress
		if err := r.Scan(&p.Source, &p.Endpoint, &p.First, &p.Last); err != nil {
			return err
		}
		for i := range all {
			if all[i].Source == p.Source && all[i].Endpoint == p.Endpoint {
				all[i].Last, all[i].Runs = p.Last, all[i].Runs+1
				return nil
			}
		}
		p.Runs = 1
		all = append(all, p)
		return nil
	}, source, source)
	return all, err
}
