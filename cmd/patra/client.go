package main

import (
	"net/http"
	"net/url"
	"time"

	"patra/internal/egress"
	"patra/internal/gate"
	"patra/internal/source"
)

// gate is the one gate of this process: whoever sends anything asks it first.
func (a *app) gate() *gate.Local {
	a.once.Do(func() { a.local = gate.NewLocal() })
	return a.local
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
