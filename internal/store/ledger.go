package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"patra"
)

// PageQuery is which pages of the ledger are wanted. Zero values do not narrow.
type PageQuery struct {
	ID      int64
	Run     int64
	BatchNo int64 // within the run
	Source  string
	Status  patra.Status
	Phase   patra.Phase
	Since   patra.Instant // committed at this time or later
	Bodies  bool          // only those that had a body
	Newest  bool          // the newest first
	Limit   int64         // 0 is all
}

func (q PageQuery) where() (string, []any) {
	conds, args := []string{"1 = 1"}, []any{}
	add := func(set bool, cond string, value any) {
		if set {
			conds, args = append(conds, cond), append(args, value)
		}
	}
	add(q.ID != 0, "b.id = ?", q.ID)
	add(q.Run != 0, "b.run_id = ?", q.Run)
	add(q.BatchNo != 0, "b.batch_no = ?", q.BatchNo)
	add(q.Source != "", "b.provenance_code = ?", q.Source)
	add(q.Status != "", "b.status_code = ?", q.Status)
	add(q.Phase != "", "b.phase_code = ?", q.Phase)
	add(q.Since != 0, "b.committed_at >= ?", q.Since)
	if q.Bodies {
		conds = append(conds, "b.body_sha256 IS NOT NULL")
	}
	return strings.Join(conds, " AND "), args
}

// ledgerPart is how many pages are read in one go: their requests and answers are with them.
const ledgerPart = 200

const ledgerColumns = `b.id, b.run_id, b.task_id, b.slice_id, b.plan_id, b.provenance_code, b.operation_code, b.batch_no, b.scan_no, b.phase_code, b.ordinal, b.lease_count, b.has_next, b.end_code,
	b.provider_total, b.record_count, b.n_insert, b.n_update, b.n_same, b.n_stale, b.n_dup, b.n_quarantine, b.n_outside, b.body_sha256, b.error, b.status_code, b.started_at, b.committed_at,
	r.spec_fingerprint, COALESCE(b.page_size, 0), b.before_token, b.after_token, b.ts_min, b.ts_max, b.order_code, b.request_digest, b.response_digest`

func scanLedger(r *sql.Rows) (p patra.LedgerPage, err error) {
	n := &p.Counts
	err = r.Scan(&p.ID, &p.RunID, &p.TaskID, &p.SliceID, &p.PlanID, &p.Source, &p.Operation, &p.BatchNo, &p.ScanNo, &p.Phase, &p.Ordinal, &p.LeaseCount, &p.HasNext, textInto{&p.EndCode},
		&p.ProviderTotal, &p.RecordCount, &n.Insert, &n.Update, &n.Same, &n.Stale, &n.Dup, &n.Quarantine, &n.Outside, textInto{&p.BodySHA256}, jsonInto{&p.Error}, &p.Status, &p.StartedAt, &p.CommittedAt,
		&p.Spec, &p.PageSize, textInto{&p.Before}, textInto{&p.After}, &p.TimeMin, &p.TimeMax, textInto{&p.Order}, jsonInto{&p.Request}, jsonInto{&p.Response})
	return p, err
}

// Ledger hands pages to use, oldest first unless the newest are wanted. It reads in short parts, so that memory stays flat.
func (s *Store) Ledger(ctx context.Context, q PageQuery, use func(patra.LedgerPage) error) error {
	where, args := q.where()
	next, order := " AND b.id > ?", " ORDER BY b.id"
	last := int64(0)
	if q.Newest {
		next, order, last = " AND b.id < ?", " ORDER BY b.id DESC", 1<<62
	}
	find := stmt{"read_ledger", `SELECT ` + ledgerColumns + ` FROM ing_task_run_batch b JOIN ing_task_run r ON r.id = b.run_id WHERE ` + where + next + order + ` LIMIT ?`}
	for left := q.Limit; ; {
		part := int64(ledgerPart)
		if q.Limit > 0 {
			part = min(part, left)
		}
		var pages []patra.LedgerPage
		err := s.read(ctx).rows(find, func(r *sql.Rows) error {
			p, err := scanLedger(r)
			pages = append(pages, p)
			return err
		}, append(slices.Clone(args), last, part)...)
		if err != nil {
			return err
		}
		for _, p := range pages {
			if err := use(p); err != nil {
				return err
			}
			last = p.ID
		}
		if left -= int64(len(pages)); int64(len(pages)) < part || (q.Limit > 0 && left <= 0) {
			return nil
		}
	}
}

