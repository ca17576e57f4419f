package main

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/egress"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/planner"
	"patra/internal/source"
	"patra/internal/store"
)

func (a *app) harvestCmd() *cobra.Command {
	var f askFlags
	var workers int
	var out format
	c := &cobra.Command{
		Use: "harvest SOURCE", Short: "Plan and read a source forward from its watermark", Args: exactly("SOURCE"),
		Long: "Harvest plans what is missing between the watermark and now, and reads it with several workers. Ctrl-C drains:\npages in flight are kept and the rest is left for the next call. Exit code 4 means that something is missing.",
		Example: `  patra harvest crossref --contact me@example.org --from 2026-11-01 --to 2026-11-08
  patra harvest crossref                                 go on from the watermark`,
		RunE: func(c *cobra.Command, args []string) error {
			req, err := a.request(c.Context(), args[0], f)
			if err != nil {
				return err
			}
			s, err := a.openOrCreate(c.Context())
			if err != nil {
				return err
			}
			sum, err := a.harvest(c.Context(), s, req, workers)
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
		},
	}
	a.addAskFlags(c, &f)
	c.Flags().IntVar(&workers, "workers", 0, "pages read at the same time, in place of executor.workers")
	formatFlag(c, &out)
	return c
}

// harvest plans, runs everything that the cursor still needs, and says how complete it is now.
func (a *app) harvest(ctx context.Context, s *store.Store, req planner.Request, workers int) (*summary, error) {
	p, err := a.planner(s)
	if err != nil {
		return nil, err
	}
	plan, err := p.Plan(ctx, now(), req)
	if err != nil {
		return nil, err
	}
	sum := &summary{Plan: plan.Plan, Decision: plan.Decision, started: time.Now(), source: req.Source.Code, tally: tally{Faults: map[string]int64{}}}
	if plan.Plan.CursorID != 0 {
		if err := a.execute(ctx, s, plan, req, workers, sum); err != nil {
			return nil, err
		}
	}
	sum.Interrupted = ctx.Err() != nil
	return sum, sum.measure(context.WithoutCancel(ctx), s)
}

// execute works on the plan's cursor until nothing of it is queued or running any more, whichever plan it is from:
// what a killed process left behind is finished too.
func (a *app) execute(ctx context.Context, s *store.Store, plan *planner.Result, req planner.Request, workers int, sum *summary) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	if workers <= 0 {
		workers = cfg.Executor.Workers
	}
	states, err := s.SliceStates(ctx, plan.Plan.CursorID)
	if err != nil {
		return err
	}
	bar := a.progress(sum, req.Source.Code+"/"+plan.Plan.Endpoint, int64(states[patra.Ready]))
	x := &executor.Executor{
		Store: s, Gate: gate.NewLocal(), Log: a.logger(cfg), Observe: bar.observe, Client: clientFor,
		Config: executor.Config{
			Owner: store.NewOwner(), Workers: workers, CursorID: plan.Plan.CursorID, Lease: time.Duration(cfg.Executor.Lease), Heartbeat: time.Duration(cfg.Executor.Heartbeat),
			Vars: source.Vars{Contact: req.Contact, Version: version}, Poll: 250 * time.Millisecond, Grace: 10 * time.Second,
		},
		Done: func(ctx context.Context) (bool, error) {
			states, err := s.SliceStates(ctx, plan.Plan.CursorID)
			return states[patra.Ready] == 0, err
		},
	}
	err = x.Run(ctx)
	bar.finish()
	return err
}

// clientFor makes the way out to a source. An address that the user named is trusted: exactly that host and port.
func clientFor(spec *source.Spec, baseURL string) *http.Client {
	t := spec.HTTP.Timeout
	o := egress.Options{Trusted: baseURL != "", Connect: time.Duration(t.Connect), Headers: time.Duration(t.Read), Total: time.Duration(t.Total)}
	if baseURL == "" {
		baseURL = spec.Address(source.Vars{})
	}
	if u, err := url.Parse(baseURL); err == nil {
		o.Host = u.Host
	}
	return egress.NewClient(o)
}

// verdict is nil only when the whole window is proved.
func (s *summary) verdict() error {
	switch {
	case s.Interrupted:
		return incomplete("stopped before the end; the same command goes on where this one stopped")
	case len(s.History) > 0:
		return incomplete("%s lies before %s, where this harvest began, and was not read: a harvest goes forward. To read it all the same, add --force", days(s.History, 5), s.Cursor.Origin)
	case len(s.Gaps) > 0:
		return incomplete("not everything could be read: %s missing. See patra tasks --status FAILED", days(s.Gaps, 5))
	case len(s.Disputed) > 0:
		return incomplete("the provider's own count disagrees for %s. See patra coverage show %s", days(s.Disputed, 5), s.source)
	}
	return nil
}
