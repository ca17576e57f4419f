package api

import (
	"context"
	"net/http"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/view"
)

// What one map shows at most.
const (
	mostSegments = 2000
	mostDays     = 4000
)

// What one call looks through for gaps, at most: so many windows, and so many watermarks. What has no gaps is looked through all
// the same. Tests set them.
var mostLooked, mostSearched = 50_000, 100

// CoverageMap is a stretch of a watermark's time, and what is true of each part of it.
type CoverageMap struct {
	Cursor          Watermark       `json:"cursor"`
	Window          patra.Window    `json:"window"`
	CompleteThrough patra.Instant   `json:"complete_through"`
	Segments        []patra.Segment `json:"segments" nullable:"false" doc:"in the order of time, without overlap and without a hole"`
	Merged          int             `json:"merged" doc:"how many segments were joined with others, as there were too many: ask for less time to see them"`
	Days            []patra.MapDay  `json:"days" nullable:"false" doc:"the worst that is true of any part of a day"`
	Cut             bool            `json:"cut" doc:"there is more than one look shows: the window ends earlier than was asked for; go on from there"`
}

// GapList is what is missing.
type GapList struct {
	List[patra.GapView]
	Cut []TruncatedCursor `json:"cut" nullable:"false" doc:"watermarks of which only a part was looked at"`
}

// TruncatedCursor is a watermark of which only a part was looked at.
type TruncatedCursor struct {
	Cursor int64         `json:"cursor_id"`
	Until  patra.Instant `json:"until" doc:"ask from here on"`
}

// TimeRange is a part of a watermark's time.
type TimeRange struct {
	From string `query:"from" maxLength:"40" doc:"start, inclusive: 2026-01-31 or 2026-01-31T09:30:00Z"`
	To   string `query:"to" maxLength:"40" doc:"end, exclusive"`
}

// clip narrows a window to what was asked for.
func (b TimeRange) clip(w patra.Window) (patra.Window, error) {
	from, err := moment("from", b.From)
	if err != nil {
		return w, err
	}
	to, err := moment("to", b.To)
	if err != nil {
		return w, err
	}
	if b.From != "" && b.To != "" && from >= to {
		return w, Refuse(http.StatusUnprocessableEntity, "from does not lie before to")
	}
	if b.From != "" {
		w.From = max(w.From, from)
	}
	if b.To != "" {
		w.To = min(w.To, to)
	}
	return w, nil
}

// coverage registers maps and gaps.
func (s *Server) coverage() {
	type asked struct {
		ByID
		TimeRange
	}
	Get(s, "/cursors/{id}/coverage", Look, Doc{ID: "coverage", Summary: "What is sealed, running, failed and missing of a watermark's time", Heavy: true}, func(ctx context.Context, in *asked) (CoverageMap, error) {
		c, err := s.cursor(ctx, in.ID)
		if err != nil {
			return CoverageMap{}, err
		}
		return s.draw(ctx, c, in.TimeRange)
	})
	type missing struct {
		Page
		TimeRange
		Source string `query:"source" maxLength:"64"`
		Cursor int64  `query:"watermark" minimum:"1" doc:"id of a cursor"`
	}
	Get(s, "/gaps", Look, Doc{ID: "gaps", Summary: "What is missing or in dispute, why, and what to do about it; newest watermark first", Heavy: true}, func(ctx context.Context, in *missing) (GapList, error) {
		none := GapList{List: All[patra.GapView](nil), Cut: []TruncatedCursor{}}
		before, err := in.Before()
		if err != nil {
			return none, err
		}
		cursors, err := s.Store.Cursors(ctx, store.Filter{Source: in.Source, Cursor: in.Cursor, Before: before, Limit: mostCursors})
		if err != nil {
			return none, err
		}
		known := cursors
		if before != 0 { // those of the parts before count as well: whether a source has several is true of all parts
			if known, err = s.Store.Cursors(ctx, store.Filter{Source: in.Source, Limit: mostCursors}); err != nil {
				return none, err
			}
		}
		several := map[string]bool{}
		for _, c := range known {
			_, another := several[c.Source]
			several[c.Source] = another || in.Cursor != 0
		}
		return s.missing(ctx, cursors, in.TimeRange, in.Limit, several)
	})
}

// draw makes a map.
func (s *Server) draw(ctx context.Context, c patra.Cursor, asked TimeRange) (m CoverageMap, err error) {
	m = CoverageMap{CompleteThrough: c.SealedThrough, Segments: []patra.Segment{}, Days: []patra.MapDay{}}
	if m.Cursor, err = s.watermark(ctx, c); err != nil {
		return m, err
	}
	span, planned, err := s.Store.CoverableWindow(ctx, c, patra.InstantOf(time.Now()))
	if err != nil {
		return m, err
	}
	if m.Window, err = asked.clip(span); err != nil || m.Window.IsEmpty() {
		m.Window.To = max(m.Window.From, m.Window.To)
		return m, err
	}
	facts, until, err := s.Store.MapFacts(ctx, c.ID, m.Window)
	if err != nil {
		return m, err
	}
	m.Cut, m.Window.To = until < m.Window.To, min(m.Window.To, until)
	all := patra.Segments(m.Window, facts)
	if c.Operation == patra.Harvest { // others have nothing ahead: what they are to read is planned at once
		all = patra.SplitAhead(all, planned)
	}
	m.Days = patra.MapDays(all, mostDays)
	m.Segments, m.Merged = patra.CoalesceSegments(all, mostSegments)
	return m, nil
}

// missing lists the gaps of watermarks, of as many as there is room for. named says of which sources a command must name the
// watermark.
func (s *Server) missing(ctx context.Context, cursors []patra.Cursor, asked TimeRange, most int, named map[string]bool) (GapList, error) {
	out := GapList{List: All[patra.GapView](nil), Cut: []TruncatedCursor{}}
	controls, err := s.Store.Controls(ctx)
	if err != nil {
		return out, err
	}
	looked := 0
	for n, c := range cursors {
		if looked >= mostLooked || n >= mostSearched { // n is not 0: whoever comes again gets further
			out.Next = position(cursors[n-1].ID)
			return out, nil
		}
		span, planned, err := s.Store.CoverableWindow(ctx, c, patra.InstantOf(time.Now()))
		if err != nil {
			return out, err
		}
		if span, err = asked.clip(span); err != nil {
			return out, err
		}
		if span.IsEmpty() {
			continue
		}
		facts, until, err := s.Store.MapFacts(ctx, c.ID, span)
		if err != nil {
			return out, err
		}
		looked += len(facts.Answers) + len(facts.Slices) + len(facts.Ended)
		if until < span.To {
			span.To, out.Cut = until, append(out.Cut, TruncatedCursor{c.ID, until})
		}
		one := view.CursorFacts{CursorCoverage: patra.CursorCoverage{Cursor: c, Span: span, Planned: planned, CoverageFacts: facts.CoverageFacts}, Named: named[c.Source]}
		if one.Plans, err = s.Store.UncutPlans(ctx, c.ID, span.From); err != nil {
			return out, err
		}
		out.Items = append(out.Items, one.Gaps(controls)...)
		if len(out.Items) >= most { // those of one watermark stay together
			out.Next = position(c.ID)
			return out, nil
		}
	}
	if n := len(cursors); n == mostCursors { // there may be more, and a list must not end before them
		out.Next = position(cursors[n-1].ID)
	}
	return out, nil
}
