package storetest

import (
	"context"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/store/invariants"
)

// spoil is, for every promise, a change of the tables that breaks it. A check that nobody saw fail proves nothing.
var spoil = map[string]string{
	"no watermark stands beyond what is covered":                                                      `UPDATE ing_cursor SET normalized_instant = normalized_instant + 1`,
	"a watermark stands where the coverage ends, unless a person moved it back":                       `UPDATE ing_cursor SET normalized_instant = normalized_instant - 1`,
	"whatever is complete is sealed":                                                                  `UPDATE ing_coverage SET state_code = 'DISPUTED' WHERE kind_code = 'GROUP'`,
	"cursor events form one chain from the origin to the value":                                       `UPDATE ing_cursor_event SET prev_instant = prev_instant - 1 WHERE seq = 1`,
	"a cursor's version counts its events":                                                            `UPDATE ing_cursor SET version = version + 1`,
	"a cursor is moved by slices of its own plans, or by a person who is named":                       `UPDATE ing_cursor_event SET slice_id = NULL`,
	"an answer is about the time of its slice, in its cursor":                                         `UPDATE ing_coverage SET window_from = window_from + 1`,
	"an exact count that differs is a dispute, unless a person accepted it with a reason":             `UPDATE ing_coverage SET count_after = ids_seen + 1`,
	"a sealed window names the witness that proved it, unless a person or an older version sealed it": `UPDATE ing_coverage SET proof = '{"v":2,"witness":"NONE"}'`,
	"what a planner would read is what people are told is missing":                                    `DELETE FROM ing_coverage`,
	"a closed slice has a run that was exhausted":                                                     `UPDATE ing_task_run SET exhausted = 0`,
	"a slice that was read to its end is covered, and no other is":                                    `DELETE FROM ing_coverage WHERE kind_code = 'SCAN'`,
	"what is confirmed is covered, and nothing else of an early end":                                  `UPDATE ing_coverage SET window_to = window_to + 1 WHERE kind_code = 'CONFIRMED'`,
	"only an early end confirms something, and at the right end of its window":                        `UPDATE ing_plan_slice SET order_code = 'DESC'`,
	"every page of a walk that confirmed something kept to the order":                                 `UPDATE ing_task_run_batch SET order_code = 'NONE' WHERE ordinal = 1`,
	"no walk confirmed more than it saw":                                                              `UPDATE ing_task_run_batch SET ts_max = ts_min`,
	"a slice that ended early says why":                                                               `UPDATE ing_plan_slice SET reslice = NULL`,
	"children are exactly what their parent left":                                                     `UPDATE ing_plan_slice SET window_to = window_to - 1 WHERE parent_slice_id IS NOT NULL AND status_code = 'READY'`,
	"a window that is cut by ids is covered once, when its closed parts are all ids, and not before":  `UPDATE ing_plan_slice SET status_code = 'FAILED' WHERE part_count = 3 AND part_no = 2`,
	"every slice has exactly one task":                                                                `DELETE FROM ing_task WHERE status_code = 'FAILED'`,
	"slice and task agree":                                                                            `UPDATE ing_task SET status_code = 'FAILED' WHERE status_code = 'PARTIAL'`,
	"a page's fence is not above its task's":                                                          `UPDATE ing_task_run_batch SET lease_count = lease_count + 100`,
	"fences of committed pages never fall":                                                            `UPDATE ing_task_run_batch SET lease_count = 1 - ordinal`,
	"a fence has one owner: every page is of the run that had its fence":                              `UPDATE ing_task_run SET attempt_no = attempt_no + 100`,
	"a task that is running has the run of its fence, and no other task has a run under way":          `UPDATE ing_task_run SET lease_owner = 'another' WHERE status_code = 'RUNNING'`,
	"attempts stay within what is permitted":                                                          `UPDATE ing_task SET attempt_count = max_attempts + 1`,
	"no task waits long for somebody to take it over":                                                 `UPDATE ing_task SET leased_until = leased_until - 3600000000 WHERE status_code = 'RUNNING'`,
	"an exhausted scan has no hole, and its last page says that nothing follows":                      `UPDATE ing_task_run_batch SET has_next = 1`,
	"the details of an exhausted search have no hole":                                                 `UPDATE ing_task_run_batch SET ordinal = ordinal + 1 WHERE phase_code = 'DETAIL'`,
	"every id of an exhausted search is settled":                                                      `UPDATE ing_task_item SET status_code = 'PENDING'`,
	"where a position can be used once, a scan with an unknown outcome never counts as exhausted":     `UPDATE ing_spec_snapshot SET snapshot = '{"pagination":{"token":{"state":"STATEFUL"}}}'`,
	"a page accounts for every item":                                                                  `UPDATE ing_task_run_batch SET record_count = record_count + 1`,
	"only a committed page counts as done, under its own number":                                      `UPDATE ing_task_run_batch SET done_ordinal = NULL`,
	"a replay commits nothing":                                                                        `UPDATE ing_request SET kind_code = 'REPLAY'`,
	"every request was granted before it was sent":                                                    `UPDATE ing_request SET sent_at = acquired_at - 1`,
	"a finished run has no request in flight":                                                         `UPDATE ing_request SET finished_at = NULL`,
	"a finished run has no open page":                                                                 `UPDATE ing_task_run_batch SET status_code = 'RUNNING'`,
	"records come from committed pages only":                                                          `UPDATE ing_record SET batch_id = 0`,
	"versions come from committed pages only":                                                         `UPDATE ing_record_rev SET batch_id = 0`,
	"what is in quarantine comes from committed pages only":                                           `UPDATE ing_quarantine SET batch_id = batch_id + 100000`,
	"quarantined items are there":                                                                     `DELETE FROM ing_quarantine`,
	"a record has one row for each of its versions":                                                   `DELETE FROM ing_record_rev`,
	"inserts and updates of the ledger are the versions of the records":                               `DELETE FROM ing_record`,
	"a record that was refused has an absence that lasts, and is gone if that is":                     `UPDATE ing_absence SET live_id = NULL`,
	"an absence begins with a refusal, and lasts until it is over":                                    `UPDATE ing_absence SET refusals = 0`,
	"the raw content of a record is there":                                                            `DELETE FROM ing_raw_piece`,
	"a piece of a page is kept for as long as records lie in it":                                      `UPDATE ing_raw_piece SET live = live + 1`,
	"a stored source is what its fingerprint says":                                                    `UPDATE ing_spec_snapshot SET snapshot = '{"v":2}'`,
	"every run read with the configuration that was planned":                                          `UPDATE ing_task SET spec_fingerprint = 'another'`,
	"every plan has its configuration":                                                                `DELETE FROM ing_spec_snapshot`,
	"only a running task is asked to stop":                                                            `UPDATE ing_task SET cancel_requested = 1 WHERE status_code = 'SUCCEEDED'`,
	"a breaker that is not closed knows how long":                                                     `UPDATE ing_control SET until_at = NULL`,
	"a control is in one of the states of its machine":                                                `UPDATE ing_control SET state_code = 'HALTED'`,
	"no quota is used beyond its limit":                                                               `UPDATE ing_quota SET used_n = limit_n + 1`,
	"a window of a quota begins before it ends":                                                       `UPDATE ing_quota SET window_end = window_start`,
	"every entry of the audit log follows the one before it, and the last one is its end":             `UPDATE ing_audit SET prev_hash = hash`,
	"what is open in quarantine is there once, and only that is known by its key":                     `UPDATE ing_quarantine SET status_code = 'DISCARDED'`,
	"an open signal has its key, and a closed one none":                                               `UPDATE ing_signal SET open_key = NULL`,
	"a record has one event for each of its versions":                                                 `DELETE FROM ing_outbox`,
	"what is in an archive is not in the tables": `INSERT INTO ing_archive (task_id, plan_id, slice_id, location, pages, requests, items, written, rows_sha256, archived_at, created_at)
		SELECT id, plan_id, slice_id, 'x', 0, 0, 0, 0, '', 0, 0 FROM ing_task WHERE status_code = 'SUCCEEDED'`,
	"only what never moves again is in an archive": `INSERT INTO ing_archive (task_id, plan_id, slice_id, location, pages, requests, items, written, rows_sha256, archived_at, created_at)
		SELECT id, plan_id, slice_id, 'x', 0, 0, 0, 0, '', 0, 0 FROM ing_task WHERE status_code = 'FAILED'`,
	"every page of an archive belongs to a task of it":                                `INSERT INTO ing_archive_batch (batch_id, task_id, run_id, created_at) SELECT id, task_id, run_id, 0 FROM ing_task_run_batch`,
	"what is still counted of an archive belongs to a task of it":                     `INSERT INTO ing_archive_sent (task_id, gate_key, hour_at, requests, cost, created_at) VALUES (90000, 'x', 0, 1, 1, 0)`,
	"an event tells of a version that is stored":                                      `UPDATE ing_outbox SET rev = rev + 7`,
	"an alert is alive until it is over, and says when it fired and when it was over": `UPDATE ing_alert SET live_key = NULL`,
	"every notice is about an alert that fired, and says when it was sent":            `UPDATE ing_alert_notice SET state_code = 'SENT'`,
	"the numbers of events have no holes":                                             `INSERT INTO ing_outbox (event_type, rev, created_at, seq) VALUES ('x', 0, 0, 90000)`,
	"no version has its number before an older one":                                   `INSERT INTO ing_outbox (event_type, record_id, rev, created_at, seq) VALUES ('x', 90000, 1, 0, NULL), ('x', 90000, 2, 0, 90001)`,
}

