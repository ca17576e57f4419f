package source

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"patra"
)

// Quota is how much the provider permits in a longer time than a second; 0 is no limit. A part of it is kept in reserve,
// so that a harvest never locks out the people who share the address or the key.
type Quota struct {
	Daily   int64     `yaml:"daily" json:"daily,omitempty"`
	Hourly  int64     `yaml:"hourly" json:"hourly,omitempty"`
	Monthly int64     `yaml:"monthly" json:"monthly,omitempty"`
	Reserve *Percent  `yaml:"reserve" json:"reserve,omitempty"`
	Zone    string    `yaml:"zone" json:"zone,omitempty"` // where its days begin; empty is UTC
	Skew    *Duration `yaml:"skew" json:"skew,omitempty"` // how far its clock may be from ours

	Headers QuotaHeaders `yaml:"headers" json:"headers,omitzero"`
}

// QuotaHeaders are the names of the headers in which the provider tells what is left of its quota.
type QuotaHeaders struct {
	Remaining string `yaml:"remaining" json:"remaining,omitempty"`
	Reset     string `yaml:"reset" json:"reset,omitempty"`
	ResetIs   string `yaml:"resetIs" json:"resetIs,omitempty"` // EPOCH or SECONDS
}

// usualSkew is how far a provider's clock may be from ours, where a source does not say.
const usualSkew = 5 * time.Minute

// limit is the quota as the gate counts it.
func (q Quota) limit() patra.QuotaLimit {
	l := patra.QuotaLimit{Hourly: q.Hourly, Daily: q.Daily, Monthly: q.Monthly, Zone: q.Zone, Skew: usualSkew, Reserve: int(q.Kept())}
	if l.IsZero() {
		return patra.QuotaLimit{}
	}
	if q.Skew != nil {
		l.Skew = time.Duration(*q.Skew)
	}
	return l
}

// usualReserve is kept by a source that does not say how much.
const usualReserve Percent = 10

// Kept is the part of the quota that is not to be used.
func (q Quota) Kept() Percent {
	if q.Reserve == nil {
		return usualReserve
	}
	return *q.Reserve
}

// Percent is a share in whole hundredths, from 0% to 90%: with all of it in reserve nothing could be asked.
type Percent int

const maxPercent = 90

// Of is this share of n, rounded up: what is in reserve is not less than was promised.
func (p Percent) Of(n int64) int64 { return patra.QuotaReserve(n, int(p)) }

var percentForm = regexp.MustCompile(`^(0|[1-9][0-9]?)%$`)

// UnmarshalText reads `10%` and nothing else.
func (p *Percent) UnmarshalText(text []byte) error {
	m := percentForm.FindSubmatch(text)
	if m == nil {
		return fmt.Errorf("%q is not a percentage; write 10%%", text)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil || n > maxPercent {
		return fmt.Errorf("%s is more than %d%%", text, maxPercent)
	}
	*p = Percent(n)
	return nil
}

// MarshalText writes `10%`.
func (p Percent) MarshalText() ([]byte, error) { return []byte(strconv.Itoa(int(p)) + "%"), nil }

// quota checks a quota of which one request takes so much.
func (c *checker) quota(at string, q Quota, cost int) {
	c.positive(at+".daily", q.Daily >= 0, "daily is the number of requests a day")
	c.positive(at+".hourly", q.Hourly >= 0, "hourly is the number of requests an hour")
	c.positive(at+".monthly", q.Monthly >= 0, "monthly is the number of requests a month")
	if q.limit().IsZero() {
		const beside = "write hourly, daily or monthly beside it"
		if q.Reserve != nil {
			c.add(at+".reserve", "CONFLICT", "there is nothing of which a reserve could be kept", beside)
		}
		for key, said := range map[string]bool{"zone": q.Zone != "", "skew": q.Skew != nil} {
			if said {
				c.add(at+"."+key, "CONFLICT", key+" says nothing without a quota", beside)
			}
		}
	}
	if _, err := time.LoadLocation(q.Zone); err != nil || q.Zone == "Local" { // Local is another one on each machine
		c.add(at+".zone", "BAD_VALUE", fmt.Sprintf("%q is not a time zone", q.Zone), "write one such as America/New_York, or leave it out for UTC")
	}
	if q.Skew != nil {
		c.positive(at+".skew", *q.Skew >= 0 && time.Duration(*q.Skew) <= 30*time.Minute, "skew is between 0s and 30m")
	}
	if h := q.Headers; h != (QuotaHeaders{}) {
		if q.limit().IsZero() {
			c.add(at+".headers", "CONFLICT", "there is no quota of which something could be left", "write hourly, daily or monthly beside it")
		}
		if h.Remaining == "" {
			c.add(at+".headers.remaining", "REQUIRED", "a reset says nothing without what is left", "write the name of the header with what is left")
		}
	}
	c.headerNames(at+".headers", map[string]string{"remaining": q.Headers.Remaining, "reset": q.Headers.Reset})
	c.reset(at+".headers", q.Headers.Reset, q.Headers.ResetIs)
	l, cost := q.limit(), max(cost, 1)
	for _, most := range []int64{l.Hourly, l.Daily, l.Monthly} {
		if usable := l.Usable(most); most > 0 && usable < int64(cost) {
			c.add(at, "CONFLICT", fmt.Sprintf("one request costs %d, and of %d only %d may be used", cost, most, usable), "make the quota larger or the reserve smaller")
		}
	}
}
