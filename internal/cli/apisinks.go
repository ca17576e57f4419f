package cli

import (
	"context"
	"strings"

	"patra"
	"patra/internal/api"
)

// sinkRoutes show and steer who is told of events.
func (d *apiHandlers) sinkRoutes(s *api.Server) {
	api.Get(s, "/sinks", api.Look, api.Doc{ID: "sinks", Summary: "How far each sink is, and what it would not take"}, func(ctx context.Context, _ *api.EmptyInput) (api.List[patra.SinkState], error) {
		all, err := d.app.sinkStates(ctx, d.store)
		return api.All(all), err
	})
	type sinkRewind struct {
		Name string `path:"name" maxLength:"100"`
		Body struct {
			To     string `json:"to" minLength:"1" maxLength:"40" doc:"a time such as 2026-11-01 or 2026-11-01T12:00:00Z, or START"`
			Reason string `json:"reason,omitempty" maxLength:"1000"`
		}
	}
	api.Post(s, "/sinks/{name}/rewind", api.Govern, api.Doc{ID: "rewind-sink", Summary: "Send events to a sink again"}, func(ctx context.Context, in *sinkRewind) (rewindResult, error) {
		return rewind(ctx, d.store, in.Name, "to", strings.TrimSpace(in.Body.To), in.Body.Reason)
	})
}
