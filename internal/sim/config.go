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
	From, To time.Time // the truth covers the UTC days [From, To); times of day are ignored
	PerDay   int       // mean number of works a day; a day has half to one and a half of it, weekends less
	Exact    bool      // exactly PerDay works on every day
	Living   bool      // records come late and change as the time of Now passes, whoever asks
	Rate     float64   // requests a second that each provider answers, all clients together; 0 is unlimited
	Burst    int       // requests that may come at once; default one second's worth, at least 1
	Quota    Quota
	TokenTTL time.Duration // how long a cursor, token or history lives; default as long as the real provider's
	Faults   Faults
	Log      io.Writer // one JSON line for each request to the provider; nil keeps no log
	Now      func() time.Time
}

// How long the real providers remember. Crossref's scrolls die after about five minutes unused, and its search engine
// keeps 500 of them by default; NCBI's histories live for hours; OAI tokens for a day at several archives.
const (
	defaultTTL = 5 * time.Minute
	historyTTL = 8 * time.Hour
	oaiTTL     = 24 * time.Hour
	maxScrolls = 500
)

func (c Config) withDefaults() Config {
	if c.Burst < 1 {
		c.Burst = max(1, int(math.Ceil(c.Rate)))
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// ttl is the configured time to live, or the provider's own.
func (c Config) ttl(own time.Duration) time.Duration {
	if c.TokenTTL > 0 {
		return c.TokenTTL
	}
	return own
}
