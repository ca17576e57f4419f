package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

const emptyNext = "Next: patra harvest SOURCE --from DAY --to DAY"

// listCmd makes a command that lists rows of one noun.
func listCmd[T any](a *app, use, short string, by []string, states patra.StateMachine, read func(context.Context, *store.Store, store.Filter) ([]T, error), cols columns[T]) *cobra.Command {
	var f store.Filter
	var out format
	var status string
	c := &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			if f.Status, err = knownStatus(status, states); err != nil {
				return err
			}
			rows, err := read(c.Context(), s, f)
			if err != nil {
				return err
			}
			if len(rows) == 0 && f.Source != "" {
				if _, err := a.target(c.Context(), s, f.Source); err != nil {
					return err
				}
			}
			all := cols
			all.fit = true
			if narrow(f) {
				all.empty = fmt.Sprintf("Nothing fits. %s without conditions lists all there is.", c.CommandPath())
			}
			return printRows(a.stdout, out, rows, all)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.Source, "source", "", "only this source")
	if states != nil {
		fl.StringVar(&status, "status", "", "only this state: "+strings.Join(states.States(), ", "))
	}
	for _, noun := range by {
		fl.Int64Var(map[string]*int64{"plan": &f.Plan, "task": &f.Task, "run": &f.Run}[noun], noun, 0, "only of this "+noun)
	}
	fl.IntVar(&f.Limit, "limit", 100, "at most this many, newest first")
	formatFlag(c, &out)
	return c
}

// narrow reports whether less than everything is asked for: then that there is nothing says little.
func narrow(f store.Filter) bool {
	f.Limit = 0
	return f != (store.Filter{})
}

func knownStatus(word string, m patra.StateMachine) (patra.Status, error) {
	status, err := m.State(strings.ToUpper(word))
	if err != nil {
		return "", patra.Invalid("status", "{status} %s", err)
	}
	return status, nil
}

func (a *app) plansCmd() *cobra.Command {
	return listCmd(a, "plans", "List plans", nil, patra.PlanMoves, func(ctx context.Context, s *store.Store, f store.Filter) ([]patra.Plan, error) {
		return s.Plans(ctx, f)
	},
		columns[patra.Plan]{
			names: []string{"id", "source", "operation", "window", "slices", "status", "reason", "created"},
			row: func(p patra.Plan) []any {
				return []any{p.ID, p.Source + "/" + p.Endpoint, p.Operation, p.Window, p.SliceCount, cmp.Or(string(p.Ended), string(p.Status)), p.Reason, seconds(p.CreatedAt)}
			},
			repository: func(p patra.Plan) string { return p.Repository },
			empty:      "No plans. " + emptyNext,
		})
}

func (a *app) slicesCmd() *cobra.Command {
	return listCmd(a, "slices", "List slices", []string{"plan"}, patra.SliceMoves, func(ctx context.Context, s *store.Store, f store.Filter) ([]patra.Slice, error) {
		return s.Slices(ctx, f)
	},
		columns[patra.Slice]{
			names: []string{"id", "plan", "no", "of", "purpose", "answers for", "asks for", "expected", "status", "why cut"},
			row: func(s patra.Slice) []any {
				return []any{s.ID, s.PlanID, s.No, unlessZero(s.ParentID), s.Purpose, answersFor(s), s.Fetch, expected(s), s.Status, whyCut(s)}
			},
			empty: "No slices. " + emptyNext,
		})
}

