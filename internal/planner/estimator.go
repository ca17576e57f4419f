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
	doubted bool // its counts did not add up, so none is asked for any more
	density *patra.Density
	shown   patra.ShownIDs // by the answers to all that was asked
}

// mostShown is how many ids a planner has in mind of what a provider has shown of one plan.
const mostShown = 100 * patra.MaxShown

// counts reports whether the provider can still be asked.
func (g *estimator) counts() bool { return g.probes() && !g.doubted && g.job.spec.CanCount() }

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
	if g.probes() && !g.doubted && !g.job.spec.Stateful() { // of a source that counts, a probe is a count
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
		g.shown = g.shown.With(probe.Shown, mostShown)
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
// the whole; they are nil if they do not, however often they are asked for.
func (g *estimator) divide(ctx context.Context, w patra.Window, est patra.Estimate, pieces []patra.Window) ([]patra.Estimate, error) {
	ask := func(i int) (patra.Estimate, error) { return g.estimate(ctx, pieces[i], nil) }
	out, err := g.shares(est, len(pieces), ask)
	if err != nil || slices.ContainsFunc(pieces, func(p patra.Window) bool { return g.asked(p) != p }) {
		return out, err
	}
	return g.addedUp(countedWhole{w.String(), est, func() (patra.Estimate, error) { return g.estimate(ctx, w, nil) }}, out, ask)
}

// divideIDs estimates ranges of ids of one window; nil if they do not add up to it.
func (g *estimator) divideIDs(ctx context.Context, w patra.Window, r idPart, ranges []patra.IDRange) ([]patra.Estimate, error) {
	ask := func(i int) (patra.Estimate, error) { return g.estimate(ctx, w, &ranges[i]) }
	out, err := g.shares(r.est, len(ranges), ask)
	if err != nil {
		return nil, err
	}
	of := &r.IDRange
	if r.IDRange == g.job.spec.Window.Split.Range() { // all ids there are: what lies outside must not be left out of the whole
		of = nil
	}
	whole := countedWhole{w.String() + " by " + g.job.spec.Window.Split.Field, r.est, func() (patra.Estimate, error) { return g.estimate(ctx, w, of) }}
	return g.addedUp(whole, out, ask)
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

// within reports whether all ids of a window lie in the space that is cut, as far as counts tell: those outside would never be
// asked for.
func (g *estimator) within(ctx context.Context, w patra.Window, space patra.IDRange, est patra.Estimate) (bool, error) {
	if est.Grounds != patra.ByCount || !g.counts() {
		return true, nil
	}
	inside, err := g.estimate(ctx, w, &space)
	if err != nil {
		return false, err
	}
	of := fmt.Sprintf("%s by %s from %d to %d", w, g.job.spec.Window.Split.Field, space.From, space.To-1)
	whole := countedWhole{of, est, func() (patra.Estimate, error) { return g.estimate(ctx, w, nil) }}
	out, err := g.addedUp(whole, []patra.Estimate{inside}, func(int) (patra.Estimate, error) { return g.estimate(ctx, w, &space) })
	return out != nil, err
}

// Counts move while they are taken, so a small difference is none.
const (
	countSlack = 5
	countShare = 500 // one in
)

// countAgain is how often counts that do not add up are asked for again. One round is enough for records that moved while the
// first was taken; more than two would only find out how fast a busy provider changes.
const countAgain = 2

// countedWhole is what some pieces must add up to.
type countedWhole struct {
	of  string
	est patra.Estimate
	ask func() (patra.Estimate, error)
}

// addedUp gives the estimates of pieces whose counts add up to the whole. If they do not, all of them are asked for again; if
// they still do not, it is nil, and no count is believed any more: neither that the provider counts wrongly nor that records
// moved nor that some have two dates or none can be told from numbers alone.
func (g *estimator) addedUp(whole countedWhole, out []patra.Estimate, ask func(i int) (patra.Estimate, error)) ([]patra.Estimate, error) {
	seen := []countSums{sumsOf(whole.est, out)}
	for n := 0; g.contradict(whole.est, out); n++ {
		if n == countAgain || g.left < len(out)+1 {
			g.doubt(whole.of, len(out), seen)
			return nil, nil
		}
		var err error
		if whole.est, err = whole.ask(); err != nil {
			return nil, err
		}
		for i := range out {
			if out[i], err = ask(i); err != nil {
				return nil, err
			}
		}
		seen = append(seen, sumsOf(whole.est, out))
	}
	return out, nil
}

// contradict reports whether exact counts of pieces differ from that of the whole by more than what moves while they are taken.
func (g *estimator) contradict(whole patra.Estimate, pieces []patra.Estimate) bool {
	exact := g.job.spec.Response.Total.Trust == patra.TrustExact && whole.Grounds == patra.ByCount
	for _, p := range pieces {
		exact = exact && p.Grounds == patra.ByCount
	}
	sums := sumsOf(whole, pieces)
	return exact && max(sums.whole-sums.pieces, sums.pieces-sums.whole) > countSlack+sums.whole/countShare
}

// countSums are the counts of one round.
type countSums struct{ whole, pieces int64 }

func sumsOf(whole patra.Estimate, pieces []patra.Estimate) countSums {
	s := countSums{whole: whole.Records}
	for _, p := range pieces {
		s.pieces += p.Records
	}
	return s
}

// doubt goes on without counts, and says what was seen.
func (g *estimator) doubt(of string, pieces int, seen []countSums) {
	g.doubted = true
	text := fmt.Sprintf("%s was counted as %d, and its %d pieces as %d together", of, seen[0].whole, pieces, seen[0].pieces)
	if pieces == 1 {
		text = fmt.Sprintf("%s was counted as %d, and without that range as %d", of, seen[0].pieces, seen[0].whole)
	}
	steady := true
	for _, s := range seen[1:] {
		steady = steady && s == seen[0]
	}
	switch {
	case len(seen) == 1:
	case steady:
		text += fmt.Sprintf(", %d times over", len(seen))
	default:
		for _, s := range seen[1:] {
			text += fmt.Sprintf(", then %d and %d", s.whole, s.pieces)
		}
	}
	g.job.tally.Warnings = append(g.job.tally.Warnings, patra.Problem{Code: CountsDisagree, Text: text + ": counts are not believed, slices are cut without them"})
}

// CountsDisagree is the code of a warning: counts of pieces did not add up to that of the whole.
const CountsDisagree = "COUNTS_DISAGREE"
