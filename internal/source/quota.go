package source

import (
	"fmt"
	"regexp"
	"strconv"
)

// Quota is how much the provider permits in a longer time than a second; 0 is no limit. A part of it is kept in reserve,
// so that a harvest never locks out the people who share the address or the key.
type Quota struct {
	Daily   int64    `yaml:"daily" json:"daily,omitempty"`
	Hourly  int64    `yaml:"hourly" json:"hourly,omitempty"`
	Reserve *Percent `yaml:"reserve" json:"reserve,omitempty"`
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
func (p Percent) Of(n int64) int64 { return n/100*int64(p) + (n%100*int64(p)+99)/100 }

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

func (c *checker) quota(at string, q Quota) {
	c.positive(at+".daily", q.Daily >= 0, "daily is the number of requests a day")
	c.positive(at+".hourly", q.Hourly >= 0, "hourly is the number of requests an hour")
	if q.Reserve != nil && q.Daily == 0 && q.Hourly == 0 {
		c.add(at+".reserve", "CONFLICT", "there is nothing of which a reserve could be kept", "write daily or hourly beside it")
	}
}
