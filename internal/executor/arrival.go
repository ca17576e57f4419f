package executor

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"patra"
	"patra/internal/source"
)

// ticket is a request that was granted: its row, and what is sent.
type ticket struct {
	patra.PageOpen
	call source.Call
}

// arrival is a page on its way. Its request is sent and its answer is read while the page before it is written, so that
// network, reader and writer work at the same time. A run has two pages in its hands at most.
type arrival struct {
	page patra.OpenPage
	hold patra.Hold // what the controls said before it was sent
	got  answer
	res  patra.PageResult
	err  error

	done chan struct{}
	stop context.CancelFunc
	held *allowance
	span trace.Span
}

// start sends the request of an announced page.
func (r *run) start(ctx context.Context, page patra.OpenPage, call source.Call, held *allowance) *arrival {
	ctx, stop := context.WithCancel(ctx)
	ctx, span := r.batchSpan(ctx, page)
	a := &arrival{page: page, done: make(chan struct{}), stop: stop, held: held, span: span}
	program, client, largest := r.program, r.client, r.sizes.of(page.Phase)
	if page.Phase == patra.PhaseDetail {
		program, client = r.second, r.secondClient
	}
	r.scan.walked.Requests++
	go func() {
		defer r.guard()()
		defer close(a.done)
		if a.err = a.held.take(ctx, expect(largest.Load(), program.Spec.HTTP.MaxBody)); a.err != nil {
			return
		}
		a.got, a.err = r.fetch(ctx, page, call, program.Spec, client, &a.hold)
		if err := r.keep(ctx, program.Spec, &a.got, a.err); err != nil {
			a.err = err // without its body no page is read
		}
		if a.err != nil {
			return
		}
		size := int64(len(a.got.body))
		a.held.keep(size)
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

// receive waits for a page and gives what came.
func (r *run) receive(a *arrival) (patra.PageResult, error) {
	<-a.done
	a.stop()
	r.heard(a.hold)
	if a.err != nil {
		failedSpan(a.span, a.err)
		a.held.free()
	}
	return a.res, a.err
}

// abandon gives up a page that nobody wants any more.
func (r *run) abandon(a *arrival) {
	if a == nil {
		return
	}
	a.stop()
	<-a.done
	if a.hold.Probe != 0 {
		r.heard(a.hold)
	}
	a.held.free()
	a.span.End()
}

// soon is how short the wait for a grant must be, so that asking ahead is worth a transaction of its own. Where the
// provider makes us wait for longer, the page before is written in that time anyway, and nothing is in flight that a
// crash would make us ask for twice.
const soon = 20 * time.Millisecond

// ahead announces and sends the next page before the one in hand is written, if that gains anything; nil if not.
func (r *run) ahead(ctx context.Context, next ticket) (*arrival, error) {
	// A walk whose token is used up begins anew after a crash, whatever was in flight. Any other goes on with the one page that
	// was not written, and would have two to ask for again.
	anyway := next.Phase == patra.PhaseSearch && r.program.Spec.Stateful()
	if !(anyway || r.Config.Prefetch) || time.Duration(next.Waited)*time.Microsecond > soon {
		return nil, nil
	}
	held := r.allowance()
	if !held.tryTake(expect(r.sizes.of(next.Phase).Load(), r.spec(next.Phase).HTTP.MaxBody)) {
		return nil, nil
	}
	next.Ahead = true
	opened, err := r.Store.OpenPage(ctx, r.claim, patra.InstantOf(time.Now()), next.PageOpen)
	if err != nil {
		held.free()
		return nil, err
	}
	return r.start(ctx, opened, next.call, held), nil
}
