package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"patra"
)

// heartbeat renews the lease while a run works. It stops the run when the lease was taken over, or when it could not
// be renewed for most of its life: then somebody may take over at any moment, and sending on would only bother the
// provider. Safety does not depend on it; the fence sees to that.
func (x *Executor) heartbeat(ctx context.Context, l patra.Lease, stop context.CancelCauseFunc) {
	ticker := time.NewTicker(x.Config.Heartbeat)
	defer ticker.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		beat, cancel := context.WithTimeout(ctx, x.Config.Heartbeat)
		err := x.Store.Heartbeat(beat, l)
		cancel()
		switch {
		case err == nil:
			renewed = time.Now()
		case errors.Is(err, patra.ErrLeaseLost):
			stop(patra.ErrLeaseLost)
			return
		case time.Since(renewed) > x.Config.Lease*7/10:
			stop(fmt.Errorf("the lease could not be renewed: %w: %w", patra.ErrUnavailable, err))
			return
		}
	}
}
