package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"patra"
	"patra/internal/executor"
	"patra/internal/query"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/view"
)

// Provider asks providers how much there is, and lists what there is, through the same gate as every other request.
type Provider interface {
	Probe(ctx context.Context, spec *source.Spec, query query.Node, window patra.Window, baseURL string) (patra.Probe, error)
	List(ctx context.Context, spec *source.Spec, query query.Node, window patra.Window, baseURL string, pages int) (executor.Listing, error)
}

// Questions reads back what a plan asked.
type Questions interface {
	Question(ctx context.Context, plan patra.Plan) (*source.Spec, query.Node, error)
}

// How windows are to be compared.
const (
	CompareAuto   = "auto"   // by ids where listing a window takes few requests, else by counts
	CompareIDs    = "ids"    // by ids, however many requests it takes
	CompareCounts = "counts" // by counts, one request a window
)

// CheckWays are the ways in which windows can be compared.
var CheckWays = []string{CompareAuto, CompareIDs, CompareCounts}

// cheapListing is how many pages of a window are listed without being asked to: a comparison is no second harvest.
const cheapListing = 20

// listingSlack is by how much a listing may be longer than the window was when it was read.
const listingSlack = 10

// CheckRequest says which windows to compare, and how.
type CheckRequest struct {
	Cursors []patra.Cursor
	Span    patra.Window
	By      string // one of CheckWays; empty is auto
	Mark    bool   // windows that differ come into dispute, and those that agree are sealed
	Actor   string
}

// Checker compares windows that were read to their end with what the provider has now.
type Checker struct {
	Store     *store.Store
	Provider  func(cur patra.Cursor) Provider // the way to ask for a cursor, which may be held by a control
	Questions Questions
	Now       func() patra.Instant
	Progress  func(cur patra.Cursor, done, all int) // told after each window; may be nil
}

// Check compares the windows of some cursors, one after the other.
func (c *Checker) Check(ctx context.Context, req CheckRequest) (view.CheckReport, error) {
	report := view.CheckReport{Differences: []view.CheckDifference{}, Marked: req.Mark}
	for _, cur := range req.Cursors {
		if err := c.cursor(ctx, req, cur, &report); err != nil {
			return report, err
		}
	}
	return report, nil
}

// checked is one cursor whose windows are compared.
type checked struct {
	*Checker
	req      CheckRequest
	provider Provider
	cur      patra.Cursor
	plan     patra.Plan
	spec     *source.Spec
	query    query.Node
	report   *view.CheckReport
}

// cursor compares the windows of one cursor.
func (c *Checker) cursor(ctx context.Context, req CheckRequest, cur patra.Cursor, report *view.CheckReport) error {
	all, err := c.comparable(ctx, cur, req.Span)
	if err != nil || len(all) == 0 {
		return err
	}
	plans, err := c.Store.Plans(ctx, store.Filter{Cursor: cur.ID, Limit: 1})
	if err != nil || len(plans) == 0 {
		return err
	}
	k := &checked{Checker: c, req: req, provider: c.Provider(cur), cur: cur, plan: plans[0], report: report}
	if k.spec, k.query, err = c.Questions.Question(ctx, k.plan); err != nil {
		return err
	}
	if !k.counts() && req.By == CompareCounts {
		return notCounted(k.spec.Source)
	}
	for i, w := range all {
		if err := k.window(ctx, w); err != nil {
			return err
		}
		if c.Progress != nil {
			c.Progress(cur, i+1, len(all))
		}
	}
	return nil
}

// notCounted says that counts of a source are nothing to compare with.
func notCounted(code string) error {
	return patra.Problems{{Code: "NOT_COUNTED", Path: "response.total", Text: code + " does not count exactly, so there is nothing to compare with",
		Hint: "Compare by ids, or read a stretch again with patra harvest " + code + " --from DAY --to DAY --force"}}
}

// counts reports whether the totals of the source can be compared.
func (k *checked) counts() bool {
	return k.spec.CanCount() && k.spec.Response.Total.Trust == patra.TrustExact
}

// comparedWindow is an answer that can be compared, and the window that its slice asked for.
type comparedWindow struct {
	*patra.CoverageEntry
	fetch patra.Window
}

