package main

import (
	"net/http"
	"net/url"
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
		if c.Gate.Backend == config.GateLocal {
			a.turnstile = gate.NewLocal(ledger)
		} else {
			a.turnstile = gate.NewShared(s, ledger)
		}
	})
	return a.turnstile
}

// clientFor makes the way out to a source. An address that the user named is trusted: exactly that host and port.
func clientFor(spec *source.Spec, baseURL string) *http.Client {
	t := spec.HTTP.Timeout
	o := egress.Options{Trusted: baseURL != "", Connect: time.Duration(t.Connect), Headers: time.Duration(t.Read), Total: time.Duration(t.Total)}
	if baseURL == "" {
		baseURL = spec.Address(source.Vars{})
	}
	if u, err := url.Parse(baseURL); err == nil {
		o.Host = u.Host
	}
	return egress.NewClient(o)
}
