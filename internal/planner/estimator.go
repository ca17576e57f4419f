package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"patra"
	"patra/internal/query"
)

// estimator estimates how many records there are: by asking the provider for a count, from history, from a first page, and
// when nothing helps by a constant. It remembers what it asked, and asks only so many times.
type estimator struct {
	planner *Planner
	job     *job
	left    int
	density *patra.Density
}

// counts reports whether the provider can still be asked.
func (g *estimator) counts() bool { return g.probes() && g.job.spec.CanCount() }

func (g *estimator) probes() bool { return g.planner.Prober != nil && g.left > 0 }

// estimate goes down the chain for one window, and for a range of its ids if one is given.
func (g *estimator) estimate(ctx context.Context, w patra.Window, ids *patra.IDRange) (patra.Estimate, error) {
	if g.counts() {
		probe, err := g.probe(ctx, w, ids)
		switch {
		case err != nil:
			return patra.Estimate{}, err
		case probe != nil && probe.Total != nil:
			return patra.Estimate{Records: *probe.Total, Grounds: patra.ByCount}, nil
		}
	}
	if d, err := g.history(ctx); err != nil || d.Span > 0 {
		return patra.Estimate{Records: d.Expected(w), Grounds: patra.ByHistory}, err
	}
	if g.probes() && !g.job.spec.Stateful() {
		probe, err := g.probe(ctx, w, ids)
		if err != nil {
			return patra.Estimate{}, err
		}
		if probe != nil {
			return firstPage(w, *probe), nil
		}
	}
	return patra.Estimate{Records: max(g.job.tariff.PageSize, 1), Grounds: patra.ByConstant}, nil
}

// firstPage extrapolates: where the page ends, the window ends, or as much more as there is time left.
func firstPage(w patra.Window, p patra.Probe) patra.Estimate {
	n := int64(p.Items)
	if p.HasNext {
		n *= 2
		if p.Last != nil && *p.Last > w.From && *p.Last < w.To {
			n = max(n, int64(float64(p.Items)*float64(w.To-w.From)/float64(*p.Last-w.From)))
		}
	}
	return patra.Estimate{Records: n, Grounds: patra.ByFirstPage}
}

// probe asks the provider. One that does not answer is not asked again for this plan; planning goes on without it.
func (g *estimator) probe(ctx context.Context, w patra.Window, ids *patra.IDRange) (*patra.Probe, error) {
	g.left--
	g.job.tally.Probes++
	s := g.job.spec
	q := g.job.expr
	if ids != nil {
		q = query.BindRange(q, s.Window.Split.Field, *ids)
	}
	probe, err := g.planner.Prober.Probe(ctx, s, q, g.asked(w), g.job.plan.BaseURL)
	if err == nil {
		g.learn(probe)
		g.planner.publish(g.job.tally)
		return &probe, nil
	}
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return nil, err
	}
	g.left = 0
	g.job.warn("NOT_COUNTED", "the provider could not be asked how much there is; the estimates are guesses: "+err.Error())
	return nil, nil
}

// asked is the window that the provider counts: without the overlap, which would be counted twice.
func (g *estimator) asked(w patra.Window) patra.Window {
	if g.job.plan.Strategy == patra.StrategyLandmark {
		return w
	}
	return w.Widen(patra.Period{}, g.job.spec.Window.Precision)
}

// learn keeps how large an ordinary page is, judged by what came: a page, or a count with one record beside it. Where a
// search gives only ids, neither says anything about records.
func (g *estimator) learn(p patra.Probe) {
	t, items := &g.job.tariff, int64(p.Items)
	if p.Total != nil && *p.Total > 0 && g.job.spec.Pagination.SizeParam != "" {
		items = 1
	}
	if items == 0 || t.DetailBatch > 0 {
		return
	}
	t.PageBytes = max(t.PageBytes, p.Bytes/items*max(t.PageSize, items))
}

// history is what similar windows had. It is read once for a plan.
func (g *estimator) history(ctx context.Context) (patra.Density, error) {
	if g.density != nil {
		return *g.density, nil
	}
	d, err := g.planner.Store.History(ctx, g.planner.quotaKey(g.job), g.job.spec.Source, g.job.spec.Endpoint, g.job.plan.ExprProtoHash, g.job.plan.Window)
	if err != nil {
		return d, err
	}
	g.density = &d
	if g.job.tariff.PageBytes == 0 {
		g.job.tariff.PageBytes = d.PageBytes
	}
	return d, nil
}

