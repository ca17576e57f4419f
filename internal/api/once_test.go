package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Many who ask for what takes long all wait as long as they may, and not one after the other.
func TestNobodyWaitsForOthersLongerThanTheyMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &cachedValue[int]{every: time.Second, read: func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}}
		began, done := time.Now(), make(chan error)
		for range 20 {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				_, err := o.get(ctx)
				done <- err
			}()
		}
		for range 20 {
			if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		if took := time.Since(began); took > 2*patience {
			t.Errorf("the last waited for %s", took)
		}
	})
}
