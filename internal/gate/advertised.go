package gate

import "patra"

// advertisedLimits is what a provider says about its limits, where that is less than the source says; 0 is nothing.
type advertisedLimits struct {
	rate        int64 // thousandths of a request a second
	concurrency int
}

// mostSlots is more requests on their way than anybody has: counting them would cost more than it is worth.
const mostSlots = 100

// refreshState is what an answer says about the limits, and whether the rows do not know it yet. The last answer counts: a provider
// that was careful for a while says so. What does not bind us is not kept, so that an ordinary answer costs no write.
func (g *Shared) refreshState(l patra.RateLimit, says patra.AdvertisedLimit) (is advertisedLimits, news bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	is = g.told[l.Key]
	was := is
	if says.PerSecond > 0 {
		if is.rate = milli(says.PerSecond); l.PerSecond > 0 && is.rate >= milli(l.PerSecond) {
			is.rate = 0
		}
	}
	if says.Concurrency > 0 {
		if is.concurrency = says.Concurrency; is.concurrency > mostSlots || l.Concurrency > 0 && is.concurrency >= l.Concurrency {
			is.concurrency = 0
		}
	}
	return is, is != was
}

// noteAdvertised remembers what the rows know.
func (g *Shared) noteAdvertised(key string, is patra.RateState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told[key] = advertisedLimits{is.Told, is.ToldConcurrency}
}
