package api

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"go.opentelemetry.io/otel/trace"

	"patra/internal/engine"
	"patra/internal/store"
)

// Prefix is where the routes are.
const Prefix = "/api/v1"

// Options are what a server needs.
type Options struct {
	Store   *store.Store
	Bodies  BodyReader // of answers that were kept; nil if none are
	Version string
	Log     *slog.Logger
	Tokens  bool         // everybody needs a token; otherwise whoever reaches us from this machine is an admin
	Hosts   []string     // names under which we may be asked, beside those of this machine
	Web     http.Handler // the dashboard; nil is none
	Alerts  AlertOptions
	// Schedules are those of the settings; nil where they are not known.
	Schedules []engine.Schedule
	TLS       *tls.Config // nil: plain, which is for this machine, or for a proxy that has it
	Secure    bool        // people reach us over TLS, ours or that of a proxy
	// Proxied: everybody comes through a proxy of ours, from its address.
	Proxied bool
	Tracer  trace.Tracer // nil: nothing is traced
}

// Server is the API of one process.
type Server struct {
	Options
	huma  huma.API
	mux   *http.ServeMux
	log   *slog.Logger
	guard *rateLimiter
	wrong *loginLimiter
	// Of refused sign-ins: what may be written down, and how many were not.
	refused *rateLimiter
	unsaid  atomic.Int64
	heavy   *heavyQueue
	routes  []Route

	once sync.Once
	ends chan struct{} // closed when streams must end
}

// Route is one way to call us.
type Route struct {
	Method, Path, Summary string
	Need                  Permission
}

// New makes a server with the routes that every server has.
func New(o Options) *Server {
	s := &Server{Options: o, mux: http.NewServeMux(), log: o.Log, guard: newGuard(atOnce, perSecond), wrong: newGuesses(), refused: newGuard(refusedAtOnce, refusedPerSecond), heavy: newBench(), ends: make(chan struct{})}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	problems()
	cfg := huma.DefaultConfig("Patra", "v1") // of the API; the program's is at /system
	cfg.Info.Description = "Harvests of scholarly literature: what is planned, running, covered and missing, and how to steer it."
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath = "", "", ""
	cfg.CreateHooks = nil // no links to schemas in the answers
	cfg.RejectUnknownQueryParameters = true
	cfg.Formats = map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	cfg.Security = []map[string][]string{{"token": {}}}
	s.huma = humago.New(s.mux, cfg)
	s.huma.UseMiddleware(s.authorize)
	s.own()
	return s
}

// own registers what every server has.
func (s *Server) own() {
	s.sessions()
	s.tokens()
	s.stream()
	s.document()
	s.work()
	s.lineage()
	s.watermarks()
	s.coverage()
	s.history()
	s.overview()
	s.alerts()
	s.errors()
	s.records()
	s.exchanges()
	if s.Web != nil {
		s.mux.Handle("/", s.Web) // which takes GET and HEAD
	}
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte("ok\n"))
	})
	s.mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		if _, p := s.identify(r); p != nil { // whoever may not ask is not told what there is
			p.write(w)
			return
		}
		problem(http.StatusNotFound, "there is no %s %s", r.Method, r.URL.Path).write(w)
	})
}

// Routes are all ways to call us, sorted.
func (s *Server) Routes() []Route {
	all := slices.Clone(s.routes)
	slices.SortFunc(all, func(a, b Route) int {
		return slices.Compare([]string{a.Path, a.Method}, []string{b.Path, b.Method})
	})
	return all
}

// Handler answers requests.
func (s *Server) Handler() http.Handler { return s.middleware(tagged(s.traced(s.mux))) }

// The limits of our own listener. A stream writes for as long as somebody reads it.
const (
	readTime, headerTime, idleTime = 30 * time.Second, 5 * time.Second, 2 * time.Minute
	mostHeader                     = 32 << 10
	mostBody                       = 1 << 20
	drainTime                      = 5 * time.Second
	// writeTime is how long an answer may take, from its request to its last byte: whoever does not read must not keep one of
	// our connections. What streams sets a time of its own for every part of it.
	writeTime = longPatience + readTime
)

// Serve answers until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := s.listener()
	each := mostOfAddress
	if s.Proxied {
		each = 0
	}
	l = limited(l, mostConnections, each)
	if s.TLS != nil {
		l = tls.NewListener(l, s.TLS)
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		s.once.Do(func() { close(s.ends) })
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if err := server.Shutdown(grace); err != nil {
			_ = server.Close()
		}
		stopped <- nil
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// listener is the server of HTTP, with its limits.
func (s *Server) listener() *http.Server {
	return &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: mostHeader,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), TLSConfig: s.TLS}
}
