package api

import (
	"context"
	"slices"

	"patra"
	"patra/internal/store"
)

// mostOfLine is how many rows of each kind a line shows; the lists have the rest.
const mostOfLine = 100

// PlanLineage is a plan with all that came of it: what failed comes first.
type PlanLineage struct {
	Plan    patra.Plan           `json:"plan"`
	States  map[patra.Status]int `json:"states" doc:"how many slices are in which state"`
	Slices  []patra.Slice        `json:"slices" nullable:"false" doc:"those that failed, then the newest"`
	Tasks   []patra.Task         `json:"tasks" nullable:"false" doc:"those that failed, then those that run, then the newest"`
	Runs    []patra.Run          `json:"runs" nullable:"false" doc:"the newest attempts"`
	Batches []patra.Batch        `json:"batches" nullable:"false" doc:"pages that failed, newest first"`
	Events  []store.CursorEvent  `json:"cursor_events" nullable:"false" doc:"moves of the watermark"`
}

// lineage registers the line from a plan to the watermark.
func (s *Server) lineage() {
	Get(s, "/plans/{id}/lineage", Look, Doc{ID: "plan-lineage", Summary: "From a plan to its pages and the watermark, what failed first"}, func(ctx context.Context, in *ByID) (PlanLineage, error) {
		return s.planLine(ctx, in.ID)
	})
}

func (s *Server) planLine(ctx context.Context, id int64) (l PlanLineage, err error) {
	st := s.Store
	plans, err := st.Plans(ctx, store.Filter{Plan: id, Limit: 1})
	if err != nil {
		return l, err
	}
	if len(plans) == 0 {
		return l, NotFound("plan", id)
	}
	l.Plan = plans[0]
	if l.States, err = st.PlanStates(ctx, id); err != nil {
		return l, err
	}
	if l.Slices, err = firstThen(ctx, id, st.Slices, []patra.Status{patra.Failed}, func(x patra.Slice) int64 { return x.ID }); err != nil {
		return l, err
	}
	if l.Tasks, err = firstThen(ctx, id, st.Tasks, []patra.Status{patra.Failed, patra.Running}, func(x patra.Task) int64 { return x.ID }); err != nil {
		return l, err
	}
	if l.Runs, err = st.Runs(ctx, store.Filter{Plan: id, Limit: mostOfLine}); err != nil {
		return l, err
	}
	if l.Batches, err = st.Batches(ctx, store.Filter{Plan: id, Status: patra.Failed, Limit: mostOfLine}); err != nil {
		return l, err
	}
	l.Events, err = st.CursorEventsOfPlan(ctx, id, mostOfLine)
	return l, err
}

// firstThen are rows of a plan: those in some states, and then the newest, each once.
func firstThen[T any](ctx context.Context, plan int64, read func(context.Context, store.Filter) ([]T, error), states []patra.Status, id func(T) int64) ([]T, error) {
	all := []T{}
	for _, status := range append(slices.Clone(states), "") {
		rows, err := read(ctx, store.Filter{Plan: plan, Status: status, Limit: mostOfLine})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if len(all) < mostOfLine && !slices.ContainsFunc(all, func(have T) bool { return id(have) == id(row) }) {
				all = append(all, row)
			}
		}
	}
	return all, nil
}
