// Package relay carries events out of the store to sinks: at least once, and in order for each record.
//
// The store gives every committed event a number, and each sink has a place among the numbers. One process at a time has
// the role of sending to a sink, under a lease; others stand by. It sends a few events, waits until the sink has them, and
// writes down how far it came. What a sink does not take waits, and with it whatever is newer of the same record; after
// enough attempts it is set aside, where people see it, and the newer ones go on.
//
// What is promised: an event is sent for the first time only after every older event of the same record was acknowledged,
// or was set aside. This holds without the lease: whoever sends has either got the acknowledgement of the older one itself,
// or read in the store that somebody got it. So a process that was stopped for longer than its lease, and goes on while
// another has taken over, can only repeat events that are at the sink already, or bring one whose elders are there. A reader
// that keeps events by their id, or ignores a revision that is not above the one that it has, sees each record in order.
//
// The package knows no tables and decides nothing about records. Its words: a sink is where events go; a publisher is the
// way there; a term is the time for which a process has the role of a sink; a wave is events of different records, which
// may arrive in any order.
package relay

import (
	"context"
	"errors"

	"patra"
)

// Publisher is the way to one sink. It is used by one goroutine.
type Publisher interface {
	// Publish sends events, which are about different things, and waits until the sink has them for good. It gives one
	// error for each event, nil for those that are acknowledged. An error that is ErrRefused is about that very event: the
	// sink is there and does not want it. Any other may be about the sink. It does not try again by itself for longer than
	// a moment: whoever calls does. When ctx ends, what is not acknowledged has failed.
	Publish(ctx context.Context, events []patra.Event) []error
	// Close gives back what the publisher holds. What was not acknowledged may be lost.
	Close() error
}

// ErrRefused means that the sink does not want this event, and would want another.
var ErrRefused = errors.New("the sink refused the event")

// same gives every event the same error.
func same(n int, err error) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// IsRefused reports whether an error is about the event, and not about the sink.
func IsRefused(err error) bool { return errors.Is(err, ErrRefused) }

// FirstError is the first failure that says something.
func FirstError(errs []error) error {
	for _, err := range errs {
		if err != nil && !errors.Is(err, errBehind) {
			return err
		}
	}
	return nil
}
