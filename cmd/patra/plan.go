package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
)

// planner makes plans in a store. Unless somebody said otherwise it may ask providers how much there is.
func (a *app) planner(s *store.Store, contact string, probe bool) (*planner.Planner, error) {
	c, err := a.load()
	if err != nil {
		return nil, err
	}
	p := &planner.Planner{Store: s, Observe: a.planning(), Config: planner.Config{
		SafetyLag: time.Duration(c.Planner.SafetyLag), TaskAttempts: int64(c.Executor.TaskAttempts), Target: int64(c.Planner.TargetRecords), MaxPages: int64(c.Planner.MaxPages),
		MinStep: time.Duration(c.Planner.MinStep), Inventory: int64(c.Planner.Inventory), Probes: c.Planner.Probes, BackfillShare: float64(c.Planner.BackfillShare) / 100,
	}}
	if probe {
		p.Prober = &executor.Prober{Store: s, Gate: a.gate(), Client: clientFor, Vars: source.Vars{Contact: contact, Version: version}, Log: a.logger(c)}
	}
	return p, nil
}

func (a *app) planCmd() *cobra.Command {
	var f askFlags
	var dry bool
	var file string
	var out format
	c := &cobra.Command{
		Use: "plan OPERATION SOURCE", Short: "Decide a window and its slices, and what they will cost", Args: exactly("HARVEST|BACKFILL|UPDATE", "SOURCE"),
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
				return usage("--out writes a plan that was not stored; add --dry-run")
			}
			req, err := a.request(c.Context(), args[1], f)
			if err != nil {
				return err
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
		return "", usage("operation %q is not known; write HARVEST, BACKFILL or UPDATE", word)
	}
	return op, nil
}

// shownSlices is how many slices a person wants to see.
const shownSlices = 20

// dryRun decides a plan, tells its price and stores nothing.
func (a *app) dryRun(ctx context.Context, req planner.Request, probe bool, file string, out format) error {
	s, err := a.openForLooking(ctx)
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
		fmt.Fprintln(a.stdout, "\nNothing was stored. Next: the same without --dry-run, or "+nextCommand(v.Draft))
	}
	return nil
}

// planView is a plan for people and programs.
type planView struct {
	*planner.Draft
	Price  patra.Price   `json:"price"`
	Probes int           `json:"probes"`
	Slices []patra.Slice `json:"slices"`
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
	d.Warnings = append(d.Warnings, tally.Warnings...)
	return v, nil
}

func writePlan(path string, f planner.File) error {
	b, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(b, '\n'), 0o600)
	}
	return environment(err)
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
	res.Draft.Warnings = append(res.Draft.Warnings, res.Tally.Warnings...)
	a.printDecision(&res.Draft)
	if res.Decision.Window.IsEmpty() {
		return nil
	}
	if res.Existing != nil {
		fmt.Fprintf(a.stdout, "Known     plan %d was made before; %s queued again\n", res.Existing.ID, plural(int64(res.Retried), "failed task"))
	}
	fmt.Fprintf(a.stdout, "Slices    %s added, about %s and %s\n", plural(res.Added, "slice"), plural(res.Price.Records, "record"), plural(res.Price.Requests, "request"))
	if res.Plan.Status == patra.Partial {
		fmt.Fprintf(a.stdout, "Later     %s; the rest is planned as the queue empties\n", partialText[res.Plan.Reason])
	}
	fmt.Fprintf(a.stdout, "\nNext: %s works through it\n", nextCommand(&res.Draft))
	return nil
}

var partialText = map[string]string{
	patra.ReasonInventory: "the queue is full (planner.inventory)",
	patra.ReasonQuota:     "the provider's quota for today is spoken for",
	patra.ReasonPaused:    "the campaign is paused",
	patra.ReasonFailing:   "its last slices all failed; see patra tasks --status FAILED, and ask again when that is mended",
}

