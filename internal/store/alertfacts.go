package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"

	"patra"
)

// How much is looked at to find out whether something needs a person. Every look costs the same however much there is.
const (
	mostPages   = 5_000 // of a source and an operation
	mostFailed  = 5_000 // of all
	mostReady   = 200   // plans
	mostReading = 200   // of a day
	fewPlans    = 20    // of a watermark
)

var (
	countPages = stmt{"count_pages", `SELECT COUNT(*) FROM (SELECT id FROM ing_task_run_batch WHERE provenance_code = ? AND operation_code = ? AND status_code = 'SUCCEEDED' AND committed_at >= ? LIMIT ` + strconv.Itoa(mostPages) + `) AS n`}
	readyPlans = stmt{"ready_plans", `SELECT id, provenance_code, endpoint_name, operation_code, COALESCE(cursor_id, 0) FROM ing_plan WHERE status_code = 'READY' AND created_at >= ? AND created_at <= ? ORDER BY created_at DESC LIMIT ` + strconv.Itoa(mostReady)}
	anyRunOf   = stmt{"any_run_of", `SELECT id FROM ing_task_run WHERE plan_id = ? LIMIT 1`}
	firstDue   = stmt{"first_of_plan", `SELECT scheduled_at, created_at FROM ing_task WHERE plan_id = ? AND status_code = 'QUEUED' ORDER BY id LIMIT 1`}
	dayRead    = stmt{"day_read", `SELECT window_from, window_to, ids_seen, closed_at FROM ing_coverage WHERE cursor_id = ? AND window_to > ? AND window_to <= ? ORDER BY window_to DESC LIMIT ` + strconv.Itoa(mostReading)}
	plannedFor = stmt{"planned_for", `SELECT schedule_instance_id, window_inputs FROM ing_plan WHERE cursor_id = ? ORDER BY id DESC LIMIT ` + strconv.Itoa(fewPlans)}
	firedFor   = stmt{"fired_for", `SELECT scheduler_job_id FROM ing_schedule_instance WHERE id = ? AND scheduler_code = 'CRON'`}
)

// PageShares is how the pages of some sources ended since a moment; of many pages, the last ones.
func (s *Store) PageShares(ctx context.Context, sources []string, since patra.Instant) (all []patra.PageShare, err error) {
	failed, err := s.Failures(ctx, since, mostFailed)
	if err != nil {
		return nil, err
	}
	t := s.read(ctx)
	for _, source := range sources {
		p := patra.PageShare{Source: source}
		for _, op := range patra.Operations {
			var n int64
			if _, err := t.one(countPages, []any{source, op, since}, &n); err != nil {
				return nil, err
			}
			p.Pages += n
		}
		for _, f := range failed {
			if f.Source != source {
				continue
			}
			p.Pages++
			if f.Fault.Level == patra.LevelRetry || f.Fault.Level == patra.LevelRequest {
				p.Errors++
			}
			if f.Fault.Status == 429 || f.Fault.Code == patra.CodeRateLimited {
				p.Throttled++
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// UnstartedPlans are plans that became ready in a stretch of time, whose tasks are due, and of which nobody took anything yet; the newest of
// them, if there are many.
func (s *Store) UnstartedPlans(ctx context.Context, between patra.Window) (all []patra.UnstartedPlan, err error) {
	t := s.read(ctx)
	var plans []patra.Plan
	err = t.rows(readyPlans, func(r *sql.Rows) error {
		var p patra.Plan
		err := r.Scan(&p.ID, &p.Source, &p.Endpoint, &p.Operation, &p.CursorID)
		plans = append(plans, p)
		return err
	}, between.From, between.To)
	if err != nil {
		return nil, err
	}
	for _, p := range plans {
		runs, err := t.ids(anyRunOf, p.ID)
		if err != nil {
			return nil, err
		}
		var due, made patra.Instant
		if len(runs) > 0 {
			continue
		}
		found, err := t.one(firstDue, []any{p.ID}, &due, &made)
		if err != nil {
			return nil, err
		}
		if due = max(due, made); found && due <= between.To {
			all = append(all, patra.UnstartedPlan{Plan: p, Due: due})
		}
	}
	return all, nil
}

// sameDays is how many weeks are looked back to see what a day usually has.
const sameDays = 8

// DayVolumes is how many records the newest day that a harvest has read whole had, and how many the same days of the weeks before had;
// false if that day was not read in parts that make it up.
func (s *Store) DayVolumes(ctx context.Context, c patra.Cursor) (v patra.VolumeFacts, ok bool, err error) {
	if c.Operation != patra.Harvest || c.Value < patra.Day {
		return v, false, nil
	}
	v.Cursor, v.Day = c, c.Value-c.Value%patra.Day-patra.Day
	if v.Records, ok, err = s.dayVolume(ctx, c.ID, v.Day); err != nil || !ok {
		return v, false, err
	}
	for week := patra.Instant(1); week <= sameDays; week++ {
		n, whole, err := s.dayVolume(ctx, c.ID, v.Day-week*7*patra.Day)
		if err != nil {
			return v, false, err
		}
		if whole {
			v.Before = append(v.Before, n)
		}
	}
	return v, true, nil
}

func (s *Store) dayVolume(ctx context.Context, cursor int64, day patra.Instant) (n int64, ok bool, err error) {
	var read []patra.WindowCount
	err = s.read(ctx).rows(dayRead, func(r *sql.Rows) error {
		var a patra.WindowCount
		err := r.Scan(&a.Window.From, &a.Window.To, &a.Records, &a.ClosedAt)
		read = append(read, a)
		return err
	}, cursor, day, day+patra.Day)
	if err != nil {
		return 0, false, err
	}
	n, ok = patra.DayVolume(day, read)
	return n, ok, nil
}

// LastScheduleFor is the schedule that last planned for a watermark, and how it decided; empty if none did lately.
func (s *Store) LastScheduleFor(ctx context.Context, cursor int64) (schedule string, d patra.WindowDecision, err error) {
	type plan struct {
		instance int64
		inputs   json.RawMessage
	}
	var plans []plan
	t := s.read(ctx)
	err = t.rows(plannedFor, func(r *sql.Rows) error {
		var p plan
		err := r.Scan(&p.instance, jsonInto{&p.inputs})
		plans = append(plans, p)
		return err
	}, cursor)
	for _, p := range plans {
		found, err := t.one(firedFor, []any{p.instance}, textInto{&schedule})
		if err != nil {
			return "", d, err
		}
		if found {
			return schedule, d, json.Unmarshal(p.inputs, &d)
		}
	}
	return "", d, err
}
