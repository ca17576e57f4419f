package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"patra"
	"patra/internal/config"
	"patra/internal/observe"
	"patra/internal/planner"
	"patra/internal/schedule"
	"patra/internal/store"
)

// The roles of a server. One process may have all of them, or many processes one each.
const (
	rolePlanner  = "planner"
	roleExecutor = "executor"
	roleRelay    = "relay"
	roleAPI      = "api"
)

var allRoles = []string{rolePlanner, roleExecutor, roleRelay, roleAPI}

func (a *app) serveCmd() *cobra.Command {
	var roles []string
	var baseURL string
	var workers int
	c := &cobra.Command{
		Use: "serve", Short: "Run the schedules and everything that is in the queue, until it is told to stop", Args: noArgs,
		Long: "Serve fires the schedules of patra.yaml, goes on with plans that did not fit into the queue, cuts again what turned out\nto be too large, works through the queue, sends events to the sinks of patra.yaml, and shows everything on a dashboard. SIGTERM or Ctrl-C drains: pages in\nflight are kept and the rest is left for the next call. Any number of processes may serve one store; with --role they share the work.",
		Example: `  patra serve
  patra serve --role planner            only schedules and plans
  patra serve --role executor           only the queue
  patra serve --role relay              only events, to the sinks of patra.yaml
  patra serve --role api                only the dashboard and the API`,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, r := range roles {
				if !slices.Contains(allRoles, r) {
					return patra.Invalid("role", "{role} %q is not known; write %s, or several with commas", r, strings.Join(allRoles[:3], ", ")+" or "+roleAPI)
				}
			}
			if err := someWorkers(c); err != nil {
				return err
			}
			return a.serve(c.Context(), roles, baseURL, workers)
		},
	}
	c.Flags().StringSliceVar(&roles, "role", allRoles, "what this process does; events are sent only if there are sinks")
	c.Flags().StringVar(&baseURL, "base-url", "", "mirror, proxy or simulator that schedules and callers of the API ask in place of a source's own address")
	c.Flags().IntVar(&workers, "workers", 0, "pages read at the same time, in place of executor.workers")
	c.Flags().StringVar(&a.contact, "contact", "", "address sent where a provider asks for one, in place of contact")
	return c
}

// serve runs the roles until ctx ends. Being told to stop is a good end.
func (a *app) serve(ctx context.Context, roles []string, baseURL string, workers int) error {
	a.serving = true
	cfg, err := a.load()
	if err != nil {
		return err
	}
	s, err := a.openOrCreate(ctx)
	if err != nil {
		return err
	}
	p, err := a.planner(s, cfg.Contact, true)
	if err != nil {
		return err
	}
	x, err := a.executor(cfg, s, workers)
	if err != nil {
		return err
	}
	if len(cfg.Sinks) == 0 {
		if len(roles) == 1 && roles[0] == roleRelay {
			return patra.Invalid("", "there are no sinks to send events to; write some under sinks in patra.yaml")
		}
		roles = slices.DeleteFunc(slices.Clone(roles), func(r string) bool { return r == roleRelay })
	}
	a.mirror = baseURL
	log := a.logger(cfg)
	s.OnOutage(logOutage(log))
	if err := sayAhead(ctx, log, s); err != nil {
		return err
	}
	metrics := observe.NewMetrics(a.version)
	metrics.WatchStore(s)
	if a.tracer(cfg) != nil {
		metrics.WatchTraces(a.traces)
	}
	s.Watch(metrics)
	a.metrics.Store(metrics)
	group, ctx := errgroup.WithContext(ctx)
	// Whoever cannot begin ends what has begun: its tasks are given back.
	instead := func(err error) error {
		group.Go(func() error { return err })
		return group.Wait()
	}
	numbers, err := a.openOps(ctx, cfg, s, metrics)
	if err != nil {
		return err
	}
	defer numbers.close() // when all is drained
	if slices.Contains(roles, rolePlanner) {
		d := &plannerLoop{app: a, store: s, planner: p, log: log, baseURL: baseURL, schedules: cfg.Schedules}
		group.Go(role(ctx, log, rolePlanner, func(ctx context.Context) error { return d.work(ctx, cfg) }, "schedules", len(cfg.Schedules)))
		a.watchAlerts(ctx, group, cfg, s)
	}
	if slices.Contains(roles, roleExecutor) {
		x.Config.PerPartition, x.Config.Outlast = cfg.Executor.PerPartition, true
		x.Observe, x.Measure = metrics.Event, metrics.Event
		x.Gate = metrics.Gate(x.Gate)
		x.Evidence = metrics.Evidence(x.Evidence)
		group.Go(role(ctx, log, roleExecutor, x.Run, "workers", x.Config.Workers, "owner", x.Config.Owner))
	}
	if slices.Contains(roles, roleRelay) {
		r, err := a.relay(cfg, s, nil)
		if err != nil {
			return instead(err)
		}
		r.Observe = metrics.Relayed
		group.Go(role(ctx, log, roleRelay, r.Run, "sinks", len(r.Sinks), "owner", r.Config.Owner))
	}
	if slices.Contains(roles, roleAPI) {
		answers, err := a.openAPI(ctx, group, cfg, s, p)
		if err != nil {
			return instead(err)
		}
		if !answers && len(roles) == 1 { // a process that does nothing must not end as if all were well
			return patra.Environment(errors.New("there is nothing to do: the API is the only role, and cannot be served; write a free address to api.listen"))
		}
		if !answers {
			roles = slices.DeleteFunc(slices.Clone(roles), func(r string) bool { return r == roleAPI })
		}
	}
	fmt.Fprintf(a.stdout, "Serving %s as %s, %s. Ctrl-C drains and stops.\n", cfg.Redacted().Store.URL, strings.Join(roles, " and "), plural(int64(len(cfg.Schedules)), "schedule"))
	err = group.Wait()
	if err == nil {
		fmt.Fprintln(a.stdout, "Drained and stopped.")
	}
	return err
}

