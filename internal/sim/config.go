package sim

import (
	"io"
	"math"
	"time"
)

// Config describes a world and the manners of the server in front of it. The zero value of every field but From, To
// and PerDay is useful.
type Config struct {
	Seed     uint64
	From, To time.Time     // the truth covers the UTC days [From, To); times of day are ignored
	PerDay   int           // mean number of works a day; a day has half to one and a half of it, weekends less
	Exact    bool          // exactly PerDay works on every day
	Rate     float64       // requests a second that are answered, all clients together; 0 is unlimited
	Burst    int           // requests that may come at once; default one second's worth, at least 1
	TokenTTL time.Duration // how long a cursor lives unused; default 5 minutes
	Faults   Faults
	Log      io.Writer // one JSON line for each request to the provider; nil keeps no log
	Now      func() time.Time
}

// The real provider's scrolls die after about five minutes, and its search engine keeps 500 of them by default.
const (
	defaultTTL = 5 * time.Minute
	maxScrolls = 500
)

func (c Config) withDefaults() Config {
	if c.Burst < 1 {
		c.Burst = max(1, int(math.Ceil(c.Rate)))
	}
	if c.TokenTTL <= 0 {
		c.TokenTTL = defaultTTL
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}
