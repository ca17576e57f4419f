package cli

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"patra"
	"patra/internal/config"
	"patra/internal/egress"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/source"
	"patra/internal/store"
)

// gate is the one gate of this process: whoever sends anything asks it first. Unless the configuration says otherwise, it
// is the same for all processes of the store.
func (a *app) gate(c config.Config, s *store.Store) executor.Gate {
	a.once.Do(func() {
		// Quotas are counted in the store, wherever the rate is.
		ledger := gate.WithLedger(s, func(op patra.Operation) float64 { return patra.QuotaShare(op, c.Planner.BackfillShare.Fraction()) })
		switch c.Gate.Backend {
		case config.GateLocal:
			a.turnstile = gate.NewLocal(ledger)
		case config.GateRedis:
			a.turnstile = a.redisGate(c, s, ledger)
		default:
			a.turnstile = gate.NewShared(s, ledger)
		}
	})
	return a.turnstile
}

// redisGate is the gate of the store, lent to Redis while there is one.
func (a *app) redisGate(c config.Config, s *store.Store, ledger gate.Option) executor.Gate {
	log := a.logger(c)
	keeper, err := gate.OpenRedis(c.Gate.Redis.URL)
	if err != nil { // which only a URL can be the reason for that the configuration did not complain of
		log.Warn("the rate gate is kept in the store, and not in Redis", "reason", err.Error())
		return gate.NewShared(s, ledger)
	}
	return gate.NewShared(gate.NewLent(s, keeper, gate.DefaultLeaseTerms(), func(ch gate.BackendChange) {
		if m := a.metrics.Load(); m != nil {
			m.GateChange(ch.Lent)
		}
		switch {
		case ch.Lent:
			log.Warn("the rate gate is kept in Redis again", "key", ch.Key)
		case ch.Err == nil:
			log.Warn("the rate gate is kept in the store, as another process says that Redis fails", "key", ch.Key)
		default:
			log.Warn("the rate gate is kept in the store, as Redis fails", "key", ch.Key, "reason", ch.Err.Error())
		}
	}), ledger)
}

// clientFor makes the way out to a source. An address that the user named is trusted: exactly that host and port. One that the
// configuration permits is asked without encryption, and guarded like any other in all else.
func clientFor(c config.Config) func(spec *source.Spec, baseURL string) *http.Client {
	return func(spec *source.Spec, baseURL string) *http.Client {
		t := spec.HTTP.Timeout
		o := egress.Options{Trusted: baseURL != "", Connect: time.Duration(t.Connect), Headers: time.Duration(t.Read), Total: time.Duration(t.Total)}
		if baseURL == "" {
			baseURL = spec.Address(source.Vars{})
			o.Plain = slices.Contains(c.Sources.Insecure, baseURL)
		}
		if u, err := url.Parse(baseURL); err == nil {
			o.Host = u.Host
		}
		return egress.NewClient(o)
	}
}
