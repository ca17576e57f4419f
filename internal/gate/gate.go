// Package gate decides when a request may be sent. Every request asks it first.
//
// The promise, for a provider that permits perSecond and burst: in any half-open second [t, t+1) at most perSecond requests
// leave, and in any stretch of time T at most burst + perSecond*T, whatever the number of processes that share the rows,
// their clocks and their deaths; and none leaves inside a cooldown. It holds as long as whoever sends uses a grant neither before its moment nor more than its Patience
// after it, asks Remaining before and takes another grant if a cooldown began or a person ended one (Ended), and as long
// as the clock of the rows goes forward. Between the last look at the clock and the provider there is more time that nobody
// here sees: the promise holds at the provider if no request needs longer for that than the fastest one by more than what
// is left of Headroom.Slack, at least as much as the patience.
//
// A gate never sends anything and never gives a grant back: what was charged stays charged, because a provider counts a
// failed request too. A process that dies has wasted the grants it held, and nothing more.
//
// Its words: a key names what shares a limit (usually a source); a grant is the moment from which one request may be
// sent; patience is how late it may be used; a cooldown is a stretch in which nobody may send; the pace is how a limit is
// used; the tempo is how far below it we go after a provider refused us; a lease is some grants that a process took at
// once.
package gate

import (
	"context"
	"time"

	"patra"
)

// Rows keep the state of keys for all who share a limit. UpdateGateState changes one, with everybody else waiting; turn gets
// the one clock that counts, and how long reading it took. An error means that nothing may be sent.
type Rows interface {
	UpdateGateState(ctx context.Context, key string, turn func(now patra.Instant, took time.Duration, was patra.RateState) patra.RateState) error
	GateState(ctx context.Context, key string) (is patra.RateState, now patra.Instant, err error)
}
