package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/store"
)

// lateView is how late the records of one harvest arrive, and what to do about it.
type lateView struct {
	Source   string         `json:"source"`
	Endpoint string         `json:"endpoint"`
	Field    string         `json:"field"`
	Late     patra.Lateness `json:"lateness"`
	Rate     float64        `json:"rate"`
	Lookback patra.Period   `json:"lookback"`
	Lag      float64        `json:"safety_lag_seconds"`
	Advice   string         `json:"advice"`

	Repository string `json:"repository,omitempty"`
}

// lateDays is how far back arrivals are looked at.
const lateDays = 30

func (a *app) lateCmd() *cobra.Command {
	return listCmd(a, "late", "Show how late records arrive, and how far back a harvest should look", nil, nil, lateViews, columns[lateView]{
		names: []string{"source", "field", "read", "late", "share", "look-back", "safety lag", "advice"},
		row: func(v lateView) []any {
			return []any{v.Source + "/" + v.Endpoint, v.Field, thousands(v.Late.Total), thousands(v.Late.Late), fmt.Sprintf("%.2f %%", 100*v.Rate), v.Lookback,
				time.Duration(v.Lag * float64(time.Second)), v.Advice}
		},
		repository: func(v lateView) string { return v.Repository },
		empty:      "No harvests yet. " + emptyNext,
	})
}

func lateViews(ctx context.Context, s *store.Store, f store.Filter) ([]lateView, error) {
	cursors, err := s.Cursors(ctx, f)
	if err != nil {
		return nil, err
	}
	views := []lateView{}
	for _, c := range cursors {
		if c.Operation != patra.Harvest {
			continue
		}
		late, err := s.Lateness(ctx, c.ID, now().Add(-lateDays*24*time.Hour))
		if err != nil {
			return nil, err
		}
		v := lateView{Source: c.Source, Endpoint: c.Endpoint, Field: c.Key, Late: late, Rate: late.Rate(), Repository: c.Repository}
		plans, err := s.Plans(ctx, store.Filter{Cursor: c.ID, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(plans) > 0 {
			var d patra.WindowDecision
			if err := json.Unmarshal(plans[0].Inputs, &d); err != nil {
				return nil, err
			}
			v.Lookback, v.Lag = d.Lookback, d.LagSeconds
		}
		v.Advice = v.advise()
		views = append(views, v)
	}
	return views, nil
}

// advise says what the curve of late arrivals asks for. Nobody can see records that are later than the look-back, so
// when the oldest that it found are at its very end, it may be too short.
func (v lateView) advise() string {
	need := v.Late.SuggestLookback()
	length := int64(v.Lookback.Days) + int64(v.Lookback.Months)*30
	switch {
	case v.Late.Total == 0:
		return "nothing was read in the last 30 days"
	case v.Lookback.IsZero():
		return "there is no look-back: set window.lookback to see what comes late"
	case need == 0:
		return "nothing came late; the look-back is long enough"
	case need >= length:
		return fmt.Sprintf("late records reach to the end of the look-back: try window.lookback: P%dD", need+length)
	}
	return fmt.Sprintf("a look-back of P%dD would find 99.9 %% of what came late", need)
}