// mutations breaks each promise once, in a world in which everything has happened, and takes it back.
func mutations(t *testing.T, e Engine) {
	w := eventful(t, e)
	db := Inspect(t, w.URL)
	if found, err := w.Verify(t.Context(), nil); err != nil || len(found) > 0 {
		t.Errorf("broken from the start: %+v, %v", found, err)
	}
	opt := invariants.Options{Now: w.Clock.Instant(), Grace: time.Minute, Gaps: w.told}
	promises := invariants.Promises()
	for _, p := range promises {
		change, ok := spoil[p.Text]
		if !ok {
			t.Errorf("nobody has seen this fail: %s", p.Text)
			continue
		}
		tx, err := db.Begin()
		w.must(err)
		res, err := tx.Exec(change)
		w.must(err)
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			t.Errorf("%s: nothing to change, %v", p.Text, err)
		}
		v, err := p.Check(t.Context(), tx, opt)
		w.must(err)
		if v == nil || v.Count == 0 || len(v.Rows) == 0 || v.Next == "" || (v.Verdict != patra.VerdictFail && v.Verdict != patra.VerdictWarn) {
			t.Errorf("not noticed: %s: %+v", p.Text, v)
		}
		w.must(tx.Rollback())
	}
	if len(spoil) != len(promises) {
		t.Errorf("%d ways to spoil %d promises", len(spoil), len(promises))
	}
	if found := broken(t, db, opt); len(found) > 0 {
		t.Errorf("broken at the end: %+v", found)
	}
}