// divide estimates the pieces of a window whose estimate is known. Pieces that the provider can tell apart must add up to
// the whole.
func (g *estimator) divide(ctx context.Context, w patra.Window, est patra.Estimate, pieces []patra.Window) ([]patra.Estimate, error) {
	out, err := g.shares(est, len(pieces), func(i int) (patra.Estimate, error) { return g.estimate(ctx, pieces[i], nil) })
	if err != nil || slices.ContainsFunc(pieces, func(p patra.Window) bool { return g.asked(p) != p }) {
		return out, err
	}
	return out, g.partitionLaw(est, out, w.String())
}

// divideIDs estimates ranges of ids of one window.
func (g *estimator) divideIDs(ctx context.Context, w patra.Window, est patra.Estimate, ranges []patra.IDRange) ([]patra.Estimate, error) {
	out, err := g.shares(est, len(ranges), func(i int) (patra.Estimate, error) { return g.estimate(ctx, w, &ranges[i]) })
	if err != nil {
		return nil, err
	}
	return out, g.partitionLaw(est, out, w.String()+" by "+g.job.spec.Window.Split.Field)
}

// shares asks for each piece while that is possible, and otherwise deals out what is left in equal shares.
func (g *estimator) shares(est patra.Estimate, n int, ask func(int) (patra.Estimate, error)) ([]patra.Estimate, error) {
	out := make([]patra.Estimate, n)
	var known int64
	for i := range out {
		if est.Grounds != patra.ByCount && est.Grounds != patra.ByShare || !g.counts() {
			g.splitEvenly(out[i:], est, known)
			return out, nil
		}
		var err error
		if out[i], err = ask(i); err != nil {
			return nil, err
		}
		known += out[i].Records
	}
	return out, nil
}

func (g *estimator) splitEvenly(out []patra.Estimate, est patra.Estimate, known int64) {
	grounds := est.Grounds
	if grounds == patra.ByCount {
		grounds = patra.ByShare
	}
	rest := max(est.Records-known, 0)
	for i := range out {
		share := (rest + int64(len(out)-i) - 1) / int64(len(out)-i)
		out[i] = patra.Estimate{Records: share, Grounds: grounds}
		rest -= share
	}
}

// within makes sure that all ids of a window lie in the space that is cut: those outside would never be asked for.
func (g *estimator) within(ctx context.Context, w patra.Window, space patra.IDRange, est patra.Estimate) error {
	if est.Grounds != patra.ByCount || !g.counts() {
		return nil
	}
	inside, err := g.estimate(ctx, w, &space)
	if err != nil {
		return err
	}
	return g.partitionLaw(est, []patra.Estimate{inside}, fmt.Sprintf("%s by %s from %d to %d", w, g.job.spec.Window.Split.Field, space.From, space.To-1))
}

// Counts move while they are taken, so a small difference is none.
const (
	lawSlack = 5
	lawShare = 500 // one in
)

// partitionLaw refuses a field by which a window cannot be cut: the pieces have more than the whole when a record has
// two dates, and less when records have none, which would be lost. Only exact counts are evidence.
func (g *estimator) partitionLaw(whole patra.Estimate, pieces []patra.Estimate, of string) error {
	sum := int64(0)
	counted := whole.Grounds == patra.ByCount && g.job.spec.Response.Total.Trust == patra.TrustExact
	for _, p := range pieces {
		counted = counted && p.Grounds == patra.ByCount
		sum += p.Records
	}
	slack := lawSlack + whole.Records/lawShare
	if !counted || max(whole.Records-sum, sum-whole.Records) <= slack {
		return nil
	}
	return patra.Problems{{Code: "PARTITION_LAW", Path: "window.field", Text: fmt.Sprintf("%s has %d records, but its pieces have %d together: %s cannot be cut by this field without losing or doubling records", of, whole.Records, sum, g.job.spec.Source),
		Hint: lawHint(g.job.spec.Window.Upper, sum > whole.Records)}}
}

// lawHint names the mistake that is made most often, where the source can have made it: a day that two pieces have in common, or
// that is in none of them.
func lawHint(upper string, more bool) string {
	hint := "use an endpoint with a date that every record has exactly once"
	switch exclusive := upper == string(query.Exclusive); {
	case more && exclusive:
		return "if the provider includes the end of a filter, write window.upper: INCLUSIVE_DAY; otherwise " + hint
	case !more && !exclusive:
		return "if the provider leaves out the end of a filter, write window.upper: EXCLUSIVE; otherwise " + hint
	}
	return hint
}
