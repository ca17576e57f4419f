package verifier

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"patra"
	"patra/internal/store/invariants"
)

// line is an invariant that the tables answer for by themselves: the promises that say it, and how to count what they are about.
type line struct {
	name, text string
	noun       string
	count      string
	promises   []string
}

// beside is where promises go that no other line names.
const beside = "beside"

// stateful are the snapshots of sources whose tokens are used up by asking.
const stateful = `SELECT spec_fingerprint FROM ing_spec_snapshot WHERE JSON_EXTRACT(snapshot, '$.pagination.token.state') LIKE '%STATEFUL%'`

var lines = []line{
	{"watermark", "no watermark stands beyond what is covered, and it stands where the coverage ends", "watermarks", `SELECT COUNT(*) FROM ing_cursor`, []string{
		"no watermark stands beyond what is covered", "a watermark stands where the coverage ends, unless a person moved it back", "whatever is complete is sealed",
		"an answer is about the time of its slice, in its cursor", "an exact count that differs is a dispute, unless a person accepted it with a reason"}},
	{"chain", "the events of a cursor are one chain from its origin to its value", "events", `SELECT COUNT(*) FROM ing_cursor_event`, []string{
		"cursor events form one chain from the origin to the value", "a cursor's version counts its events"}},
	{"exhausted", "whatever counts as read was read to its end, without a hole", "closed slices", `SELECT COUNT(*) FROM ing_plan_slice WHERE status_code = 'SUCCEEDED'`, []string{
		"an exhausted scan has no hole, and its last page says that nothing follows", "the details of an exhausted search have no hole", "every id of an exhausted search is settled",
		"a closed slice has a run that was exhausted", "a slice that was read to its end is covered, and no other is", "only a committed page counts as done, under its own number"}},
	{"tiling", "the children of a slice are exactly what it left", "children and parts", `SELECT COUNT(*) FROM ing_plan_slice WHERE parent_slice_id IS NOT NULL OR part_count > 1`, []string{
		"children are exactly what their parent left", "a window that is cut by ids is covered once, when its closed parts are all ids, and not before"}},
	{"confirmed", "an early end confirms only what a verified order proves", "early ends", `SELECT COUNT(*) FROM ing_plan_slice WHERE reslice IS NOT NULL`, []string{
		"what is confirmed is covered, and nothing else of an early end", "only an early end confirms something, and at the right end of its window",
		"every page of a walk that confirmed something kept to the order", "no walk confirmed more than it saw", "a slice that ended early says why"}},
	{"fence", "no page was committed under a fence that was not its run's, and fences never fall", "committed pages", `SELECT COUNT(*) FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED'`, []string{
		"a page's fence is not above its task's", "fences of committed pages never fall", "a fence has one owner: every page is of the run that had its fence",
		"a task that is running has the run of its fence, and no other task has a run under way"}},
	{"accounts", "every page accounts for each of its items", "items", `SELECT COALESCE(SUM(record_count), 0) FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED'`, []string{
		"a page accounts for every item", "quarantined items are there", "what is open in quarantine is there once, and only that is known by its key"}},
	{"atomic", "records, versions and what is set aside come from committed pages only", "records and items", `SELECT (SELECT COUNT(*) FROM ing_record) + (SELECT COUNT(*) FROM ing_quarantine)`, []string{
		"records come from committed pages only", "the raw content of a record is there", "a piece of a page is kept for as long as records lie in it", "versions come from committed pages only", "what is in quarantine comes from committed pages only"}},
	{"events", "there is exactly one event for each version of each record, in their order", "events", `SELECT COUNT(*) FROM ing_outbox`, []string{
		"a record has one event for each of its versions", "an event tells of a version that is stored", "the numbers of events have no holes", "no version has its number before an older one"}},
	{"books", "inserts and updates of the pages are the versions of the records", "versions", `SELECT COUNT(*) FROM ing_record_rev`, []string{
		"inserts and updates of the ledger are the versions of the records", "a record has one row for each of its versions"}},
	{"replay", "a replay commits nothing", "requests of replays", `SELECT COUNT(*) FROM ing_request WHERE kind_code = 'REPLAY'`, []string{"a replay commits nothing"}},
	{"namespace", "a cursor is moved by slices of its own plans only, or by a person who is named", "moves", `SELECT COUNT(*) FROM ing_cursor_event`, []string{
		"a cursor is moved by slices of its own plans, or by a person who is named"}},
	{"listed", "every slice has exactly one task, and nothing is missing that nobody is told of", "slices", `SELECT COUNT(*) FROM ing_plan_slice`, []string{
		"every slice has exactly one task", "slice and task agree", "what a planner would read is what people are told is missing"}},
	{"leases", "no task waits long for somebody to take it over, and none was tried too often", "tasks", `SELECT COUNT(*) FROM ing_task`, []string{
		"no task waits long for somebody to take it over", "attempts stay within what is permitted"}},
	{"granted", "every request was granted before it was sent, and none of a finished run is under way", "requests", `SELECT COUNT(*) FROM ing_request`, []string{
		"every request was granted before it was sent", "a finished run has no request in flight", "a finished run has no open page"}},
	{"unknown", "where a position can be used once, a scan with an unknown outcome never counts as exhausted", "scans of such sources",
		`SELECT COUNT(*) FROM ing_task_run WHERE exhausted = 1 AND spec_fingerprint IN (` + stateful + `)`, []string{
			"where a position can be used once, a scan with an unknown outcome never counts as exhausted"}},
	{"snapshots", "stored configurations are what they were, and every run read with the one that was planned", "configurations", `SELECT COUNT(*) FROM ing_spec_snapshot`, []string{
		"a stored source is what its fingerprint says", "every run read with the configuration that was planned", "every plan has its configuration"}},
	{beside, "controls, quotas, signals, archives, alerts and the audit log keep their own promises", "rows", `SELECT (SELECT COUNT(*) FROM ing_control) + (SELECT COUNT(*) FROM ing_quota)
		+ (SELECT COUNT(*) FROM ing_signal) + (SELECT COUNT(*) FROM ing_archive) + (SELECT COUNT(*) FROM ing_alert) + (SELECT COUNT(*) FROM ing_audit)`, nil},
}

