package gate

import (
	"context"
	"sync"
	"time"

	"patra"
)

// Ledger keeps what is used of quotas, for all processes and for good. ChargeQuota charges a request to all windows that
// it counts in, or fails with a *patra.QuotaError and charges none; after any error nothing may be sent. ReportQuota hears
// what the provider says is left.
type Ledger interface {
	ChargeQuota(ctx context.Context, key string, q patra.QuotaLimit, c patra.QuotaCharge) error
	ReportQuota(ctx context.Context, key string, q patra.QuotaLimit, told patra.AdvertisedQuota) error
}

// Option is something that a gate has beside its rows.
type Option func(*Shared)

// WithLedger makes a gate charge quotas. share is how much of a quota an operation may use.
func WithLedger(l Ledger, share func(patra.Operation) float64) Option {
	return func(g *Shared) { g.ledger = &quotaLedger{Ledger: l, share: share, heard: map[string]quotaReport{}} }
}

// quotaLedger is the ledger as one process uses it.
type quotaLedger struct {
	Ledger
	share func(patra.Operation) float64

	mu    sync.Mutex
	heard map[string]quotaReport // by key
}

// quotaReport is what a provider last said, and when.
type quotaReport struct {
	at   time.Time
	left int64
}

// hearEvery is how often a provider's count is compared with ours. That nothing is left is heard at once.
const hearEvery = 5 * time.Second

func (l *quotaLedger) charge(ctx context.Context, limit patra.RateLimit, e patra.InFlightRequest) error {
	if l == nil || limit.Quota.IsZero() || e.Cost == 0 {
		return nil
	}
	return l.ChargeQuota(ctx, limit.Key, limit.Quota, patra.QuotaCharge{Cost: int64(e.Cost), Operation: e.Operation, Share: l.share(e.Operation)})
}

func (l *quotaLedger) applyReport(ctx context.Context, limit patra.RateLimit, told *patra.AdvertisedQuota) error {
	if l == nil || told == nil || limit.Quota.IsZero() || !l.news(limit.Key, told.Left) {
		return nil
	}
	return l.ReportQuota(ctx, limit.Key, limit.Quota, *told)
}

// news reports whether what a provider says is worth a look at the ledger.
func (l *quotaLedger) news(key string, left int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, ok := l.heard[key]
	if ok && time.Since(last.at) < hearEvery && (left > 0 || last.left <= 0) {
		return false
	}
	l.heard[key] = quotaReport{time.Now(), left}
	return true
}
