package cli

import (
	"context"

	"patra"
	"patra/internal/api"
)

// systemView is which program answers, and whom.
type systemView struct {
	Version   string         `json:"version"`
	Engine    string         `json:"engine" enum:"sqlite,mariadb,mysql,tidb"`
	Store     string         `json:"store" doc:"where everything is kept, without a password"`
	Mirror    string         `json:"base_url,omitempty" doc:"what is asked in place of sources' own addresses"`
	Tokens    bool           `json:"tokens" doc:"whether callers need tokens here"`
	Caller    api.Caller     `json:"caller"`
	Now       patra.Instant  `json:"now"`
	LastClaim *patra.Instant `json:"last_claim,omitempty" doc:"when a worker last took a task; never, if it is not there"`
}

// systemRoutes say which program answers.
func (d *apiHandlers) systemRoutes(s *api.Server) {
	api.Get(s, "/system", api.Look, api.Doc{ID: "system", Summary: "Which program answers, and whom"}, func(ctx context.Context, _ *api.EmptyInput) (systemView, error) {
		engine, err := d.store.Engine(ctx)
		if err != nil {
			return systemView{}, err
		}
		v := systemView{Version: d.app.version, Engine: engine.Kind, Store: d.cfg.Redacted().Store.URL, Mirror: d.app.mirror, Tokens: d.cfg.API.Tokens.On(), Caller: api.CallerOf(ctx), Now: now()}
		v.LastClaim, err = d.store.LastClaim(ctx)
		return v, err
	})
}
