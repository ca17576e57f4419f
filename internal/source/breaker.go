package source

import (
	"fmt"
	"strings"
	"time"

	"patra"
)

// Breaker says when an endpoint that does not answer is left alone, and for how long.
type Breaker struct {
	Failures int64         `yaml:"failures" json:"failures,omitempty"` // in a row, of all who ask there; 0: more than chance brings
	Cooldown DurationRange `yaml:"cooldown" json:"cooldown,omitzero"`  // doubled each time that a try fails
}

// usualBreaker is that of a source that does not say otherwise. It is no part of a stored spec: how patient we are with
// an outage does not change what is asked.
var usualBreaker = Breaker{Cooldown: DurationRange{Duration(60 * time.Second), Duration(120 * time.Second)}}

func (b Breaker) orUsual() Breaker {
	if b.Cooldown.IsZero() {
		b.Cooldown = usualBreaker.Cooldown
	}
	return b
}

// Rule is the breaker as the rules see it.
func (b Breaker) Rule() patra.BreakerRule {
	b = b.orUsual()
	return patra.BreakerRule{Failures: b.Failures, Shortest: time.Duration(b.Cooldown.From), Longest: time.Duration(b.Cooldown.To)}
}

// DurationRange is a length of time between two others, both included: 60s..120s.
type DurationRange struct{ From, To Duration }

// IsZero reports whether nothing was written.
func (s DurationRange) IsZero() bool { return s == DurationRange{} }

// UnmarshalText reads `60s..120s`, or `60s` for exactly that.
func (s *DurationRange) UnmarshalText(text []byte) error {
	low, high, both := strings.Cut(string(text), "..")
	if !both {
		high = low
	}
	if s.From.UnmarshalText([]byte(low)) != nil || s.To.UnmarshalText([]byte(high)) != nil || s.To < s.From {
		return fmt.Errorf("%q is no stretch between two lengths of time; write 60s..120s", text)
	}
	return nil
}

// MarshalText writes `60s..120s`.
func (s DurationRange) MarshalText() ([]byte, error) {
	return []byte(time.Duration(s.From).String() + ".." + time.Duration(s.To).String()), nil
}

func (c *checker) breaker(at string, b Breaker) {
	b = b.orUsual()
	c.positive(at+".failures", b.Failures >= 0 && b.Failures <= 1000, "failures are counted in a row and lie between 1 and 1000")
	c.positive(at+".cooldown", b.Cooldown.From > 0 && time.Duration(b.Cooldown.To) <= 24*time.Hour, "an endpoint is left alone for more than nothing, and for a day at most")
}
