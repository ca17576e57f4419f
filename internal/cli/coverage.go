package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

// coverageView is what is proved about one cursor.
type coverageView struct {
	Cursor       patra.Cursor            `json:"cursor"`
	Query        string                  `json:"query,omitempty"`
	Sealed       patra.Coverage          `json:"sealed"`
	Read         patra.Coverage          `json:"read"`
	Disputed     patra.Coverage          `json:"disputed"`
	Counted      patra.Coverage          `json:"counted"` // planned, and the provider said how much there is
	Open         patra.Coverage          `json:"open"`    // planned, and nobody knows how much there is
	Live         patra.Coverage          `json:"live"`
	Waived       patra.Coverage          `json:"waived"`
	Gaps         patra.Coverage          `json:"gaps"`
	Quarantined  int64                   `json:"quarantined"`
	KnownMissing int64                   `json:"known_missing"`
	MissingIDs   []string                `json:"missing_ids,omitempty"` // the first of them
	Disputes     []patra.EffectiveEntry  `json:"disputes"`
	Ledger       []patra.CompletenessRow `json:"ledger"` // every window that is planned or closed
	Answers      []patra.CoverageEntry   `json:"answers"`

	Witnesses map[patra.Witness]int `json:"witnesses"` // how many windows are sealed by which evidence

	planned patra.Instant // where the last plan ended: what failed behind everything that was read is missing too
}

func (a *app) coverageCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "coverage", Short: "See what is proved to be complete, find gaps and fill them", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.coverageShowCmd(), a.gapsCmd(), a.fillCmd(), a.reconcileCmd(), a.waiveCmd(), a.acceptCmd(), a.lateCmd())
	return c
}

func (a *app) coverageShowCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "show [SOURCE]", Short: "Show sealed, disputed, planned and missing days", Args: atMostOne,
		Long: "Show how far every watermark is, how far it is complete, and a calendar: the last twelve months with a sign for each\nday, and the years before with a sign for each week. A sign is the worst that is true of any part of its time.",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			var f store.Filter
			if len(args) == 1 {
				f.Source = args[0]
			}
			views, err := coverageViews(c.Context(), s, f)
			if err != nil {
				return err
			}
			if len(views) == 0 && f.Source != "" {
				if _, err := a.target(c.Context(), s, f.Source); err != nil {
					return err
				}
			}
			if out != "table" {
				return printRows(a.stdout, out, views, columns[coverageView]{})
			}
			if len(views) == 0 {
				fmt.Fprintln(a.stdout, "Nothing is covered yet. "+emptyNext)
			}
			for _, v := range views {
				v.print(a.stdout)
			}
			return nil
		},
	}
	formatFlag(c, &out)
	return c
}

