package executor

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"patra/internal/source"
)

// token is what a provider gave us in exchange for a client's id and secret.
type token struct {
	key   string // what it was asked for with
	value string
	until time.Time // not used after

	since    time.Time
	replaces bool // the one before was refused
}

// tokens keeps tokens until shortly before they expire. Whoever needs one at the same time waits for the same request.
type tokens struct {
	mu     sync.Mutex
	kept   map[string]*keptToken
	asking singleflight.Group
}

// keptToken is the token for one client.
type keptToken struct {
	token   *token
	refused bool // the last one was
}

// trial is how long a token that replaces a refused one is on trial: if it is refused as well, it is not the token.
const trial = time.Minute

// get gives a token that is still good, and asks for one if there is none. The request is made for everybody who waits,
// so it does not end with the one who happened to come first.
func (s *tokens) get(ctx context.Context, key string, ask func(context.Context) (*token, error)) (*token, error) {
	if t := s.usable(key); t != nil {
		return t, nil
	}
	answer := s.asking.DoChan(key, func() (any, error) {
		if t := s.usable(key); t != nil { // somebody was faster between the look and the call
			return t, nil
		}
		t, err := ask(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		t.key = key
		s.keep(t)
		return t, nil
	})
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case a := <-answer:
		if a.Err != nil {
			return nil, a.Err
		}
		return a.Val.(*token), nil
	}
}

func (s *tokens) usable(key string) *token {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.kept[key]; k != nil && k.token != nil && time.Now().Before(k.token.until) {
		return k.token
	}
	return nil
}

func (s *tokens) keep(t *token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]*keptToken{}
	}
	k := s.kept[t.key]
	if k == nil {
		k = &keptToken{}
		s.kept[t.key] = k
	}
	t.since, t.replaces = time.Now(), k.refused
	k.token, k.refused = t, false
}

// refused drops a token that the provider does not take, and reports whether another may help. One that is on trial stays:
// others may have got further with it.
func (s *tokens) refused(t *token) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kept[t.key]
	if k.token != t {
		return true // it was dropped already, and there is a newer one or will be
	}
	if t.replaces && time.Since(t.since) < trial {
		return false
	}
	k.token, k.refused = nil, true
	return true
}

// identify says who we are to a source: nobody, somebody with a secret, or somebody with a token. A token that is not
// there is asked for.
func (w wire) identify(ctx context.Context, spec *source.Spec) (*identity, error) {
	who, err := w.credentials.identity(spec.Auth)
	if err != nil || who == nil || spec.Auth.Type != source.AuthOAuth2 {
		return who, err
	}
	r, err := w.tokenRequest(spec, who)
	if err != nil {
		return nil, err
	}
	who.keeper = &w.credentials.tokens
	if who.token, err = who.keeper.get(ctx, r.key(), r.ask); err != nil {
		return nil, err
	}
	w.credentials.tell(who.cover())
	return who, nil
}
