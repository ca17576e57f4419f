package cli

import (
	"patra"

	"cmp"
	"context"
	"time"

	"patra/internal/api"
)

// GateKeyPath is which key of the gate is meant.
type GateKeyPath struct {
	Key string `path:"key" maxLength:"200" doc:"as GET /gates has it, percent-encoded as one segment"`
}

// longestReport is how far back a report of our manners may go: every request of that time is read.
const longestReport = 31 * 24 * time.Hour

// gateUpdateAnswer is what became of a key.
type gateUpdateAnswer struct {
	Said string   `json:"said"`
	Next string   `json:"next"`
	Gate gateView `json:"gate" doc:"as it stands now"`
}

// gateRoutes show and steer how fast providers are asked.
func (d *apiHandlers) gateRoutes(s *api.Server) {
	api.Get(s, "/gates", api.Look, api.Doc{ID: "gates", Summary: "How fast each provider is asked now, and why not faster"}, func(ctx context.Context, _ *api.EmptyInput) (api.List[gateView], error) {
		views, err := d.gates(ctx, "")
		return api.All(views), err
	})
	api.Get(s, "/gates/{key}", api.Look, api.Doc{ID: "gate", Summary: "One key of the gate"}, func(ctx context.Context, in *GateKeyPath) (gateView, error) {
		return d.gate(ctx, in.Key)
	})
	type gateTurn struct {
		GateKeyPath
		Body struct {
			PerSecond   string `json:"per_second,omitempty" maxLength:"20" doc:"not more requests a second than this, or default for as many as the source permits"`
			Cooldown    string `json:"cooldown,omitempty" maxLength:"20" doc:"nobody sends for this time, such as 10m"`
			EndCooldown bool   `json:"end_cooldown,omitempty" doc:"end a cooldown before its time, also one that the provider asked for"`
			Forget      bool   `json:"forget,omitempty" doc:"forget refusals and what the provider said about its limits: back to the full rate"`
			Reason      string `json:"reason,omitempty" maxLength:"1000"`
		}
	}
	api.Post(s, "/gates/{key}/set", api.Steer, api.Doc{ID: "set-gate", Summary: "Ask a provider more slowly, leave it alone for a while, or take that back"}, func(ctx context.Context, in *gateTurn) (gateUpdateAnswer, error) {
		b := in.Body
		f := gateFlags{perSecond: b.PerSecond, endCooldown: b.EndCooldown, forget: b.Forget, sure: true, reason: b.Reason}
		if b.Cooldown != "" {
			var err error
			if f.cooldown, err = time.ParseDuration(b.Cooldown); err != nil || f.cooldown <= 0 {
				return gateUpdateAnswer{}, patra.Invalid("", "cooldown %q is no length of time; write one such as 10m", b.Cooldown)
			}
		}
		done, err := d.app.gateSet(ctx, in.Key, f)
		if err != nil {
			return gateUpdateAnswer{}, err
		}
		view, err := d.gate(ctx, in.Key)
		return gateUpdateAnswer{Said: done.Said, Next: done.Next, Gate: view}, err
	})
	api.Get(s, "/quotas", api.Look, api.Doc{ID: "quotas", Summary: "What providers permit in an hour, a day or a month, and what is used of it"}, func(ctx context.Context, _ *api.EmptyInput) (api.List[quotaView], error) {
		views, err := d.gates(ctx, "")
		var all []quotaView
		for _, v := range views {
			all = append(all, v.Quotas...)
		}
		return api.All(all), err
	})
	type report struct {
		Since string `query:"since" maxLength:"40" default:"24h" doc:"a time such as 90m, 24h or 7d, or a day or moment; at most 31 days"`
		Key   string `query:"key" maxLength:"200" doc:"only this key, or those of this source"`
		Daily bool   `query:"daily" doc:"also each day (UTC) on its own"`
	}
	api.Get(s, "/politeness", api.Look, api.Doc{ID: "politeness", Summary: "How politely providers were asked", Long: true, Heavy: true}, func(ctx context.Context, in *report) (api.List[requestStatsView], error) {
		at := now()
		from, err := sinceFlag(cmp.Or(in.Since, "24h"), at)
		if err != nil {
			return api.List[requestStatsView]{}, err
		}
		if at.Sub(from) > longestReport {
			return api.List[requestStatsView]{}, patra.Invalid("", "since %s is more than 31 days ago; patra gate report goes further back", in.Since)
		}
		views, err := d.app.conduct(ctx, d.store, in.Key, from, in.Daily)
		return api.All(views), err
	})
}

func (d *apiHandlers) gates(ctx context.Context, only string) ([]gateView, error) {
	board, err := d.app.gateBoard(ctx, d.store, only)
	if err != nil {
		return nil, err
	}
	return board.look(ctx)
}

// gate is one key, by its whole name.
func (d *apiHandlers) gate(ctx context.Context, key string) (gateView, error) {
	views, err := d.gates(ctx, key)
	for _, v := range views {
		if v.Key == key {
			return v, err
		}
	}
	if err == nil { // the code of a source that shares keys with others is no key
		err = api.NotFound("key of the gate", key)
	}
	return gateView{}, err
}