// printDecision shows the arithmetic that led to the window.
func (a *app) printDecision(r *planner.Draft) {
	d := r.Decision
	fmt.Fprintf(a.stdout, "Plan      %s\n", r.Plan.Key)
	fmt.Fprintf(a.stdout, "Now       %s, less a safety lag of %s = %s\n", d.Now, time.Duration(d.LagSeconds*float64(time.Second)), d.NowSafe)
	if d.LagConfigured > 0 && d.LagConfigured != d.LagSeconds {
		fmt.Fprintf(a.stdout, "Lag       %s is configured; %.2f %% of the last days' records came late\n", time.Duration(d.LagConfigured*float64(time.Second)), 100*d.LateRate)
	}
	switch {
	case d.ByID:
		fmt.Fprintln(a.stdout, "Known     records are fetched again by their ids; the window is for pacing only")
	case d.Cursor != nil && d.Operation == patra.Harvest:
		fmt.Fprintf(a.stdout, "Watermark %s, looked back %s\n", d.WindowInputs.Cursor, d.Lookback)
	case d.Cursor != nil:
		fmt.Fprintf(a.stdout, "Watermark %s of campaign %s, which began at %s\n", d.WindowInputs.Cursor, r.Plan.Campaign, d.Began)
	default:
		fmt.Fprintf(a.stdout, "Watermark none yet; history begins at %s (%s)\n", d.Window.From, originText[d.OriginCode])
	}
	if d.Forward != nil {
		fmt.Fprintf(a.stdout, "Harvest   began at %s and has come to %s, which no backfill passes\n", d.ForwardAt, d.Forward)
	}
	if d.Window.IsEmpty() {
		fmt.Fprintf(a.stdout, "Window    %s is empty: %s\n", d.Window, reasonText[d.Reason])
		return
	}
	align := ""
	if d.Mode == patra.ModeCalendar {
		align = fmt.Sprintf(", aligned to %s", d.Align)
	}
	fmt.Fprintf(a.stdout, "Window    %s%s\n", d.Window, align)
	for _, w := range r.Warnings {
		fmt.Fprintf(a.stdout, "Warning   %s (%s)\n", w.Text, w.Code)
	}
}

// printPrice shows what a plan would do and cost.
func (a *app) printPrice(v *planView) {
	if v.Decision.Window.IsEmpty() {
		return
	}
	p := v.Price
	if v.Existing != nil {
		fmt.Fprintf(a.stdout, "Known     plan %d was made before, with %s\n", v.Existing.ID, plural(v.Existing.SliceCount, "slice"))
	}
	asked := "nothing was asked"
	if v.Probes > 0 {
		asked = plural(int64(v.Probes), "count") + " asked of the provider"
	}
	fmt.Fprintf(a.stdout, "Slices    %s by %s, %s\n", plural(p.Slices, "slice"), v.Plan.Strategy, asked)
	if p.Slices == 0 {
		return
	}
	fmt.Fprintf(a.stdout, "Price     about %s in %s%s\n", plural(p.Records, "record"), plural(p.Requests, "request"), sizeText(p.Bytes))
	fmt.Fprintf(a.stdout, "Time      %s at the permitted %g requests a second; done by %s\n", roughly(p.Seconds), v.Spec.Rate.PerSecond, p.Finish.Time().Format("2006-01-02 15:04 UTC"))
	if p.Share > 0 {
		fmt.Fprintf(a.stdout, "Quota     %.1f %% of a day's %s\n", 100*p.Share, plural(v.Spec.Tariff().DailyQuota, "request"))
	}
	fmt.Fprintln(a.stdout)
	t := newTable(a.stdout, "purpose", "answers for", "asks for", "records", "by")
	for _, sl := range v.Slices {
		t.AppendRow([]any{sl.Purpose, answersFor(sl), sl.Fetch, thousands(sl.Estimate.Records), sl.Estimate.Grounds})
	}
	t.Render()
	if rest := p.Slices - int64(len(v.Slices)); rest > 0 {
		fmt.Fprintf(a.stdout, "... and %s more (-o json lists all)\n", thousands(rest))
	}
}

