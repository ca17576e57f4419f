package cli

import (
	"context"
	"time"

	"patra/internal/config"
	"patra/internal/gate"
)

// examineRedis asks the Redis that the rate gate uses, if it uses one. Without it requests go on, so nothing here is a
// failure.
func (a *app) examineRedis(ctx context.Context) []finding {
	cfg, err := a.load()
	if err != nil || cfg.Gate.Backend != config.GateRedis {
		return nil
	}
	const next = "See that it is running, and that gate.redis.url is right; until then the rate gate is kept in the store"
	where := cfg.Redacted().Gate.Redis.URL
	r, err := gate.OpenRedis(cfg.Gate.Redis.URL)
	if err != nil {
		return []finding{warn("redis", next, "%s", sentence(err.Error()))}
	}
	defer r.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	h, err := r.Health(ctx)
	if err != nil {
		return []finding{warn("redis", next, "%s does not answer as it should: %s", where, err)}
	}
	found := []finding{passed("redis", "%s answers (Redis %s)", where, h.Version)}
	if h.Eviction != "" && h.Eviction != "noeviction" {
		found = append(found, warn("redis", "Set maxmemory-policy to noeviction, or use another Redis",
			"Redis may throw away what it keeps (maxmemory-policy is %s); each time the rate gate goes back to the store for a minute", h.Eviction))
	}
	return found
}
