package api

import (
	"context"
	"encoding/json"

	"patra"
	"patra/internal/query"
	"patra/internal/store"
)

// Watermark is a cursor and the question that it belongs to.
type Watermark struct {
	patra.Cursor
	Query string `json:"query,omitempty"`
}

// watermarks registers cursors and their moves.
func (s *Server) watermarks() {
	type narrow struct {
		Page
		Source string `query:"source" maxLength:"64"`
	}
	Get(s, "/cursors", Look, Doc{ID: "cursors", Summary: "Watermarks, newest first"}, func(ctx context.Context, in *narrow) (List[Watermark], error) {
		p, err := in.part()
		if err != nil {
			return List[Watermark]{}, err
		}
		rows, err := s.Store.Cursors(ctx, store.Filter{Source: in.Source, Before: p.Before, Limit: p.Limit})
		if err != nil {
			return List[Watermark]{}, err
		}
		list := NewListPage(in.Page, rows, func(c patra.Cursor) int64 { return c.ID })
		all := List[Watermark]{Items: make([]Watermark, len(list.Items)), Next: list.Next}
		for i, c := range list.Items {
			if all.Items[i], err = s.watermark(ctx, c); err != nil {
				return all, err
			}
		}
		return all, nil
	})
	Get(s, "/cursors/{id}", Look, Doc{ID: "cursor", Summary: "One watermark"}, func(ctx context.Context, in *ByID) (Watermark, error) {
		c, err := s.cursor(ctx, in.ID)
		if err != nil {
			return Watermark{}, err
		}
		return s.watermark(ctx, c)
	})
	type moves struct {
		ByID
		Page
	}
	Get(s, "/cursors/{id}/timeline", Look, Doc{ID: "timeline", Summary: "How a watermark moved, newest first"}, func(ctx context.Context, in *moves) (List[store.CursorEvent], error) {
		p, err := in.part()
		if err != nil {
			return List[store.CursorEvent]{}, err
		}
		if _, err := s.cursor(ctx, in.ID); err != nil {
			return List[store.CursorEvent]{}, err
		}
		rows, err := s.Store.Timeline(ctx, in.ID, p.Before, p.Limit)
		return NewListPage(in.Page, rows, func(e store.CursorEvent) int64 { return e.Seq }), err
	})
	type waived struct {
		Page
		Cursor int64 `query:"watermark" minimum:"1" doc:"id of a cursor"`
	}
	Get(s, "/waivers", Look, Doc{ID: "waivers", Summary: "What was signed off as missing, also what was taken back since; newest first"}, func(ctx context.Context, in *waived) (List[patra.Waiver], error) {
		if in.Cursor != 0 {
			rows, err := s.Store.Waivers(ctx, in.Cursor)
			return All(rows), err
		}
		p, err := in.part()
		if err != nil {
			return List[patra.Waiver]{}, err
		}
		rows, err := s.Store.AllWaivers(ctx, p.Before, p.Limit)
		return NewListPage(in.Page, rows, func(w patra.Waiver) int64 { return w.ID }), err
	})
}

// cursor finds a cursor.
func (s *Server) cursor(ctx context.Context, id int64) (patra.Cursor, error) {
	rows, err := s.Store.Cursors(ctx, store.Filter{Cursor: id, Limit: 1})
	switch {
	case err != nil:
		return patra.Cursor{}, err
	case len(rows) == 0:
		return patra.Cursor{}, NotFound("watermark", id)
	}
	return rows[0], nil
}

// watermark adds the question, which the plans of a cursor know.
func (s *Server) watermark(ctx context.Context, c patra.Cursor) (Watermark, error) {
	w := Watermark{Cursor: c}
	plans, err := s.Store.Plans(ctx, store.Filter{Cursor: c.ID, Limit: 1})
	if err == nil && len(plans) > 0 {
		w.Query = queryText(plans[0].ExprProto)
	}
	return w, err
}

// queryText is a query for people; nothing if it asks for everything.
func queryText(raw json.RawMessage) string {
	n, err := query.ParseJSON(raw)
	if err != nil || n.Hash() == query.All().Hash() {
		return ""
	}
	return n.String()
}
