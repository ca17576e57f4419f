package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/planner"
	"patra/internal/store"
)

// fillFlags are what a person can say about the filling of gaps.
type fillFlags struct {
	timeRangeFlags
	disputed, read, dry, noProbe bool
	baseURL                      string
	workers                      int
}

func (a *app) fillCmd() *cobra.Command {
	var f fillFlags
	var out format
	c := &cobra.Command{
		Use: "fill SOURCE", Short: "Plan and read exactly what is missing", Args: exactArgs("SOURCE"),
		Long: "Fill plans the gaps that patra coverage gaps lists, and nothing else, and reads them in the foreground as a harvest does.\nIt asks the same question as the plans before: endpoint, query and parameters are theirs, and it is the same watermark\nthat moves. With --disputed it also reads again what the provider counts differently, with --read what was read without a proof.\nExit codes are those of harvest.",
		Example: `  patra coverage fill crossref --from 2026-05-01 --to 2026-06-01
  patra coverage fill crossref --disputed --dry-run`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := someWorkers(c); err != nil {
				return err
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			cursors, err := f.cursors(c.Context(), s, args[0])
			if err != nil {
				return err
			}
			return a.fillAll(c.Context(), s, cursors, f, out)
		},
	}
	f.add(c)
	fl := c.Flags()
	fl.BoolVar(&f.disputed, "disputed", false, "read again what the provider counts differently, too")
	fl.BoolVar(&f.read, "read", false, "read again what was read without a proof, too")
	fl.BoolVar(&f.dry, "dry-run", false, "show what would be planned, and store nothing")
	fl.BoolVar(&f.noProbe, "no-probe", false, "do not ask the provider how much there is; plan from history alone")
	fl.StringVar(&f.baseURL, "base-url", "", "mirror, proxy or simulator to ask, in place of the one that was asked before")
	fl.StringVar(&a.contact, "contact", "", "address sent where the provider asks for one, in place of contact")
	fl.IntVar(&f.workers, "workers", 0, "pages read at the same time, in place of executor.workers")
	formatFlag(c, &out)
	return c
}

// fillAll fills the gaps of one watermark after the other. One that cannot be filled keeps no other from its turn.
func (a *app) fillAll(ctx context.Context, s *store.Store, cursors []patra.Cursor, f fillFlags, out format) error {
	var sums []*summary
	var failed error
	for _, cur := range cursors {
		req, err := a.fillRequest(ctx, s, cur, f)
		if err != nil {
			return err
		}
		switch {
		case req == nil:
		case f.dry:
			failed = errors.Join(failed, a.dryRun(ctx, *req, !f.noProbe, "", out))
		default:
			if _, err := s.Audit(ctx, audited(ctx, patra.AuditFill, patra.WorkTarget(patra.ScopeCursor, cur.ID).String(), "", map[string]any{"disputed": f.disputed, "read": f.read})); err != nil {
				return err
			}
			sum, err := a.runWork(ctx, s, *req, f.workers, !f.noProbe)
			if err != nil {
				return err
			}
			sums = append(sums, sum)
			if out == "table" {
				sum.print(a.stdout)
			}
			if failed == nil { // the first says enough, and each is printed
				failed = sum.verdict()
			}
		}
	}
	if f.dry {
		return failed
	}
	if out != "table" {
		if err := printValue(a.stdout, out, append([]*summary{}, sums...)); err != nil {
			return err
		}
	}
	if len(sums) > 0 {
		return failed
	}
	err := nothingToFill(ctx, s, cursors, f)
	if err == nil && out == "table" {
		_, err = fmt.Fprintln(a.stdout, "There is nothing to fill. See patra coverage show")
	}
	return err
}

// nothingToFill is what is in dispute or not proved all the same, if anything.
func nothingToFill(ctx context.Context, s *store.Store, cursors []patra.Cursor, f fillFlags) error {
	var disputed, read patra.Coverage
	for _, cur := range cursors {
		known, err := s.CursorCoverage(ctx, cur, now())
		if err != nil {
			return err
		}
		if known.Span, err = f.clip(known.Span); err != nil {
			return err
		}
		for _, g := range patra.Gaps(known.Span, known.CoverageFacts) {
			switch {
			case g.Kind == patra.GapDisputed:
				disputed = disputed.Union(patra.NewCoverage(g.Window))
			case g.Kind == patra.GapRead && g.Actionable():
				read = read.Union(patra.NewCoverage(g.Window))
			}
		}
	}
	switch {
	case len(disputed) > 0:
		return patra.Incomplete("nothing is missing, but %s is in dispute; {disputed} reads it again", days(disputed, 5))
	case len(read) > 0:
		return patra.Incomplete("nothing is missing, but %s was read without a proof; {read} reads it again", days(read, 5))
	}
	return nil
}

// fillRequest asks the question of a cursor's plans again, for what is missing; nil if nothing is missing or under way.
func (a *app) fillRequest(ctx context.Context, s *store.Store, cur patra.Cursor, f fillFlags) (*planner.Request, error) {
	span, planned, err := extent(ctx, s, cur)
	if err != nil {
		return nil, err
	}
	if cur.Operation == patra.Harvest && f.to == "" { // what lies ahead is no gap: a harvest reads it, with its look-back
		span.To = min(span.To, planned)
	}
	if span, err = f.clip(span); err != nil {
		return nil, err
	}
	there, err := f.anything(ctx, s, cur, span)
	if err != nil || !there {
		return nil, err
	}
	plan, err := lastPlan(ctx, s, cur.ID)
	if err != nil || plan == nil {
		return nil, err
	}
	req, err := (&planner.Planner{Store: s}).RequestLike(ctx, *plan)
	if err != nil {
		return nil, err
	}
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	file, rows, err := a.activeSource(ctx, cur.Source)
	if err != nil {
		return nil, err
	}
	req.Source, req.Contact, req.From, req.To = file, cfg.Contact, &span.From, &span.To
	req.Fill = &planner.Fill{CursorID: cur.ID, Disputed: f.disputed, Read: f.read}
	if f.baseURL != "" {
		req.BaseURL = f.baseURL
	}
	req, err = resolveOperation(rows, req)
	return &req, err
}

// anything reports whether there is something to fill, or something that an interrupted call has left behind.
func (f fillFlags) anything(ctx context.Context, s *store.Store, cur patra.Cursor, span patra.Window) (bool, error) {
	_, _, live, err := s.Need(ctx, cur.ID)
	if err != nil || len(live.Clip(span)) > 0 {
		return err == nil, err
	}
	gaps, err := s.Gaps(ctx, cur.ID, span)
	for _, g := range gaps {
		if g.Actionable() && (g.Unread() || f.disputed && g.Kind == patra.GapDisputed || f.read && g.Kind == patra.GapRead) {
			return true, err
		}
	}
	return false, err
}
