package executor

import (
	"context"
	"sync"
	"time"

	"patra"
)

// Limits move how many tasks of a partition run at the same time.
type Limits interface {
	RecordThrottle(ctx context.Context, at patra.WorkScope, of int64) (patra.ControlChange, error)
	LowerConcurrency(ctx context.Context, at patra.WorkScope, of int64, reason string) (patra.ControlChange, error)
	RaiseConcurrency(ctx context.Context, at patra.WorkScope) (patra.ControlChange, error)
}

// pageLatency is how long the last pages of a partition took: at the provider, and from its answer until they were stored.
type pageLatency struct {
	mu     sync.Mutex
	pages  int
	answer time.Duration
	keep   time.Duration
}

// page counts one page. After every patra.SlowPages it says why one task fewer should run, if so.
func (p *pageLatency) page(answer, keep time.Duration) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages++
	p.answer += answer
	p.keep += keep
	if p.pages < patra.SlowPages {
		return ""
	}
	slow := patra.SlowPages * patra.SlowPage
	why := ""
	switch {
	case p.keep > slow:
		why = patra.DownStore
	case p.answer > slow:
		why = patra.DownSlow
	}
	p.pages, p.answer, p.keep = 0, 0, 0
	return why
}

// measure looks at how long a page took. Where that is too long on average, it is because too many ask at once.
func (r *run) measure(ctx context.Context, x patra.Exchange) {
	of := r.partitionLimit()
	if of <= 1 {
		return
	}
	at := r.claim.WorkScope()
	p, _ := r.paces.LoadOrStore(at.PartitionTarget().Key, &pageLatency{})
	if why := p.(*pageLatency).page(x.FinishedAt.Sub(x.SentAt), patra.InstantOf(time.Now()).Sub(x.FinishedAt)); why != "" {
		change, err := r.Controls.LowerConcurrency(ctx, at, of, why)
		r.logControlChange(ctx, change, err)
	}
}

// partitionLimit is how many tasks of a partition run at once when nothing is wrong.
func (x *Executor) partitionLimit() int64 {
	if x.Config.PerPartition > 0 {
		return int64(min(x.Config.PerPartition, x.Config.Workers))
	}
	return int64(x.Config.Workers)
}