// comparable are the answers of a cursor that still speak for all of their window. What was confirmed by a walk that asked for more
// than it answers for cannot be told apart.
func (c *Checker) comparable(ctx context.Context, cur patra.Cursor, span patra.Window) (all []comparedWindow, err error) {
	answers, err := c.Store.CoverageEntries(ctx, cur.ID)
	if err != nil {
		return nil, err
	}
	for _, sp := range patra.EffectiveEntries(answers) {
		if len(sp.For) != 1 || sp.For[0] != sp.Window || sp.Window.From < span.From || sp.Window.To > span.To {
			continue
		}
		found, err := c.Store.Slices(ctx, store.Filter{Slice: sp.SliceID, Limit: 1})
		if err != nil {
			return nil, err
		}
		switch {
		case len(found) == 0:
		case sp.Kind != patra.KindConfirmed:
			all = append(all, comparedWindow{sp.CoverageEntry, found[0].Fetch})
		case found[0].Fetch == found[0].Window:
			all = append(all, comparedWindow{sp.CoverageEntry, sp.Window})
		}
	}
	return all, nil
}

// window compares one window, by ids if that is wanted and possible, else by counts.
func (k *checked) window(ctx context.Context, w comparedWindow) error {
	if k.req.By != CompareCounts {
		done, err := k.byIDs(ctx, w)
		if done || err != nil {
			return err
		}
	}
	if !k.counts() {
		k.report.Skipped++
		k.note(fmt.Sprintf("%s does not count exactly: a window that is not listed is not compared", k.spec.Source))
		return nil
	}
	return k.byCounts(ctx, w)
}

// note says something once.
func (k *checked) note(text string) {
	if !slices.Contains(k.report.Notes, text) {
		k.report.Notes = append(k.report.Notes, text)
	}
}

// byCounts compares how much there is with how much was read.
func (k *checked) byCounts(ctx context.Context, w comparedWindow) error {
	probe, err := k.provider.Probe(ctx, k.spec, k.query, w.fetch, k.plan.BaseURL)
	if err != nil || probe.Total == nil {
		return err
	}
	k.report.Compared++
	k.report.ByCounts++
	d := view.CheckDifference{By: view.CheckByCounts, Counted: *probe.Total}
	return k.settle(ctx, w, d, *probe.Total != w.IDsSeen, nil)
}

// pages is how many pages listing a window may take, and whether that is cheap: a search that gives only ids has few, and so has
// a small window.
func (k *checked) pages(w comparedWindow) (most int, cheap bool) {
	size := max(int64(k.spec.Pagination.PageSize), 1)
	likely := int((w.IDsSeen + size - 1) / size)
	return 2*likely + listingSlack, k.spec.Detail != nil || likely <= cheapListing
}

// byIDs compares what the provider lists with what is stored. A walk over a list that moves can leave out what is there, so what
// differs is listed a second time: an id is missing only if neither listing has it.
func (k *checked) byIDs(ctx context.Context, w comparedWindow) (done bool, err error) {
	most, cheap := k.pages(w)
	if !cheap && k.req.By != CompareIDs {
		k.note(fmt.Sprintf("windows of more than %d pages are not listed", cheapListing))
		return false, nil
	}
	listed, err := k.list(ctx, w, most)
	if listed == nil || err != nil {
		return false, err
	}
	d, differs, err := k.compare(ctx, w, *listed)
	if err != nil {
		return false, err
	}
	if differs {
		again, err := k.list(ctx, w, most)
		if again == nil || err != nil {
			return false, err
		}
		maps.Copy(again.IDs, listed.IDs)
		again.Nameless = max(again.Nameless, listed.Nameless)
		if d, differs, err = k.compare(ctx, w, *again); err != nil {
			return false, err
		}
	}
	k.report.Compared++
	k.report.ByIDs++
	var census *int64
	if listed.Whole {
		census = new(int64(len(listed.IDs)))
	}
	return true, k.settle(ctx, w, d, differs, census)
}

// list lists a window; nil where the provider does not list it to its end.
func (k *checked) list(ctx context.Context, w comparedWindow, most int) (*executor.Listing, error) {
	listed, err := k.provider.List(ctx, k.spec, k.query, w.fetch, k.plan.BaseURL, most)
	fault, refused := errors.AsType[*patra.Fault](err)
	switch {
	case err == nil:
		return &listed, nil
	case errors.Is(err, executor.ErrLongListing), refused && fault.Code == patra.CodeDeepPaging:
		k.note(fmt.Sprintf("%s could not be listed to its end: %s", w.Window, err))
		return nil, nil
	}
	return nil, err
}

