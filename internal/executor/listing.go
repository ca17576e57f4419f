package executor

import (
	"context"
	"errors"
	"fmt"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// Listing is what a provider lists in a window now.
type Listing struct {
	IDs      map[string]bool
	Nameless int64  // items without an id
	Total    *int64 // that the provider said last
	Pages    int
	Whole    bool // one answer held all of the window, by its own exact total or because it said so
}

// ErrLongListing means that a listing has more pages than its caller wanted to read.
var ErrLongListing = errors.New("the listing has more pages than are read for a comparison")

// List walks a window from its first page to its end as a scan does, and keeps nothing but the ids. Its requests go the way of all
// others, each with a row of its own. It fails where the walk has more than the given number of pages: what was listed until then
// proves nothing.
func (p *Prober) List(ctx context.Context, spec *source.Spec, query query.Node, window patra.Window, baseURL string, pages int) (Listing, error) {
	t, err := p.target(spec, baseURL)
	if err != nil {
		return Listing{}, err
	}
	all, position, been := Listing{IDs: map[string]bool{}}, spec.First(), map[string]bool{}
	for {
		if all.Pages == pages {
			return all, fmt.Errorf("%s: %w (%d)", window, ErrLongListing, pages)
		}
		call, err := spec.Build(query, window, position, baseURL, p.Vars)
		if err != nil {
			return all, err
		}
		page, err := p.listPage(ctx, t, call, position, baseURL, &all)
		if err != nil || !page.HasNext {
			all.Whole = err == nil && all.whole(spec.Witness(query), page)
			return all, err
		}
		if been[page.Next] && !spec.Stateful() {
			return all, &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeLoop, Path: spec.Pagination.Next, Text: "the provider leads back to a page that was read before"}
		}
		been[page.Next], position = true, page.Next
	}
}

// whole reports whether the only page of a listing is all of the window.
func (l *Listing) whole(plan patra.WitnessPlan, last source.Page) bool {
	switch {
	case l.Pages != 1 || l.Nameless > 0:
		return false
	case plan.Trust == patra.TrustExact && l.Total != nil:
		return *l.Total == int64(len(l.IDs))
	}
	return plan.Says && (last.End == patra.EndNoToken || last.End == patra.EndNullNext)
}

// listPage asks for one page, and again as often as the source allows. A page of a walk that the provider keeps the state of is
// asked for once: to ask again would leave out the one that was lost.
func (p *Prober) listPage(ctx context.Context, t *sourceClient, call source.Call, position, baseURL string, all *Listing) (source.Page, error) {
	w, spec := p.wire(baseURL), t.program.Spec
	for attempt := 1; ; attempt++ {
		page, err := p.sendListPage(ctx, w, t, call, position, all)
		failed, ok := errors.AsType[*pageError](err)
		if !ok {
			return page, err
		}
		if ctx.Err() != nil {
			return page, context.Cause(ctx)
		}
		wait, err := w.retryDelay(ctx, spec, failed, attempt)
		if err != nil {
			return page, err
		}
		once := spec.Stateful() && failed.sent()
		if once || failed.fault.Level != patra.LevelRetry || attempt >= spec.Retry.MaxAttempts && !failed.renewed(attempt) {
			return page, failed.fault
		}
		p.Log.InfoContext(ctx, "page is asked for again", "source", spec.Source, "endpoint", spec.Endpoint, "op", string(spec.Operation), "code", failed.fault.Code, "attempt", attempt)
		if err := w.sleep(ctx, wait); err != nil {
			return page, err
		}
	}
}

func (p *Prober) sendListPage(ctx context.Context, w transport, t *sourceClient, call source.Call, position string, all *Listing) (page source.Page, err error) {
	spec := t.program.Spec
	if _, err := w.identify(ctx, spec); err != nil {
		return page, notSentError(err)
	}
	_, err = w.sendStandalone(ctx, w.costOf(spec), patra.RequestProbe, func(requestID string, pass *permit) (response, error) {
		got, err := w.send(ctx, spec, t.client, call, requestID, pass)
		if err == nil {
			if page, err = t.program.Read(got.status, got.body, position); err != nil {
				return got, got.failed(patra.AsFault(err))
			}
			all.add(t.program, &page, got.exchange.SentAt)
		}
		return got, err
	})
	return page, err
}

// add keeps the ids of a page.
func (l *Listing) add(program *source.Program, page *source.Page, at patra.Instant) {
	l.Pages++
	if page.Total != nil {
		l.Total = page.Total
	}
	for o := range program.Records(page, at) { // what cannot become a record has an id all the same, mostly
		if o.ID == "" {
			l.Nameless++
			continue
		}
		l.IDs[o.ID] = true
	}
}
