package executor

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whoever was asked to wait waits at least as long as that, a little longer, and never much longer.
func TestAWaitIsOnlyEverLonger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wait := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "wait"))
		more := withJitter(wait, rapid.Float64Range(0, 1).Draw(t, "dice")) - wait
		least, most := min(wait/20, 10*time.Second), min(wait*3/20+1, 10*time.Second)
		if more < least-1 || more > most {
			t.Fatalf("%s more than %s", more, wait)
		}
	})
	if withJitter(0, 1) != 0 {
		t.Error("nobody asked for a wait")
	}
}
