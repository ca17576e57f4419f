package api

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode"

	"patra"
	"patra/internal/store"
)

// longest is how long a token may be good for.
const longest = 366 * 24 * time.Hour

// NewToken is a token with its secret, which is told this once.
type NewToken struct {
	patra.Token
	Secret string `json:"secret" doc:"shown once; nobody can tell it again"`
}

// TokenRequest is a token that somebody wants.
type TokenRequest struct {
	Name     string          `json:"name" minLength:"1" maxLength:"100" doc:"whose it is"`
	Rank     patra.TokenRole `json:"role" enum:"viewer,operator,admin"`
	Evidence bool            `json:"evidence,omitempty" doc:"may also see what providers answered"`
	Days     int             `json:"days,omitempty" minimum:"1" maximum:"366" default:"90" doc:"how long it is good for"`
}

// Issue makes a token. It is for commands as well as for the route.
func Issue(ctx context.Context, st *store.Store, now patra.Instant, w TokenRequest, by string) (NewToken, error) {
	good := time.Duration(w.Days) * 24 * time.Hour
	switch {
	case w.Name == "" || len(w.Name) > 100:
		return NewToken{}, Refuse(http.StatusUnprocessableEntity, "a token needs a name of at most 100 letters: whose is it?")
	case strings.ContainsFunc(w.Name, func(r rune) bool { return !unicode.IsPrint(r) }): // it is in lists, in logs and in the audit log
		return NewToken{}, Refuse(http.StatusUnprocessableEntity, "the name of a token has only letters that can be seen")
	case !w.Rank.Includes(patra.Viewer):
		return NewToken{}, Refuse(http.StatusUnprocessableEntity, "%q is not a role; there are viewer, operator and admin", w.Rank)
	case good <= 0 || good > longest:
		return NewToken{}, Refuse(http.StatusUnprocessableEntity, "a token is good for 1 to 366 days, and not for %d", w.Days)
	}
	secret := patra.NewTokenSecret()
	t, err := st.CreateToken(ctx, now, patra.Token{Name: w.Name, Rank: w.Rank, Evidence: w.Evidence, CreatedBy: by, ExpiresAt: now.Add(good)}, patra.TokenHash(secret))
	return NewToken{Token: t, Secret: secret}, err
}

// tokens registers giving and taking tokens.
func (s *Server) tokens() {
	Get(s, "/tokens", Govern, Doc{ID: "tokens", Summary: "Who may call"}, func(ctx context.Context, _ *EmptyInput) (List[patra.Token], error) {
		all, err := s.Store.Tokens(ctx)
		return All(all), err
	})
	type wish struct{ Body TokenRequest }
	Post(s, "/tokens", Govern, Doc{ID: "give-token", Summary: "Let somebody in; the answer has the secret, this once"}, func(ctx context.Context, in *wish) (NewToken, error) {
		if in.Body.Days == 0 {
			in.Body.Days = 90
		}
		return Issue(ctx, s.Store, patra.InstantOf(time.Now()), in.Body, CallerOf(ctx).Name)
	})
	type shut struct {
		ID   int64 `path:"id"`
		Body struct {
			Reason string `json:"reason,omitempty" maxLength:"1000"`
		}
	}
	Post(s, "/tokens/{id}/revoke", Govern, Doc{ID: "revoke-token", Summary: "Shut somebody out, with all their sessions"}, func(ctx context.Context, in *shut) (patra.Token, error) {
		t, err := s.Store.RevokeToken(ctx, patra.InstantOf(time.Now()), in.ID, CallerOf(ctx).Name, in.Body.Reason)
		return t, err
	})
}
