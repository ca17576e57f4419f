package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

// timeRangeFlags name a stretch of the time of one source's cursors.
type timeRangeFlags struct {
	from, to string
	cursor   int64
}

func (f *timeRangeFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.from, "from", "", "start of the stretch, inclusive: 2026-01-31 or 2026-01-31T09:30:00Z")
	fl.StringVar(&f.to, "to", "", "end of the stretch, exclusive")
	fl.Int64Var(&f.cursor, "cursor", 0, "only this watermark of the source, see patra cursor list")
}

// clip narrows a window to what the flags name.
func (f timeRangeFlags) clip(w patra.Window) (patra.Window, error) {
	from, err := instantField("from", f.from)
	if err != nil {
		return w, err
	}
	to, err := instantField("to", f.to)
	if err != nil {
		return w, err
	}
	if from != nil && to != nil && *from >= *to {
		return w, patra.Invalid("from", "{from} %s does not lie before {to} %s", f.from, f.to)
	}
	if from != nil {
		w.From = max(w.From, *from)
	}
	if to != nil {
		w.To = min(w.To, *to)
	}
	return w, nil
}

// whole is the stretch when both ends must be named.
func (f timeRangeFlags) whole() (patra.Window, error) {
	if f.from == "" || f.to == "" {
		return patra.Window{}, patra.Invalid("", "say which stretch: {from} DAY {to} DAY")
	}
	return f.clip(patra.Window{From: -1 << 62, To: 1 << 62})
}

// cursors are the watermarks that the flags name; of all sources if none is named.
func (f timeRangeFlags) cursors(ctx context.Context, s *store.Store, source string) ([]patra.Cursor, error) {
	found, err := s.Cursors(ctx, store.Filter{Source: source, Cursor: f.cursor, Limit: 10_000})
	if err == nil && len(found) == 0 && (source != "" || f.cursor != 0) {
		err = patra.Absent("%s has no such watermark: nothing of it was harvested; see patra cursor list", orAnything(source))
	}
	return found, err
}

func orAnything(source string) string {
	if source == "" {
		return "the store"
	}
	return source
}

// one is the only watermark that the flags name: a person's word is about one of them.
func (f timeRangeFlags) one(ctx context.Context, s *store.Store, source string) (patra.Cursor, error) {
	found, err := f.cursors(ctx, s, source)
	if err != nil {
		return patra.Cursor{}, err
	}
	if len(found) > 1 {
		var lines []string
		for _, c := range found {
			query, err := queryOf(ctx, s, c.ID)
			if err != nil {
				return patra.Cursor{}, err
			}
			line := fmt.Sprintf("--cursor %d is %s/%s %s by %s%s", c.ID, c.Source, c.Endpoint, c.Operation, c.Key, ofCampaign(c))
			if c.Repository != "" {
				line += " of " + c.Repository
			}
			if query != "" {
				line += ", query " + query
			}
			lines = append(lines, line)
		}
		return patra.Cursor{}, patra.Invalid("", "%s has several watermarks; say which one:\n  %s", source, strings.Join(lines, "\n  "))
	}
	return found[0], nil
}

// extent is the time that a cursor answers for. planned is where the last plan ended.
func extent(ctx context.Context, s *store.Store, c patra.Cursor) (span patra.Window, planned patra.Instant, err error) {
	return s.CoverableWindow(ctx, c, now())
}

// lastPlan is the newest plan of a cursor.
func lastPlan(ctx context.Context, s *store.Store, cursorID int64) (*patra.Plan, error) {
	plans, err := s.Plans(ctx, store.Filter{Cursor: cursorID, Limit: 1})
	if err != nil || len(plans) == 0 {
		return nil, err
	}
	return &plans[0], nil
}
