package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"patra"
)

// A fire waits for a store that is away, and for nothing else; and not after it is told to stop.
func TestAFireWaitsForTheStore(t *testing.T) {
	away := fmt.Errorf("accept: %w", patra.ErrUnavailable)
	other := errors.New("no such field")
	for _, tt := range []struct {
		name  string
		errs  []error
		stop  time.Duration
		want  error
		takes time.Duration
		calls int
	}{
		{"it is there", []error{nil}, time.Hour, nil, 0, 1},
		{"it is away for a while", []error{away, away, away, nil}, time.Hour, nil, 3 * fireEvery, 4},
		{"something else is wrong", []error{away, other}, time.Hour, other, fireEvery, 2},
		{"it is told to stop", []error{away, away, away, away}, 12 * time.Second, away, 12 * time.Second, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.stop)
				defer cancel()
				began, calls := time.Now(), 0
				err := retryUntilAvailable(ctx, func() error {
					calls++
					return tt.errs[calls-1]
				})
				if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) || calls != tt.calls || time.Since(began) != tt.takes {
					t.Errorf("%v after %s and %d calls", err, time.Since(began), calls)
				}
			})
		})
	}
}