// compare holds a listing against the store.
func (k *checked) compare(ctx context.Context, w comparedWindow, listed executor.Listing) (view.CheckDifference, bool, error) {
	d := view.CheckDifference{By: view.CheckByIDs, Counted: int64(len(listed.IDs)) + listed.Nameless}
	ids := view.WindowIDs{Listed: listed.IDs, Nameless: listed.Nameless, Seen: w.IDsSeen, ReadAt: w.ClosedAt}
	var err error
	if ids.Stored, err = k.Store.StoredIDs(ctx, k.spec.Source, k.spec.RecordType, k.spec.Repository(), slices.Collect(maps.Keys(listed.IDs))); err != nil {
		return d, false, err
	}
	if err := k.explain(ctx, w, ids); err != nil {
		return d, false, err
	}
	err = k.Store.RecordsOfWindow(ctx, k.cur.ID, k.spec.Source, w.fetch, func(r store.WindowRecord) {
		ids.Held = append(ids.Held, view.HeldRecord(r))
	})
	if err != nil {
		return d, false, err
	}
	d.NotStored, d.NotListed, d.Unnamed = view.CompareIDs(ids)
	d.New, d.Gone = int64(len(d.NotStored)), int64(len(d.NotListed))
	d.NotStored, d.NotListed = first(d.NotStored), first(d.NotListed)
	differs := d.New+d.Gone+d.Unnamed > 0
	if k.counts() && listed.Total != nil && *listed.Total != d.Counted { // it counts what it does not list
		d.Counted, differs = *listed.Total, true
	}
	return d, differs, nil
}

// first are the ids that a report names.
func first(ids []string) []string { return ids[:min(len(ids), view.MostCheckIDs)] }

// explain counts ids as known that could not become records: those in quarantine, and those for which the provider has no record.
func (k *checked) explain(ctx context.Context, w comparedWindow, ids view.WindowIDs) error {
	if w.Quarantined+w.KnownMissing == 0 {
		return nil
	}
	for id := range ids.Listed {
		if ids.Stored[id] {
			continue
		}
		aside, err := k.Store.Quarantine(ctx, store.QuarantineFilter{Source: k.spec.Source, RecordID: id, Limit: 1})
		if err != nil {
			return err
		}
		item, err := k.Store.ItemOf(ctx, w.SliceID, id)
		if err != nil {
			return err
		}
		if len(aside) > 0 || item == patra.ItemMissing || item == patra.ItemBad {
			ids.Stored[id] = true
		}
	}
	return nil
}

// settle reports a window that differs, and keeps what was found if that is wanted. census is how many ids a list has that came whole in
// one answer; nil: it did not.
func (k *checked) settle(ctx context.Context, w comparedWindow, d view.CheckDifference, differs bool, census *int64) error {
	d.Source, d.Repository, d.CursorID, d.Window, d.State, d.Seen = k.cur.Source, k.cur.Repository, k.cur.ID, w.Window, w.State, w.IDsSeen
	accepted := w.State == patra.StateSealed && len(w.Remarks) > 0 && w.CountAfter != nil && *w.CountAfter == d.Counted // by a person
	if differs && !accepted {
		k.report.Differences = append(k.report.Differences, d)
	}
	if !k.req.Mark || differs && accepted {
		return nil
	}
	why := patra.CoverageNote{At: k.Now(), By: k.req.Actor, From: w.State, Counted: &d.Counted}
	if why.To, why.Reason = settled(w, d, differs, census != nil); why.To == "" {
		return nil
	}
	if why.To == patra.StateSealed {
		why.Proof = &patra.WindowProof{V: patra.ProofVersion, Witness: patra.WitnessCensus, Basis: k.spec.Basis, Census: census}
	}
	return k.Store.ResolveDispute(ctx, w.CursorID, []int64{w.ID}, why)
}

// settled is what becomes of a window that was compared, and why; empty if it stays as it is. Only a list of all ids that came in one answer,
// and of which all are stored, proves a window, also one that an older version sealed by the walk and the count. What merely agrees
// ends a dispute and proves nothing.
func settled(w comparedWindow, d view.CheckDifference, differs, census bool) (to patra.Completeness, why string) {
	byIDs := d.By == view.CheckByIDs
	switch {
	case differs && w.State == patra.StateDisputed:
		return "", ""
	case differs && byIDs && d.New+d.Gone+d.Unnamed > 0:
		return patra.StateDisputed, fmt.Sprintf("the provider lists other ids now: %d not stored, %d not listed any more", d.New, d.Gone+d.Unnamed)
	case differs:
		return patra.StateDisputed, "the provider counts differently now"
	case census && (w.State != patra.StateSealed || w.Proof == nil && len(w.Remarks) == 0):
		return patra.StateSealed, "the provider lists what is stored, in one answer"
	case w.State == patra.StateDisputed && byIDs:
		return patra.StateRead, "the provider lists what is stored"
	case w.State == patra.StateDisputed:
		return patra.StateRead, "the provider counts what was read"
	}
	return "", ""
}