// nextCommand is what works on the same cursor.
func nextCommand(d *planner.Draft) string {
	words := []string{"patra", strings.ToLower(string(d.Plan.Operation)), d.Plan.Source}
	if len(d.Spec.Parameters) > 0 {
		for _, name := range slices.Sorted(maps.Keys(d.Spec.Parameters)) {
			words = append(words, "--param", name+"="+d.Spec.Parameters[name])
		}
	}
	if q := queryText(d.Plan.ExprProto); q != "" {
		words = append(words, "-q", "'"+strings.ReplaceAll(q, "'", `'\''`)+"'")
	}
	if d.Plan.Campaign != "" && d.Plan.Campaign != patra.DefaultCampaign && !d.Decision.ByID {
		words = append(words, "--campaign", d.Plan.Campaign)
	}
	if d.Decision.ByID {
		words = append(words, "--by-id")
	}
	return strings.Join(words, " ")
}

func sizeText(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	units, n := []string{"B", "kB", "MB", "GB", "TB"}, float64(bytes)
	i := 0
	for n >= 1000 && i < len(units)-1 {
		n /= 1000
		i++
	}
	return fmt.Sprintf(", %.3g %s", n, units[i])
}

// roughly is a length of time as a person says it.
func roughly(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return "less than a second"
	case d < time.Minute:
		return d.Round(time.Second / 10).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return fmt.Sprintf("%.1f days", d.Hours()/24)
}

var originText = map[string]string{patra.OriginUser: "you said so", patra.OriginConfig: "the source says so", patra.OriginOneWindow: "one window back, because nobody said"}

var reasonText = map[string]string{patra.ReasonUpToDate: "everything up to the safety lag is planned or done", patra.ReasonInverted: "--from does not lie before --to",
	patra.ReasonTooShort: "both ends fall into the same day, month or hour to which this source is aligned", patra.ReasonNotYet: "it begins after now minus the safety lag",
	patra.ReasonNoHistory: "it begins where the harvest has been already"}

func (a *app) planApplyCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "apply FILE", Short: "Store a plan exactly as --out wrote it, or say what has changed since", Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := readPlan(args[0])
			if err != nil {
				return err
			}
			req, err := a.requestOf(c.Context(), file)
			if err != nil {
				return err
			}
			s, err := a.openOrCreate(c.Context())
			if err != nil {
				return err
			}
			p, err := a.planner(s, req.Contact, false)
			if err != nil {
				return err
			}
			res, err := p.Apply(c.Context(), now(), file, req)
			if err != nil {
				return err
			}
			return a.showStored(res, out)
		},
	}
	c.Flags().StringVar(&a.contact, "contact", "", "address sent where the provider asks for one, in place of contact")
	formatFlag(c, &out)
	return c
}

func readPlan(path string) (f planner.File, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, usage("there is no file %s", path)
	}
	if err != nil {
		return f, environment(err)
	}
	if err := json.Unmarshal(b, &f); err != nil || f.Plan.Source == "" {
		return f, usage("%s is not a plan that patra plan --out wrote", path)
	}
	return f, nil
}

// requestOf is the request that a plan file was made from.
func (a *app) requestOf(ctx context.Context, f planner.File) (planner.Request, error) {
	c, err := a.load()
	if err != nil {
		return planner.Request{}, err
	}
	src, rows, err := a.inForce(ctx, f.Plan.Source)
	if err != nil {
		return planner.Request{}, err
	}
	return settle(rows, f.Request(src, c.Contact))
}

// days is a set of windows for people: `2026-01-01~2026-01-04, ...`.
func days(c patra.Coverage, most int) string {
	var parts []string
	for _, w := range slices.Clone(c)[:min(len(c), most)] {
		parts = append(parts, w.String())
	}
	if len(c) > most {
		parts = append(parts, fmt.Sprintf("and %d more", len(c)-most))
	}
	return strings.Join(parts, ", ")
}
