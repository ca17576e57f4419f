package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"patra"
	"patra/internal/config"
	"patra/internal/store"
)

// lateFire is how long after its time a schedule may fire before somebody should look.
const lateFire = 10 * time.Minute

// examineSchedules tells when each schedule fires next, and whether it fired when it should have.
func examineSchedules(ctx context.Context, cfg config.Config, s *store.Store) (found []finding, err error) {
	states, err := s.ScheduleStates(ctx)
	for _, c := range cfg.Schedules {
		var st patra.ScheduleState
		if i := slices.IndexFunc(states, func(st patra.ScheduleState) bool { return st.Name == c.Name }); i >= 0 {
			st = states[i]
		}
		found = append(found, judgeSchedule(c, st, now()))
	}
	return found, err
}

// judgeSchedule says when a schedule fires next, or what came of its last fires. One that can never fire is a mistake of the configuration.
func judgeSchedule(c config.Schedule, st patra.ScheduleState, at patra.Instant) finding {
	next := c.Cron.Next(at)
	last, ever := c.Cron.Last(at.Add(-lateFire))
	switch {
	case c.Paused:
		return passed("schedules", "%s is paused in patra.yaml", c.Name)
	case st.Refused > 0:
		return warn("schedules", sentence(st.RefusalNext()), "%s", strings.TrimSuffix(st.Refusal(), "."))
	case st.Fired != nil && ever && *st.Fired < last:
		return warn("schedules", "See that patra serve runs, with the role planner", "%s was due at %s, and did not fire", c.Name, seconds(last))
	}
	return passed("schedules", "%s fires next at %s", c.Name, seconds(next))
}
