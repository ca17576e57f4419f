package cli

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"patra"
	"patra/internal/store"
)

// logOutage says when the database of a process that serves goes away, and when it is back.
func logOutage(log *slog.Logger) func(store.Outage) {
	return func(a store.Outage) {
		if a.Over {
			log.Info("the store can be used again, everything goes on", "seconds", time.Since(a.Since).Round(time.Second/10).Seconds())
			return
		}
		log.Warn("the store cannot be used now; it is asked again until it can", "reason", a.Err.Error(), "next", store.Advice(a.Err))
	}
}

// sayAhead says that the tables are those of a newer program: an upgrade is under way, or was forgotten here.
func sayAhead(ctx context.Context, log *slog.Logger, s *store.Store) error {
	v, err := s.SchemaVersion(ctx)
	if err == nil && v.Ahead() {
		log.Warn("the store is that of a newer patra, which only added to it; this one goes on with it until it is replaced too", "store", v.Store, "program", v.Program)
	}
	return err
}

// fireEvery is how often a fire is tried while the store is away.
const fireEvery = 5 * time.Second

// fireWhenThere fires a schedule, and waits with it for a store that is away: else a minute without a database would cost
// a day of a schedule.
func (d *plannerLoop) fireWhenThere(ctx context.Context, job string, at patra.Instant) error {
	return retryUntilAvailable(ctx, func() error { return d.fire(ctx, job, at) })
}

// retryUntilAvailable does something again and again for as long as it fails because the store is away.
func retryUntilAvailable(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, patra.ErrUnavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(fireEvery):
		}
	}
}
