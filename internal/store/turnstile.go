package store

import (
	"context"
	"slices"
	"sync"
)

// writerPriority is when somebody's transaction has its turn.
type writerPriority int

const (
	inTurn writerPriority = iota // one after the other, as they came
	urgent                       // before all who wait: for what is short, and keeps somebody from working
)

// writerLock lets one transaction at a time through to a store that has one writer. The pool of connections would do that too, but it
// lets anybody of those who wait go next: with many, somebody waits very long.
type writerLock struct {
	mu      sync.Mutex
	busy    bool
	waiting [2][]chan struct{} // by precedence
}

// enter waits for its turn.
func (g *writerLock) enter(ctx context.Context, when writerPriority) error {
	g.mu.Lock()
	if !g.busy {
		g.busy = true
		g.mu.Unlock()
		return nil
	}
	turn := make(chan struct{}, 1)
	g.waiting[when] = append(g.waiting[when], turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	at := slices.Index(g.waiting[when], turn)
	if at >= 0 {
		g.waiting[when] = slices.Delete(g.waiting[when], at, at+1)
	}
	g.mu.Unlock()
	if at < 0 { // it had its turn already
		g.leave()
	}
	return ctx.Err()
}

// leave lets the next one through.
func (g *writerLock) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, when := range []writerPriority{urgent, inTurn} {
		if all := g.waiting[when]; len(all) > 0 {
			g.waiting[when] = all[1:]
			all[0] <- struct{}{}
			return
		}
	}
	g.busy = false
}
