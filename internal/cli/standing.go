package cli

import (
	"context"

	"patra/internal/config"
	"patra/internal/engine"
	"patra/internal/store"
	"patra/internal/view"
)

// knownSchedules are the schedules of the settings; never nil, as they are known.
func knownSchedules(cfg config.Config) []engine.Schedule {
	all := []engine.Schedule{}
	for _, c := range cfg.Schedules {
		all = append(all, engine.Schedule{Name: c.Name, Source: c.Source, Endpoint: c.Endpoint, Operation: c.Operation, Paused: c.Paused, Last: c.Cron.Last})
	}
	return all
}

// verdict is how everything stands, and each source, by its code.
func verdict(ctx context.Context, cfg config.Config, s *store.Store) (all view.Verdict, sources map[string]view.Verdict, err error) {
	facts, err := engine.Standing{Store: s, Rules: cfg.Alerts.Patra(), Schedules: knownSchedules(cfg)}.Installation(ctx)
	if err != nil {
		return all, nil, err
	}
	all, each := view.Installation(facts)
	sources = map[string]view.Verdict{}
	for i, f := range facts.Sources {
		sources[f.Source] = each[i]
	}
	return all, sources, nil
}
