package cli

import (
	"context"
	"fmt"

	"patra/internal/api"
)

// quarantineRoutes look at items again, or give them up.
func (d *apiHandlers) quarantineRoutes(s *api.Server) {
	api.Post(s, "/quarantine/{id}/retry", api.Steer, api.Doc{ID: "retry-quarantined", Summary: "Look at an item again: by its id, or by reading its window again"}, func(ctx context.Context, in *api.ByID) (retryResult, error) {
		item, err := setAside(ctx, d.store, fmt.Sprint(in.ID))
		if err == nil {
			err = retriable(item)
		}
		if err != nil {
			return retryResult{}, err
		}
		return d.app.retryItem(ctx, d.store, item, "")
	})
	type itemDiscard struct {
		ID   int64 `path:"id" minimum:"1"`
		Body struct {
			Reason string `json:"reason" minLength:"1" maxLength:"1000" doc:"why it is given up; it is kept"`
		}
	}
	api.Post(s, "/quarantine/{id}/discard", api.Steer, api.Doc{ID: "discard-quarantined", Summary: "Give an item up, with a reason"}, func(ctx context.Context, in *itemDiscard) (discardResult, error) {
		item, err := setAside(ctx, d.store, fmt.Sprint(in.ID))
		if err != nil {
			return discardResult{}, err
		}
		return discard(ctx, d.store, item, in.Body.Reason)
	})
}
