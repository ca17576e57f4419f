package storetest

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// crowd is some who ask for work at the same moment.
type crowd struct {
	*World
	store *store.Store
	seen  atomic.Pointer[func(name string)] // is told of every statement

	mu    sync.Mutex
	names map[string]int // how often a statement was sent
}

func newCrowd(t *testing.T, e Engine, tasks int) *crowd {
	c := &crowd{World: NewWorld(t, e, tasks), names: map[string]int{}}
	c.store = e.Connect(t, c.URL, store.WithClock(c.Clock.Now), store.WithTrace(func(name, _ string, _ []any) {
		c.mu.Lock()
		c.names[name]++
		c.mu.Unlock()
		if seen := c.seen.Load(); seen != nil {
			(*seen)(name)
		}
	}))
	return c
}

// on calls do with the first statement of a name, or of any, that comes from now on.
func (c *crowd) on(name string, do func()) {
	var once sync.Once
	seen := func(is string) {
		if name == "" || is == name {
			once.Do(do)
		}
	}
	c.seen.Store(&seen)
}

// asking is a context that tells when somebody begins to wait with it.
type asking struct {
	context.Context
	waits func()
}

// Done implements context.Context.
func (a asking) Done() <-chan struct{} {
	a.waits()
	return a.Context.Done()
}

// got is what one of a crowd was given.
type got struct {
	*patra.Claim
	err error
}

// ask lets all ask while somebody else is being served, so that they wait together; before they are served it calls then. A request
// without a context of its own has that of the test.
func (c *crowd) ask(reqs []patra.ClaimRequest, contexts map[int]context.Context, then func()) []got {
	var waiting, done sync.WaitGroup
	waiting.Add(len(reqs))
	free, served := make(chan struct{}), make(chan struct{})
	c.on("", func() {
		close(served)
		<-free
	})
	done.Go(func() {
		if claim, err := c.store.Claim(c.T.Context(), patra.ClaimRequest{Owner: store.NewOwner(), Lease: Lease, PlanID: -1}); claim != nil || err != nil {
			c.T.Errorf("no such plan has work: %v, %v", claim, err)
		}
	})
	<-served
	all := make([]got, len(reqs))
	for i, req := range reqs {
		var once sync.Once
		ctx := contexts[i]
		if ctx == nil {
			ctx = c.T.Context()
		}
		if req.Owner = store.NewOwner(); req.Lease == 0 {
			req.Lease = Lease
		}
		here := make(chan struct{})
		done.Go(func() {
			claim, err := c.store.Claim(asking{ctx, func() { once.Do(func() { waiting.Done(); close(here) }) }}, req)
			if all[i] = (got{claim, err}); claim != nil && (claim.Owner != req.Owner || claim.For != req.Lease) {
				c.T.Errorf("asked for %s, and got the claim of %s", req.Owner, claim.Owner)
			}
		})
		<-here // they wait in their order
	}
	waiting.Wait()
	c.mu.Lock()
	clear(c.names)
	c.mu.Unlock()
	c.seen.Store(nil)
	if then != nil {
		then()
	}
	close(free)
	done.Wait()
	return all
}

// agrees looks whether those tasks run that somebody was given, with a run each, and no other.
func (c *crowd) agrees(all []got) (claimed int) {
	c.T.Helper()
	owner := map[int64]string{}
	for _, g := range all {
		if g.Claim == nil {
			continue
		}
		if claimed++; owner[g.TaskID] != "" {
			c.T.Errorf("task %d was given to two", g.TaskID)
		}
		owner[g.TaskID] = g.Owner
		if err := c.Heartbeat(c.T.Context(), g.Lease); err != nil {
			c.T.Errorf("the lease of task %d: %v", g.TaskID, err)
		}
	}
	running, err := c.Tasks(c.T.Context(), store.Filter{Status: patra.Running, Limit: 1000})
	c.must(err)
	runs, err := c.Runs(c.T.Context(), store.Filter{Limit: 1000})
	c.must(err)
	if len(running) != claimed || len(runs) != claimed {
		c.T.Errorf("%d tasks were given, %d run, and there are %d runs", claimed, len(running), len(runs))
	}
	for _, r := range runs {
		if owner[r.TaskID] == "" || r.Status != patra.Running {
			c.T.Errorf("run %+v is nobody's", r)
		}
	}
	CheckInvariants(c.T, Inspect(c.T, c.URL))
	return claimed
}

