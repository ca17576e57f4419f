package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/config"
	"patra/internal/planner"
	"patra/internal/store"
)

// fire makes the plan of a schedule whose time has come. A fire that another process took is nobody's mistake; one that
// could not be planned is kept with its reason.
func (d *plannerLoop) fire(ctx context.Context, job string, at patra.Instant) error {
	i := slices.IndexFunc(d.schedules, func(c config.Schedule) bool { return c.Name == job })
	c := d.schedules[i]
	req, err := d.app.request(ctx, c.Source, planFlags{operation: c.Operation, endpoint: c.Endpoint, query: c.Query, campaign: c.Campaign, baseURL: d.baseURL,
		byID: c.By == string(patra.PickAll), pick: pickOf(c)})
	if errors.Is(err, patra.ErrUnavailable) { // which says nothing about the schedule
		return err
	}
	if err != nil {
		return d.refuse(ctx, c, at, err)
	}
	req.Params, req.First = c.Params, c.Origin
	req.By = firedBy(c, at)
	res, err := d.planner.Plan(ctx, now(), req)
	if errors.Is(err, patra.ErrFired) {
		return nil
	}
	if err == nil {
		for _, p := range contradictions(res.Draft.Warnings) {
			d.log.WarnContext(ctx, "provider contradicts its source file", "schedule", c.Name, "source", res.Plan.Source, "endpoint", res.Plan.Endpoint, "path", p.Path, "file", p.File, "line", p.Line, "text", p.Text)
		}
		d.log.InfoContext(ctx, "schedule fired", "schedule", c.Name, "schedule_instance_id", res.Plan.InstanceID, "plan_id", res.Plan.ID, "source", res.Plan.Source, "endpoint", res.Plan.Endpoint, "op", string(res.Plan.Operation), "window", res.Plan.Window.String(), "slices", res.Added)
	}
	return err
}

// pickOf is which records a schedule is for.
func pickOf(c config.Schedule) pickFlags {
	return pickFlags{stale: c.Every, signals: c.By == string(patra.PickSignals), mapping: c.By == string(patra.PickMapping)}
}

// firedBy names a fire, so that of all processes one takes it.
func firedBy(c config.Schedule, at patra.Instant) planner.Trigger {
	return planner.Trigger{Scheduler: patra.SchedulerCron, Type: patra.TriggerScheduled, Job: c.Name, Log: at.String()}
}

// refuse keeps a fire whose source could not even be read.
func (d *plannerLoop) refuse(ctx context.Context, c config.Schedule, at patra.Instant, why error) error {
	err := d.planner.RecordRejected(ctx, now(), c.Source, c.Endpoint, c.Operation, firedBy(c, at), why)
	if errors.Is(err, patra.ErrFired) {
		return nil
	}
	return err
}

// scheduleView is a schedule and what came of it.
type scheduleView struct {
	config.Schedule
	Next *patra.Instant `json:"next,omitempty"`
	Last *patra.Trigger `json:"last,omitempty"`
}

func (a *app) schedulesCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "schedules", Short: "List the schedules of patra.yaml, when they fire next and what came of the last time", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			s, err := a.openReadOnly(c.Context())
			if err != nil {
				return err
			}
			views, err := scheduleViews(c.Context(), s, cfg)
			if err != nil {
				return err
			}
			return printRows(a.stdout, out, views, scheduleColumns)
		},
	}
	formatFlag(c, &out)
	return c
}

// scheduleViews are all schedules, and what came of each.
func scheduleViews(ctx context.Context, s *store.Store, cfg config.Config) ([]scheduleView, error) {
	views := []scheduleView{}
	for _, sch := range cfg.Schedules {
		v := scheduleView{Schedule: sch}
		if !sch.Paused {
			next := sch.Cron.Next(now())
			v.Next = &next
		}
		last, err := s.Triggers(ctx, store.Filter{Job: sch.Name, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(last) > 0 {
			v.Last = &last[0]
		}
		views = append(views, v)
	}
	return views, nil
}

var scheduleColumns = columns[scheduleView]{
	names: []string{"name", "cron", "source", "operation", "query", "next", "last", "came of it"}, fit: true,
	row: func(v scheduleView) []any {
		next, last, became := "paused", "", ""
		if v.Next != nil {
			next = seconds(*v.Next)
		}
		if v.Last != nil {
			last, became = seconds(v.Last.TriggeredAt), string(v.Last.Status)
		}
		return []any{v.Name, v.Cron.String(), v.Source, v.Operation, v.Query, next, last, became}
	},
	empty: "No schedules. Add some under schedules: in patra.yaml (patra init writes an example), and run patra serve",
}

func (a *app) triggersCmd() *cobra.Command {
	return listCmd(a, "triggers", "List what set work in motion, also what came to nothing", nil, patra.InstanceMoves, func(ctx context.Context, s *store.Store, f store.Filter) ([]patra.Trigger, error) {
		return s.Triggers(ctx, f)
	},
		columns[patra.Trigger]{
			names: []string{"id", "by", "job", "source", "operation", "at", "status", "reason"}, fit: true,
			row: func(in patra.Trigger) []any {
				return []any{in.ID, in.Scheduler, in.JobID, in.Source, in.Operation, seconds(in.TriggeredAt), in.Status, reasonOf(in.Error)}
			},
			empty: "No triggers. " + emptyNext,
		})
}
