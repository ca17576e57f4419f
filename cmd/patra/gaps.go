package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

// gapView is a gap with what a person must know about it.
type gapView struct {
	Source    string          `json:"source"`
	Endpoint  string          `json:"endpoint"`
	Operation patra.Operation `json:"operation"`
	Campaign  string          `json:"campaign,omitempty"`
	patra.Gap
	Why  string `json:"why"`
	Next string `json:"next"`
}

func (a *app) gapsCmd() *cobra.Command {
	var f stretchFlags
	var out format
	c := &cobra.Command{
		Use: "gaps [SOURCE]", Short: "List what is missing, what is in dispute, and what to do about it", Args: atMostOne,
		Long: "List every stretch that is missing between the origin of a watermark and now less the safety lag, with the reason and\nthe next command: never planned, failed, cancelled, impossible to cut, in dispute. What somebody waived stays listed.\nExit code 4 means that there is a gap that nobody waived.",
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
				printGaps(a.stdout, gaps)
			} else if err := printRows(a.stdout, out, gaps, columns[gapView]{}); err != nil {
				return err
			}
			return gapVerdict(gaps)
		},
	}
	f.add(c)
	formatFlag(c, &out)
	return c
}

// gapVerdict is nil only when nothing is missing that somebody has not signed off.
func gapVerdict(gaps []gapView) error {
	missing, disputed := 0, 0
	for _, g := range gaps {
		switch {
		case g.Kind == patra.GapDisputed:
			disputed++
		case g.Open():
			missing++
		}
	}
	if missing+disputed == 0 {
		return nil
	}
	return incomplete("%s missing, %s in dispute", plural(int64(missing), "stretch"), plural(int64(disputed), "stretch"))
}

func gapViews(ctx context.Context, s *store.Store, source string, f stretchFlags) ([]gapView, error) {
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
	views := []gapView{}
	for _, c := range cursors {
		span, planned, err := extent(ctx, s, c)
		if err != nil {
			return nil, err
		}
		if span, err = f.clip(span); err != nil {
			return nil, err
		}
		gaps, err := s.Gaps(ctx, c.ID, span)
		if err != nil {
			return nil, err
		}
		for _, g := range together(gaps) {
			next := nextFor(c, g, planned, several[c.Source] > 1 || f.cursor != 0)
			if halt := haltAt(controls, c.Source, c.Endpoint); halt != nil && g.Kind == patra.GapFailed {
				next = afterHalt(halt)
			}
			views = append(views, gapView{c.Source, c.Endpoint, c.Operation, c.Campaign, g, gapReason(g), next})
		}
	}
	return views, nil
}

// together joins stretches that touch and have the same reason: forty failed days are one thing to do.
func together(gaps []patra.Gap) (joined []patra.Gap) {
	for _, g := range gaps {
		if n := len(joined) - 1; n >= 0 && joined[n].Window.To == g.Window.From && joined[n].Kind == g.Kind && g.Kind != patra.GapDisputed && gapReason(joined[n]) == gapReason(g) {
			joined[n].Window.To = g.Window.To
			continue
		}
		joined = append(joined, g)
	}
	return joined
}

// gapReason is the reason of a gap as a person would say it.
func gapReason(g patra.Gap) string {
	switch g.Kind {
	case patra.GapWaived:
		return fmt.Sprintf("%s (%s, %s)", g.Waiver.Reason, g.Waiver.By, short(g.Waiver.At))
	case patra.GapDisputed:
		return fmt.Sprintf("the provider counts %s, %s were read", said(g.Counted), thousands(*g.Seen))
	case patra.GapUnplanned:
		return "nobody has planned it"
	}
	if g.Fault == nil {
		return "no reason was kept"
	}
	return g.Fault.Error()
}

// nextFor is the command that does something about a gap.
func nextFor(c patra.Cursor, g patra.Gap, planned patra.Instant, name bool) string {
	from, to, _ := strings.Cut(g.Window.String(), "~")
	stretch := fmt.Sprintf(" %s --from %s --to %s", c.Source, from, to)
	if name {
		stretch += fmt.Sprintf(" --cursor %d", c.ID)
	}
	switch {
	case g.Kind == patra.GapWaived:
		return "patra coverage waive" + stretch + " --revoke --reason TEXT"
	case g.Kind == patra.GapDisputed:
		return "patra coverage fill" + stretch + " --disputed"
	case g.Kind == patra.GapUnplanned && c.Operation == patra.Harvest && g.Window.From >= planned && !name:
		return "patra harvest " + c.Source
	}
	return "patra coverage fill" + stretch
}

func printGaps(w io.Writer, gaps []gapView) {
	if len(gaps) == 0 {
		fmt.Fprintln(w, "Nothing is missing.")
		return
	}
	var last int64
	for _, g := range gaps {
		if g.CursorID != last {
			fmt.Fprintf(w, "%s/%s %s%s\n", g.Source, g.Endpoint, g.Operation, ofCampaign(patra.Cursor{Campaign: g.Campaign}))
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
