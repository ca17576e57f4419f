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

// desk serves those together who ask for work at the same moment: one of them looks and takes for all, in one transaction. Whoever
// comes meanwhile waits, and goes with the next group.
type desk struct {
	mu      sync.Mutex
	open    bool // somebody serves a group
	waiting []*asker
	rich    atomic.Bool // the last group found something
}

// asker is somebody who asks for work.
type asker struct {
	ctx    context.Context
	req    patra.ClaimRequest
	answer chan answer // has room for what it is told: nobody waits for an asker
}

// answer is what an asker is told: to lead the next group, or what it gets.
type answer struct {
	lead  bool
	claim *patra.Claim
	err   error
}

// kind is what requests must have in common to be served together.
type kind struct {
	cursor, plan int64
	perPartition int
	lease        time.Duration
}

func (a *asker) kind() kind {
	return kind{a.req.CursorID, a.req.PlanID, a.req.PerPartition, a.req.Lease}
}

// ask waits until it is served, or serves a group itself. serve answers everybody in it.
//
// Whoever goes away before its group is served gets nothing. From then on what is taken for it is its own: it hears of it even if
// its context has ended meanwhile, and no task is taken for nobody.
func (d *desk) ask(ctx context.Context, req patra.ClaimRequest, serve func([]*asker)) (*patra.Claim, error) {
	a := &asker{ctx: ctx, req: req, answer: make(chan answer, 1)}
	d.come(a)
	select {
	case <-ctx.Done():
		if d.leave(a) {
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

// come queues up. At an empty desk the asker leads at once.
func (d *desk) come(a *asker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, a)
	if !d.open {
		d.next()
	}
}

// next lets the first in the queue lead. The desk is closed if there is none.
func (d *desk) next() {
	if d.open = len(d.waiting) > 0; d.open {
		d.waiting[0].answer <- answer{lead: true}
	}
}

// leave takes an asker out of the queue; false if it is being served. Whoever should have led leaves that to the next.
func (d *desk) leave(a *asker) bool {
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
func (d *desk) serve(leader *asker, serve func([]*asker)) {
	d.mu.Lock()
	var group, others []*asker
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
func together(group []*asker) (context.Context, context.CancelFunc) {
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
