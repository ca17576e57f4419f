package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/engine"
	"patra/internal/planner"
	"patra/internal/store"
	"patra/internal/view"
)

// coverageCheckFlags are what a person can say about a comparison.
type coverageCheckFlags struct {
	timeRangeFlags
	compare string
	mark    bool
}

func (a *app) reconcileCmd() *cobra.Command {
	var f coverageCheckFlags
	var out format
	c := &cobra.Command{
		Use: "check SOURCE", Short: "Compare what the provider lists in every window with what is stored", Args: exactArgs("SOURCE"),
		Long: "Check compares every window that was read to its end with what the provider has now. A window of few pages is listed again,\nand so is one whose search gives only ids: the ids that the provider lists and the store does not have are named, and\nthose of the window's records that it does not list any more. Other windows are only counted, one request a window, where the\nprovider counts exactly: a record that left and one that arrived are not seen there. --compare ids lists all of them,\n--compare counts lists none. With --mark what differs is in dispute from then on, and patra coverage fill --disputed reads it\nagain; what was in dispute or never compared, and agrees, is sealed. Exit code 4 means that something differs.",
		Example: `  patra coverage check crossref --from 2026-05-01 --to 2026-06-01 --mark
  patra coverage check crossref --compare ids
  patra coverage fill crossref --disputed`,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			report, err := a.checkCoverage(c.Context(), s, args[0], f)
			if err != nil {
				return err
			}
			if out != "table" {
				err = printValue(a.stdout, out, report)
			} else {
				a.printCheck(report)
			}
			if n := int64(len(report.Differences)); err == nil && n > 0 {
				err = patra.Incomplete("%s from what the provider has now", verb(n, "1 window differs", thousands(n)+" windows differ"))
			}
			return err
		},
	}
	f.add(c)
	c.Flags().StringVar(&f.compare, "compare", engine.CompareAuto, "auto, ids or counts")
	c.Flags().BoolVar(&f.mark, "mark", false, "put what differs into dispute")
	c.Flags().StringVar(&a.contact, "contact", "", "address sent where the provider asks for one, in place of contact")
	formatFlag(c, &out)
	return c
}

// checkCoverage compares the windows of the cursors that the flags name with what the provider has now.
func (a *app) checkCoverage(ctx context.Context, s *store.Store, source string, f coverageCheckFlags) (view.CheckReport, error) {
	if !slices.Contains(engine.CheckWays, f.compare) {
		return view.CheckReport{}, patra.Invalid("compare", "{compare} %q is none of %s", f.compare, strings.Join(engine.CheckWays, ", "))
	}
	cursors, err := f.cursors(ctx, s, source)
	if err != nil {
		return view.CheckReport{}, err
	}
	span, err := f.clip(patra.Window{From: -1 << 62, To: 1 << 62})
	if err != nil {
		return view.CheckReport{}, err
	}
	cfg, err := a.load()
	if err != nil {
		return view.CheckReport{}, err
	}
	shown := time.Now()
	c := &engine.Checker{Store: s, Questions: &planner.Planner{Store: s}, Now: now}
	c.Provider = func(cur patra.Cursor) engine.Provider {
		return a.prober(cfg, s, patra.WorkScope{Source: cur.Source, Endpoint: cur.Endpoint, Operation: cur.Operation, Repository: cur.Repository})
	}
	c.Progress = func(cur patra.Cursor, done, all int) {
		if time.Since(shown) > quiet {
			shown = time.Now()
			fmt.Fprintf(a.stderr, "%s/%s: %d/%d windows compared\n", cur.Source, cur.Endpoint, done, all)
		}
	}
	return c.Check(ctx, engine.CheckRequest{Cursors: cursors, Span: span, By: f.compare, Mark: f.mark, Actor: actor(ctx)})
}

// namedIDs is how many ids of a window a person is shown.
const namedIDs = 10

func (a *app) printCheck(r view.CheckReport) {
	for _, d := range r.Differences {
		at := strings.TrimSpace(d.Source + " " + d.Repository)
		if d.New+d.Gone+d.Unnamed > 0 {
			fmt.Fprintf(a.stdout, "%s  %s: the provider lists %s, %s read\n", at, d.Window, thousands(d.Counted), verb(d.Seen, "1 was", thousands(d.Seen)+" were"))
		} else {
			fmt.Fprintf(a.stdout, "%s  %s: the provider counts %s, %s were read\n", at, d.Window, thousands(d.Counted), thousands(d.Seen))
		}
		a.printIDs("not stored", d.NotStored, d.New)
		a.printIDs("not listed", d.NotListed, d.Gone)
		if d.Unnamed > 0 {
			fmt.Fprintf(a.stdout, "    not listed  %s that were read, under ids that are not known any more\n", thousands(d.Unnamed))
		}
	}
	n := int64(len(r.Differences))
	fmt.Fprintf(a.stdout, "%s compared%s, %s.\n", plural(int64(r.Compared), "window"), howCompared(r), verb(n, "1 differs", fmt.Sprintf("%d differ", n)))
	if r.ByCounts > 0 {
		fmt.Fprintf(a.stdout, "Of %s only counts were compared: a record that left and one that arrived are not seen there.\n", plural(int64(r.ByCounts), "window"))
	}
	if r.Skipped > 0 {
		fmt.Fprintf(a.stdout, "%s could not be compared.\n", plural(int64(r.Skipped), "window"))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(a.stdout, "Note: %s. --compare ids lists windows of any length.\n", note)
	}
	switch {
	case n == 0:
	case r.Marked:
		fmt.Fprintf(a.stdout, "They are in dispute now. Next: patra coverage fill %s --disputed\n", r.Differences[0].Source)
	default:
		fmt.Fprintln(a.stdout, "Next: the same with --mark, which puts them into dispute")
	}
}

// howCompared says by what windows were compared, where that was the same for all.
func howCompared(r view.CheckReport) string {
	switch {
	case r.Compared == 0:
		return ""
	case r.ByIDs == r.Compared:
		return " by ids"
	case r.ByCounts == r.Compared:
		return " by counts"
	}
	return fmt.Sprintf(", %d by ids and %d by counts", r.ByIDs, r.ByCounts)
}

// printIDs names the first of some ids.
func (a *app) printIDs(what string, ids []string, all int64) {
	if all == 0 {
		return
	}
	shown := ids[:min(len(ids), namedIDs)]
	more := ""
	if rest := all - int64(len(shown)); rest > 0 {
		more = fmt.Sprintf(" and %s more", thousands(rest))
	}
	fmt.Fprintf(a.stdout, "    %s  %s%s\n", what, strings.Join(shown, ", "), more)
}