func coverageViews(ctx context.Context, s *store.Store, f store.Filter) ([]coverageView, error) {
	cursors, err := s.Cursors(ctx, f)
	if err != nil {
		return nil, err
	}
	views := []coverageView{}
	for _, cur := range cursors {
		v, err := coverageOf(ctx, s, cur)
		if err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

// namedMissing is how many of the ids are named for which a provider has no record.
const namedMissing = 100

// coverageOf reads all that is known about a cursor: what is live before what is covered, so that nothing falls between.
func coverageOf(ctx context.Context, s *store.Store, cur patra.Cursor) (v coverageView, err error) {
	v.Cursor = cur
	if v.Query, err = queryOf(ctx, s, cur.ID); err != nil {
		return v, err
	}
	if _, v.planned, err = extent(ctx, s, cur); err != nil {
		return v, err
	}
	var covered patra.Coverage
	if _, covered, v.Live, err = s.Need(ctx, cur.ID); err != nil {
		return v, err
	}
	if v.Ledger, err = s.Completeness(ctx, cur.ID); err != nil {
		return v, err
	}
	if v.Answers, err = s.CoverageEntries(ctx, cur.ID); err != nil {
		return v, err
	}
	paint := patra.CoverageByState(v.Answers)
	v.Sealed, v.Read, v.Disputed = paint[patra.StateSealed], paint[patra.StateRead], paint[patra.StateDisputed]
	var counted []patra.Window
	for _, l := range v.Ledger {
		if l.State == patra.StateCounted {
			counted = append(counted, l.Window)
		}
	}
	v.Counted = patra.NewCoverage(counted...)
	v.Open = v.Live.Minus(v.Counted)
	v.Waived = covered.Minus(patra.CoverageOf(v.Answers))
	v.Gaps = patra.NewCoverage(v.span()).Minus(covered.Union(v.Live))
	v.Disputes = patra.Disputes(v.Answers)
	v.Witnesses = map[patra.Witness]int{}
	for _, spoken := range patra.EffectiveEntries(v.Answers) {
		if spoken.State == patra.StateSealed {
			v.Witnesses[cmp.Or(spoken.Witness(), walkOnly)]++
		}
		v.Quarantined += spoken.Quarantined
		v.KnownMissing += spoken.KnownMissing
		if left := namedMissing - len(v.MissingIDs); spoken.KnownMissing > 0 && left > 0 {
			ids, err := s.IDsWithoutRecord(ctx, spoken.SliceID, left)
			if err != nil {
				return v, err
			}
			v.MissingIDs = append(v.MissingIDs, ids...)
		}
	}
	return v, nil
}

// span is from the origin to the last moment that anything is known about.
func (v coverageView) span() patra.Window {
	w := patra.Window{From: v.Cursor.Origin, To: max(v.Cursor.Value, v.planned)}
	for _, a := range v.Answers {
		w.To = max(w.To, a.Window.To)
	}
	for _, c := range []patra.Coverage{v.Live, v.Waived} {
		if n := len(c); n > 0 {
			w.To = max(w.To, c[n-1].To)
		}
	}
	return w
}

func (v coverageView) print(w io.Writer) {
	fmt.Fprintf(w, "%s/%s %s by %s%s\n", v.Cursor.Source, v.Cursor.Endpoint, v.Cursor.Operation, v.Cursor.Key, ofCampaign(v.Cursor))
	if v.Cursor.Repository != "" {
		fmt.Fprintf(w, "  %-17s %s\n", "repository", v.Cursor.Repository)
	}
	if v.Query != "" {
		fmt.Fprintf(w, "  %-17s %s\n", "query", wrapped(v.Query, 20))
	}
	fmt.Fprintf(w, "  watermark         %s\n  complete through  %s\n", v.Cursor.Value, v.Cursor.SealedThrough)
	for _, line := range []struct {
		name string
		set  patra.Coverage
	}{{"sealed", v.Sealed}, {"read", v.Read}, {"disputed", v.Disputed}, {"counted", v.Counted}, {"open", v.Open}, {"waived", v.Waived}, {"gaps", v.Gaps}} {
		if len(line.set) > 0 {
			fmt.Fprintf(w, "  %-17s %s\n", line.name, days(line.set, 2))
		}
	}
	if len(v.Witnesses) > 0 {
		fmt.Fprintf(w, "  %-17s %s\n", "proved by", wrapped(v.witnesses(), 20))
	}
	if len(v.Gaps) > 0 {
		fmt.Fprintf(w, "  %-17s patra coverage gaps %s tells why\n", "", v.Cursor.Source)
	}
	if v.KnownMissing > 0 {
		fmt.Fprintf(w, "  %-17s %s that the provider names and does not give\n", "known missing", plural(v.KnownMissing, "record"))
		const shown = 5
		names := slices.Clone(v.MissingIDs[:min(len(v.MissingIDs), shown)])
		if v.KnownMissing > int64(len(names)) && len(names) > 0 {
			names = append(names, "and others (-o json)")
		}
		if len(names) > 0 {
			fmt.Fprintf(w, "  %-17s %s\n", "", wrapped(strings.Join(names, ", "), 20))
		}
	}
	if v.Quarantined > 0 {
		fmt.Fprintf(w, "  %-17s %s\n", "quarantined", plural(v.Quarantined, "item"))
	}
	for i, d := range v.Disputes {
		if i == shownDisputes {
			fmt.Fprintf(w, "  %-17s and %d more: patra coverage gaps %s\n", "", len(v.Disputes)-i, v.Cursor.Source)
			break
		}
		fmt.Fprintf(w, "  %-17s %s\n", "dispute", wrapped(fmt.Sprintf("%s: %s", d.Window, d.WhyDisputed()), 20))
	}
	v.calendar(w)
}

// walkOnly is how windows are named that were sealed by a walk to the end and a count: by an older version, or by a person.
const walkOnly patra.Witness = "v1: walk"

func (v coverageView) witnesses() string {
	var parts []string
	for _, w := range slices.Sorted(maps.Keys(v.Witnesses)) {
		parts = append(parts, fmt.Sprintf("%s (%s)", w, plural(int64(v.Witnesses[w]), "window")))
	}
	return strings.Join(parts, ", ")
}

// shownDisputes is how many disputes a person wants to see at once.
const shownDisputes = 10

// ofCampaign names the campaign of a cursor that has one.
func ofCampaign(c patra.Cursor) string {
	if c.Campaign == "" {
		return ""
	}
	return ", campaign " + c.Campaign
}
