package cli

import (
	"context"
	"errors"

	"patra"
	"patra/internal/api"
)

// waiverRoutes sign stretches off, and take that back.
func (d *apiHandlers) waiverRoutes(s *api.Server) {
	type waiverGiven struct {
		Body struct {
			Cursor int64  `json:"cursor" minimum:"1" doc:"id of a watermark"`
			From   string `json:"from" minLength:"1" maxLength:"40" doc:"start of the stretch, inclusive: 2026-01-31 or 2026-01-31T09:30:00Z"`
			To     string `json:"to" minLength:"1" maxLength:"40" doc:"end of the stretch, exclusive"`
			Reason string `json:"reason" minLength:"1" maxLength:"1000" doc:"why; it stays with the stretch for ever"`
		}
	}
	api.Post(s, "/waivers", api.Steer, api.Doc{ID: "waive", Summary: "Sign a stretch off as missing, so that the watermark passes it"}, func(ctx context.Context, in *waiverGiven) (waiverResult, error) {
		b := in.Body
		_, cur, word, err := d.app.waiverScope(ctx, waiverFlags{timeRangeFlags: timeRangeFlags{from: b.From, to: b.To, cursor: b.Cursor}, reason: b.Reason}, "")
		if err != nil {
			return waiverResult{}, err
		}
		return waive(ctx, d.store, cur, word)
	})
	type readWord struct {
		Body struct {
			Source string `json:"source" minLength:"1" maxLength:"64" doc:"a source"`
			Reason string `json:"reason" minLength:"1" maxLength:"1000" doc:"why"`
		}
	}
	for _, r := range []struct {
		path, id, summary string
		revoke            bool
	}{
		{"/read-acceptances", "accept-read", "Accept windows of a source that were read without a proof: they stay READ, and are no gap", false},
		{"/read-acceptances/revoke", "revoke-read-acceptance", "Take that back: the windows are gaps again", true},
	} {
		api.Post(s, r.path, api.Steer, api.Doc{ID: r.id, Summary: r.summary}, func(ctx context.Context, in *readWord) (readAcceptanceResult, error) {
			cursors, err := timeRangeFlags{}.cursors(ctx, d.store, in.Body.Source)
			if err != nil {
				return readAcceptanceResult{}, err
			}
			return acceptRead(ctx, d.store, patra.ReadAcceptance{Source: cursors[0].Source, Reason: in.Body.Reason, By: actor(ctx)}, r.revoke)
		})
	}
	type waiverRevoke struct {
		ID   int64 `path:"id" minimum:"1"`
		Body struct {
			Reason string `json:"reason" minLength:"1" maxLength:"1000" doc:"why"`
		}
	}
	api.Post(s, "/waivers/{id}/revoke", api.Steer, api.Doc{ID: "revoke-waiver", Summary: "Take a waiver back; a watermark that had passed it goes back too"}, func(ctx context.Context, in *waiverRevoke) (waiverResult, error) {
		w, err := d.store.Waiver(ctx, in.ID)
		if errors.Is(err, patra.ErrNotFound) {
			return waiverResult{}, api.NotFound("waiver", in.ID)
		}
		if err != nil {
			return waiverResult{}, err
		}
		if w.RevokedAt != nil {
			return waiverResult{}, patra.Invalid("", "waiver %d was taken back at %s", w.ID, w.RevokedAt)
		}
		cur, err := timeRangeFlags{cursor: w.CursorID}.one(ctx, d.store, "")
		if err != nil {
			return waiverResult{}, err
		}
		return unwaive(ctx, d.store, cur, patra.Waiver{ID: w.ID, CursorID: w.CursorID, Window: w.Window, Reason: in.Body.Reason, By: actor(ctx)})
	})
}
