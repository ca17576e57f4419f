package cli

import (
	"context"

	"patra/internal/api"
)

func (d *apiHandlers) scheduleRoutes(s *api.Server) {
	api.Get(s, "/schedules", api.Look, api.Doc{ID: "schedules", Summary: "Schedules, when they fire next and what came of the last time"}, func(ctx context.Context, _ *api.EmptyInput) (api.List[scheduleView], error) {
		views, err := scheduleViews(ctx, d.store, d.cfg)
		return api.All(views), err
	})
}
