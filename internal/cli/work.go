package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/config"
	"patra/internal/executor"
	"patra/internal/planner"
	"patra/internal/source"
	"patra/internal/store"
)

func (a *app) harvestCmd() *cobra.Command {
	return a.workCmd(patra.Harvest, &cobra.Command{
		Use: "harvest SOURCE", Short: "Plan and read a source forward from its watermark",
		Long: "Harvest plans what is missing between the watermark and now, and reads it with several workers. Ctrl-C drains:\npages in flight are kept and the rest is left for the next call. Exit code 4 means that something is missing.",
		Example: `  patra harvest crossref --contact me@example.org --from 2026-11-01 --to 2026-11-08
  patra harvest crossref                                 go on from the watermark`,
	}, func(*cobra.Command, *planFlags) {})
}

func (a *app) backfillCmd() *cobra.Command {
	return a.workCmd(patra.Backfill, &cobra.Command{
		Use: "backfill SOURCE", Short: "Plan and read the history of a source, as a campaign of its own",
		Long: "Backfill reads what lies before the beginning of the harvest. It has a watermark of its own and never touches that of\nthe harvest, has a lower priority, and can be stopped, paused and gone on with: the same command, or one without --from,\ngoes on where the campaign is. Ctrl-C drains. Exit code 4 means that something is missing.",
		Example: `  patra backfill crossref --from 2020-01-01 --newest-first
  patra backfill crossref                                go on with the campaign
  patra campaign list                                    how far it is, and when it will be done`,
	}, addPastFlags)
}

func (a *app) updateCmd() *cobra.Command {
	return a.workCmd(patra.Update, &cobra.Command{
		Use: "update SOURCE", Short: "Plan and read known records again",
		Long: "Update reads again what is known. By time it asks an endpoint for what changed in a stretch of time, such as the endpoint\nmodified of pubmed, with a watermark of its own. By id it fetches known records: all of them with --by-id, those that nobody has looked at for\nlong with --stale, those of an older mapping with --changed-mapping, those that signals ask for with --signals, or those that\nare named with --ids. Which records that are is decided when the plan is made.",
		Example: `  patra update pubmed --endpoint modified --from 2026-11-01
  patra update pubmed --by-id
  patra update crossref --stale 30d                      a thirtieth of the known records, the stalest first
  patra update crossref --signals
  patra update crossref --ids 10.5555/a,10.5555/b
  patra update unpaywall --ids-of crossref`,
	}, func(c *cobra.Command, f *planFlags) {
		addPastFlags(c, f)
		addIDFlags(c, f)
	})
}

// workCmd is a command that plans and executes in the foreground.
func (a *app) workCmd(op patra.Operation, c *cobra.Command, more func(*cobra.Command, *planFlags)) *cobra.Command {
	f := planFlags{operation: op}
	var workers int
	var out format
	c.Args = exactArgs("SOURCE")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := someWorkers(c); err != nil {
			return err
		}
		req, err := a.request(c.Context(), args[0], f)
		if err != nil {
			return err
		}
		s, err := a.openOrCreate(c.Context())
		if err != nil {
			return err
		}
		sum, err := a.runWork(c.Context(), s, req, workers, !f.noProbe)
		if err != nil {
			return err
		}
		if out != "table" {
			err = printValue(a.stdout, out, sum)
		} else {
			sum.print(a.stdout)
		}
		if err != nil {
			return err
		}
		return sum.verdict()
	}
	a.addAskFlags(c, &f)
	more(c, &f)
	c.Flags().DurationVar(&a.within, "reach-within", reachWithin, "how long to wait for a provider that refuses every connection, or whose name has no address")
	c.Flags().IntVar(&workers, "workers", 0, "pages read at the same time, in place of executor.workers")
	formatFlag(c, &out)
	return c
}

// someWorkers refuses a number of workers that would do nothing.
func someWorkers(c *cobra.Command) error {
	if n, err := c.Flags().GetInt("workers"); err == nil && n < 1 && c.Flags().Changed("workers") {
		return patra.Invalid("workers", "{workers} %d is less than 1; leave it out for executor.workers", n)
	}
	return nil
}

