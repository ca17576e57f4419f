package planner

import (
	"context"
	"fmt"

	"patra"
)

// mergePages is how full a slice that is longer than a step may be, in pages. Fewer requests are the only reason for
// long slices; beyond a few pages there is nothing to gain, and a short slice that fails is a smaller gap.
const mergePages = 2

// byTime cuts by time. Where the provider can count, it is asked about a long stretch first, and again only about pieces
// of what is too full: a rare question over ten years becomes one slice, and a day with too much becomes many. Where it
// cannot, every step is a slice, and what history says is too full is cut.
func (j *job) byTime(ctx context.Context, p needPart, give sliceSink) bool {
	stretch := j.Step
	if j.judge.counts() {
		stretch = j.MaxSpan
	}
	for w := range p.Pieces(stretch, j.Newest) {
		est, err := j.judge.estimate(ctx, w, nil)
		if err != nil {
			give(nil, err)
			return false
		}
		if !j.fit(ctx, needPart{w, p.why}, est, give) {
			return false
		}
	}
	return true
}

// fit yields a stretch if it is not too full, or else its pieces.
func (j *job) fit(ctx context.Context, p needPart, est patra.Estimate, give sliceSink) bool {
	pieces := j.pieces(p.Window, est)
	if len(pieces) == 0 {
		return j.whole(ctx, p, est, give)
	}
	shares, err := j.judge.divide(ctx, p.Window, est, pieces)
	if err != nil {
		give(nil, err)
		return false
	}
	if shares == nil {
		return j.uncounted(ctx, p, give)
	}
	if j.Newest {
		reverse(pieces, shares)
	}
	for i, w := range pieces {
		if !j.fit(ctx, needPart{w, p.why}, shares[i], give) {
			return false
		}
	}
	return true
}

// uncounted cuts a stretch whose counts do not add up: every step is a slice, and only what history says is too full is cut
// further. What is still too full is cut again while it is read.
func (j *job) uncounted(ctx context.Context, p needPart, give sliceSink) bool {
	for w := range p.Pieces(j.Step, j.Newest) {
		est, err := j.judge.estimate(ctx, w, nil)
		if err != nil {
			give(nil, err)
			return false
		}
		if !j.fit(ctx, needPart{w, p.why}, est, give) {
			return false
		}
	}
	return true
}

func reverse(ws []patra.Window, es []patra.Estimate) {
	for i, k := 0, len(ws)-1; i < k; i, k = i+1, k-1 {
		ws[i], ws[k] = ws[k], ws[i]
		es[i], es[k] = es[k], es[i]
	}
}

// pieces cuts a window that is too full into as many as it takes, each a run of whole cells of the grid. It gives none
// when the window is not too full, or when it is one cell and cannot be cut.
func (j *job) pieces(w patra.Window, est patra.Estimate) []patra.Window {
	grid, limit := j.grid(w), j.limit()
	if j.long(w) {
		if est.Grounds != patra.ByCount { // a guess is no reason for a long slice
			steps := w.Cut(grid)
			return group(steps, int64(len(steps)))
		}
		limit = min(limit, mergePages*max(j.tariff.PageSize, 1))
	}
	if est.Records <= limit {
		return nil
	}
	return group(w.Cut(grid), max((est.Records+limit-1)/limit, 2))
}

// long reports whether a window is more than one step.
func (j *job) long(w patra.Window) bool { return w.To > j.Step.After(w.From) }

// grid is what a window is cut along: whole steps as long as there are several, and then the finest that makes sense.
func (j *job) grid(w patra.Window) patra.Period {
	if j.long(w) {
		return j.Step
	}
	return j.MinStep
}

// group joins neighbouring cells into at most n runs of nearly the same number.
func group(cells []patra.Window, n int64) []patra.Window {
	count := int64(len(cells))
	if count < 2 {
		return nil
	}
	n = min(n, count)
	runs := make([]patra.Window, 0, n)
	for i := range n {
		runs = append(runs, patra.Window{From: cells[i*count/n].From, To: cells[(i+1)*count/n-1].To})
	}
	return runs
}

// single reports whether a window is one cell of the finest grid.
func (j *job) single(w patra.Window) bool {
	for first := range w.Pieces(j.MinStep, false) {
		return first == w
	}
	return true
}

// limit is how many records a slice may have: what we want, what the pages allow, and what the provider can give.
func (j *job) limit() int64 {
	limit := j.Target
	if j.MaxPages > 0 && j.tariff.PageSize > 0 {
		limit = min(limit, j.MaxPages*j.tariff.PageSize)
	}
	if j.capped() {
		limit = min(limit, j.reach())
	}
	return max(limit, 1)
}

func (j *job) capped() bool { return j.spec.MaxResults() > 0 }

// capMargin is kept free below the provider's cap, because what was counted grows until it is read.
const capMargin = 10 // one in

func (j *job) reach() int64 { return max(j.spec.MaxResults()-j.spec.MaxResults()/capMargin, 1) }

// whole yields a window that is not cut by time any more. If it is too full for the provider, its ids are cut.
func (j *job) whole(ctx context.Context, p needPart, est patra.Estimate, give sliceSink) bool {
	single := j.single(p.Window)
	split := j.spec.Window.Split
	if single && split != nil && j.capped() && est.Records > j.reach() && est.Grounds == patra.ByCount {
		return j.byParts(ctx, p, split.Range(), est, give)
	}
	sl := j.slice(p, patra.StrategyTime, p.Window, est)
	sl.Spec.Hints.Whole = single && split == nil
	if single && split == nil && j.capped() && est.Records > j.spec.MaxResults() {
		j.warn("OVER_CAP", fmt.Sprintf("%s has about %d records, the provider answers at most %d, and nothing is known to cut it by: it will fail and stay a gap", p.Window, est.Records, j.spec.MaxResults()))
	}
	return one(give, sl)
}

func (j *job) warn(code, text string) {
	j.tally.Warnings = append(j.tally.Warnings, patra.Problem{Code: code, Path: "window", Text: text})
}