// oneText collects a column.
func oneText(all map[string]bool) func(*sql.Rows) error {
	return func(r *sql.Rows) error {
		var text string
		err := r.Scan(&text)
		all[text] = true
		return err
	}
}

// turns are requests with the turns of a process; the eighth, which takes the oldest, is left out.
func turns(n int, like patra.ClaimRequest) (reqs []patra.ClaimRequest) {
	for turn := uint64(0); len(reqs) < n; turn++ {
		if turn%8 != 7 {
			like.Turn = turn
			reqs = append(reqs, like)
		}
	}
	return reqs
}

func claimTogether(t *testing.T, e Engine) {
	c := newCrowd(t, e, 20)
	c.Clock.Move(time.Second)
	all := c.ask(turns(13, patra.ClaimRequest{}), nil, nil)
	if n := c.agrees(all); n != 13 {
		t.Errorf("13 asked and %d got something: %+v", n, all)
	}
	if c.names["take_tasks"] != 1 {
		t.Errorf("statements %v", c.names)
	}
	tokens := map[string]bool{}
	scan(t, Inspect(t, c.URL), `SELECT lease_token FROM ing_task WHERE status_code = 'RUNNING'`, oneText(tokens))
	if len(tokens) != 13 {
		t.Errorf("%d tokens", len(tokens))
	}
	rest := c.ask(turns(9, patra.ClaimRequest{}), nil, nil)
	if n := c.agrees(append(all, rest...)); n != 20 {
		t.Errorf("of 20 tasks %d were given", n)
	}
}

func turnsTogether(t *testing.T, e Engine) {
	c := newCrowd(t, e, 6)
	c.AddPlan("other", "works", 6, 5)
	c.Clock.Move(time.Second)
	exec(t, Inspect(t, c.URL), `UPDATE ing_task SET priority = 8 WHERE provenance_code = 'demo' AND id % 2 = 0`)
	all := c.ask(turns(6, patra.ClaimRequest{}), nil, nil)
	seen := map[string]int{}
	for _, g := range all {
		if seen[g.Task.Source]++; g.Task.Priority == 8 {
			t.Error("a task of priority 8 went before better ones")
		}
	}
	if seen["demo"] != 3 || seen["other"] != 3 {
		t.Errorf("six claims were shared %v", seen)
	}
	// Three of the better ones are left, and then come the others; but the eighth takes the oldest.
	exec(t, Inspect(t, c.URL), `UPDATE ing_task SET scheduled_at = scheduled_at - 1000 WHERE priority = 8 AND id = (SELECT m FROM (SELECT MAX(id) AS m FROM ing_task WHERE priority = 8) AS x)`)
	reqs := turns(5, patra.ClaimRequest{})
	reqs[0].Turn = 7
	rest := c.ask(reqs, nil, nil)
	priorities := map[int]int{}
	for _, g := range rest {
		priorities[g.Task.Priority]++
	}
	if rest[0].Task.Priority != 8 || priorities[8] != 2 {
		t.Errorf("priorities %v, the eighth got %d", priorities, rest[0].Task.Priority)
	}
	c.agrees(append(all, rest...))
}

func limitTogether(t *testing.T, e Engine) {
	c := newCrowd(t, e, 8)
	c.AddPlan("other", "works", 8, 5)
	c.Clock.Move(time.Second)
	other := c.TryTake(patra.ClaimRequest{})
	all := append(c.ask(turns(12, patra.ClaimRequest{PerPartition: 3}), nil, nil), got{Claim: other})
	seen := map[string]int{}
	for _, g := range all {
		if g.Claim != nil {
			seen[g.Task.Source]++
		}
	}
	if n := c.agrees(all); n != 6 || seen["demo"] != 3 || seen["other"] != 3 {
		t.Errorf("%d run of each three that may: %v", n, seen)
	}
	// What has run out of its lease counts as running: it is taken over, and nothing beside it.
	c.Clock.Move(2 * Lease)
	all = c.ask(turns(12, patra.ClaimRequest{PerPartition: 3}), nil, nil)
	claimed := 0
	for _, g := range all {
		if g.Claim != nil {
			if claimed++; g.Fence != 2 {
				t.Errorf("fence %d", g.Fence)
			}
		}
	}
	if claimed != 6 {
		t.Errorf("%d were taken over", claimed)
	}
}

