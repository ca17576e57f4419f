package cli

import (
	"context"

	"patra/internal/api"
)

// steerBody is whom to steer, and why.
type steerBody struct {
	Target string `json:"target" minLength:"1" maxLength:"200" doc:"a source (crossref), an endpoint (crossref/works), an operation (crossref/works/HARVEST, crossref/*/BACKFILL), or plan:3, slice:7, task:9, cursor:2"`
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"why, for those who ask later"`
}

// controlRoutes steer work. Nobody is asked whether they are sure: a program has no terminal, and a page asks by itself.
func (d *apiHandlers) controlRoutes(s *api.Server) {
	type steered struct{ Body steerBody }
	sure := true
	for _, c := range []struct {
		word, summary string
		do            func(reason *string) controlAction
	}{
		{"pause", "Hold work back: nothing more of it is planned or begun", pausing},
		{"resume", "Let work go on that was paused, or that stopped by itself", d.app.resuming},
		{"cancel", "Call off a plan, a slice or a task", func(reason *string) controlAction { return d.app.cancelling(reason, &sure) }},
		{"retry", "Queue failed and cancelled tasks again", retrying},
	} {
		api.Post(s, "/controls/"+c.word, api.Steer, api.Doc{ID: c.word, Summary: c.summary}, func(ctx context.Context, in *steered) (controlOutcome, error) {
			return d.steer(ctx, in.Body.Target, c.do(&in.Body.Reason))
		})
	}
	type priorityWish struct {
		Body struct {
			Target   string `json:"target" minLength:"1" maxLength:"200" doc:"as for pause"`
			Priority int    `json:"priority" minimum:"1" maximum:"9" doc:"1 is first, 9 is last"`
		}
	}
	api.Post(s, "/controls/priority", api.Steer, api.Doc{ID: "priority", Summary: "Give work another place in the queue"}, func(ctx context.Context, in *priorityWish) (controlOutcome, error) {
		return d.steer(ctx, in.Body.Target, prioritising(in.Body.Priority))
	})
}

func (d *apiHandlers) steer(ctx context.Context, text string, do controlAction) (controlOutcome, error) {
	t, err := d.app.target(ctx, d.store, text)
	if err != nil {
		return controlOutcome{}, err
	}
	return do.to(ctx, d.store, t)
}
