package executor

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"patra"
	"patra/internal/source"
)

// pageRequest is a request that was granted: its row, and what is sent.
type pageRequest struct {
	patra.PageOpen
	call source.Call
}

// inflightPage is a page on its way. Its request is sent and its answer is read while the page before it is written, so that
// network, reader and writer work at the same time. A run has two pages in its hands at most.
type inflightPage struct {
	page patra.OpenPage
	hold patra.Admission // what the controls said before it was sent
	got  response
	res  patra.PageResult
	err  error

	done chan struct{}
	stop context.CancelFunc
	held *memoryReservation
	span trace.Span
}

// fetchAsync sends the request of an announced page.
func (r *run) fetchAsync(ctx context.Context, page patra.OpenPage, call source.Call, held *memoryReservation) *inflightPage {
	ctx, stop := context.WithCancel(ctx)
	ctx, span := r.batchSpan(ctx, page)
	a := &inflightPage{page: page, done: make(chan struct{}), stop: stop, held: held, span: span}
	program, client := r.programOf(page.Phase)
	largest := r.sizes.of(page.Phase)
	r.scan.walked.Requests++
	go func() {
		defer r.guard()()
		defer close(a.done)
		if a.err = a.held.acquire(ctx, estimateBodySize(largest.Load(), program.Spec.HTTP.MaxBody)); a.err != nil {
			return
		}
		a.got, a.err = r.fetch(ctx, page, call, program.Spec, client, &a.hold)
		if err := r.storeBody(ctx, program.Spec, &a.got, a.err); err != nil {
			a.err = err // without its body no page is read
		}
		if a.err != nil {
			return
		}
		size := int64(len(a.got.body))
		a.held.shrinkTo(size)
		if size > largest.Load() { // two at once may tell less than the truth, and the next page mends that
			largest.Store(size)
		}
		if a.err = r.rooms.enter(ctx); a.err != nil {
			return
		}
		defer r.rooms.leave()
		if a.res, a.err = r.read(program, page, a.got); a.err != nil {
			a.err = a.got.failed(patra.AsFault(a.err))
		}
	}()
	return a
}

// awaitPage waits for a page and gives what came.
func (r *run) awaitPage(a *inflightPage) (patra.PageResult, error) {
	<-a.done
	a.stop()
	r.noteAdmission(a.hold)
	if a.err != nil {
		failedSpan(a.span, a.err)
		a.held.release()
	}
	return a.res, a.err
}

// abandon gives up a page that nobody wants any more.
func (r *run) abandon(a *inflightPage) {
	if a == nil {
		return
	}
	a.stop()
	<-a.done
	if a.hold.Probe != 0 {
		r.noteAdmission(a.hold)
	}
	a.held.release()
	a.span.End()
}

// soon is how short the wait for a grant must be, so that asking ahead is worth a transaction of its own. Where the
// provider makes us wait for longer, the page before is written in that time anyway, and nothing is in flight that a
// crash would make us ask for twice.
const soon = 20 * time.Millisecond

// prefetch announces and sends the next page before the one in hand is written, if that gains anything; nil if not.
func (r *run) prefetch(ctx context.Context, next pageRequest) (*inflightPage, error) {
	// A walk whose token is used up begins anew after a crash, whatever was in flight. Any other goes on with the one page that
	// was not written, and would have two to ask for again.
	anyway := next.Phase == patra.PhaseSearch && r.program.Spec.Stateful()
	if !(anyway || r.Config.Prefetch) || time.Duration(next.Waited)*time.Microsecond > soon {
		return nil, nil
	}
	held := r.allowance()
	if !held.tryTake(estimateBodySize(r.sizes.of(next.Phase).Load(), r.spec(next.Phase).HTTP.MaxBody)) {
		return nil, nil
	}
	next.Ahead = true
	opened, err := r.Store.OpenPage(ctx, r.claim, patra.InstantOf(time.Now()), next.PageOpen)
	if err != nil {
		held.release()
		return nil, err
	}
	return r.fetchAsync(ctx, opened, next.call, held), nil
}
