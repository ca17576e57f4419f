package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"patra"
)

func unwrap(c huma.Context) (*http.Request, http.ResponseWriter) { return humago.Unwrap(c) }

// cookie is what a browser keeps of a session. Its name makes browsers take it only over TLS, or on this machine, and give
// it to nobody else.
const cookie = "__Host-patra"

// ownHeader is what our own pages send along. A form of another place cannot.
const ownHeader = "X-Patra"

// local is who asks where there are no tokens.
var local = Caller{Name: "local", Rank: patra.Admin, Evidence: true}

// authorize lets a request through to its route, if whoever asks may.
func (s *Server) authorize(c huma.Context, next func(huma.Context)) {
	r, w := unwrap(c)
	need, _ := c.Operation().Metadata[needKey].(Permission)
	if need.Evidence || need.Open || need.Rank == patra.Admin {
		w.Header().Set("Cache-Control", "no-store") // what is secret is in no cache
	}
	caller, p := s.identify(r)
	// Whoever is nobody may sign in. A session that does not show whose page it is, or that we cannot look for, is somebody:
	// to take it for nobody would be to say that it has ended.
	if p != nil && need.Open && (p.Status == http.StatusUnauthorized || r.Method == http.MethodPost) {
		caller, p = Caller{}, nil
	}
	if p == nil && !caller.May(need) {
		p = problem(http.StatusForbidden, "this takes %s, and %s is %s", need, caller.Name, Permission{Rank: caller.Rank, Evidence: caller.Evidence})
	}
	if p == nil && !s.guard.allow(s.callerName(caller, r), time.Now()) {
		p = retryLater(http.StatusTooManyRequests, "that is too many requests at once")
		p.Next = "wait a second"
	}
	if p != nil {
		p.write(w)
		return
	}
	next(huma.WithContext(c, withCaller(c.Context(), caller)))
}

// callerName is under which name requests are counted.
func (s *Server) callerName(c Caller, r *http.Request) string {
	if c.Name != "" {
		return "caller " + c.Name
	}
	return "address " + s.address(r)
}

// identify tells who asks.
func (s *Server) identify(r *http.Request) (Caller, *Problem) {
	if !s.Tokens {
		return local, nil
	}
	secret, session := bearer(r), false
	if secret == "" {
		if k, err := r.Cookie(cookie); err == nil {
			secret, session = k.Value, true
		}
	}
	if secret == "" {
		p := problem(http.StatusUnauthorized, "this takes a token")
		p.Next = "patra token create NAME gives one; send it as Authorization: Bearer TOKEN"
		return Caller{}, p
	}
	// A browser sends a cookie whoever made the page; the header shows that it was ours.
	if session && !safe(r.Method) && r.Header.Get(ownHeader) == "" {
		return Caller{}, problem(http.StatusForbidden, "a session needs the header %s to change something", ownHeader)
	}
	return s.known(r, secret, session, s.address(r))
}

// known finds whose secret it is. door is where guesses are counted.
func (s *Server) known(r *http.Request, secret string, session bool, door string) (Caller, *Problem) {
	no := problem(http.StatusUnauthorized, "this token is not in force")
	no.Next = "patra token list shows those that are"
	if !patra.LooksLikeToken(secret) {
		return Caller{}, no
	}
	ctx, now, hash := r.Context(), patra.InstantOf(time.Now()), patra.TokenHash(secret)
	if !s.wrong.may(door, hash, time.Now()) {
		return Caller{}, tooManyGuesses()
	}
	t, there, err := s.Store.TokenOf(ctx, hash) // by its hash: how long that takes tells nothing of the secret
	found := there
	if err == nil && found && t.Parent != 0 && t.Valid(now) {
		var parent patra.Token
		parent, found, err = s.Store.TokenByID(ctx, t.Parent)
		found = found && parent.Valid(now)
	}
	switch {
	case err != nil:
		return Caller{}, s.problemFor(ctx, err)
	case !found || !t.Valid(now) || (t.Parent != 0) != session:
		s.wrong.record(door, hash, there, time.Now()) // one that was taken back, or has ended, is no guess
		return Caller{}, no
	}
	s.wrong.record(door, hash, true, time.Now())
	if t.LastUsedAt == nil || now-*t.LastUsedAt > patra.Minute {
		if err := s.Store.TouchToken(ctx, now, t.ID); err != nil {
			s.log.Warn("it could not be noted that a token was used", "reason", err.Error())
		}
	}
	return Caller{Name: t.Name, Rank: t.Rank, Evidence: t.Evidence, Token: t.ID, Given: cmp.Or(t.Parent, t.ID), Session: session}, nil
}

// askAgain is how often it is seen whether whoever reads a stream or a file is still let in.
const askAgain = 15 * time.Second

// untilRevoked is a context that ends when whoever asked is let in no more: a file may be read for hours after its token was
// taken back.
func (s *Server) untilRevoked(ctx context.Context, r *http.Request, need Permission) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if !s.Tokens || need.Open {
		return ctx, cancel
	}
	go func() {
		tick := time.NewTicker(askAgain)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			// A store that cannot be asked now shuts nobody out.
			if _, p := s.identify(r.WithContext(ctx)); p != nil && p.Status == http.StatusUnauthorized {
				cancel()
				return
			}
		}
	}()
	return ctx, cancel
}

func bearer(r *http.Request) string {
	kind, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}

func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}
