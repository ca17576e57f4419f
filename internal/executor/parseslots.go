package executor

import "context"

// parseSlots is how many pages may be read at the same time. A page that waits for its turn is the bytes that came; one that was read
// is several times that, and waits for the writer.
type parseSlots chan struct{}

// newReaders makes room for n; 0 is no limit.
func newReaders(n int) parseSlots {
	if n <= 0 {
		return nil
	}
	return make(parseSlots, n)
}

// enter waits for room, and leave makes it.
func (r parseSlots) enter(ctx context.Context) error {
	if r == nil {
		return nil
	}
	select {
	case r <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r parseSlots) leave() {
	if r != nil {
		<-r
	}
}
