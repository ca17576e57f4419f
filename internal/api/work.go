package api

import (
	"context"
	"net/http"

	"patra"
	"patra/internal/store"
)

// WorkFilter is how the lists of work can be narrowed.
type WorkFilter struct {
	Page
	Source string       `query:"source" maxLength:"64"`
	Status patra.Status `query:"status" maxLength:"32"`
	Plan   int64        `query:"plan" minimum:"1"`
	Slice  int64        `query:"slice" minimum:"1"`
	Task   int64        `query:"task" minimum:"1"`
	Run    int64        `query:"run" minimum:"1"`
	Cursor int64        `query:"watermark" minimum:"1" doc:"id of a cursor"`
}

// filter is what the store is asked: one row more than is wanted, to know whether there are more.
func (n WorkFilter) filter() (store.Filter, error) {
	p, err := n.part()
	return store.Filter{Source: n.Source, Status: n.Status, Plan: n.Plan, Slice: n.Slice, Task: n.Task, Run: n.Run, Cursor: n.Cursor, Before: p.Before, Limit: p.Limit, Walk: p.Walk}, err
}

// knownState refuses a state that nothing of its kind can ever be in.
func knownState(wanted patra.Status, of patra.StateMachine) error {
	if _, err := of.State(string(wanted)); err != nil {
		return Refuse(http.StatusUnprocessableEntity, "status %s", err)
	}
	return nil
}

// listing is a route that lists rows of one noun, which are in one of some states.
func listing[T any](s *Server, path, id, summary string, states patra.StateMachine, read func(context.Context, store.Filter) ([]T, error), key func(T) int64) {
	Get(s, path, Look, Doc{ID: id, Summary: summary}, func(ctx context.Context, in *WorkFilter) (List[T], error) {
		f, err := in.filter()
		if err == nil {
			err = knownState(in.Status, states)
		}
		if err != nil {
			return List[T]{}, err
		}
		rows, err := read(ctx, f)
		return partialListPage(in.Page, rows, key, f.Walk), err
	})
}

// ByID is which row is wanted.
type ByID struct {
	ID int64 `path:"id" minimum:"1"`
}

// single is a route for one row.
func single[T any](s *Server, path, id, noun string, read func(context.Context, store.Filter) ([]T, error), by func(int64) store.Filter) {
	Get(s, path, Look, Doc{ID: id, Summary: "One " + noun}, func(ctx context.Context, in *ByID) (row T, err error) {
		f := by(in.ID)
		f.Limit = 1
		rows, err := read(ctx, f)
		switch {
		case err != nil:
			return row, err
		case len(rows) == 0:
			return row, NotFound(noun, in.ID)
		}
		return rows[0], nil
	})
}

// work registers the line of work: plans, slices, tasks, runs, pages.
func (s *Server) work() {
	st := s.Store
	listing(s, "/plans", "plans", "Plans, newest first", patra.PlanMoves, st.Plans, func(p patra.Plan) int64 { return p.ID })
	single(s, "/plans/{id}", "plan", "plan", st.Plans, func(id int64) store.Filter { return store.Filter{Plan: id} })
	listing(s, "/slices", "slices", "Slices, newest first", patra.SliceMoves, st.Slices, func(p patra.Slice) int64 { return p.ID })
	single(s, "/slices/{id}", "slice", "slice", st.Slices, func(id int64) store.Filter { return store.Filter{Slice: id} })
	listing(s, "/tasks", "tasks", "Tasks, newest first", patra.TaskMoves, st.Tasks, func(p patra.Task) int64 { return p.ID })
	single(s, "/tasks/{id}", "task", "task", st.Tasks, func(id int64) store.Filter { return store.Filter{Task: id} })
	listing(s, "/runs", "runs", "Attempts, newest first", patra.RunMoves, st.Runs, func(p patra.Run) int64 { return p.ID })
	single(s, "/runs/{id}", "run", "run", st.Runs, func(id int64) store.Filter { return store.Filter{Run: id} })
	listing(s, "/batches", "batches", "Pages of the ledger, newest first", patra.BatchMoves, st.Batches, func(p patra.Batch) int64 { return p.ID })
	single(s, "/batches/{id}", "batch", "batch", st.Batches, func(id int64) store.Filter { return store.Filter{Batch: id} })
}