// runWork plans, runs everything that the cursor still needs, and says how complete it is now.
func (a *app) runWork(ctx context.Context, s *store.Store, req planner.Request, workers int, probe bool) (*summary, error) {
	p, err := a.planner(s, req.Contact, probe)
	if err != nil {
		return nil, err
	}
	quiet := a.watchSilence(s, req)
	defer quiet.end()
	ctx = quiet.begin(ctx)
	plan, err := p.Plan(ctx, now(), req)
	if err != nil {
		return nil, endUnreached(ctx, quiet.address, err)
	}
	sum := &summary{Plan: plan.Plan, Decision: plan.Decision, Probes: plan.Probes, Warnings: plan.SlicingStats.Warnings, started: time.Now(), source: req.Source.Code, question: questionFlags(req), runTally: runTally{Faults: map[string]int64{}}}
	sum.otherDate = plan.Spec != nil && plan.Spec.Window.OtherDate
	if err := a.tellElsewhere(ctx, s, plan.Plan, req.BaseURL); err != nil {
		return nil, err
	}
	if !plan.Plan.Window.IsEmpty() || plan.Plan.CursorID != 0 {
		if err := a.execute(ctx, s, p, plan, req, workers, sum, quiet); err != nil {
			return nil, err
		}
	}
	sum.Interrupted = ctx.Err() != nil
	return sum, sum.measure(context.WithoutCancel(ctx), s)
}

// questionFlags are the flags that another command needs to ask for the same as a request.
func questionFlags(req planner.Request) (flags string) {
	if req.Endpoint != "" {
		flags += " --endpoint " + req.Endpoint
	}
	for _, name := range slices.Sorted(maps.Keys(req.Params)) {
		flags += " --param " + patra.ShellWord(name+"="+req.Params[name])
	}
	if req.Query != "" {
		flags += " -q " + patra.ShellWord(req.Query)
	}
	return flags
}

// tellElsewhere says which work that is gone on with was planned for another address than the one that is asked for now:
// it keeps its own, and one that was named by mistake would be asked for ever.
func (a *app) tellElsewhere(ctx context.Context, s *store.Store, plan patra.Plan, address string) error {
	if plan.CursorID == 0 {
		return nil
	}
	plans, err := s.Plans(ctx, store.Filter{Cursor: plan.CursorID, Limit: 100})
	if err != nil {
		return err
	}
	for _, p := range plans {
		if p.BaseURL == address {
			continue
		}
		states, err := s.PlanStates(ctx, p.ID)
		if err != nil {
			return err
		}
		if open := states[patra.Ready] + states[patra.Partial]; open > 0 {
			fmt.Fprintf(a.stderr, "%s of plan %d %s on at %s, as planned; patra cancel plan:%d calls them off, and --force plans them anew\n", plural(int64(open), "slice"), p.ID, verb(int64(open), "goes", "go"), cmp.Or(p.BaseURL, "the source's own address"), p.ID)
		}
	}
	return nil
}

// execute works on the plan's cursor until nothing of it is queued or running any more, whichever plan it is from:
// what a killed process left behind is finished too. What ends early is cut again, and what did not fit into the queue
// is planned when it has room.
func (a *app) execute(ctx context.Context, s *store.Store, p *planner.Planner, plan *planner.Result, req planner.Request, workers int, sum *summary, quiet *foregroundSilence) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	f := &foregroundRun{store: s, planner: p, plan: plan.Plan}
	open, err := f.open(ctx)
	if err != nil {
		return err
	}
	bar := a.progress(sum, req.Source.Code+"/"+plan.Plan.Endpoint, int64(open))
	f.bar = bar
	x, err := a.executor(cfg, s, workers)
	if err != nil {
		return err
	}
	x.Observe, x.Done, x.Config.Vars.Contact = quiet.over(plan.Plan, bar), f.done, req.Contact
	f.owner = x.Config.Owner
	x.Config.Poll = 250 * time.Millisecond // somebody waits
	if x.Config.CursorID = plan.Plan.CursorID; x.Config.CursorID == 0 {
		x.Config.PlanID = plan.Plan.ID
	}
	err = x.Run(ctx)
	bar.finish()
	if err = endUnreached(ctx, quiet.address, err); err == nil {
		err = f.haltOf(context.WithoutCancel(ctx), sum.Failed)
	}
	sum.Left, sum.halt, sum.quota = f.left, f.halt, f.quota
	if err == nil && f.left == patra.ReasonQuota {
		var used []patra.QuotaUse
		used, err = p.Quota(context.WithoutCancel(ctx), now(), &plan.Draft)
		sum.spoken = spokenFor(used)
	}
	return err
}

