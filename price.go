package patra

import (
	"cmp"
	"time"
)

// RequestCost is what decides how many requests some records cost.
type RequestCost struct {
	PageSize    int64       // records a page; 0 where a provider does not say
	EndPage     bool        // the end of a walk is found by asking once more
	Witness     WitnessPlan // how a slice is proved to be complete
	DetailBatch int64       // ids a second request; 0 where a search gives records
	PerSecond   float64     // requests that the provider permits
	PageBytes   int64       // what a request brings on average, if anybody knows
	Cost        int64       // what a request counts; 0 is 1
	Quota       QuotaLimit
	Share       float64 // of a quota, what may be planned with; 0 is all that is usable
}

// CostEstimate is what a plan costs, before anything of it is sent.
type CostEstimate struct {
	Slices   int64   `json:"slices"`
	Records  int64   `json:"records"`
	Requests int64   `json:"requests"`
	Plain    int64   `json:"requests_without_proof"` // what reading alone would take
	Bytes    int64   `json:"bytes,omitempty"`        // 0: nobody knows how large the answers are
	Seconds  float64 `json:"seconds"`                // at the permitted rate
	Share    float64 `json:"quota_share,omitempty"`  // of a day's quota
	Month    float64 `json:"quota_month,omitempty"`  // of a month's
	Finish   Instant `json:"finish"`                 // if it began now and had the rate for itself
}

// unsaidPage is the page size of a provider that does not say.
const unsaidPage = 100

// Requests is how many requests n records of one slice take.
func (t RequestCost) Requests(n int64) int64 {
	return t.Witness.Requests(n, cmp.Or(max(t.PageSize, 0), unsaidPage), t.walk(n)) + t.details(n)
}

// Plain is how many they take where nothing is proved.
func (t RequestCost) Plain(n int64) int64 { return t.walk(n) + t.details(n) }

// walk is how many pages n records have, and what it takes to find their end.
func (t RequestCost) walk(n int64) int64 {
	size := cmp.Or(max(t.PageSize, 0), unsaidPage)
	pages := max((n+size-1)/size, 1)
	if t.EndPage && n > 0 {
		pages++
	}
	return pages
}

func (t RequestCost) details(n int64) int64 {
	if t.DetailBatch <= 0 {
		return 0
	}
	return (n + t.DetailBatch - 1) / t.DetailBatch
}

// Waiting is how many requests the slices that wait will take.
func (t RequestCost) Waiting(c ReservedQuota) int64 {
	if c.Slices == 0 {
		return 0
	}
	return c.Slices*t.Requests(0) + t.Requests(c.Records)
}

// Add counts one slice of n records.
func (p *CostEstimate) Add(t RequestCost, n int64) {
	p.Slices++
	p.Records += n
	p.Requests += t.Requests(n)
	p.Plain += t.Plain(n)
}

// Finalize works out what the requests mean in time, bytes and quota.
func (p *CostEstimate) Finalize(t RequestCost, now Instant) {
	p.Bytes = p.Requests * t.PageBytes
	if t.PerSecond > 0 {
		p.Seconds = float64(p.Requests) / t.PerSecond
	}
	units := p.Requests * max(t.Cost, 1)
	if t.Quota.Daily > 0 {
		p.Share = float64(units) / float64(t.Quota.Daily)
	}
	if t.Quota.Monthly > 0 {
		p.Month = float64(units) / float64(t.Quota.Monthly)
	}
	for _, w := range t.Quota.limits() { // what is more than fits into one window waits for the next
		if room := t.QuotaRoom(w.Limit); units > 0 && room > 0 {
			p.Seconds = max(p.Seconds, float64((units-1)/room)*quotaSpans[w.Code].Seconds())
		}
	}
	p.Finish = now.Add(time.Duration(min(p.Seconds, maxSeconds) * float64(time.Second)))
}

// quotaSpans is how long the windows of quotas are, as a rule.
var quotaSpans = map[string]time.Duration{QuotaHour: time.Hour, QuotaDay: 24 * time.Hour, QuotaMonth: 30 * 24 * time.Hour}

// QuotaRoom is what of a quota may be planned with.
func (t RequestCost) QuotaRoom(limit int64) int64 {
	share := t.Share
	if share <= 0 {
		share = 1
	}
	return ShareOf(t.Quota.Usable(limit), share)
}

// maxSeconds keeps a finish within the calendar, however long a plan is.
const maxSeconds = 200 * 365 * 86400
