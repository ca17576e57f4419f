package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"patra"
)

// mostTogether bounds how many tasks are taken in one transaction.
const mostTogether = 32

// claimBatcher serves those together who ask for work at the same moment: one of them looks and takes for all, in one transaction. Whoever
// comes meanwhile waits, and goes with the next group.
type claimBatcher struct {
	mu      sync.Mutex
	open    bool // somebody serves a group
	waiting []*claimWaiter
	rich    atomic.Bool // the last group found something
}

// claimWaiter is somebody who asks for work.
type claimWaiter struct {
	ctx    context.Context
	req    patra.ClaimRequest
	answer chan claimResult // has room for what it is told: nobody waits for an asker
}

// claimResult is what an asker is told: to lead the next group, or what it gets.
type claimResult struct {
	lead  bool
	claim *patra.Claim
	err   error
}

// claimBatchKey is what requests must have in common to be served together.
type claimBatchKey struct {
	cursor, plan int64
	perPartition int
	lease        time.Duration
}

func (a *claimWaiter) kind() claimBatchKey {
	return claimBatchKey{a.req.CursorID, a.req.PlanID, a.req.PerPartition, a.req.Lease}
}

// claim waits until it is served, or serves a group itself. serve answers everybody in it.
//
// Whoever goes away before its group is served gets nothing. From then on what is taken for it is its own: it hears of it even if
// its context has ended meanwhile, and no task is taken for nobody.
func (d *claimBatcher) claim(ctx context.Context, req patra.ClaimRequest, serve func([]*claimWaiter)) (*patra.Claim, error) {
	a := &claimWaiter{ctx: ctx, req: req, answer: make(chan claimResult, 1)}
	d.enqueue(a)
	select {
	case <-ctx.Done():
		if d.dequeue(a) {
			return nil, fmt.Errorf("claim: %w", ctx.Err())
		}
	case got := <-a.answer:
		if !got.lead {
			return got.claim, got.err
		}
		d.serve(a, serve)
	}
	got := <-a.answer
	return got.claim, got.err
}

// enqueue queues up. At an empty desk the asker leads at once.
func (d *claimBatcher) enqueue(a *claimWaiter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, a)
	if !d.open {
		d.next()
	}
}

// next lets the first in the queue lead. The desk is closed if there is none.
func (d *claimBatcher) next() {
	if d.open = len(d.waiting) > 0; d.open {
		d.waiting[0].answer <- claimResult{lead: true}
	}
}

// dequeue takes an asker out of the queue; false if it is being served. Whoever should have led leaves that to the next.
func (d *claimBatcher) dequeue(a *claimWaiter) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.Index(d.waiting, a)
	if at < 0 {
		return false
	}
	d.waiting = slices.Delete(d.waiting, at, at+1)
	select {
	case <-a.answer:
		d.next()
	default:
	}
	return true
}

// serve serves everybody who waits and wants the same as the leader, the leader first.
func (d *claimBatcher) serve(leader *claimWaiter, serve func([]*claimWaiter)) {
	d.mu.Lock()
	var group, others []*claimWaiter
	for _, a := range d.waiting {
		if a.kind() == leader.kind() && len(group) < mostTogether {
			group = append(group, a)
		} else {
			others = append(others, a)
		}
	}
	d.waiting = others
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.next()
	}()
	serve(group)
}

// together is a context that ends when the last of a group has gone away.
func together(group []*claimWaiter) (context.Context, context.CancelFunc) {
	if len(group) == 1 {
		return group[0].ctx, func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(group[0].ctx))
	var left atomic.Int64
	left.Store(int64(len(group)))
	var stops []func() bool
	for _, a := range group {
		stops = append(stops, context.AfterFunc(a.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