func unlessZero(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// answersFor is the window of a slice, and its ids if it is only a part.
func answersFor(s patra.Slice) string {
	if s.Spec.Range == nil {
		return s.Window.String()
	}
	return s.Window.String() + " " + s.Spec.Range.Key + " " + s.Spec.Range.IDRange.String()
}

func expected(s patra.Slice) string {
	if s.Estimate == nil {
		return ""
	}
	return fmt.Sprintf("%s by %s", thousands(s.Estimate.Records), s.Estimate.Grounds)
}

func whyCut(s patra.Slice) string {
	if s.Reslice == nil {
		return ""
	}
	return s.Reslice.Reason
}

func (a *app) tasksCmd() *cobra.Command {
	return listCmd(a, "tasks", "List tasks", []string{"plan", "task"}, patra.TaskMoves, func(ctx context.Context, s *store.Store, f store.Filter) ([]patra.Task, error) {
		return s.Tasks(ctx, f)
	},
		columns[patra.Task]{
			names: []string{"id", "plan", "slice", "window", "status", "attempts", "lease", "scan", "last error"},
			row: func(t patra.Task) []any {
				return []any{t.ID, t.PlanID, t.SliceID, t.Window, t.Status, fmt.Sprintf("%d/%d", t.Attempts, t.MaxAttempts), t.LeaseCount, t.ScanNo, faultText(t.LastError)}
			},
			repository: func(t patra.Task) string { return t.Repository },
			empty:      "No tasks. " + emptyNext,
		})
}

func (a *app) runsCmd() *cobra.Command {
	return listCmd(a, "runs", "List runs", []string{"plan", "task", "run"}, patra.RunMoves, func(ctx context.Context, s *store.Store, f store.Filter) ([]patra.Run, error) { return s.Runs(ctx, f) },
		columns[patra.Run]{
			names: []string{"id", "task", "try", "window", "status", "end", "started", "took", "error"},
			row: func(r patra.Run) []any {
				return []any{r.ID, r.TaskID, r.AttemptNo, r.Window, r.Status, yes(r.Exhausted), minutes(r.StartedAt), took(r.StartedAt, r.FinishedAt), faultText(r.Error)}
			},
			empty: "No runs. " + emptyNext,
		})
}

func (a *app) batchesCmd() *cobra.Command {
	return listCmd(a, "batches", "List the ledger: one row a page", []string{"plan", "task", "run"}, patra.BatchMoves, func(ctx context.Context, s *store.Store, f store.Filter) ([]patra.Batch, error) {
		return s.Batches(ctx, f)
	},
		columns[patra.Batch]{
			names: []string{"id", "run/batch", "scan", "phase", "page", "status", "items", "new", "changed", "same", "quar", "repaired", "end", "error"},
			row: func(b patra.Batch) []any {
				return []any{b.ID, fmt.Sprintf("%d/%d", b.RunID, b.BatchNo), b.ScanNo, b.Phase, b.Ordinal, b.Status, b.RecordCount, b.Counts.Insert, b.Counts.Update, b.Counts.Same, b.Counts.Quarantine, unlessZero(int64(b.Repairs.Total())), b.EndCode, faultText(b.Error)}
			},
			empty: "No batches, or they are in the archive (patra archive restore). " + emptyNext,
		})
}

func (a *app) cursorCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "cursor", Short: "Look at watermarks", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(listCmd(a, "list", "List watermarks", nil, nil, cursorViews,
		columns[cursorView]{
			names: []string{"id", "source", "operation", "watermark", "complete through", "origin", "field", "moves", "campaign", "query"},
			row: func(c cursorView) []any {
				return []any{unlessZero(c.ID), c.Source + "/" + c.Endpoint, c.Operation, seconds(c.Value), seconds(c.SealedThrough), seconds(c.Origin), c.Key, c.Version, c.Campaign, c.Query}
			},
			repository: func(c cursorView) string { return c.Repository },
			empty:      "No cursors. " + emptyNext,
		}))
	return c
}

// cursorView is a watermark and the question that it belongs to.
type cursorView struct {
	patra.Cursor
	Query string `json:"query,omitempty"`
}

func cursorViews(ctx context.Context, s *store.Store, f store.Filter) ([]cursorView, error) {
	cursors, err := s.Cursors(ctx, f)
	if err != nil {
		return nil, err
	}
	views := []cursorView{}
	for _, c := range cursors {
		query, err := queryOf(ctx, s, c.ID)
		if err != nil {
			return nil, err
		}
		views = append(views, cursorView{c, query})
	}
	return patrolViews(ctx, s, f, views)
}

// patrolViews adds the patrols of known records, which have no row of their own: how far they are stands in their plans.
func patrolViews(ctx context.Context, s *store.Store, f store.Filter, views []cursorView) ([]cursorView, error) {
	patrols, err := s.RefreshProgress(ctx, f.Source)
	for _, p := range patrols {
		views = append(views, cursorView{patra.Cursor{Namespace: patra.Namespace{Source: p.Source, Endpoint: p.Endpoint, Operation: patra.Update, Key: patra.RefreshKey, Scope: patra.ScopeGlobal},
			Origin: p.First, Value: p.Last, SealedThrough: p.Last, Version: p.Runs, Campaign: patra.RecordSelector{By: patra.PickStale}.Campaign()}, ""})
	}
	return views, err
}

// queryOf is the question of a cursor, which its plans know.
func queryOf(ctx context.Context, s *store.Store, cursorID int64) (string, error) {
	plans, err := s.Plans(ctx, store.Filter{Cursor: cursorID, Limit: 1})
	if err != nil || len(plans) == 0 {
		return "", err
	}
	return queryText(plans[0].ExprProto), nil
}

// minutes is a time for a table that has little room.
func minutes(i patra.Instant) string { return i.Time().Format("2006-01-02 15:04") }

// seconds is a time for a table.
func seconds(i patra.Instant) string { return i.Time().Format("2006-01-02 15:04:05") }

func took(from patra.Instant, to *patra.Instant) string {
	if to == nil {
		return ""
	}
	return fmt.Sprintf("%.1fs", float64(*to-from)/float64(patra.Second))
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// faultText is a stored fault in a few words.
func faultText(raw json.RawMessage) string {
	var f patra.Fault
	if len(raw) == 0 || json.Unmarshal(raw, &f) != nil {
		return ""
	}
	return f.Error()
}

// reasonOf is the stored reason of a trigger that came to nothing.
func reasonOf(raw json.RawMessage) string {
	var r struct {
		Error string `json:"error"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &r) != nil {
		return ""
	}
	return r.Error
}