// CountPages tells how many pages fit.
func (s *Store) CountPages(ctx context.Context, q PageQuery) (n int64, err error) {
	where, args := q.where()
	_, err = s.read(ctx).one(stmt{"count_pages", `SELECT COUNT(*) FROM ing_task_run_batch b WHERE ` + where}, args, &n)
	if q.Limit > 0 {
		n = min(n, q.Limit)
	}
	return n, err
}

// ClaimContext is what a task was given to run with, for somebody who looks at it later. It has no lease.
func (s *Store) ClaimContext(ctx context.Context, taskID int64) (*patra.Claim, error) {
	var c *patra.Claim
	err := s.read(ctx).rows(claimOfTask, func(r *sql.Rows) error {
		c = &patra.Claim{}
		return scanClaim(r, c)
	}, taskID)
	if err == nil && c == nil {
		err = errors.New("a task has no slice or no plan")
	}
	if err != nil {
		return nil, err
	}
	c.Lease = patra.Lease{TaskID: taskID}
	return c, nil
}

// Versions are the versions that a page brought.
func (s *Store) Versions(ctx context.Context, batchID int64) (all []patra.PageVersion, err error) {
	err = s.read(ctx).rows(pageVersions, func(r *sql.Rows) error {
		var v patra.PageVersion
		var repository string
		err := r.Scan(&v.ID, textInto{&repository}, &v.Rev, &v.Change, &v.Hash, &v.UpdatedAt)
		v.ID = localID(repository, v.ID)
		all = append(all, v)
		return err
	}, batchID)
	return all, err
}

var (
	claimOfTask  = stmt{"claim_of_task", `SELECT ` + claimColumns + ` FROM ` + claimTables + ` WHERE ing_task.id = ?`}
	pageVersions = stmt{"page_versions", `SELECT r.provider_id, r.repository, v.rev, v.change_code, v.content_sha256, v.provider_updated_at FROM ing_record_rev v JOIN ing_record r ON r.id = v.record_id
		WHERE v.batch_id = ? ORDER BY r.provider_id, v.rev`}
	idsOfPage = stmt{"ids_of_page", `SELECT provider_id FROM ing_task_item WHERE task_id = ? AND scan_no = ? AND search_ordinal = ? ORDER BY seq`}
)

// IDsOf are the ids that a page of a search was the first of its scan to give.
func (s *Store) IDsOf(ctx context.Context, p patra.LedgerPage) (ids []string, err error) {
	err = s.read(ctx).rows(idsOfPage, func(r *sql.Rows) error {
		var id string
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	}, p.TaskID, p.ScanNo, p.Ordinal)
	return ids, err
}

// SeenIDs are those of some ids that a scan knows.
func (s *Store) SeenIDs(ctx context.Context, p patra.LedgerPage, ids []string) (map[string]bool, error) {
	all := map[string]bool{}
	for part := range slices.Chunk(ids, chunk) {
		known, err := s.read(ctx).knownItems(p.TaskID, p.ScanNo, part)
		if err != nil {
			return nil, err
		}
		for id := range known {
			all[id] = true
		}
	}
	return all, nil
}

// StoredVersions tell which versions of some records of a repository are stored.
func (s *Store) StoredVersions(ctx context.Context, source, recordType, repository string, ids []string) (map[string]patra.StoredVersion, error) {
	all := make(map[string]patra.StoredVersion, len(ids))
	for part := range slices.Chunk(ids, chunk) {
		args := []any{source, recordType}
		for _, id := range part {
			args = append(args, scopedID(repository, id))
		}
		err := s.read(ctx).rows(stmt{"standings", `SELECT provider_id, batch_id, content_sha256 FROM ing_record WHERE provenance_code = ? AND record_type = ? AND provider_id IN (` + marks(len(part)) + `)`},
			func(r *sql.Rows) error {
				var id string
				var st patra.StoredVersion
				err := r.Scan(&id, &st.BatchID, &st.Hash)
				all[localID(repository, id)] = st
				return err
			}, args...)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
