package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"patra"
)

const noticeColumns = `id, alert_id, receiver, kind_code, round, state_code, tries, sent_at, last_error`

var (
	noticesOf    = stmt{"notices_of", `SELECT ` + noticeColumns + ` FROM ing_alert_notice WHERE alert_id = ? ORDER BY id`}
	insertNotice = stmt{"insert_notice", `INSERT INTO ing_alert_notice (alert_id, receiver, kind_code, round, state_code, tries, next_at, created_at) VALUES (?, ?, ?, ?, 'WAITING', 0, 0, {now})`}
	dropNotice   = stmt{"drop_notice", `UPDATE ing_alert_notice SET state_code = 'DROPPED' WHERE id = ? AND state_code = 'WAITING'`}
	dueNotices   = stmt{"due_notices", `SELECT ` + noticeColumns + ` FROM ing_alert_notice WHERE receiver = ? AND state_code = 'WAITING' AND next_at <= {now} ORDER BY next_at, id LIMIT ?`}
	tryNotice    = stmt{"try_notice", `UPDATE ing_alert_notice SET tries = tries + 1, next_at = {now} + ? WHERE id = ? AND state_code = 'WAITING'`}
	sentNotice   = stmt{"sent_notice", `UPDATE ing_alert_notice SET state_code = 'SENT', sent_at = {now}, last_error = NULL WHERE id = ?`}
	failNotice   = stmt{"fail_notice", `UPDATE ing_alert_notice SET state_code = ?, next_at = {now} + ?, last_error = ? WHERE id = ? AND state_code = 'WAITING'`}
	noticeAge    = stmt{"notice_age", `SELECT {now} - created_at FROM ing_alert_notice WHERE id = ?`}

	forgetNotices = stmt{"forget_notices", `DELETE FROM ing_alert_notice WHERE alert_id = ?`}
	forgetRepeats = stmt{"forget_repeats", `DELETE FROM ing_alert_notice WHERE alert_id = ? AND receiver = ? AND kind_code = 'REPEAT' AND round <= ? AND state_code <> 'WAITING'`}

	nextReceiver   = stmt{"next_receiver", `SELECT receiver FROM ing_alert_notice WHERE receiver > ? ORDER BY receiver LIMIT 1`}
	receiverState  = stmt{"receiver_state", `SELECT COUNT(*), COALESCE(MAX(tries), 0), MIN(CASE WHEN tries > 0 THEN created_at END) FROM (SELECT tries, created_at, last_error FROM ing_alert_notice WHERE receiver = ? AND state_code = 'WAITING' LIMIT 1000) AS n`}
	receiverError  = stmt{"receiver_error", `SELECT last_error FROM ing_alert_notice WHERE receiver = ? AND state_code = 'WAITING' AND last_error IS NOT NULL ORDER BY next_at DESC LIMIT 1`}
	receiverInVain = stmt{"receiver_in_vain", `SELECT tries, created_at, last_error FROM ing_alert_notice WHERE receiver = ? AND state_code = 'DROPPED' AND next_at > {now} - ? AND created_at > ? AND last_error IS NOT NULL ORDER BY next_at DESC LIMIT 100`}
	receiverSentAt = stmt{"receiver_sent", `SELECT MAX(sent_at) FROM (SELECT sent_at FROM ing_alert_notice WHERE receiver = ? AND state_code = 'SENT' ORDER BY next_at DESC LIMIT 100) AS n`}
)

func (t *tx) notices(st stmt, args ...any) (all []patra.Notification, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var n patra.Notification
		err := r.Scan(&n.ID, &n.AlertID, textInto{&n.Receiver}, &n.Kind, &n.Round, &n.State, &n.Tries, &n.SentAt, textInto{&n.Error})
		all = append(all, n)
		return err
	}, args...)
	return all, err
}

// notify writes what is to be told after a step, in its transaction, and tells how many that are.
func (t *tx) notify(now patra.Instant, s patra.AlertUpdate, receivers []patra.Receiver) (int, error) {
	if s.State == patra.AlertPending || s.Move == patra.AlertVanishes {
		return 0, nil
	}
	told, err := t.notices(noticesOf, s.ID)
	if err != nil {
		return 0, err
	}
	add, drop := s.Notify(now, told, receivers)
	for _, id := range drop {
		if _, err := t.many(dropNotice, id); err != nil {
			return 0, err
		}
	}
	for _, n := range add {
		if _, err := t.many(insertNotice, n.AlertID, n.Receiver, n.Kind, n.Round); err != nil {
			return 0, err
		}
		if n.Kind != patra.NoticeRepeat { // of which there is another every so often, for as long as the alert lasts
			continue
		}
		if _, err := t.many(forgetRepeats, n.AlertID, n.Receiver, n.Round-shownNotices); err != nil {
			return 0, err
		}
	}
	return len(add), nil
}

// shownNotices is how many notices of an alert are shown, and how many repeats are kept for each receiver.
const shownNotices = 20

