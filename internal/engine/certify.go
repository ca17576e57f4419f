package engine

import (
	"context"

	"patra"
	"patra/internal/planner"
	"patra/internal/source"
)

// Examination sends the requests of a certification.
type Examination interface {
	Certify(ctx context.Context, exam *source.Exam, baseURL string) error
}

// Certificates keeps the cards.
type Certificates interface {
	CertificatesFor(ctx context.Context, scope patra.CertificateScope) ([]patra.Certificate, error)
	KeepCertificate(ctx context.Context, now patra.Instant, c patra.Certificate) (int64, error)
}

// Certifier finds out whether providers do what their source files say, and keeps what it found.
type Certifier struct {
	Store    Certificates
	Provider func(spec *source.Spec) Examination               // the way to ask, which may be held by a control
	Place    func(source, path string) (file string, line int) // where a setting stands in a source file; nil: nobody knows
	Actor    func(context.Context) string
}

// CertifyRequest says what to certify.
type CertifyRequest struct {
	Spec     *source.Spec // compiled without a certificate
	BaseURL  string
	Form     string
	From, To *patra.Instant // the window to look at; nil: quiet days that are over
}

// Certify asks a provider, and keeps the card.
func (c *Certifier) Certify(ctx context.Context, now patra.Instant, req CertifyRequest) (patra.Certificate, error) {
	scope := req.Spec.Scope(req.BaseURL)
	known, err := c.Store.CertificatesFor(ctx, scope)
	if err != nil {
		return patra.Certificate{}, err
	}
	exam := source.NewExam(req.Spec, req.Form, now, req.From, req.To)
	if err := c.Provider(req.Spec).Certify(ctx, exam, req.BaseURL); err != nil {
		return patra.Certificate{}, err
	}
	card := exam.Card(scope, known)
	card.At, card.By = now, c.Actor(ctx)
	for i, f := range card.Findings {
		if f.Path != "" && c.Place != nil {
			card.Findings[i].File, card.Findings[i].Line = c.Place(scope.Source, f.Path)
		}
	}
	card.ID, err = c.Store.KeepCertificate(ctx, now, card)
	return card, err
}

// Examine implements planner.Examiner.
func (c *Certifier) Examine(ctx context.Context, now patra.Instant, spec *source.Spec, req planner.Request, _ []patra.Certificate) error {
	_, err := c.Certify(ctx, now, CertifyRequest{Spec: spec, BaseURL: req.BaseURL, Form: patra.CertificateShort, From: req.From, To: req.To})
	return err
}
