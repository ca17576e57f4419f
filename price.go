package patra

import "time"

// Tariff is what decides how many requests some records cost.
type Tariff struct {
	PageSize    int64   // records a page; 0 where a provider does not say
	EndPage     bool    // the end of a walk is found by asking once more
	DetailBatch int64   // ids a second request; 0 where a search gives records
	PerSecond   float64 // requests that the provider permits
	PageBytes   int64   // what a request brings on average, if anybody knows
	DailyQuota  int64   // requests a day, 0 is no limit
	Usable      int64   // of these, what may be planned with; the rest is a reserve
}

// Price is what a plan costs, before anything of it is sent.
type Price struct {
	Slices   int64   `json:"slices"`
	Records  int64   `json:"records"`
	Requests int64   `json:"requests"`
	Bytes    int64   `json:"bytes,omitempty"`       // 0: nobody knows how large the answers are
	Seconds  float64 `json:"seconds"`               // at the permitted rate
	Share    float64 `json:"quota_share,omitempty"` // of a day's quota
	Finish   Instant `json:"finish"`                // if it began now and had the rate for itself
}

// unsaidPage is the page size of a provider that does not say.
const unsaidPage = 100

// Requests is how many requests n records of one slice take.
func (t Tariff) Requests(n int64) int64 {
	size := t.PageSize
	if size <= 0 {
		size = unsaidPage
	}
	pages := max((n+size-1)/size, 1)
	if t.EndPage && n > 0 {
		pages++
	}
	if t.DetailBatch > 0 {
		pages += (n + t.DetailBatch - 1) / t.DetailBatch
	}
	return pages
}

// Waiting is how many requests the slices that wait will take.
func (t Tariff) Waiting(c Commitment) int64 {
	if c.Slices == 0 {
		return 0
	}
	return c.Slices*t.Requests(0) + t.Requests(c.Records)
}

// Add counts one slice of n records.
func (p *Price) Add(t Tariff, n int64) {
	p.Slices++
	p.Records += n
	p.Requests += t.Requests(n)
}

// Settle works out what the requests mean in time, bytes and quota.
func (p *Price) Settle(t Tariff, now Instant) {
	p.Bytes = p.Requests * t.PageBytes
	if t.PerSecond > 0 {
		p.Seconds = float64(p.Requests) / t.PerSecond
	}
	if t.DailyQuota > 0 {
		p.Share = float64(p.Requests) / float64(t.DailyQuota)
		p.Seconds = max(p.Seconds, float64(p.Requests/t.DailyQuota)*(24*time.Hour).Seconds())
	}
	p.Finish = now.Add(time.Duration(min(p.Seconds, maxSeconds) * float64(time.Second)))
}

// maxSeconds keeps a finish within the calendar, however long a plan is.
const maxSeconds = 200 * 365 * 86400