// told is the list of gaps as commands show it.
func (w *World) told(ctx context.Context, cursorID int64, until patra.Instant) (missing []patra.Window, err error) {
	gaps, err := w.Gaps(ctx, cursorID, patra.Window{From: Origin, To: until})
	for _, g := range gaps {
		if g.Unread() {
			missing = append(missing, g.Window)
		}
	}
	return missing, err
}

// Eventful is a world in which everything has happened.
func Eventful(t *testing.T, e Engine) *World { return eventful(t, e) }

// eventful is a world with a slice of every fate: read to its end in one phase and in two, failed, ended early and cut
// again, and cut by ids.
func eventful(t *testing.T, e Engine) *World {
	w, parent := partial(t, e)
	_, err := w.AddSignals(t.Context(), w.Clock.Instant(), "demo", "work", "", []string{"1"}, patra.SignalManual, "", "me")
	w.must(err)
	for range 2 {
		w.must(second(w.Audit(t.Context(), patra.AuditEntry{Actor: "ada", Action: patra.AuditExport, Target: "run:1"})))
	}
	rest := Stretch(patra.Window{From: Day(4).From, To: parent.Window.To})
	w.must(w.SplitInto(parent, append(Parts(Day(2), space.Cut(2)...), Stretch(Day(3)), rest)...))
	for range 3 { // the last child stays
		w.work(w.takeBefore(Day(3).To))
	}
	w.Add(Parts(Day(8), space.Cut(3)...)...)
	for range 3 {
		w.work(w.takeOf(Day(8)))
	}
	w.Add(Stretch(Day(9)))
	w.twoPhases(w.takeOf(Day(9)))
	w.Clock.Move(time.Second)
	w.must(w.refused(demoRule, w.Clock.Instant(), []string{"a"}))
	w.Add(Stretch(Day(10)))
	fault := &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Text: "no"}
	w.must(w.Finish(t.Context(), w.takeOf(Day(10)), w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: fault}))
	w.Add(Stretch(Day(11)))
	w.stumble(w.takeOf(Day(11)))
	w.Add(Stretch(Day(12)))
	w.takeOf(Day(12))
	for range 3 {
		w.must(second(w.Store.RecordFailure(t.Context(), w.place(), breakerRule, patra.EndpointFailure{}, outage)))
	}
	w.must(w.ChargeQuota(t.Context(), "demo", patra.QuotaLimit{Hourly: 500, Daily: 1000}, patra.QuotaCharge{Cost: 2, Operation: patra.Harvest, Share: 1}))
	w.must(second(w.JudgeAlerts(t.Context(), w.watcher(), w.Clock.Instant(), []patra.Alert{halted}, []patra.Receiver{ops})))
	return w
}

