package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sync/errgroup"

	"patra"
	"patra/internal/api"
	"patra/internal/config"
	"patra/internal/planner"
	"patra/internal/store"
	"patra/internal/web"
)

// apiHandlers is what the routes have that need more than the store.
type apiHandlers struct {
	app     *app
	cfg     config.Config
	store   *store.Store
	planner *planner.Planner
}

// apiServer makes the server with all its routes.
func (a *app) apiServer(cfg config.Config, s *store.Store, p *planner.Planner, certificate *tls.Config) *api.Server {
	server := api.New(api.Options{Store: s, Version: a.version, Log: a.logger(cfg), Tracer: a.tracer(cfg), Tokens: cfg.API.Tokens.On(), Hosts: cfg.API.Hosts, Web: web.Handler(),
		Bodies: &evidenceBodies{app: a, cfg: cfg}, Alerts: a.alerting(cfg, s), Schedules: knownSchedules(cfg), TLS: certificate, Secure: certificate != nil || cfg.API.Proxy, Proxied: cfg.API.Proxy})
	d := &apiHandlers{app: a, cfg: cfg, store: s, planner: p}
	d.routes(server)
	return server
}

// routes registers those that need the whole program.
func (d *apiHandlers) routes(s *api.Server) {
	d.systemRoutes(s)
	d.controlRoutes(s)
	d.taskRoutes(s)
	d.sourceRoutes(s)
	d.scheduleRoutes(s)
	d.askRoutes(s)
	d.planRoutes(s)
	d.waiverRoutes(s)
	d.quarantineRoutes(s)
	d.signalRoutes(s)
	d.gateRoutes(s)
	d.sinkRoutes(s)
	d.evidenceRoutes(s)
	d.recordRoutes(s)
}

// openAPI answers until ctx ends, if there is an address to do it at, and tells whether it does.
func (a *app) openAPI(ctx context.Context, group *errgroup.Group, cfg config.Config, s *store.Store, p *planner.Planner) (bool, error) {
	address, said := cfg.API.Address()
	if address == "" {
		return false, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil && !said {
		fmt.Fprintf(a.stdout, "The dashboard is not served, as somebody else listens at %s; write another address to api.listen.\n", address)
		return false, nil
	}
	if err != nil {
		return false, cannotListen("api.listen", err)
	}
	var certificate *tls.Config
	scheme := "http"
	if cfg.API.TLS.Cert != "" {
		pair, err := tls.LoadX509KeyPair(cfg.API.TLS.Cert, cfg.API.TLS.Key)
		if err != nil {
			return false, errors.Join(patra.Environment(fmt.Errorf("api.tls: %w", err)), l.Close())
		}
		certificate, scheme = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, "https"
	}
	server := a.apiServer(cfg, s, p, certificate)
	group.Go(role(ctx, a.logger(cfg), roleAPI, func(ctx context.Context) error { return server.Serve(ctx, l) }, "address", l.Addr().String()))
	at := scheme + "://" + onThisMachine(l.Addr().String())
	fmt.Fprintf(a.stdout, "The dashboard is at %s/ and the API at %s/api/docs.\n", at, at)
	return true, nil
}
