package executor

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"patra/internal/source"
)

// oauthToken is what a provider gave us in exchange for a client's id and secret.
type oauthToken struct {
	key   string // what it was asked for with
	value string
	until time.Time // not used after

	since    time.Time
	replaces bool // the one before was refused
}

// tokenCache keeps tokens until shortly before they expire. Whoever needs one at the same time waits for the same request.
type tokenCache struct {
	mu     sync.Mutex
	kept   map[string]*cachedToken
	asking singleflight.Group
}

// cachedToken is the token for one client.
type cachedToken struct {
	token   *oauthToken
	refused bool // the last one was
}

// trial is how long a token that replaces a refused one is on trial: if it is refused as well, it is not the token.
const trial = time.Minute

// get gives a token that is still good, and asks for one if there is none. The request is made for everybody who waits,
// so it does not end with the one who happened to come first.
func (s *tokenCache) get(ctx context.Context, key string, ask func(context.Context) (*oauthToken, error)) (*oauthToken, error) {
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
		s.put(t)
		return t, nil
	})
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case a := <-answer:
		if a.Err != nil {
			return nil, a.Err
		}
		return a.Val.(*oauthToken), nil
	}
}

func (s *tokenCache) usable(key string) *oauthToken {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.kept[key]; k != nil && k.token != nil && time.Now().Before(k.token.until) {
		return k.token
	}
	return nil
}

func (s *tokenCache) put(t *oauthToken) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]*cachedToken{}
	}
	k := s.kept[t.key]
	if k == nil {
		k = &cachedToken{}
		s.kept[t.key] = k
	}
	t.since, t.replaces = time.Now(), k.refused
	k.token, k.refused = t, false
}

// refused drops a token that the provider does not take, and reports whether another may help. One that is on trial stays:
// others may have got further with it.
func (s *tokenCache) refused(t *oauthToken) bool {
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
func (w transport) identify(ctx context.Context, spec *source.Spec) (*requestAuth, error) {
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
	w.credentials.tell(who.registerSecrets())
	return who, nil
}
