package planner

import (
	"context"
	"math"

	"patra"
)

// queueCapacity is how much more may be put into the queue: by the number of tasks that wait, and by the provider's quota.
// Where nothing is waiting at all, one group always fits, however large it is: otherwise it never would.
type queueCapacity struct {
	tasks, allTasks       int64
	requests, allRequests int64  // by what they cost
	probes                int64  // that are charged
	closed                string // why nothing fits, however little there is
}

// unlimited is the room for what somebody has approved as a whole.
var unlimited = queueCapacity{tasks: math.MaxInt64, allTasks: math.MaxInt64, requests: math.MaxInt64, allRequests: math.MaxInt64}

// room reads how much there is left.
func (p *Planner) room(ctx context.Context, now patra.Instant, j *job) (queueCapacity, error) {
	r := unlimited
	var err error
	if r.closed, err = p.blockedBy(ctx, j.plan); err != nil {
		return r, err
	}
	if p.Config.Inventory > 0 {
		stock, err := p.Store.QueuedTasks(ctx, j.plan.WorkScope().Partition())
		if err != nil {
			return r, err
		}
		r.allTasks = p.Config.Inventory
		r.tasks = max(r.allTasks-stock, 0)
	}
	return r, p.quotaRoom(ctx, now, j, &r)
}

// quotaRoom bounds what is planned by what the day and the month have left, beside what was used and what waits already.
// An hour is too short to plan by: what does not fit into it waits for the next.
func (p *Planner) quotaRoom(ctx context.Context, now patra.Instant, j *job, r *queueCapacity) error {
	used, err := p.quota(ctx, now, j)
	if err != nil || len(used) == 0 {
		return err
	}
	endpoint := ""
	if j.spec.HasOwnRateKey() {
		endpoint = j.plan.Endpoint
	}
	spoken, err := p.Store.ReservedQuota(ctx, j.plan.Source, endpoint)
	if err != nil {
		return err
	}
	for _, u := range used {
		if u.Window == patra.QuotaHour {
			continue
		}
		all := j.tariff.QuotaRoom(u.Limit)
		if left := max(all-u.Used-p.reserved(j, u, spoken), 0); left < r.requests {
			r.requests, r.allRequests = left, all
		}
	}
	return nil
}

// reserved is what the slices that wait will use of a window: what they need, and no more than the share of their
// operation leaves them. History that waits for tomorrow takes nothing from a harvest today.
func (p *Planner) reserved(j *job, u patra.QuotaUse, spoken map[patra.Operation]patra.ReservedQuota) (sum int64) {
	for op, c := range spoken {
		share := patra.ShareOf(u.Usable, patra.QuotaShare(op, p.Config.BackfillShare))
		sum += min(j.tariff.Waiting(c)*j.cost(), max(share-u.Used, 0))
	}
	return sum
}

// quota is what is used of the quotas in the windows of now.
func (p *Planner) quota(ctx context.Context, now patra.Instant, j *job) (all []patra.QuotaUse, err error) {
	windows := j.tariff.Quota.At(now)
	if len(windows) == 0 {
		return nil, nil
	}
	key := p.quotaKey(j)
	known, err := p.Store.QuotaOf(ctx, key)
	for _, w := range windows {
		u := patra.QuotaUse{Key: key, Window: w.Code, From: w.From, To: w.To, Limit: w.Limit, Usable: j.tariff.Quota.Usable(w.Limit)}
		for _, k := range known {
			if k.Window == w.Code && k.From == w.From {
				u.Used = k.Used
			}
		}
		all = append(all, u)
	}
	return all, err
}

// quotaKey names the ledger in which requests of a plan are counted.
func (p *Planner) quotaKey(j *job) string { return j.spec.QuotaKey(p.have(), j.plan.BaseURL) }

// Quota is what is used of the quotas of a draft's source now.
func (p *Planner) Quota(ctx context.Context, now patra.Instant, d *Draft) ([]patra.QuotaUse, error) {
	j, err := p.job(d.Spec, d.Expr, d.Plan)
	if err != nil {
		return nil, err
	}
	return p.quota(ctx, now, j)
}

// cost is what a request counts.
func (j *job) cost() int64 { return max(j.tariff.Cost, 1) }

// full says why nothing fits, if nothing does.
func (r *queueCapacity) full() string {
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
func (r *queueCapacity) cramped() string {
	if why := r.full(); why != "" {
		return why
	}
	if r.tasks < r.allTasks/2 {
		return patra.ReasonInventory
	}
	return ""
}

// take makes room for some slices, or says why there is none. What was counted on the way is spent already.
func (r *queueCapacity) take(j *job, group []patra.Slice) string {
	asked := int64(j.tally.Probes) - r.probes
	r.probes += asked
	r.requests = max(r.requests-asked*j.cost(), 0)
	var requests int64
	for _, sl := range group {
		requests += j.tariff.Requests(sl.Estimate.Records) * j.cost()
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
