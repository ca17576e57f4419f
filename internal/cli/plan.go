package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/executor"
	"patra/internal/planner"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/view"
)

// planner makes plans in a store. Unless somebody said otherwise it may ask providers how much there is.
func (a *app) planner(s *store.Store, contact string, probe bool) (*planner.Planner, error) {
	c, err := a.load()
	if err != nil {
		return nil, err
	}
	p := &planner.Planner{Store: s, Secrets: a.credentials(), Observe: a.planning(), Tracer: a.tracer(c), Config: planner.Config{
		SafetyLag: time.Duration(c.Planner.SafetyLag), TaskAttempts: int64(c.Executor.TaskAttempts), Target: int64(c.Planner.TargetRecords), MaxPages: int64(c.Planner.MaxPages),
		MinStep: time.Duration(c.Planner.MinStep), Inventory: int64(c.Planner.Inventory), Probes: c.Planner.Probes, BackfillShare: c.Planner.BackfillShare.Fraction(), Insecure: c.Sources.Insecure,
	}}
	if probe {
		p.Prober = &executor.Prober{Store: s, Gate: a.gate(c, s), Client: clientFor(c), Vars: source.Vars{Contact: contact, Version: a.version}, Log: a.logger(c), Credentials: a.credentials(),
			Tracer: a.tracer(c), Propagate: c.Trace.Propagate.On()}
	}
	return p, nil
}

func (a *app) planCmd() *cobra.Command {
	var f planFlags
	var dry bool
	var file string
	var out format
	c := &cobra.Command{
		Use: "plan OPERATION SOURCE", Short: "Decide a window and its slices, and what they will cost", Args: exactArgs("HARVEST|BACKFILL|UPDATE", "SOURCE"),
		Long: "Plan decides which window to read, cuts it into slices that fit the provider and tells what they will cost: requests,\nrecords, bytes, time at the permitted rate. With --dry-run nothing is stored; providers that can count are asked how much\nthere is, which --no-probe forbids. With --out the plan is written to a file that plan apply stores exactly as it was shown.",
		Example: `  patra plan HARVEST crossref --from 2026-11-01 --to 2026-11-08 --dry-run
  patra plan BACKFILL pubmed --from 2016-01-01 --to 2026-01-01 --dry-run --out decade.json
  patra plan apply decade.json`,
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if f.operation, err = operationOf(args[0]); err != nil {
				return err
			}
			if file != "" && !dry {
				return patra.Invalid("out", "{out} writes a plan that was not stored; add {dry_run}")
			}
			req, err := a.request(c.Context(), args[1], f)
			if err != nil {
				return err
			}
			if file != "" && req.Pick != nil {
				return patra.Invalid("out", "{out}: which records an update by id is for is decided when it is stored; a file cannot keep that")
			}
			if dry {
				return a.dryRun(c.Context(), req, !f.noProbe, file, out)
			}
			return a.storePlan(c.Context(), req, !f.noProbe, out)
		},
	}
	a.addAskFlags(c, &f)
	addPastFlags(c, &f)
	addIDFlags(c, &f)
	c.Flags().BoolVar(&dry, "dry-run", false, "store no plan")
	c.Flags().StringVar(&file, "out", "", "file to write the plan to, for plan apply")
	formatFlag(c, &out)
	c.AddCommand(a.planApplyCmd())
	return c
}

func operationOf(word string) (patra.Operation, error) {
	op := patra.Operation(strings.ToUpper(word))
	if !slices.Contains(patra.Operations, op) {
		return "", patra.Invalid("", "operation %q is not known; write HARVEST, BACKFILL or UPDATE", word)
	}
	return op, nil
}

// shownSlices is how many slices a person wants to see.
const shownSlices = 20

// dryRun decides a plan, tells its price and stores nothing.
func (a *app) dryRun(ctx context.Context, req planner.Request, probe bool, file string, out format) error {
	s, err := a.openReadOnly(ctx)
	if err != nil {
		return err
	}
	p, err := a.planner(s, req.Contact, probe)
	if err != nil {
		return err
	}
	d, err := p.Draft(ctx, now(), req)
	if err != nil {
		return err
	}
	keep := shownSlices
	if file != "" || out != "table" {
		keep = int(^uint(0) >> 1)
	}
	v, err := a.price(ctx, p, d, keep)
	if err != nil {
		return err
	}
	if file != "" {
		if err := writePlan(file, planner.NewFile(now(), d, v.Price, v.Slices)); err != nil {
			return err
		}
	}
	if out != "table" {
		return printValue(a.stdout, out, v)
	}
	a.printDecision(v.Draft)
	a.printPrice(v)
	switch {
	case file != "":
		fmt.Fprintf(a.stdout, "\nNothing was stored. Next: patra plan apply %s\n", file)
	default:
		fmt.Fprintln(a.stdout, "\nNothing was stored. Next: the same without --dry-run")
	}
	return nil
}

// planView is a plan for people and programs.
type planView struct {
	*planner.Draft
	Price  patra.CostEstimate `json:"price"`
	Probes int                `json:"probes"`
	Slices []patra.Slice      `json:"slices"`

	Quota []patra.QuotaUse `json:"quota,omitempty"` // of the provider, as it is used now
}

// price cuts a draft and adds up what it costs, keeping only the first slices.
func (a *app) price(ctx context.Context, p *planner.Planner, d *planner.Draft, keep int) (*planView, error) {
	v := &planView{Draft: d, Slices: []patra.Slice{}}
	seq, tally, err := p.Slices(ctx, d)
	if err != nil {
		return nil, err
	}
	for sl, err := range seq {
		if err != nil {
			return nil, err
		}
		if len(v.Slices) < keep {
			v.Slices = append(v.Slices, sl)
		}
	}
	v.Price, v.Probes = tally.Settled(now()), tally.Probes
	if v.Quota, err = p.Quota(ctx, now(), d); err != nil {
		return nil, err
	}
	d.Warnings = append(d.Warnings, tally.Warnings...)
	return v, nil
}

func writePlan(path string, f planner.File) error {
	b, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(b, '\n'), 0o600)
	}
	return patra.Environment(err)
}

// storePlan decides a plan and stores it.
func (a *app) storePlan(ctx context.Context, req planner.Request, probe bool, out format) error {
	s, err := a.openOrCreate(ctx)
	if err != nil {
		return err
	}
	p, err := a.planner(s, req.Contact, probe)
	if err != nil {
		return err
	}
	res, err := p.Plan(ctx, now(), req)
	if err != nil {
		return err
	}
	return a.showStored(res, out)
}

func (a *app) showStored(res *planner.Result, out format) error {
	if out != "table" {
		return printValue(a.stdout, out, res)
	}
	res.Draft.Warnings = append(res.Draft.Warnings, res.SlicingStats.Warnings...)
	a.printDecision(&res.Draft)
	if res.Decision.Window.IsEmpty() {
		return nil
	}
	if res.Existing != nil {
		fmt.Fprintf(a.stdout, "Known     plan %d was made before; %s queued again\n", res.Existing.ID, plural(int64(res.Retried), "failed task"))
	}
	fmt.Fprintf(a.stdout, "Slices    %s added, about %s and %s\n", plural(res.Added, "slice"), plural(res.Price.Records, "record"), plural(res.Price.Requests, "request"))
	if res.Plan.Status == patra.Partial {
		fmt.Fprintf(a.stdout, "Later     %s; the rest is planned as the queue empties\n", view.PartialReason(res.Plan.Reason))
	}
	fmt.Fprintf(a.stdout, "\nNext: %s works through it\n", nextCommand(&res.Draft))
	return nil
}
