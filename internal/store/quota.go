package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"patra"
)

const quotaColumns = `gate_key, window_code, window_start, window_end, limit_n, usable_n, used_n`

var (
	chargeQuota = stmt{"charge_quota", `UPDATE ing_quota SET used_n = used_n + ?, limit_n = ?, usable_n = ?
		WHERE gate_key = ? AND window_code = ? AND window_start = ? AND used_n + ? <= ?`}
	tellQuota = stmt{"tell_quota", `UPDATE ing_quota SET used_n = ?, told_n = ?, limit_n = ?, usable_n = ?
		WHERE gate_key = ? AND window_code = ? AND window_start = ? AND used_n < ?`}
	quotaUsed   = stmt{"quota_used", `SELECT used_n FROM ing_quota WHERE gate_key = ? AND window_code = ? AND window_start = ?`}
	quotaBeside = stmt{"quota_beside", `SELECT COALESCE(MAX(used_n), 0) FROM ing_quota WHERE gate_key = ? AND window_code = ? AND window_start < ? AND window_end > ?`}
	// Of requests that are in an archive the hour is known; one that lies only partly in a window counts whole. One statement,
	// so that what is being moved is counted once.
	quotaSent = stmt{"quota_sent", `SELECT (SELECT COALESCE(SUM(cost), 0) FROM ing_request WHERE gate_key = ? AND acquired_at >= ? AND acquired_at < ? AND finished_at IS NOT NULL)
		+ (SELECT COALESCE(SUM(cost), 0) FROM ing_archive_sent WHERE gate_key = ? AND hour_at > ? - 3600000000 AND hour_at < ?)`}
	insertQuota = stmt{"insert_quota", `INSERT INTO ing_quota (gate_key, window_code, window_start, window_end, limit_n, usable_n, used_n, told_n, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, 0, {now})`}
	selectQuotas = stmt{"select_quotas", `SELECT ` + quotaColumns + ` FROM ing_quota WHERE window_end > {now} ORDER BY gate_key, window_end, window_start`}
	quotasOf     = stmt{"quotas_of", `SELECT ` + quotaColumns + ` FROM ing_quota WHERE gate_key = ? AND window_end > {now} ORDER BY window_end, window_start`}
)

// ChargeQuota charges a request that is about to be sent to every window that it may count in, or to none: then the error
// is a *patra.QuotaError. Nothing is ever given back. If it is not known whether a charge was written, it is charged
// again.
func (s *Store) ChargeQuota(ctx context.Context, key string, q patra.QuotaLimit, c patra.QuotaCharge) error {
	for {
		var refused *patra.QuotaError
		var missing []patra.QuotaWindow
		err := s.write(ctx, "charge the quota", func(t *tx) (err error) {
			refused, missing, err = t.chargeQuota(key, q, c)
			if err == nil && (refused != nil || missing != nil) {
				err = errNothingCharged
			}
			return err
		})
		switch {
		case refused != nil && errors.Is(err, errNothingCharged):
			return refused
		case missing != nil && errors.Is(err, errNothingCharged):
			for _, w := range missing {
				if err := s.openQuota(ctx, key, q, w); err != nil {
					return err
				}
			}
		default:
			return err
		}
	}
}

// errNothingCharged takes back what a transaction charged before it found that it cannot charge everything.
var errNothingCharged = errors.New("nothing was charged")

// chargeQuota charges all windows, in the same order as everybody. It tells which have no row, or what refuses the charge:
// of several windows that are full, the one that is so for longest.
func (t *tx) chargeQuota(key string, q patra.QuotaLimit, c patra.QuotaCharge) (refused *patra.QuotaError, missing []patra.QuotaWindow, err error) {
	now, err := t.clock()
	if err != nil {
		return nil, nil, err
	}
	for _, w := range q.Charged(now) {
		usable := q.Usable(w.Limit)
		share := max(patra.ShareOf(usable, c.Share), min(c.Cost, usable)) // one request at least
		n, err := t.exec(chargeQuota, c.Cost, w.Limit, usable, key, w.Code, w.From, c.Cost, share)
		if err != nil {
			return nil, nil, err
		}
		if n == 1 {
			continue
		}
		var used int64
		found, err := t.one(quotaUsed, []any{key, w.Code, w.From}, &used)
		if err != nil {
			return nil, nil, err
		}
		if !found || used+c.Cost <= share { // it is there since we looked, if it is
			missing = append(missing, w)
		} else if e := q.Refusal(key, w, used, c, now); refused == nil || e.Again > refused.Again {
			refused = e
		}
	}
	return refused, missing, nil
}

// openQuota makes the row of a window. It is a transaction of its own: of two that make the same one and go on to change
// it, each would wait for the other. A window that lies across others, because somebody named another time zone, begins
// with what was used in them; and one that has begun before anybody counted, with what was sent in it.
func (s *Store) openQuota(ctx context.Context, key string, q patra.QuotaLimit, w patra.QuotaWindow) error {
	return s.write(ctx, "open the quota", func(t *tx) error {
		var beside, sent int64
		if _, err := t.one(quotaBeside, []any{key, w.Code, w.To, w.From}, &beside); err != nil {
			return err
		}
		if _, err := t.one(quotaSent, []any{key, w.From, w.To, key, w.From, w.To}, &sent); err != nil {
			return err
		}
		_, err := t.exec(insertQuota, key, w.Code, w.From, w.To, w.Limit, q.Usable(w.Limit), min(max(beside, sent), w.Limit))
		if t.s.dialect.duplicate(err) {
			return nil
		}
		return err
	})
}

// ReportQuota hears what the provider says is left of a quota. If that is less than we thought, others use it too, and it is
// believed; never the other way round. It writes only what makes a difference.
func (s *Store) ReportQuota(ctx context.Context, key string, q patra.QuotaLimit, told patra.AdvertisedQuota) error {
	t := s.read(ctx)
	now, err := t.clock()
	if err != nil {
		return err
	}
	w, used, ok := q.Told(now, told)
	if !ok {
		return nil
	}
	var known int64
	found, err := t.one(quotaUsed, []any{key, w.Code, w.From}, &known)
	if err != nil || (found && known >= used) || used == 0 {
		return err
	}
	if !found {
		if err := s.openQuota(ctx, key, q, w); err != nil {
			return err
		}
	}
	return s.write(ctx, "believe the provider's quota", func(t *tx) error {
		_, err := t.exec(tellQuota, used, used, w.Limit, q.Usable(w.Limit), key, w.Code, w.From, used)
		return err
	})
}

// Quotas lists what is used of quotas in windows that have not ended, by key and window.
func (s *Store) Quotas(ctx context.Context) ([]patra.QuotaUse, error) {
	return s.read(ctx).quotas(selectQuotas)
}

// QuotaOf lists what is used of the quotas of one key in windows that have not ended.
func (s *Store) QuotaOf(ctx context.Context, key string) ([]patra.QuotaUse, error) {
	return s.read(ctx).quotas(quotasOf, key)
}

func (t *tx) quotas(st stmt, args ...any) (all []patra.QuotaUse, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var u patra.QuotaUse
		if err := r.Scan(textInto{&u.Key}, textInto{&u.Window}, &u.From, &u.To, &u.Limit, &u.Usable, &u.Used); err != nil {
			return fmt.Errorf("quota: %w", err)
		}
		all = append(all, u)
		return nil
	}, args...)
	return all, err
}
