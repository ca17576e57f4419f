package cli

import (
	"context"
	"time"

	"patra"
	"patra/internal/config"
	"patra/internal/store"
)

// lateFire is how long after its time a schedule may fire before somebody should look.
const lateFire = 10 * time.Minute

// examineSchedules tells when each schedule fires next, and whether it fired when it should have.
func examineSchedules(ctx context.Context, cfg config.Config, s *store.Store) (found []finding, err error) {
	for _, c := range cfg.Schedules {
		fired, err := s.LastFire(ctx, c.Name)
		if err != nil {
			return nil, err
		}
		found = append(found, judgeSchedule(c, fired, now()))
	}
	return found, nil
}

// judgeSchedule says when a schedule fires next; fired is when it did last, nil for never. One that can never fire is a
// mistake of the configuration.
func judgeSchedule(c config.Schedule, fired *patra.Instant, at patra.Instant) finding {
	next := c.Cron.Next(at)
	last, ever := c.Cron.Last(at.Add(-lateFire))
	switch {
	case c.Paused:
		return passed("schedules", "%s is paused in patra.yaml", c.Name)
	case fired != nil && ever && *fired < last:
		return warn("schedules", "See that patra serve runs, with the role planner", "%s was due at %s, and did not fire", c.Name, seconds(last))
	}
	return passed("schedules", "%s fires next at %s", c.Name, seconds(next))
}