// tables are the lines as invariants.
func tables() (all []Invariant) {
	for _, l := range lines {
		all = append(all, Invariant{Name: l.name, Text: l.text, Noun: l.noun, ask: l.ask})
	}
	return all
}

// has tells whether a promise is of a line.
func (l line) has(promise string) bool {
	if l.name != beside {
		return slices.Contains(l.promises, promise)
	}
	return !slices.ContainsFunc(lines, func(o line) bool { return slices.Contains(o.promises, promise) })
}

func (l line) ask(ctx context.Context, s *Scene, v *Invariant) (err error) {
	if v.Looked, err = s.number(ctx, l.count); err != nil {
		return err
	}
	for _, p := range invariants.Promises() {
		if !l.has(p.Text) {
			continue
		}
		broken, err := p.Check(ctx, s.db, invariants.Options{Now: s.Now, Grace: s.Grace, Gaps: s.told})
		if err != nil {
			return err
		}
		if broken != nil {
			for _, row := range broken.Rows {
				v.found("%s (%s)", row, broken.Promise)
			}
			v.Count += broken.Count - int64(len(broken.Rows))
		}
	}
	return nil
}

// readGaps reads what people are told is missing.
func readGaps(file string) (func(context.Context, int64, patra.Instant) ([]patra.Window, error), error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var gaps []patra.GapView
	if err := json.Unmarshal(data, &gaps); err != nil {
		return nil, fmt.Errorf("%s is not the output of patra coverage gaps -o json: %w", file, err)
	}
	return func(_ context.Context, cursorID int64, until patra.Instant) (all []patra.Window, _ error) {
		for _, g := range gaps {
			if g.CursorID == cursorID && g.Unread() && g.Window.From < until {
				all = append(all, patra.Window{From: g.Window.From, To: min(g.Window.To, until)})
			}
		}
		return all, nil
	}, nil
}
