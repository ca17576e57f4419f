package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"patra"
	"patra/internal/config"
	"patra/internal/observe"
	"patra/internal/store"
	"patra/internal/view"
)

// ops is where others look how a serving process is: its numbers, whether it is alive, whether it is ready, and from this
// machine what it spends its time and memory on. It is never in the way of the work.
type ops struct {
	address string
	server  *http.Server
	log     *slog.Logger
}

// openOps begins to answer; nil is nowhere. Whoever wants it to end closes it: while the process drains it still says so.
func (a *app) openOps(ctx context.Context, cfg config.Config, s *store.Store, m *observe.Metrics) (*ops, error) {
	address, said := cfg.Ops.Address()
	if address == "" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	why := ""
	if err != nil && !said {
		why = fmt.Sprintf(", as somebody else listens at %s", address)
		l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			fmt.Fprintf(a.stdout, "Numbers are nowhere, as nothing can listen here: %s.\n", err)
			return nil, nil
		}
	}
	if err != nil {
		return nil, cannotListen("ops.listen", err)
	}
	o := &ops{address: l.Addr().String(), log: a.logger(cfg)}
	health := &observe.Health{Drains: ctx, Checks: []observe.Check{{Name: "store", Do: redacted(s.Ping)}, {Name: "tables", Do: redacted(s.SchemaCompatible)}}}
	o.server = &http.Server{Handler: opsHandler(m, health, newVerdicts(cfg, s), isLoopback(o.address)), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(o.log.Handler(), slog.LevelDebug)}
	go func() {
		if err := o.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			o.log.Error("numbers are told no more", "reason", err.Error())
		}
	}()
	fmt.Fprintf(a.stdout, "Numbers are at http://%s/metrics%s.\n", onThisMachine(o.address), why)
	return o, nil
}

// cannotListen says that nothing can listen where a key of the settings says. The error is told and not wrapped: one of the network is
// otherwise taken for one of the database.
func cannotListen(key string, err error) error {
	return patra.Environment(fmt.Errorf("%s: %s; end the program that is there, or write another address to %s", key, err.Error(), key))
}

// close ends it at once.
func (o *ops) close() {
	if o != nil {
		_ = o.server.Close()
	}
}

// redacted is a check whose reason names no addresses of people, and no more than a line.
func redacted(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := do(ctx)
		if err == nil {
			return nil
		}
		return errors.New(patra.Mask(err.Error()))
	}
}

// opsHandler has the routes. What a process does inside is shown to this machine only.
func opsHandler(m *observe.Metrics, h *observe.Health, v *verdicts, loopback bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	mux.HandleFunc("GET /healthz", v.alive(h.Alive))
	mux.HandleFunc("GET /readyz", h.Ready)
	mux.HandleFunc("GET /verdict", v.answer)
	inside := http.NewServeMux()
	inside.HandleFunc("GET /debug/pprof/", pprof.Index)
	inside.HandleFunc("GET /debug/pprof/cmdline", hiddenCommand)
	inside.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	inside.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	inside.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/", func(w http.ResponseWriter, r *http.Request) {
		if !loopback || !isLoopback(r.Host) { // a page in a browser may reach this machine under a name of its own
			http.Error(w, "Profiles are given to this machine only: let ops.listen name an address such as "+config.UsualOps+", and ask there.", http.StatusNotFound)
			return
		}
		inside.ServeHTTP(w, r)
	})
	return mux
}

// verdictFor is how long a verdict is answered again, so that many who ask cost as much as one.
const verdictFor = 5 * time.Second

// verdicts keeps the last verdict on the installation.
type verdicts struct {
	judge func(context.Context) (view.Verdict, error)
	mu    sync.Mutex // held while a verdict is made
	last  atomic.Pointer[datedVerdict]
}

type datedVerdict struct {
	view.Verdict
	at time.Time
}

func newVerdicts(cfg config.Config, s *store.Store) *verdicts {
	return &verdicts{judge: func(ctx context.Context) (view.Verdict, error) {
		v, _, err := verdict(ctx, cfg, s)
		return v, err
	}}
}

// now is the verdict as of now, or of a moment ago. Its lock is held.
func (v *verdicts) now(ctx context.Context) (view.Verdict, error) {
	if last := v.last.Load(); last != nil && time.Since(last.at) <= verdictFor {
		return last.Verdict, nil
	}
	made, err := v.judge(ctx)
	if err == nil {
		v.last.Store(&datedVerdict{made, time.Now()})
	}
	return made, err
}

// answer tells how everything stands. The status says only whether it could be judged: a process with a gap in its store is alive and
// ready, and to restart it or to take it out of a service would read nothing.
func (v *verdicts) answer(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	current, err := v.now(r.Context())
	if err != nil {
		http.Error(w, patra.Mask(err.Error()), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(current) // a caller that is gone needs no answer
}

// aliveFor is how long an answer that a process is alive waits for a verdict.
const aliveFor = time.Second

// alive adds the verdict to the answer that a process is alive, as headers. Whether it is alive never depends on the store: where no verdict
// can be made in time, there are none.
func (v *verdicts) alive(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if v.mu.TryLock() {
			ctx, cancel := context.WithTimeout(r.Context(), aliveFor)
			_, _ = v.now(ctx) // the headers say whether there is one
			cancel()
			v.mu.Unlock()
		}
		if last := v.last.Load(); last != nil && time.Since(last.at) <= 2*verdictFor {
			w.Header().Set("Patra-Health", string(last.Health))
			w.Header().Set("Patra-Complete", strconv.FormatBool(last.Complete))
		}
		next(w, r)
	}
}

// hiddenCommand does not show how the process was called: there may be an address with a password in it.
func hiddenCommand(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "patra") }

// isLoopback reports whether a host, with or without a port, is this machine and nobody else.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
