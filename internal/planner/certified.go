package planner

import (
	"context"
	"errors"

	"patra"
	"patra/internal/source"
)

// Certificates are what was found out about providers.
type Certificates interface {
	CertificatesFor(ctx context.Context, scope patra.CertificateScope) ([]patra.Certificate, error)
}

// Examiner asks a provider in short whether it does what its source file says, and keeps the card.
type Examiner interface {
	Examine(ctx context.Context, now patra.Instant, spec *source.Spec, req Request, known []patra.Certificate) error
}

// Spec is what a request is compiled to, with what its provider was found to do.
func (p *Planner) Spec(ctx context.Context, req Request) (*source.Spec, error) {
	req, _, err := p.certified(ctx, req)
	if err != nil {
		return nil, err
	}
	return source.Compile(req.Source, req.options())
}

func (r Request) options() source.Options {
	return source.Options{Endpoint: r.Endpoint, Operation: r.Operation, Contact: r.Contact, Parameters: r.Params, Basis: r.Basis, Found: r.Found}
}

// certified says what the claims of a source rest on, by the certificates for its endpoint, address and parameters. The warnings name
// what the provider contradicts.
func (p *Planner) certified(ctx context.Context, req Request) (Request, patra.Problems, error) {
	spec, known, err := p.certificates(ctx, req)
	if spec == nil || err != nil {
		return req, nil, err
	}
	req.Basis, req.Found = patra.BasisOf(known)
	return req, patra.CertificateWarnings(known), nil
}

// certificates are those that hold for a request, with its spec; none where a spec claims nothing about windows, or its basis was named.
func (p *Planner) certificates(ctx context.Context, req Request) (*source.Spec, []patra.Certificate, error) {
	if req.Basis != "" || req.ByID {
		return nil, nil, nil
	}
	spec, err := source.Compile(req.Source, req.options())
	if err != nil || spec.Harvestable() != nil { // it is said where the request is compiled
		return nil, nil, nil
	}
	known, err := p.Store.CertificatesFor(ctx, spec.Scope(req.BaseURL))
	return spec, known, err
}

// examine asks a provider in short before its first harvest, where the claims rest on the file alone. A provider that does not answer
// keeps nobody from planning: it is asked the next time.
func (p *Planner) examine(ctx context.Context, now patra.Instant, req Request) error {
	if p.Examiner == nil {
		return nil
	}
	spec, known, err := p.certificates(ctx, req)
	if spec == nil || err != nil || spec.Basis != patra.BasisFile || !patra.NeedsShortForm(known) {
		return err
	}
	if _, err := p.compile(req); err != nil { // it will be refused
		return nil
	}
	err = p.Examiner.Examine(ctx, now, spec, req, known)
	if ctx.Err() != nil || errors.Is(err, patra.ErrUnavailable) {
		return err
	}
	return nil
}
