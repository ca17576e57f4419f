package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

// difference is a window that the provider counts differently now.
type difference struct {
	Source   string             `json:"source"`
	CursorID int64              `json:"cursor_id"`
	Window   patra.Window       `json:"window"`
	State    patra.Completeness `json:"state"`
	Seen     int64              `json:"seen"`
	Counted  int64              `json:"counted"`
}

// countComparison is what a comparison came to.
type countComparison struct {
	Compared    int          `json:"compared"`
	Differences []difference `json:"differences"`
	Marked      bool         `json:"marked"`
}

// reconcileFlags are what a person can say about a comparison.
type reconcileFlags struct {
	timeRangeFlags
	mark bool
}

func (a *app) reconcileCmd() *cobra.Command {
	var f reconcileFlags
	var out format
	c := &cobra.Command{
		Use: "check SOURCE", Short: "Compare the provider's count of every window with what was read", Args: exactArgs("SOURCE"),
		Long: "Check asks a provider that counts exactly how much every window has that was read to its end, one request a window, and\nlists those that differ: records came late, or were withdrawn. With --mark they are in dispute from then on, and\npatra coverage fill --disputed reads them again; what was in dispute or never counted, and agrees, is sealed. Exit code 4 means that something differs.",
		Example: `  patra coverage check crossref --from 2026-05-01 --to 2026-06-01 --mark
  patra coverage fill crossref --disputed`,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			cursors, err := f.cursors(c.Context(), s, args[0])
			if err != nil {
				return err
			}
			all := countComparison{Differences: []difference{}, Marked: f.mark}
			for _, cur := range cursors {
				if err := a.recount(c.Context(), s, cur, f, &all); err != nil {
					return err
				}
			}
			if out != "table" {
				err = printValue(a.stdout, out, all)
			} else {
				a.printDifferences(all)
			}
			if err == nil && len(all.Differences) > 0 {
				err = patra.Incomplete("%s counted differently by the provider", plural(int64(len(all.Differences)), "window"))
			}
			return err
		},
	}
	f.add(c)
	c.Flags().BoolVar(&f.mark, "mark", false, "put what differs into dispute")
	c.Flags().StringVar(&a.contact, "contact", "", "address sent where the provider asks for one, in place of contact")
	formatFlag(c, &out)
	return c
}

// recount compares the windows of one cursor that are read whole and that no newer answer has cut into.
func (a *app) recount(ctx context.Context, s *store.Store, cur patra.Cursor, f reconcileFlags, all *countComparison) error {
	asked, windows, err := f.comparable(ctx, s, cur)
	if err != nil || len(asked) == 0 {
		return err
	}
	plan, err := lastPlan(ctx, s, cur.ID)
	if err != nil || plan == nil {
		return err
	}
	cfg, err := a.load()
	if err != nil {
		return err
	}
	p, err := a.planner(s, cfg.Contact, true)
	if err != nil {
		return err
	}
	shown := time.Now()
	return p.Recount(ctx, *plan, windows, func(i int, total int64) error {
		all.Compared++
		if time.Since(shown) > quiet {
			shown = time.Now()
			fmt.Fprintf(a.stderr, "%s/%s: %d/%d windows compared\n", cur.Source, cur.Endpoint, i+1, len(windows))
		}
		was := asked[i]
		if total != was.IDsSeen && !accepted(*was.CoverageEntry, total) {
			all.Differences = append(all.Differences, difference{cur.Source, cur.ID, was.Window, was.State, was.IDsSeen, total})
		}
		if !f.mark {
			return nil
		}
		return mark(ctx, s, *was.CoverageEntry, total)
	})
}

// comparable are the answers of a cursor that a count can be compared with, and the windows that their slices asked for.
// What was confirmed by a walk that asked for more than it answers for cannot be told apart.
func (f reconcileFlags) comparable(ctx context.Context, s *store.Store, cur patra.Cursor) (asked []patra.EffectiveEntry, windows []patra.Window, err error) {
	span, err := f.clip(patra.Window{From: -1 << 62, To: 1 << 62})
	if err != nil {
		return nil, nil, err
	}
	answers, err := s.CoverageEntries(ctx, cur.ID)
	if err != nil {
		return nil, nil, err
	}
	for _, sp := range patra.EffectiveEntries(answers) {
		if len(sp.For) != 1 || sp.For[0] != sp.Window || sp.Window.From < span.From || sp.Window.To > span.To {
			continue
		}
		found, err := s.Slices(ctx, store.Filter{Slice: sp.SliceID, Limit: 1})
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 0 || (sp.Kind == patra.KindConfirmed && found[0].Fetch != found[0].Window) {
			continue
		}
		window := found[0].Fetch
		if sp.Kind == patra.KindConfirmed {
			window = sp.Window
		}
		asked, windows = append(asked, sp), append(windows, window)
	}
	return asked, windows, nil
}

// accepted reports whether a person has seen this very difference and sealed the window all the same.
func accepted(was patra.CoverageEntry, total int64) bool {
	return was.State == patra.StateSealed && len(was.Remarks) > 0 && was.CountAfter != nil && *was.CountAfter == total
}

// mark keeps what a count says about a window, where that is something new.
func mark(ctx context.Context, s *store.Store, was patra.CoverageEntry, total int64) error {
	why := patra.CoverageNote{At: now(), By: actor(ctx), From: was.State, To: patra.StateDisputed, Reason: "the provider counts differently now", Counted: &total}
	switch {
	case total == was.IDsSeen && was.State != patra.StateSealed:
		why.To, why.Reason = patra.StateSealed, "the provider counts what was read"
	case total == was.IDsSeen, was.State == patra.StateDisputed, accepted(was, total):
		return nil
	}
	return s.ResolveDispute(ctx, was.CursorID, []int64{was.ID}, why)
}

func (a *app) printDifferences(all countComparison) {
	for _, d := range all.Differences {
		fmt.Fprintf(a.stdout, "%s  %s: the provider counts %s, %s were read\n", d.Source, d.Window, thousands(d.Counted), thousands(d.Seen))
	}
	fmt.Fprintf(a.stdout, "%s compared, %d differ.\n", plural(int64(all.Compared), "window"), len(all.Differences))
	switch {
	case len(all.Differences) == 0:
	case all.Marked:
		fmt.Fprintf(a.stdout, "They are in dispute now. Next: patra coverage fill %s --disputed\n", all.Differences[0].Source)
	default:
		fmt.Fprintln(a.stdout, "Next: the same with --mark, which puts them into dispute")
	}
}