// executor works on whatever is in the queue.
func (a *app) executor(cfg config.Config, s *store.Store, workers int) (*executor.Executor, error) {
	if workers <= 0 {
		workers = cfg.Executor.Workers
	}
	x := &executor.Executor{
		Store: s, Controls: s, Gate: a.gate(cfg, s), Log: a.logger(cfg), Client: clientFor(cfg), Credentials: a.credentials(), Tracer: a.tracer(cfg), Guard: a.recoverPanic(),
		Config: executor.Config{Owner: store.NewOwner(), Workers: workers, Lease: time.Duration(cfg.Executor.Lease), Heartbeat: time.Duration(cfg.Executor.Heartbeat),
			Vars: source.Vars{Contact: cfg.Contact, Version: a.version}, Poll: time.Second, Grace: 10 * time.Second,
			Prefetch: cfg.Executor.Prefetch, Memory: int64(cfg.Executor.Memory), Strain: patra.DefaultWalkLimits(), KeepBodies: cfg.Evidence.For,
			LogSample: cfg.Log.Sample.Fraction(), Propagate: cfg.Trace.Propagate.On()},
	}
	if s.Embedded() {
		x.Config.Readers = max(1, runtime.GOMAXPROCS(0)-1) // its one writer needs a processor too, and what is read faster than it writes waits in memory
	}
	kept, err := a.evidence(cfg)
	if err == nil && kept != nil {
		x.Evidence = kept
	}
	return x, err
}

// foregroundRun keeps a plan going while its workers are idle.
type foregroundRun struct {
	store   *store.Store
	planner *planner.Planner
	plan    patra.Plan
	bar     *progress

	mu   sync.Mutex // idle workers come all at once, and one is enough
	left string     // why the plan could not be cut to its end now
	halt *patra.Control

	quota *patra.Control
	owner string // who we are
	told  bool   // that another process has what is left

	looked time.Time // when it was asked last who has it
}

// open is how many slices of the work are not closed.
func (f *foregroundRun) open(ctx context.Context) (int, error) {
	states, err := f.states(ctx)
	return states[patra.Ready] + states[patra.Partial], err
}

func (f *foregroundRun) states(ctx context.Context) (map[patra.Status]int, error) {
	if f.plan.CursorID == 0 {
		return f.store.PlanStates(ctx, f.plan.ID)
	}
	return f.store.SliceStates(ctx, f.plan.CursorID)
}

// done tells an idle worker whether all is done. If not, it sees to it that there is something to do.
func (f *foregroundRun) done(ctx context.Context) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	states, err := f.states(ctx)
	if err != nil {
		return false, err
	}
	if states[patra.Partial] > 0 {
		n, err := f.planner.Reslice(ctx, now(), f.plan.CursorID)
		if err == nil && n > 0 {
			return false, f.addToProgress(ctx)
		}
		if err != nil {
			return false, err
		}
		if states[patra.Ready] == 0 {
			return f.stopped(ctx)
		}
	}
	if states[patra.Ready] > 0 {
		return f.held(ctx)
	}
	return f.more(ctx)
}

// held reports whether the rest waits for a person, so that nobody waits for it here.
func (f *foregroundRun) held(ctx context.Context) (bool, error) {
	if stopped, err := f.stopped(ctx); stopped || err != nil {
		return stopped, err
	}
	target := patra.WorkTarget(patra.ScopeCursor, f.plan.CursorID)
	if f.plan.CursorID == 0 {
		target = patra.WorkTarget(patra.ScopePlan, f.plan.ID)
	}
	moving, held, err := f.store.ActiveTasks(ctx, target) // each of the tasks that are left may be held back alone
	switch {
	case err != nil:
		return false, err
	case moving > 0:
		return false, f.elsewhere(ctx)
	case held == 0: // the last has ended since we looked, and may have left something to be cut
		return false, nil
	}
	f.left = patra.ReasonPaused
	return true, nil
}

