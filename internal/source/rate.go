package source

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"patra"
)

// Rate is what the provider permits.
type Rate struct {
	PerSecond   float64     `yaml:"perSecond" json:"perSecond,omitempty"`
	Burst       int         `yaml:"burst" json:"burst,omitempty"`
	Cost        int         `yaml:"cost" json:"cost,omitempty"`               // what one request of this endpoint counts; 0 is 1
	Concurrency int         `yaml:"concurrency" json:"concurrency,omitempty"` // requests on their way at the same time; 0 is any number
	Share       string      `yaml:"share" json:"share,omitempty"`             // who counts together; empty is SOURCE
	Warmup      Duration    `yaml:"warmup" json:"warmup,omitzero"`            // how long it takes to come to full speed after a pause
	Headers     RateHeaders `yaml:"headers" json:"headers,omitzero"`
	Quota       Quota       `yaml:"quota" json:"quota,omitzero"`

	// Heaviest is the largest cost among those who count together. It is worked out, and written by nobody.
	Heaviest int `yaml:"-" json:"heaviest,omitempty"`
}

// Who counts together.
const (
	shareSource   = "SOURCE"   // all endpoints of a source
	shareEndpoint = "ENDPOINT" // each endpoint on its own
	shareHost     = "HOST"     // all sources at one address, and each address on its own
)

// RateHeaders are the names of the headers in which the provider tells its limits. They only ever make us slower.
type RateHeaders struct {
	Limit       string   `yaml:"limit" json:"limit,omitempty"`             // requests in an interval
	Interval    string   `yaml:"interval" json:"interval,omitempty"`       // the header with the interval, such as 1s
	Per         Duration `yaml:"per" json:"per,omitzero"`                  // the interval, where no header has it; 0 is a second
	Concurrency string   `yaml:"concurrency" json:"concurrency,omitempty"` // requests on their way
	Remaining   string   `yaml:"remaining" json:"remaining,omitempty"`     // what is left of the interval
	Reset       string   `yaml:"reset" json:"reset,omitempty"`             // when there is more again
	ResetIs     string   `yaml:"resetIs" json:"resetIs,omitempty"`         // EPOCH or SECONDS
}

// Limit is what bounds the requests of a spec that go to an address. A rate that the provider gives to a key is counted
// for the key and not for the address: requests without it are others. Whether the key is there is known only to whoever
// sends.
func (s *Spec) Limit(keyed bool, address string) patra.RateLimit {
	l := patra.RateLimit{
		Key: s.gateKey(address), PerSecond: s.Rate.PerSecond, Burst: s.Rate.Burst, Heaviest: s.Rate.Heaviest,
		Concurrency: s.Rate.Concurrency, Warmup: time.Duration(s.Rate.Warmup), Quota: s.Rate.Quota.limit(),
	}
	if r := s.Auth.Rate; keyed && r.PerSecond > 0 {
		l.Key += "#" + s.Auth.Secret
		l.PerSecond, l.Burst = r.PerSecond, cmp.Or(r.Burst, s.Rate.Burst)
		if q := r.Quota.limit(); !q.IsZero() {
			l.Quota = q
		}
	}
	return l
}

// gateKey names what counts together.
func (s *Spec) gateKey(address string) string {
	one := s.Source // or one of many: other repositories are other machines
	if r := s.Repository(); r != "" {
		one += "@" + patra.RepositoryKey(strings.ReplaceAll(r, "/", "%2F")) // a key with a slash is that of an endpoint
	}
	switch s.Rate.Share {
	case shareEndpoint:
		return one + "/" + s.Endpoint
	case shareHost:
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			return "host:" + u.Host
		}
	}
	return one
}

// HasOwnRateKey reports whether the endpoint counts on its own.
func (s *Spec) HasOwnRateKey() bool { return s.Rate.Share == shareEndpoint }

// Cost is what one request counts.
func (s *Spec) Cost() int { return max(s.Rate.Cost, 1) }

// heaviest is the largest cost among the endpoints that count together with one.
func (f *File) heaviest(own Rate) int {
	most := max(own.Cost, 1)
	if own.Share != shareEndpoint {
		for _, e := range f.Endpoints {
			most = max(most, merge(platform, f.Defaults, e.Blocks).Rate.Cost)
		}
	}
	if most == 1 {
		return 0
	}
	return most
}

