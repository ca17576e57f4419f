package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"patra"
	"patra/internal/config"
	"patra/internal/executor"
	"patra/internal/source"
	"patra/internal/store"
)

// examineProviders asks providers whether they are there. A request is noted as CHECK, waits for its turn, and counts in
// the quota like every other.
func (a *app) examineProviders(ctx context.Context, cfg config.Config, ask doctorOptions) (found []finding, err error) {
	if !ask.providers {
		return nil, nil
	}
	codes := ask.sources
	if len(codes) == 0 {
		if codes, err = harvested(ctx, cfg, a.store); err != nil {
			return nil, err
		}
	}
	if len(codes) == 0 {
		return []finding{warn("providers", "Name some: patra doctor --providers crossref", "Nothing is harvested yet, so no provider was asked")}, nil
	}
	for _, code := range codes {
		f, err := a.examineProvider(ctx, cfg, code, ask.baseURL)
		if err != nil {
			return nil, err
		}
		found = append(found, f...)
	}
	return found, nil
}

// harvested are the sources that have a cursor or a schedule.
func harvested(ctx context.Context, cfg config.Config, s *store.Store) (codes []string, err error) {
	cursors, err := s.Cursors(ctx, store.Filter{Limit: 10_000})
	for _, c := range cursors {
		codes = append(codes, c.Source)
	}
	for _, c := range cfg.Schedules {
		codes = append(codes, c.Source)
	}
	slices.Sort(codes)
	return slices.Compact(codes), err
}

// examineProvider asks one. An error is a name that is not that of a source.
func (a *app) examineProvider(ctx context.Context, cfg config.Config, code, baseURL string) ([]finding, error) {
	f, _, err := a.activeSource(ctx, code)
	if err != nil {
		return nil, err
	}
	spec, err := source.Compile(f, source.Options{Operation: patra.Harvest, Contact: cfg.Contact})
	if err != nil {
		return []finding{fail("providers", "patra source validate "+code, "%s cannot be asked: %s", code, firstLine(err.Error()))}, nil
	}
	if _, err := spec.Access(a.credentials().Have); err != nil {
		return []finding{fail("providers", "Set the secret; patra source show "+code+" names it", "%s cannot be asked: %s", code, err)}, nil
	}
	p := a.prober(cfg, a.store, patra.WorkScope{Source: code, Endpoint: spec.Endpoint, Operation: patra.Harvest})
	end := patra.UnitDay.Floor(now()) - patra.Day
	got, err := p.Check(ctx, spec, patra.Window{From: end - patra.Day, To: end}.Widen(spec.Window.Overlap, spec.Window.Precision), baseURL)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return judgeProvider(code, got, err), nil
}

// judgeProvider says what an answer, or the lack of one, means.
func judgeProvider(code string, got executor.ReachabilityResult, err error) (found []finding) {
	const skew = "Set the clock of this machine (NTP): it decides where windows end"
	held, blocked := errors.AsType[patra.Problem](err)
	switch {
	case blocked && held.Code == patra.CodeConflict:
		return []finding{warn("providers", "patra controls tells why, and patra resume "+code+" ends it", "%s was not asked: %s", code, held)}
	case err != nil && got.Status == 0:
		next, what := nobody(err)
		return []finding{fail("providers", next, "%s: %s: %s", code, what, err)}
	case err != nil:
		found = append(found, fail("providers", "patra source test "+code+" shows the answer; docs/operating.md tells what is done about such a status", "%s answered with status %d after %s: %s", code, got.Status, got.Took.Round(time.Millisecond), err))
	default:
		found = append(found, passed("providers", "%s answers (status %d, %s)", code, got.Status, got.Took.Round(time.Millisecond)))
	}
	if got.Ahead == nil || got.Ahead.Abs() <= skewWarn {
		return found
	}
	text := fmt.Sprintf("This machine is %s %s the clock of %s", got.Ahead.Abs().Round(time.Second), map[bool]string{true: "ahead of", false: "behind"}[*got.Ahead > 0], code)
	if got.Ahead.Abs() > skewFail {
		return append(found, fail("clock", skew, "%s", text))
	}
	return append(found, warn("clock", skew, "%s", text))
}

// nobody says where a request got stuck that had no answer.
func nobody(err error) (next, what string) {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "See that this machine can look up names, and that base in the source file is right", "its name is not known (DNS)"
	}
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	if certificate || record || alert {
		return "See whether something between this machine and the provider opens connections; certificates of the system must be current", "no safe connection (TLS)"
	}
	return "See that this machine may go there (a firewall?); patra needs a direct way and uses no proxy", "no answer"
}