// elsewhere says, once, that all that is left is in the hands of others: after a process was killed nothing happens until its
// leases have run out, and whoever waits should know for how long.
func (f *foregroundRun) elsewhere(ctx context.Context) error {
	if f.told || time.Since(f.looked) < quiet {
		return nil
	}
	f.looked = time.Now()
	which := store.Filter{Cursor: f.plan.CursorID, Status: patra.Running, Limit: 1000}
	if f.plan.CursorID == 0 {
		which.Plan = f.plan.ID
	}
	running, err := f.store.Tasks(ctx, which)
	if err != nil || len(running) == 0 {
		return err
	}
	var until patra.Instant
	for _, t := range running {
		if strings.HasPrefix(t.LeaseOwner, f.owner) {
			return nil
		}
		until = max(until, t.LeasedUntil)
	}
	f.told = true
	n := int64(len(running))
	f.bar.say(fmt.Sprintf("Another process has %s that %s left. If it is gone, %s taken over when the lease has run out, at %s.",
		tasks(n), verb(n, "is", "are"), verb(n, "it is", "they are"), until.Time().Format("15:04:05")))
	return nil
}

// stopped reports whether a pause, a halt or a used-up quota stops all of the work. A breaker ends by itself and soon: it is
// waited for, and said.
func (f *foregroundRun) stopped(ctx context.Context) (bool, error) {
	at := f.plan.WorkScope()
	if f.plan.CursorID != 0 {
		at.PlanID = 0 // the work may be of many plans
	}
	hold, line, err := waitsFor(ctx, f.store, at)
	if err != nil {
		return false, err
	}
	f.bar.say(line)
	switch hold.Code {
	case patra.WaitHalted:
		f.left, f.halt = patra.ReasonHalted, hold.Control
	case patra.WaitPaused:
		f.left = patra.ReasonPaused
	case patra.WaitQuota: // which may be for a month
		f.left, f.quota = patra.ReasonQuota, hold.Control
	default:
		return false, nil
	}
	return true, nil
}

// haltOf looks at the end whether the endpoint was halted: the last task may have failed with what did it.
func (f *foregroundRun) haltOf(ctx context.Context, failed int64) error {
	open, err := f.open(ctx)
	if err != nil || (open == 0 && failed == 0) {
		return err
	}
	hold, err := f.store.PeekAdmission(ctx, f.plan.WorkScope())
	if err == nil && hold.Code == patra.WaitHalted {
		f.left, f.halt = patra.ReasonHalted, hold.Control
	}
	return err
}

// more goes on with plans of the same work that were not cut to their ends, also with those of earlier calls.
func (f *foregroundRun) more(ctx context.Context) (bool, error) {
	plans, err := f.unfinished(ctx)
	if err != nil {
		return false, err
	}
	f.left = ""
	added := int64(0)
	for _, plan := range plans {
		res, err := f.planner.Continue(ctx, now(), plan)
		if err != nil {
			return false, err
		}
		if added += res.Added; res.Plan.Status == patra.Partial {
			f.left = res.Plan.Reason
		}
	}
	// Another process may have added some meanwhile.
	if open, err := f.open(ctx); err != nil || (added == 0 && open == 0) {
		return true, err
	}
	return false, f.addToProgress(ctx)
}

// unfinished are the plans of the work that are not cut to their ends, also those whose planner died on the way. If it is
// still alive, nothing is cut twice.
func (f *foregroundRun) unfinished(ctx context.Context) ([]patra.Plan, error) {
	filter := store.Filter{Plan: f.plan.ID}
	if f.plan.CursorID != 0 {
		filter = store.Filter{Cursor: f.plan.CursorID, Limit: 1000}
	}
	var open []patra.Plan
	for _, status := range []patra.Status{patra.Partial, patra.Slicing, patra.Draft} {
		filter.Status = status
		plans, err := f.store.Plans(ctx, filter)
		if err != nil {
			return nil, err
		}
		open = append(open, plans...)
	}
	return open, nil
}

// addToProgress tells the bar that there is more to do than it knew.
func (f *foregroundRun) addToProgress(ctx context.Context) error {
	open, err := f.open(ctx)
	f.bar.grow(int64(open))
	return err
}