// What a rate may be. Slower than one request in a quarter of an hour is a quota, and more than a million a second is a mistake.
const (
	leastPerSecond = 0.001
	mostPerSecond  = 1_000_000
	mostBurst      = 1_000_000
	longestWarmup  = time.Hour
)

func (c *checker) rate(at string, own, r Rate) {
	if !c.doc.Has(at) { // what is inherited is looked at where it stands
		return
	}
	c.notZero(at+".perSecond", own.PerSecond == 0)
	c.notZero(at+".burst", own.Burst == 0)
	c.notZero(at+".cost", own.Cost == 0)
	c.notZero(at+".concurrency", own.Concurrency == 0)
	c.speed(at, r.PerSecond, r.Burst)
	c.positive(at+".warmup", time.Duration(r.Warmup) <= longestWarmup, "warmup is at most an hour")
	c.positive(at+".concurrency", r.Concurrency >= 0, "concurrency is at least 1")
	c.positive(at+".cost", r.Cost >= 0, "cost is at least 1")
	if r.Cost > r.Burst && r.Burst > 0 {
		c.add(at+".cost", "CONFLICT", fmt.Sprintf("one request costs %d, and only %d may be used at once", r.Cost, r.Burst), "make the burst at least as large")
	}
	if r.Share != "" {
		c.oneOf(at+".share", r.Share, shareSource, shareEndpoint, shareHost)
	}
	c.rateHeaders(at+".headers", r.Headers)
	c.quota(at+".quota", r.Quota, r.Cost)
}

// speed checks the two numbers of a rate.
func (c *checker) speed(at string, perSecond float64, burst int) {
	switch {
	case perSecond <= 0:
		c.positive(at+".perSecond", false, "perSecond is more than 0")
	case perSecond < leastPerSecond:
		c.add(at+".perSecond", "BAD_VALUE", "perSecond is at least 0.001", "for so few requests write a quota: hourly, daily or monthly")
	case perSecond > mostPerSecond:
		c.positive(at+".perSecond", false, "perSecond is at most 1000000")
	}
	c.positive(at+".burst", burst >= 1, "burst is at least 1")
	c.positive(at+".burst", burst <= mostBurst, "burst is at most 1000000")
}

func (c *checker) rateHeaders(at string, h RateHeaders) {
	c.headerNames(at, map[string]string{"limit": h.Limit, "interval": h.Interval, "concurrency": h.Concurrency, "remaining": h.Remaining, "reset": h.Reset})
	c.reset(at, h.Reset, h.ResetIs)
	if h.Remaining != "" && h.Reset == "" {
		c.add(at+".reset", "REQUIRED", "that nothing is left says nothing without a reset", "write the name of the header with the reset")
	}
	if h.Reset != "" && h.Remaining == "" {
		c.add(at+".remaining", "REQUIRED", "a reset says nothing without what is left", "write the name of the header with what is left")
	}
	if h.Interval != "" && h.Per != 0 {
		c.add(at+".per", "CONFLICT", "the interval is in a header already", "leave one of them out")
	}
	if (h.Interval != "" || h.Per != 0) && h.Limit == "" {
		c.add(at+".limit", "REQUIRED", "an interval says nothing without a limit", "write the name of the header with the limit")
	}
}

// headerNames checks the names of the headers that are to be read.
func (c *checker) headerNames(at string, names map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(names)) {
		if name := names[key]; name != "" && !headerName.MatchString(name) {
			c.add(at+"."+key, "BAD_VALUE", fmt.Sprintf("%q is not the name of a header", name), "write one such as X-RateLimit-Limit")
		}
	}
}

// reset checks the header that says when there is more again, and what it says.
func (c *checker) reset(at, name, is string) {
	switch {
	case name != "":
		c.oneOf(at+".resetIs", is, resetEpoch, resetSeconds)
	case is != "":
		c.add(at+".reset", "REQUIRED", "resetIs says nothing without a reset", "write the name of the header with the reset")
	}
}

// What the header with the reset says.
const (
	resetEpoch   = "EPOCH"   // seconds since 1970
	resetSeconds = "SECONDS" // seconds from now
)
