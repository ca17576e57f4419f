package patra

import (
	"math"
	"time"
)

// RateLimit is what a provider permits under one key. Whoever shares the key shares all of it. It can be compared.
type RateLimit struct {
	Key         string
	PerSecond   float64
	Burst       int
	Heaviest    int           // the largest cost of a request under this key; 0 is 1
	Concurrency int           // requests that may be on their way at the same time; 0 is any number
	Warmup      time.Duration // how long it takes to come to full speed after a pause; 0 is no time
	Quota       QuotaLimit
}

// Window is how many requests are permitted in any half-open stretch of a length: perSecond of them in a second. Where
// that is not a whole number, it is the next one, in the time in which so many are permitted.
func (l RateLimit) Window() (requests int, length time.Duration) {
	if l.PerSecond <= 0 {
		return 0, 0
	}
	const rounding = 1e-9 // a rate that was computed may be a little off a whole number
	n := max(math.Ceil(l.PerSecond-rounding), 1)
	return int(n), time.Duration(math.Round(n / l.PerSecond * float64(time.Second)))
}

// MostIn is the largest cost of requests that is permitted in any half-open stretch of a length. Where requests cost more
// than one, what one of them costs is spread over the time after it.
func (l RateLimit) MostIn(span time.Duration) int64 {
	n, length := l.Window()
	switch {
	case n == 0:
		return 0
	case l.Heaviest > 1:
		return int64(l.PerSecond*span.Seconds()) + int64(l.Burst)
	}
	windows := int64((span + length - 1) / length)
	return min(windows*int64(n), int64(math.Ceil(l.PerSecond*span.Seconds()))+int64(max(l.Burst, 1))-1)
}

// QuotaLimit is what a provider permits in longer times than a second; 0 is any number.
type QuotaLimit struct {
	Hourly, Daily, Monthly int64
	Reserve                int           // hundredths that are left for others who share the key
	Zone                   string        // where the provider's days begin; empty is UTC
	Skew                   time.Duration // how far its clock may be from ours
}

// IsZero reports whether nothing is counted.
func (q QuotaLimit) IsZero() bool { return q.Hourly == 0 && q.Daily == 0 && q.Monthly == 0 }

// InFlightRequest is a request that is about to leave, or that is on its way for longer than its slot lasts.
type InFlightRequest struct {
	ID        string        // of its own, for as long as it is on its way
	Cost      int           // 0: it was paid for when it left
	Operation Operation     // whose share of a quota it takes
	Lasts     time.Duration // without a sign of life its slot is free after so long
}

// RateFeedback is what an answer says about how we ask.
type RateFeedback struct {
	Status     int           // 0: nothing came back
	RetryAfter time.Duration // how long the provider wants to be left alone
	Took       time.Duration // from when the request left; 0: nobody knows
	Told       AdvertisedLimit
}

// ThrottledError is the answer of a gate that charges nothing now: whoever asks again after the wait learns more. While we are slow,
// grants that lie far ahead would keep us slow for as long.
type ThrottledError struct{ Wait time.Duration }

// Error implements error.
func (n *ThrottledError) Error() string {
	return "the gate has no grant yet; ask again after " + n.Wait.String()
}

// AdvertisedLimit is what the headers of an answer say about a limit. What they do not say is zero.
type AdvertisedLimit struct {
	PerSecond   float64
	Concurrency int
	Quota       *AdvertisedQuota
}

// AdvertisedQuota is how much of a quota is left, by the provider's own count.
type AdvertisedQuota struct {
	Left    int64
	ResetIn time.Duration // 0: it does not say
}

// RateState is what is remembered of one key of the rate gate, by the clock of whoever keeps it.
type RateState struct {
	Limit    int64   // what was last asked for: thousandths of a request a second, and the burst
	Burst    int     //
	Arrival  Instant // when the next request would be due if all so far had come evenly
	Cooldown Instant // until when nobody may send
	Tempo    AdaptiveRate
	RateDetails
	RateBounds `json:"-"`
}

// RateBounds is what is said of a state for one turn. It is not stored.
type RateBounds struct {
	Latest Instant // no grant may lie after it; 0: nothing is lent, and grants may lie where they will
	Wanted Instant // what the turn says: nothing was charged, because this moment lies after Latest
}

