package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"patra"
)

// sessionFor is how long a session lasts, if its token does.
const sessionFor = 12 * time.Hour

// Session is how a caller stands.
type Session struct {
	Tokens bool    `json:"tokens" doc:"whether callers need tokens here"`
	Caller *Caller `json:"caller,omitempty" doc:"nobody: sign in first"`
}

// sessions registers signing in and out. A browser gives its token once, and has a cookie from then on that no script can
// read.
func (s *Server) sessions() {
	Get(s, "/session", Permission{Open: true}, Doc{ID: "session", Summary: "Who is asking"}, func(ctx context.Context, _ *EmptyInput) (Session, error) {
		out := Session{Tokens: s.Tokens}
		if c := CallerOf(ctx); c.Rank != "" {
			out.Caller = &c
		}
		return out, nil
	})
	type signIn struct {
		Body struct {
			Token string `json:"token" maxLength:"200"`
		}
	}
	StreamBy(s, http.MethodPost, "/session", Permission{Open: true}, Doc{ID: "sign-in", Summary: "Sign in with a token, for browsers"}, func(ctx context.Context, in *signIn) (func(http.ResponseWriter, *http.Request), error) {
		if !s.Tokens {
			return nil, Refuse(http.StatusConflict, "nobody needs a token here")
		}
		return func(w http.ResponseWriter, r *http.Request) { s.signIn(w, r, in.Body.Token) }, nil
	})
	StreamBy(s, http.MethodDelete, "/session", Permission{Open: true}, Doc{ID: "sign-out", Summary: "Sign out"}, func(ctx context.Context, _ *EmptyInput) (func(http.ResponseWriter, *http.Request), error) {
		return func(w http.ResponseWriter, r *http.Request) {
			if c := CallerOf(ctx); c.Session {
				if err := s.Store.EndSession(ctx, patra.InstantOf(time.Now()), c.Token); err != nil {
					s.problemFor(ctx, err).write(w)
					return
				}
			}
			s.setCookie(w, "", time.Unix(1, 0))
			w.WriteHeader(http.StatusNoContent)
		}, nil
	})
}

func (s *Server) signIn(w http.ResponseWriter, r *http.Request, secret string) {
	ctx, now := r.Context(), patra.InstantOf(time.Now())
	caller, p := s.known(r, secret, false, "sign-in "+s.address(r)) // which pages whose session is gone do not use up
	if p != nil {
		s.refusedSignIn(ctx, s.address(r), p)
		p.write(w)
		return
	}
	parent, _, err := s.Store.TokenByID(ctx, caller.Token)
	if err != nil {
		s.problemFor(ctx, err).write(w)
		return
	}
	own := patra.NewTokenSecret()
	t := patra.Token{Name: parent.Name, Rank: parent.Rank, Evidence: parent.Evidence, Parent: parent.ID, CreatedBy: parent.Name, ExpiresAt: min(parent.ExpiresAt, now.Add(sessionFor))}
	t, ok, err := s.Store.OpenSession(ctx, now, t, patra.TokenHash(own))
	switch {
	case err != nil:
		s.problemFor(ctx, err).write(w)
		return
	case !ok:
		problem(http.StatusTooManyRequests, "too many sessions of this token are open").write(w)
		return
	}
	s.setCookie(w, own, t.ExpiresAt.Time())
	w.WriteHeader(http.StatusNoContent)
}

// Refused sign-ins that are written down: so many at once, and after that one a minute, from wherever they come. Whoever tries
// secrets must not be able to fill the audit log.
const (
	refusedAtOnce    = 20.0
	refusedPerSecond = 1.0 / 60
)

// refusedSignIn writes down that somebody was not let in, and how many were not since the last line.
func (s *Server) refusedSignIn(ctx context.Context, from string, p *Problem) {
	if p.Status != http.StatusUnauthorized && p.Status != http.StatusTooManyRequests {
		return // it was our fault
	}
	if !s.refused.allow("", time.Now()) {
		s.unsaid.Add(1)
		return
	}
	detail, err := json.Marshal(map[string]any{"refused": true, "address": from, "status": p.Status, "unsaid": s.unsaid.Swap(0)})
	if err == nil {
		_, err = s.Store.Audit(ctx, patra.AuditEntry{Actor: "nobody", Action: patra.AuditToken, Target: "session", Detail: detail})
	}
	if err != nil {
		s.log.Warn("a refused sign-in could not be written down", "reason", err.Error())
	}
}

func (s *Server) setCookie(w http.ResponseWriter, value string, until time.Time) {
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: value, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode, Expires: until})
}
