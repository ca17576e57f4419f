package patra

import (
	"testing"
	"time"
)

func TestWhatALimitPermitsInAStretch(t *testing.T) {
	for _, tt := range []struct {
		limit  RateLimit
		span   time.Duration
		permit int64
	}{
		{RateLimit{PerSecond: 3, Burst: 3}, time.Second, 3},
		{RateLimit{PerSecond: 3, Burst: 3}, time.Minute, 180},
		{RateLimit{PerSecond: 2, Burst: 5}, time.Second, 2},
		{RateLimit{PerSecond: 3, Burst: 1}, time.Second, 3},
		{RateLimit{PerSecond: 2.5, Burst: 3}, time.Second, 3},
		{RateLimit{PerSecond: 0.08, Burst: 5}, time.Second, 1},
		{RateLimit{PerSecond: 0.08, Burst: 5}, time.Minute, 5},
		{RateLimit{PerSecond: 10, Burst: 12, Heaviest: 10}, time.Second, 22},
		{RateLimit{}, time.Second, 0},
	} {
		if got := tt.limit.MostIn(tt.span); got != tt.permit {
			t.Errorf("%+v permits %d in %s, want %d", tt.limit, got, tt.span, tt.permit)
		}
	}
}
