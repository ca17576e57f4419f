package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
	"patra/internal/view"
)

// lineageView is everything along the life of one piece of work.
type lineageView struct {
	Record  *patra.Record         `json:"record,omitempty"`
	Changes []store.RecordVersion `json:"changes,omitempty"`
	Plan    *patra.Plan           `json:"plan"`
	Slice   *patra.Slice          `json:"slice,omitempty"`
	Task    *patra.Task           `json:"task,omitempty"`
	Runs    []patra.Run           `json:"runs,omitempty"`
	Batches []patra.Batch         `json:"batches,omitempty"`
	Events  []store.CursorEvent   `json:"cursor_events"`
	Slices  []patra.Slice         `json:"slices,omitempty"`
}

func (a *app) lineageCmd() *cobra.Command {
	var out format
	var repository string
	c := &cobra.Command{
		Use: "lineage plan/ID | slice/ID | task/ID | run/ID | batch/ID | record/SOURCE/TYPE/ID", Short: "Follow one piece of work from its trigger to the watermark",
		Args:    exactArgs("plan/ID, slice/ID, task/ID, run/ID, batch/ID or record/SOURCE/TYPE/ID"),
		Example: "  patra lineage task/17\n  patra lineage record/crossref/work/10.5555/abc",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			ref := args[0]
			if repository != "" {
				ref += " " + repository // as the subjects of events name it
			}
			l, err := follow(c.Context(), s, ref)
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, l)
			}
			l.print(a.stdout)
			return nil
		},
	}
	c.Flags().StringVar(&repository, "repository", "", "repository of the record, if several behind the source have its id")
	formatFlag(c, &out)
	return c
}

// follow finds the slice behind a reference and reads the line around it.
func follow(ctx context.Context, s *store.Store, ref string) (*lineageView, error) {
	l := &lineageView{}
	kind, rest, _ := strings.Cut(ref, "/")
	if kind == "record" {
		batch, err := l.findRecord(ctx, s, rest)
		if err != nil {
			return nil, err
		}
		kind, rest = "batch", strconv.FormatInt(batch, 10)
	}
	id, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return nil, patra.Invalid("", "%q is not a reference; write task/17 or record/SOURCE/TYPE/ID", ref)
	}
	f, err := l.locate(ctx, s, kind, id)
	if err != nil {
		return nil, err
	}
	return l, l.read(ctx, s, f)
}

func (l *lineageView) findRecord(ctx context.Context, s *store.Store, ref string) (int64, error) {
	rec, err := view.RecordBySubject(ctx, s, ref)
	if errors.Is(err, view.ErrNoSubject) {
		return 0, patra.Invalid("", "%q is not SOURCE/TYPE/ID", ref)
	}
	if err != nil {
		return 0, err
	}
	if rec == nil {
		return 0, patra.Invalid("", "record %s is not stored", ref)
	}
	l.Record = rec
	l.Changes, err = s.RecordVersions(ctx, rec.ID)
	return rec.BatchID, err
}

// locate turns a reference into the plan and, below it, the slice that it belongs to.
func (l *lineageView) locate(ctx context.Context, s *store.Store, kind string, id int64) (store.Filter, error) {
	missing := patra.Invalid("", "there is no %s %d", kind, id)
	switch kind {
	case "plan":
		return store.Filter{Plan: id}, nil
	case "slice":
		rows, err := s.Slices(ctx, store.Filter{Slice: id})
		if err != nil || len(rows) == 0 {
			return store.Filter{}, firstErr(err, missing)
		}
		return store.Filter{Plan: rows[0].PlanID, Slice: id}, nil
	case "task":
		rows, err := s.Tasks(ctx, store.Filter{Task: id})
		if err != nil || len(rows) == 0 {
			return store.Filter{}, firstErr(err, missing)
		}
		return store.Filter{Plan: rows[0].PlanID, Slice: rows[0].SliceID}, nil
	case "run":
		rows, err := s.Runs(ctx, store.Filter{Run: id})
		if err != nil || len(rows) == 0 {
			return store.Filter{}, firstErr(err, missing)
		}
		return store.Filter{Plan: rows[0].PlanID, Slice: rows[0].SliceID}, nil
	case "batch":
		rows, err := s.Batches(ctx, store.Filter{Batch: id})
		if err != nil || len(rows) == 0 {
			return store.Filter{}, firstErr(err, missing)
		}
		return store.Filter{Plan: rows[0].PlanID, Slice: rows[0].SliceID}, nil
	}
	return store.Filter{}, patra.Invalid("", "%q is none of plan, slice, task, run, batch, record", kind)
}

func firstErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// most bounds how many rows of each kind a line shows.
const most = 1000

func (l *lineageView) read(ctx context.Context, s *store.Store, f store.Filter) error {
	plans, err := s.Plans(ctx, store.Filter{Plan: f.Plan})
	if err != nil {
		return err
	}
	if len(plans) == 0 {
		return patra.Invalid("", "there is no plan %d", f.Plan)
	}
	l.Plan = &plans[0]
	f.Limit = most
	if l.Events, err = s.CursorEvents(ctx, f); err != nil {
		return err
	}
	if f.Slice == 0 {
		l.Slices, err = s.Slices(ctx, f)
		return err
	}
	slices, err := s.Slices(ctx, f)
	if err != nil {
		return err
	}
	tasks, err := s.Tasks(ctx, f)
	if err != nil {
		return err
	}
	l.Slice, l.Task = &slices[0], &tasks[0]
	if l.Runs, err = s.Runs(ctx, f); err != nil {
		return err
	}
	l.Batches, err = s.Batches(ctx, f)
	return err
}

func (l *lineageView) print(w io.Writer) {
	if r := l.Record; r != nil {
		fmt.Fprintf(w, "record    %s/%s/%s rev %d, first seen %s\n", r.Source, r.Type, r.ProviderID, r.Rev, r.FirstSeen)
		if r.Repository != "" {
			fmt.Fprintf(w, "  of %s\n", r.Repository)
		}
		for _, c := range l.Changes {
			fmt.Fprintf(w, "  rev %-3d %s in batch %d, observed %s\n", c.Rev, c.Change, c.BatchID, c.ObservedAt)
		}
	}
	p := l.Plan
	fmt.Fprintf(w, "trigger   %d\nplan      %d %s %s, %s\n", p.InstanceID, p.ID, p.Key, p.Status, plural(p.SliceCount, "slice"))
	for _, s := range l.Slices {
		fmt.Fprintf(w, "  slice   %d %s %s %s\n", s.ID, s.Purpose, s.Window, s.Status)
	}
	if s := l.Slice; s != nil {
		fmt.Fprintf(w, "slice     %d %s answers for %s, asks for %s, %s\n", s.ID, s.Purpose, s.Window, s.Fetch, s.Status)
	}
	if t := l.Task; t != nil {
		fmt.Fprintf(w, "task      %d %s, attempt %d of %d %s\n", t.ID, t.Status, t.Attempts, t.MaxAttempts, faultText(t.LastError))
	}
	for _, r := range l.Runs {
		fmt.Fprintf(w, "run       %d attempt %d %s, scan %d %s\n", r.ID, r.AttemptNo, r.Status, r.ScanNo, faultText(r.Error))
	}
	for _, b := range l.Batches {
		fmt.Fprintf(w, "batch     %d run %d scan %d %s page %d %s, %s %s %s\n", b.ID, b.RunID, b.ScanNo, strings.ToLower(string(b.Phase)), b.Ordinal, b.Status, plural(b.RecordCount, "record"), b.EndCode, faultText(b.Error))
	}
	for _, e := range l.Events {
		fmt.Fprintf(w, "cursor    %d event %d %s %s -> %s\n", e.CursorID, e.Seq, e.Cause, e.From, e.To)
	}
}