// outcomes adds to alerts what was told of them; now is 0 where nothing can be silent any more.
func (t *tx) outcomes(now patra.Instant, all []patra.StoredAlert) error {
	for i := range all {
		all[i].Silenced = now != 0 && all[i].Ack.Silences(now)
		told, err := t.notices(noticesOf, all[i].ID)
		if err != nil {
			return err
		}
		for _, n := range told[max(len(told)-shownNotices, 0):] {
			all[i].Notices = append(all[i].Notices, patra.NotificationStatus{Receiver: n.Receiver, Kind: n.Kind, State: n.State, At: n.SentAt, Tries: n.Tries, Error: n.Error})
		}
	}
	return nil
}

// PendingNotification is a notice and the alert that it is about.
type PendingNotification struct {
	patra.Notification
	Alert patra.StoredAlert
}

// errNothingDue ends a transaction that has nothing to do.
var errNothingDue = errors.New("nothing is due")

// ClaimNotifications takes the notices that a receiver is to get now, under the fence of the role: each has one attempt more, and nobody else
// tries it for a while. Whoever is killed after sending and before saying so leaves it to be sent again after that.
func (s *Store) ClaimNotifications(ctx context.Context, r patra.LeaderLease, receiver string, most int, hold time.Duration) (all []PendingNotification, err error) {
	due, err := s.read(ctx).notices(dueNotices, receiver, most)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	err = s.write(ctx, "take notices", func(t *tx) error {
		all = nil
		if err := requireLease(t.exec(keepRole, r.For.Microseconds(), r.Name, r.Owner, r.Fence)); err != nil {
			return err
		}
		due, err := t.notices(dueNotices, receiver, most)
		if err != nil {
			return err
		}
		if len(due) == 0 {
			return errNothingDue
		}
		for _, n := range due {
			if _, err := t.many(tryNotice, hold.Microseconds(), n.ID); err != nil {
				return err
			}
			about, err := t.alerts(alertByID, n.AlertID)
			if err != nil {
				return err
			}
			if len(about) == 0 {
				return fmt.Errorf("notice %d: %w", n.ID, patra.ErrNotFound)
			}
			n.Tries++
			all = append(all, PendingNotification{n, about[0]})
		}
		return nil
	})
	if errors.Is(err, errNothingDue) {
		err = nil
	}
	return all, err
}

// NotificationsSent notes that notices have arrived. It does not ask who has the role: they have.
func (s *Store) NotificationsSent(ctx context.Context, ids []int64) error {
	return s.write(ctx, "notices sent", func(t *tx) error {
		for _, id := range ids {
			if _, err := t.many(sentNotice, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// mostError is how much is kept of what went wrong with a notice.
const mostError = 500

// NotificationsFailed notes that notices did not arrive, and when they are tried again. One that is older than it may be is given up.
func (s *Store) NotificationsFailed(ctx context.Context, ids []int64, again, most time.Duration, why string) (dropped int, err error) {
	why = strings.ToValidUTF8(why, "?")
	why = strings.ToValidUTF8(why[:min(len(why), mostError)], "")
	err = s.write(ctx, "notices failed", func(t *tx) error {
		dropped = 0
		for _, id := range ids {
			var age int64
			if _, err := t.one(noticeAge, []any{id}, &age); err != nil {
				return err
			}
			state := patra.NoticeWaiting
			if age > most.Microseconds() {
				state = patra.NoticeDropped
				dropped++
			}
			if _, err := t.exec(failNotice, state, again.Microseconds(), why, id); err != nil {
				return err
			}
		}
		return nil
	})
	return dropped, err
}

// ReceiverStates tell how all receivers stand that were ever to be told anything.
func (s *Store) ReceiverStates(ctx context.Context) (all []patra.ReceiverState, err error) {
	t := s.read(ctx)
	for name := ""; ; {
		found, err := t.one(nextReceiver, []any{name}, textInto{&name})
		if err != nil || !found {
			return all, err
		}
		st := patra.ReceiverState{Name: name}
		if _, err := t.one(receiverState, []any{name}, &st.Waiting, &st.Failures, &st.FailedAt); err != nil {
			return all, err
		}
		if _, err := t.one(receiverError, []any{name}, textInto{&st.Error}); err != nil {
			return all, err
		}
		if st.Error == "" { // the first attempt is on its way
			st.Failures, st.FailedAt = 0, nil
		}
		if _, err := t.one(receiverSentAt, []any{name}, &st.SentAt); err != nil {
			return all, err
		}
		if err := t.inVain(&st); err != nil {
			return all, err
		}
		all = append(all, st)
	}
}

// inVainFor is how long a receiver counts as away after an attempt in vain at something that nobody needs any more. After that nobody
// knows: it may have been mended, and nothing was sent since.
const inVainFor = time.Hour

// inVain adds what was tried in vain since something arrived last, and was dropped then because it was over. Without it a receiver
// would be well again whenever the alerts end that it should have been told of.
func (t *tx) inVain(st *patra.ReceiverState) error {
	var arrived patra.Instant
	if st.SentAt != nil {
		arrived = *st.SentAt
	}
	return t.rows(receiverInVain, func(r *sql.Rows) error {
		var tries int64
		var since patra.Instant
		var why string
		if err := r.Scan(&tries, &since, textInto{&why}); err != nil {
			return err
		}
		if st.Failures = max(st.Failures, tries); st.FailedAt == nil || since < *st.FailedAt {
			st.FailedAt = &since
		}
		if st.Error == "" {
			st.Error = why
		}
		return nil
	}, st.Name, inVainFor.Microseconds(), arrived)
}
