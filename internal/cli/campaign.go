package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/query"
	"patra/internal/store"
)

// campaignView is how far a campaign is.
type campaignView struct {
	patra.Cursor
	Query  string               `json:"query"`
	Extent patra.Window         `json:"extent"` // all that its plans asked for
	Done   float64              `json:"done"`   // share of the extent that is covered
	States map[patra.Status]int `json:"slices"`
	Stored int64                `json:"records"`
	Paused bool                 `json:"paused"`
	ETA    *patra.Instant       `json:"eta,omitempty"` // if it goes on as it went
}

func (a *app) campaignCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "campaign", Short: "Look at backfills and updates, hold them back and let them go on", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(listCmd(a, "list", "List campaigns: how far they are, and when they will be done", nil, nil, campaigns, campaignColumns))
	c.AddCommand(a.holdCmd("pause", "Hold a campaign back: nothing more of it is planned or begun", (*store.Store).Pause, func(id int64) (string, string) {
		return fmt.Sprintf("Campaign %d is paused.", id), fmt.Sprintf("patra campaign resume %d", id)
	}))
	c.AddCommand(a.holdCmd("resume", "Let a campaign go on", (*store.Store).Resume, func(id int64) (string, string) {
		return fmt.Sprintf("Campaign %d goes on.", id), "patra serve, or patra backfill SOURCE; patra campaign list shows how far it is"
	}))
	return c
}

// cursorControlFunc is a store method that steers a cursor.
type cursorControlFunc func(s *store.Store, ctx context.Context, target patra.Target, reason, actor string) (patra.ControlResult, error)

func (a *app) holdCmd(use, short string, do cursorControlFunc, told func(id int64) (said, next string)) *cobra.Command {
	var reason string
	var out format
	c := &cobra.Command{
		Use: use + " ID", Short: short, Args: exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return patra.Invalid("", "%q is not the id of a campaign; see patra campaign list", args[0])
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			found, err := s.Cursors(c.Context(), store.Filter{Cursor: id})
			if err != nil {
				return err
			}
			if len(found) == 0 || found[0].Campaign == "" {
				return patra.Invalid("", "there is no campaign %d; see patra campaign list", id)
			}
			target := patra.WorkTarget(patra.ScopeCursor, id)
			st := controlOutcome{Target: target.String()}
			if st.ControlResult, err = do(s, c.Context(), target, reason, actor(c.Context())); err != nil {
				return err
			}
			st.Said, st.Next = told(id)
			return a.done(out, st, st.Said, st.Next)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for those who ask later")
	formatFlag(c, &out)
	return c
}

// actor is who does something: whoever calls us, or else who sits at the terminal.
func actor(ctx context.Context) string {
	if name := patra.ActorOf(ctx); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "cli"
}

func campaigns(ctx context.Context, s *store.Store, f store.Filter) ([]campaignView, error) {
	cursors, err := s.Cursors(ctx, f)
	if err != nil {
		return nil, err
	}
	views := []campaignView{}
	for _, c := range cursors {
		if c.Campaign == "" {
			continue
		}
		v, err := campaign(ctx, s, c)
		if err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

func campaign(ctx context.Context, s *store.Store, c patra.Cursor) (v campaignView, err error) {
	v.Cursor = c
	if v.Extent, err = s.PlannedWindow(ctx, c.ID); err != nil {
		return v, err
	}
	if v.States, err = s.SliceStates(ctx, c.ID); err != nil {
		return v, err
	}
	if v.Paused, err = s.Paused(ctx, c.ID); err != nil {
		return v, err
	}
	if v.Query, err = queryOf(ctx, s, c.ID); err != nil {
		return v, err
	}
	answers, err := s.CoverageEntries(ctx, c.ID)
	if err != nil {
		return v, err
	}
	v.progress(answers)
	return v, nil
}

// queryText is a stored query as a person would write it.
func queryText(raw json.RawMessage) string {
	n, err := query.ParseJSON(raw)
	if err != nil || n.Hash() == query.All().Hash() {
		return ""
	}
	return n.String()
}

// progress works out how much of the extent is covered, and when the rest will be if it goes on as it went.
func (v *campaignView) progress(answers []patra.CoverageEntry) {
	covered := patra.CoverageOf(answers).Clip(v.Extent)
	var done, whole patra.Instant = 0, v.Extent.To - v.Extent.From
	for _, w := range covered {
		done += w.To - w.From
	}
	for _, a := range answers {
		v.Stored += a.Stored
	}
	if whole > 0 {
		v.Done = float64(done) / float64(whole)
	}
	if pace := pace(answers); pace > 0 && done < whole && !v.Paused {
		at := now().Add(time.Duration(float64(whole-done)/pace) * time.Microsecond)
		v.ETA = &at
	}
}

// paceAnswers is how many of the newest answers tell the pace.
const paceAnswers = 200

// pace is how much of the extent is covered in how much time.
func pace(answers []patra.CoverageEntry) float64 {
	newest := newestFirst(answers, paceAnswers)
	if len(newest) < 2 {
		return 0
	}
	var span patra.Instant
	for _, a := range newest[:len(newest)-1] {
		span += a.Window.To - a.Window.From
	}
	took := newest[0].ClosedAt - newest[len(newest)-1].ClosedAt
	if took <= 0 {
		return 0
	}
	return float64(span) / float64(took)
}

var campaignColumns = columns[campaignView]{
	names: []string{"id", "source", "operation", "campaign", "query", "extent", "done", "records", "slices", "state", "done by"},
	row: func(v campaignView) []any {
		state, eta := "running", ""
		switch {
		case v.Paused:
			state = "paused"
		case v.Done >= 1:
			state = "done"
		case v.States[patra.Ready]+v.States[patra.Partial] == 0:
			state = "idle"
		}
		if v.ETA != nil {
			eta = v.ETA.Time().Format("2006-01-02 15:04")
		}
		counts := fmt.Sprintf("%d done, %d open, %d failed", v.States[patra.Succeeded], v.States[patra.Ready]+v.States[patra.Partial], v.States[patra.Failed])
		return []any{v.ID, v.Source + "/" + v.Endpoint, v.Operation, v.Campaign, v.Query, v.Extent, fmt.Sprintf("%.1f %%", 100*v.Done), thousands(v.Stored), counts, state, eta}
	},
	empty: "No campaigns. Next: patra backfill SOURCE --from DAY",
}

// newestFirst are the answers that were closed last.
func newestFirst(answers []patra.CoverageEntry, most int) []patra.CoverageEntry {
	sorted := slices.Clone(answers)
	slices.SortFunc(sorted, func(a, b patra.CoverageEntry) int { return cmp.Compare(b.ClosedAt, a.ClosedAt) })
	return sorted[:min(len(sorted), most)]
}
