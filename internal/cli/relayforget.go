package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/config"
	"patra/internal/store"
)

func (a *app) relayForgetCmd() *cobra.Command {
	var reason string
	var out format
	c := &cobra.Command{
		Use: "forget SINK", Short: "Forget a sink that is gone, so that no events are kept for it", Args: exactArgs("SINK"),
		Long:    "Forget takes a sink that is no longer in patra.yaml out of the books. If a sink of that name comes back, it is a new one.",
		Example: "  patra relay forget old-feed --reason 'replaced by feed'",
		RunE: func(c *cobra.Command, args []string) error {
			return a.forget(c.Context(), args[0], reason, out)
		},
	}
	reasonFlag(c, &reason)
	formatFlag(c, &out)
	return c
}

func (a *app) forget(ctx context.Context, sink, reason string, out format) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	if _, err := sinkNamed(cfg, sink); err == nil {
		return patra.Invalid("", "%s is in patra.yaml; take it out of sinks there first", sink)
	}
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	switch err := s.RemoveSink(ctx, sink, actor(ctx), reason); {
	case errors.Is(err, patra.ErrNotFound):
		return patra.Invalid("", "there is no sink %q that got events; patra relay status lists those that there are", sink)
	case errors.Is(err, patra.ErrIllegalMove):
		return patra.Invalid("", "a process still sends to %s; stop it, or wait until its lease is over (events.lease is %s)", sink, cfg.Events.Lease)
	case err != nil:
		return err
	}
	return a.done(out, map[string]any{"sink": sink}, sink+" is forgotten. No events are kept for it.", "patra relay status")
}

// purgeEvents deletes events that are kept no longer. A sink that begins now needs nothing of what was.
func purgeEvents(ctx context.Context, s *store.Store, cfg config.Config, at patra.Instant) (total int64, err error) {
	if cfg.Events.Keep == 0 {
		return 0, nil
	}
	var sinks []string
	for _, c := range cfg.Sinks {
		if c.From != config.FromNow {
			sinks = append(sinks, c.Name)
		}
	}
	for ctx.Err() == nil {
		n, err := s.PurgeEvents(ctx, at.Add(-time.Duration(cfg.Events.Keep)), sinks)
		if total += n; err != nil || n == 0 {
			return total, err
		}
	}
	return total, nil
}
