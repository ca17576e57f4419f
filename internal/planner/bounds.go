package planner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"patra"
)

// knownBounds lays what was found out about the provider over the spec of a draft. Its snapshot stays as the source says
// it: what was found out is read anew by everybody who sends.
func (p *Planner) knownBounds(ctx context.Context, d *Draft, baseURL string) error {
	if !d.Spec.Discovers() {
		return nil
	}
	at := d.Spec.At(baseURL)
	found, err := p.Store.WindowBounds(ctx, d.Spec.Source, d.Spec.Endpoint, at)
	if err != nil {
		return err
	}
	found.Source, found.Endpoint, found.Address = d.Spec.Source, d.Spec.Endpoint, at
	d.take(found)
	return nil
}

func (d *Draft) take(found patra.FoundBounds) {
	d.Bounds, d.Spec = &found, d.Spec.WithBounds(found.WindowBounds)
}

// settleBounds finds out how a provider reads the ends of a window before anything is cut, where nobody has done so. Three
// requests decide it: one for the grain, one for records of the window, one for the unit of one of them. What stays open
// is asked for widely, and tried again with the next plan.
func (p *Planner) settleBounds(ctx context.Context, now patra.Instant, d *Draft, req Request) error {
	if err := p.knownBounds(ctx, d, req.BaseURL); err != nil || d.Bounds == nil {
		return err
	}
	f := *d.Bounds
	open := f.Upper == "" || f.Precision == "" && d.Spec.AsksPrecision()
	if !open || p.Prober == nil || req.ByID || d.Decision.Window.IsEmpty() {
		return nil
	}
	err := p.findBounds(ctx, now, d, &f, req.BaseURL)
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil { // the planning goes on: the wide request asks for everything
		d.Warnings = append(d.Warnings, patra.Problem{Code: "BOUNDS_OPEN", Path: "window.upper", Text: "the provider could not be asked how it reads the end of a window; more is asked for than is needed: " + err.Error()})
	}
	if f, err = p.Store.KeepWindowBounds(ctx, now, f); err != nil {
		return err
	}
	d.take(f)
	return nil
}

// findBounds asks for what is open.
func (p *Planner) findBounds(ctx context.Context, now patra.Instant, d *Draft, f *patra.FoundBounds, baseURL string) error {
	var errs []error
	if f.Precision == "" && d.Spec.AsksPrecision() {
		grain, err := p.Prober.Precision(ctx, d.Spec, baseURL)
		f.Precision = grain
		errs = append(errs, err)
	}
	known := f.Precision != "" || !d.Spec.AsksPrecision()
	if f.Upper == "" {
		d.Spec = d.Spec.WithBounds(f.WindowBounds)
		upper, evidence, err := p.findUpper(ctx, d, known, baseURL)
		if f.Upper = upper; upper != "" {
			f.FoundAt, f.Evidence = &now, evidence
		}
		errs = append(errs, err)
	}
	f.AskedAt = now
	return errors.Join(errs...)
}

// findUpper asks for the records of the window, and then for the unit that one of them lies in, from and until.
func (p *Planner) findUpper(ctx context.Context, d *Draft, known bool, baseURL string) (upper patra.UpperBound, evidence string, err error) {
	grain := d.Spec.Window.Precision
	all, err := p.Prober.Probe(ctx, d.Spec, d.Expr, d.Decision.Window.Widen(patra.Period{}, grain), baseURL)
	if err != nil {
		return "", "", err
	}
	d.shown = all.Shown.Within(d.Decision.Window)
	witness, ok := patra.BoundsWitness(all.Shown, grain)
	if !ok {
		return "", "", nil
	}
	from := grain.Floor(witness.At)
	unit := patra.Window{From: from, To: grain.Next(from)}
	narrow := d.Spec.WithBounds(patra.WindowBounds{Precision: grain, Upper: patra.UpperInclusive})
	one, err := p.Prober.Probe(ctx, narrow, d.Expr, unit, baseURL)
	if err != nil {
		return "", "", err
	}
	d.shown = d.shown.With(one.Shown.Within(d.Decision.Window), 2*patra.MaxShown)
	upper = patra.JudgeUpper(witness, one.Shown, grain, known)
	return upper, fmt.Sprintf("%s is of %s, and a request from and until that %s gave %d records", witness.ID, witness.At, strings.ToLower(string(grain)), len(one.Shown)), nil
}