// lastPlaces: somebody else takes places after a group has looked and before it takes.
func lastPlaces(t *testing.T, e Engine) {
	c := newCrowd(t, e, 10)
	c.Clock.Move(time.Second)
	var others []got
	all := c.ask(turns(5, patra.ClaimRequest{PerPartition: 3}), nil, func() {
		c.on("find_queued", func() {
			for turn := range uint64(2) {
				others = append(others, got{Claim: c.TryTake(patra.ClaimRequest{PerPartition: 3, Turn: turn})})
			}
		})
	})
	if n := c.agrees(append(all, others...)); n != 3 || len(others) != 2 {
		t.Errorf("three may run, and %d do", n)
	}
}

// wornInFront: before all who may be tried again stand more of those who may not than a claim looks at.
func wornInFront(t *testing.T, e Engine) {
	c := newCrowd(t, e, 30)
	exec(t, Inspect(t, c.URL), `UPDATE ing_task SET attempt_count = max_attempts WHERE id <= (SELECT id FROM (SELECT id FROM ing_task ORDER BY id LIMIT 1 OFFSET 19) AS t)`)
	c.Clock.Move(time.Second)
	all := c.ask(turns(1, patra.ClaimRequest{}), nil, nil)
	if n := c.names["peek_tasks"]; n > 2 {
		t.Errorf("it was tried %d times", n)
	}
	if n := c.agrees(append(all, c.ask(turns(12, patra.ClaimRequest{}), nil, nil)...)); n != 10 {
		t.Errorf("of 10 that may be tried %d were given", n)
	}
}

func claimApart(t *testing.T, e Engine) {
	c := newCrowd(t, e, 4)
	_, plan := c.AddPlan("other", "works", 4, 5)
	c.Clock.Move(time.Second)
	reqs := turns(10, patra.ClaimRequest{})
	for i := range reqs {
		switch i % 3 {
		case 0:
			reqs[i].PlanID = plan.ID
		case 1:
			reqs[i].Lease = 3 * Lease
		}
	}
	all := c.ask(reqs, nil, nil)
	for i, g := range all {
		if i%3 == 0 && (g.Claim == nil || g.Task.PlanID != plan.ID) {
			t.Errorf("%d wanted work of one plan and got %+v", i, g)
		}
	}
	leases := map[string]bool{}
	scan(t, Inspect(t, c.URL), `SELECT DISTINCT leased_until FROM ing_task WHERE status_code = 'RUNNING'`, oneText(leases))
	if len(leases) != 2 {
		t.Errorf("leases end at %v", leases)
	}
	if n := c.agrees(all); n != 8 {
		t.Errorf("of 8 tasks %d were given", n)
	}
}

func goneTogether(t *testing.T, e Engine) {
	for name, at := range map[string]string{"before they are served": "", "while somebody looks": "find_queued", "in the transaction": "take_tasks", "at its end": "insert_runs"} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(t, e, 10)
			c.Clock.Move(time.Second)
			contexts, leave := map[int]context.Context{}, []context.CancelFunc{}
			for _, i := range []int{0, 2} { // the one that leads too
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				contexts[i], leave = ctx, append(leave, cancel)
			}
			all := c.ask(turns(5, patra.ClaimRequest{}), contexts, func() {
				gone := func() {
					for _, cancel := range leave {
						cancel()
					}
				}
				if at == "" {
					gone()
				} else {
					c.on(at, gone)
				}
			})
			for i, g := range all {
				switch mayFail := contexts[i] != nil; {
				case !mayFail && (g.Claim == nil || g.err != nil):
					t.Errorf("%d stayed and got nothing: %v", i, g.err)
				case g.Claim == nil && !errors.Is(g.err, context.Canceled):
					t.Errorf("%d went and was told %v", i, g.err)
				}
			}
			c.agrees(all)
		})
	}
}

func brokenTogether(t *testing.T, e Engine) {
	c := newCrowd(t, e, 10)
	c.Clock.Move(time.Second)
	before := dump(t, c.World)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	contexts := map[int]context.Context{}
	for i := range 5 {
		contexts[i] = ctx
	}
	all := c.ask(turns(5, patra.ClaimRequest{}), contexts, func() { c.on("insert_runs", cancel) })
	for i, g := range all {
		if g.Claim != nil || !errors.Is(g.err, context.Canceled) {
			t.Errorf("%d got %v, %v", i, g.Claim, g.err)
		}
	}
	if after := dump(t, c.World); after != before {
		t.Errorf("something is left:\n%s\n%s", before, after)
	}
	if n := c.agrees(c.ask(turns(10, patra.ClaimRequest{}), nil, nil)); n != 10 {
		t.Errorf("then %d of 10 were given", n)
	}
}