// RateDetails is the part of a state that most keys do not have.
type RateDetails struct {
	Set             int64      `json:"set,omitempty"`              // what a person lowered the rate to, in thousandths
	Told            int64      `json:"told,omitempty"`             // what the provider says that it permits, in thousandths
	ToldConcurrency int        `json:"told_concurrency,omitempty"` // the same of requests on their way
	WarmSince       Instant    `json:"warm_since,omitempty"`       // the end of the last longer pause
	Early           EarlyTurns `json:"early,omitzero"`             // turns that may be taken before their time
	Slots           []Slot     `json:"slots,omitempty"`            // requests on their way
	By              string     `json:"by,omitempty"`               // which process charged last
	ByNew           Instant    `json:"by_new,omitempty"`           // when that was last another one than before
	Ended           int64      `json:"ended,omitempty"`            // how often a person ended a cooldown; older grants are void
	Loan            StateLease `json:"loan,omitzero"`
}

// EarlyTurns are the turns of a burst: those that are due up to Until may be taken from From on, because nothing was sent
// for as long before From.
type EarlyTurns struct {
	From  Instant `json:"from"`
	Until Instant `json:"until"`
}

// Slot is the place of a request that is on its way.
type Slot struct {
	ID    string  `json:"id"`
	Until Instant `json:"until"` // then it is free again, whatever became of it
}

// StateLease says who keeps the state of a key: we, or a faster keeper to whom it is lent for a few seconds at a time.
type StateLease struct {
	Epoch      int64   `json:"epoch,omitempty"`       // how often it was lent
	Name       string  `json:"name,omitempty"`        // of this loan and no other, also of none that failed
	Until      Instant `json:"until,omitempty"`       // up to then somebody else may have given grants
	RecalledAt Instant `json:"recalled_at,omitempty"` // not 0: it is not to be prolonged
	Turn       int64   `json:"turn,omitempty"`        // changes that the other one made, as far as we know of them
}

// Active reports whether the other one keeps the state: the loan may have to be prolonged, but nobody called it back.
func (l StateLease) Active() bool { return l.Name != "" && l.RecalledAt == 0 }

// AdaptiveRate is how fast a provider is asked after it refused us. The zero value is as fast as it permits.
type AdaptiveRate struct {
	Rate      int64 // thousandths of a request a second; 0 is the permitted rate
	Ceiling   int64 // the rate at which it refused us last
	AdaptedAt Instant
	RefusedAt Instant
	Trial     RateTrial
}

// RateTrial is what tells a limit from bad luck: how the last requests at this rate fared, and whether fewer failed when the
// rate was halved. The masks have a bit for each request, the latest one lowest.
type RateTrial struct {
	Refused uint64  `json:"refused,omitempty"` // the provider asked us to slow down
	Failed  uint64  `json:"failed,omitempty"`  // it had other troubles
	Seen    int     `json:"seen,omitempty"`    // how many bits count
	Halved  int     `json:"halved,omitempty"`  // times in a row
	Asked   int     `json:"asked,omitempty"`   // times in a row for a failure that told us when to come back
	Before  int     `json:"before,omitempty"`  // hundredths that went wrong before the last halving; 0: not measured
	Faults  bool    `json:"faults,omitempty"`  // failures are on trial too
	Chance  int     `json:"chance,omitempty"`  // hundredths that go wrong however slow we are
	Until   Instant `json:"until,omitempty"`   // how long that is believed
	Limit   Instant `json:"limit,omitempty"`   // until when failures count as refusals: fewer came at a lower rate
}

// RateNotes is what is stored of a state beside its numbers.
type RateNotes struct {
	RateDetails
	Trial RateTrial `json:"trial,omitzero"`
}

// Notes gives what is stored beside the numbers.
func (s RateState) Notes() RateNotes { return RateNotes{s.RateDetails, s.Tempo.Trial} }

// SetNotes takes what was stored beside the numbers.
func (s *RateState) SetNotes(n RateNotes) { s.RateDetails, s.Tempo.Trial = n.RateDetails, n.Trial }

// KeyedRate is the state of a key with its name.
type KeyedRate struct {
	Key string
	RateState
}

// Permitted is how fast we may ask, in thousandths of a request a second: what the source says, and not more than the
// provider or a person said since.
func (s RateState) Permitted() int64 {
	most := s.Limit
	for _, lower := range []int64{s.Told, s.Set} {
		if lower > 0 {
			most = min(most, lower)
		}
	}
	return most
}

// Rate is how many requests a second are given out now.
func (s RateState) Rate() float64 {
	rate := s.Permitted()
	if s.Tempo.Rate > 0 {
		rate = min(rate, s.Tempo.Rate)
	}
	return float64(rate) / 1000
}