// stumble reads a task to its end, after a request of which nobody knows what became.
func (w *World) stumble(c *patra.Claim) {
	w.T.Helper()
	w.Page(c, 1, true)
	page, err := w.OpenAt(c, 2, c.Task.ScanNo, 2)
	w.must(err)
	exchange := patra.Exchange{SentAt: w.Clock.Instant(), FinishedAt: w.Clock.Instant(), Outcome: "NET_ERROR"}
	_, err = w.FailPage(w.T.Context(), c, w.Clock.Instant(), page, patra.PageFailure{Exchange: exchange, Fault: patra.Fault{Level: patra.LevelRetry, Code: patra.CodeNetwork, Text: "cut off"}}, nil)
	w.must(err)
	page, err = w.OpenAt(c, 3, c.Task.ScanNo, 2)
	w.must(err)
	_, err = w.Commit(c, page, false)
	w.must(err)
	w.must(w.Succeed(c, patra.StateSealed))
}

func (w *World) takeOf(window patra.Window) *patra.Claim {
	return w.takeIf(func(c *patra.Claim) bool { return c.Slice.Window == window })
}

func (w *World) takeBefore(at patra.Instant) *patra.Claim {
	return w.takeIf(func(c *patra.Claim) bool { return c.Slice.Window.To <= at })
}

// takeIf claims until it has what it wants, and gives the rest back.
func (w *World) takeIf(want func(*patra.Claim) bool) *patra.Claim {
	w.T.Helper()
	for {
		c := w.Take()
		if want(c) {
			return c
		}
		w.must(w.Finish(w.T.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true}))
	}
}

// work reads a task to its end on two pages, with records and something that is none.
func (w *World) work(c *patra.Claim) {
	w.T.Helper()
	w.give(c, c.Task.NextOrdinal, w.kept(true, map[string]string{store.NewOwner(): `{"text":"a text that is longer than its page is without it"}`}))
	page, err := w.OpenAt(c, c.Task.NextOrdinal+1, c.Task.ScanNo, c.Task.NextOrdinal+1)
	w.must(err)
	res := w.Result(false, w.Record(store.NewOwner(), c.Slice.Window.From, "b"))
	res.Quarantined = []patra.RejectedItem{{ItemNo: 2, Code: patra.CodeMissingID, Fragment: []byte("x")}}
	_, _, err = w.CommitPage(w.T.Context(), c, w.Clock.Instant(), "work", page, res, nil)
	w.must(err)
	w.must(w.Succeed(c, patra.StateSealed))
}

// twoPhases reads a task whose search gives an id, and whose record comes later.
func (w *World) twoPhases(c *patra.Claim) {
	w.T.Helper()
	page, err := w.OpenAt(c, 1, c.Task.ScanNo, 1)
	w.must(err)
	res := w.Result(false)
	res.IDs = []string{"a"}
	_, _, err = w.CommitPage(w.T.Context(), c, w.Clock.Instant(), "work", page, res, nil)
	w.must(err)
	page, err = w.OpenPage(w.T.Context(), c, w.Clock.Instant(), patra.PageOpen{BatchNo: 2, ScanNo: c.Task.ScanNo, Phase: patra.PhaseDetail, Ordinal: 1, RequestID: store.NewOwner(), GateKey: "demo", AcquiredAt: w.Clock.Instant()})
	w.must(err)
	res = w.Result(false, w.Record("a", Origin, "a"))
	res.Items = map[patra.Status][]string{patra.ItemDone: {"a"}}
	_, _, err = w.CommitPage(w.T.Context(), c, w.Clock.Instant(), "work", page, res, nil)
	w.must(err)
	w.must(w.Finish(w.T.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Succeeded,
		Proof: &patra.Proof{ScanNo: c.Task.ScanNo, State: patra.StateSealed, Trust: patra.TrustNone, IDsSeen: 1, Details: true}}))
}
