package cli

import (
	"context"

	"patra/internal/api"
)

// taskRoutes say why a task is where it is.
func (d *apiHandlers) taskRoutes(s *api.Server) {
	type one struct {
		ID int64 `path:"id"`
	}
	api.Get(s, "/tasks/{id}/why", api.Look, api.Doc{ID: "why-task", Summary: "Why a task waits, what it does, or how it ended"}, func(ctx context.Context, in *one) (*taskExplanation, error) {
		return d.app.why(ctx, d.store, d.cfg, in.ID)
	})
}
