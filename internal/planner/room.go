package planner

import (
	"context"
	"math"

	"patra"
)

// room is how much more may be put into the queue: by the number of tasks that wait, and by the provider's quota.
// Where nothing is waiting at all, one group always fits, however large it is: otherwise it never would.
type room struct {
	tasks, allTasks       int64
	requests, allRequests int64
	probes                int64  // that are charged
	closed                string // why nothing fits, however little there is
}

// unlimited is the room for what somebody has approved as a whole.
var unlimited = room{tasks: math.MaxInt64, allTasks: math.MaxInt64, requests: math.MaxInt64, allRequests: math.MaxInt64}

// room reads how much there is left.
func (p *Planner) room(ctx context.Context, now patra.Instant, j *job) (room, error) {
	r := unlimited
	var err error
	if r.closed, err = p.held(ctx, j.plan); err != nil {
		return r, err
	}
	if p.Config.Inventory > 0 {
		stock, err := p.Store.Stock(ctx, patra.Partition(j.plan.Source, j.plan.Endpoint, j.plan.Operation))
		if err != nil {
			return r, err
		}
		r.allTasks = p.Config.Inventory
		r.tasks = max(r.allTasks-stock, 0)
	}
	if j.tariff.DailyQuota > 0 {
		spoken, err := p.Store.Committed(ctx, j.plan.Source, patra.UnitDay.Floor(now))
		if err != nil {
			return r, err
		}
		r.allRequests = int64(float64(j.tariff.Usable) * p.share(j.plan.Operation))
		r.requests = max(r.allRequests-spoken.Sent-j.tariff.Waiting(spoken), 0)
	}
	return r, nil
}

// share is how much of a quota an operation may plan with: a harvest all of it, history only a part, and an update half
// of what is between.
func (p *Planner) share(op patra.Operation) float64 {
	part := p.Config.BackfillShare
	if part <= 0 || part > 1 {
		part = 1
	}
	switch op {
	case patra.Backfill:
		return part
	case patra.Update:
		return (1 + part) / 2
	}
	return 1
}

// full says why nothing fits, if nothing does.
func (r *room) full() string {
	switch {
	case r.closed != "":
		return r.closed
	case r.tasks == 0:
		return patra.ReasonInventory
	case r.requests == 0:
		return patra.ReasonQuota
	}
	return ""
}

// cramped says why it is not worth while to go on now. Each time costs counts, so a queue is filled when half of it is
// empty, and not one task at a time.
func (r *room) cramped() string {
	if why := r.full(); why != "" {
		return why
	}
	if r.tasks < r.allTasks/2 {
		return patra.ReasonInventory
	}
	return ""
}

// take makes room for some slices, or says why there is none. What was counted on the way is spent already.
func (r *room) take(j *job, group []patra.Slice) string {
	asked := int64(j.tally.Probes) - r.probes
	r.probes += asked
	r.requests = max(r.requests-asked, 0)
	var requests int64
	for _, sl := range group {
		requests += j.tariff.Requests(sl.Estimate.Records)
	}
	switch {
	case r.closed != "":
		return r.closed
	case r.tasks < int64(len(group)) && r.tasks < r.allTasks:
		return patra.ReasonInventory
	case r.requests < requests && r.requests < r.allRequests:
		return patra.ReasonQuota
	}
	r.tasks -= int64(len(group))
	r.requests -= requests
	return ""
}
