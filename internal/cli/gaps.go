package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
	"patra/internal/view"
)

func (a *app) gapsCmd() *cobra.Command {
	var f timeRangeFlags
	var out format
	c := &cobra.Command{
		Use: "gaps [SOURCE]", Short: "List what is missing, what is in dispute, and what to do about it", Args: atMostOne,
		Long: "List every stretch that is missing between the origin of a watermark and now less the safety lag, with the reason and\nthe next command: never planned, failed, cancelled, impossible to cut, in dispute. What somebody waived stays listed,\nand what the next harvest begins with is listed as ahead, which is no gap. Exit code 4 means that there is a gap that\nnobody waived.",
		Example: `  patra coverage gaps
  patra coverage gaps crossref --from 2026-01-01 --to 2026-02-01 -o json`,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			source := ""
			if len(args) == 1 {
				source = args[0]
			}
			if source != "" {
				if _, err := a.target(c.Context(), s, source); err != nil {
					return err
				}
			}
			gaps, err := gapViews(c.Context(), s, source, f)
			if err != nil {
				return err
			}
			if out == "table" {
				known, err := s.Cursors(c.Context(), store.Filter{Limit: 1})
				if err != nil {
					return err
				}
				printGaps(a.stdout, gaps, len(known) == 0)
			} else if err := printRows(a.stdout, out, gaps, columns[patra.GapView]{}); err != nil {
				return err
			}
			return view.TallyOf(gaps).Problem()
		},
	}
	f.add(c)
	formatFlag(c, &out)
	return c
}

func gapViews(ctx context.Context, s *store.Store, source string, f timeRangeFlags) ([]patra.GapView, error) {
	cursors, err := f.cursors(ctx, s, source)
	if err != nil {
		return nil, err
	}
	several := map[string]int{}
	for _, c := range cursors {
		several[c.Source]++
	}
	controls, err := s.Controls(ctx)
	if err != nil {
		return nil, err
	}
	views := []patra.GapView{}
	for _, c := range cursors {
		known, err := s.CursorCoverage(ctx, c, now())
		if err != nil {
			return nil, err
		}
		if known.Span, err = f.clip(known.Span); err != nil {
			return nil, err
		}
		views = append(views, view.CursorFacts{CursorCoverage: known, Named: several[c.Source] > 1 || f.cursor != 0}.Gaps(controls)...)
	}
	return views, nil
}

func printGaps(w io.Writer, gaps []patra.GapView, untouched bool) {
	if untouched {
		fmt.Fprintln(w, "Nothing was harvested yet, so that nothing can be missing. patra harvest SOURCE begins.")
		return
	}
	if len(gaps) == 0 {
		fmt.Fprintln(w, "Nothing is missing.")
		return
	}
	var last int64
	for _, g := range gaps {
		if g.CursorID != last {
			fmt.Fprintf(w, "%s/%s %s%s\n", g.Source, g.Endpoint, g.Operation, ofCampaign(patra.Cursor{Campaign: g.Campaign}))
			if g.Repository != "" {
				fmt.Fprintf(w, "  repository  %s\n", g.Repository)
			}
			last = g.CursorID
		}
		fmt.Fprintf(w, "  %s  %s\n", g.Window, strings.ToLower(string(g.Kind)))
		why := g.Why
		if g.Kind != patra.GapWaived { // somebody's own words stay as they are
			why = sentence(why)
		}
		fmt.Fprintf(w, "    %s\n    → %s\n", wrapped(why, 4), g.Next) // a command is not broken: people copy it
	}
}