// plannerLoop is what a serving planner sees to.
type plannerLoop struct {
	app       *app
	store     *store.Store
	planner   *planner.Planner
	log       *slog.Logger
	baseURL   string
	schedules []config.Schedule
}

// work does all of it, until ctx ends.
func (d *plannerLoop) work(ctx context.Context, cfg config.Config) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, part := range []func() error{
		func() error { return d.scheduler().Run(ctx) }, func() error { return d.tend(ctx) }, func() error { return d.retryRead(ctx) }, func() error { return d.keepHouse(ctx, cfg) },
	} {
		group.Go(func() error {
			defer d.app.recoverPanic()()
			return part()
		})
	}
	return group.Wait()
}

// worthLogging reports whether an error is to be told: one of a store that is away is told once for all who notice.
func worthLogging(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, patra.ErrUnavailable)
}

// tendEvery is how often plans are looked after.
const tendEvery = 2 * time.Second

// tend goes on with unfinished plans and cuts again what ended early, until ctx ends. What goes wrong with one look is
// said, and the next look is taken all the same.
func (d *plannerLoop) tend(ctx context.Context) error {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		if err := d.planner.ContinueAll(ctx, now()); worthLogging(ctx, err) {
			d.log.Error("plans could not be looked after", "reason", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// houseEvery is how often old things are moved away.
const houseEvery = time.Hour

// keepHouse moves old pages into the archive, and forgets answers and events that are kept no longer, until ctx ends.
func (d *plannerLoop) keepHouse(ctx context.Context, cfg config.Config) error {
	tick := time.NewTicker(houseEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		switch n, err := purgeEvents(ctx, d.store, cfg, now()); {
		case worthLogging(ctx, err):
			d.log.Error("old events could not be deleted", "reason", err.Error())
		case n > 0:
			d.log.Info("old events are deleted", "events", n)
		}
		if cfg.Archive.After == 0 {
			continue
		}
		done, err := d.app.archiveRound(ctx, cfg, d.store, time.Duration(cfg.Archive.After))
		switch {
		case worthLogging(ctx, err):
			d.log.Error("old pages could not be moved to the archive", "reason", err.Error())
		case done.Tasks+done.Events+int64(done.Bodies) > 0:
			d.log.Info("old pages are in the archive", "tasks", done.Tasks, "pages", done.Pages, "events", done.Events, "answers_forgotten", done.Bodies, "place", done.Place)
		}
	}
}

func (d *plannerLoop) scheduler() *schedule.Scheduler {
	s := &schedule.Scheduler{Log: d.log, Fired: d.store.LastFire, Fire: d.fireWhenThere}
	for _, c := range d.schedules {
		if !c.Paused {
			s.Jobs = append(s.Jobs, schedule.Job{Name: c.Name, Cron: c.Cron})
		}
	}
	return s
}
