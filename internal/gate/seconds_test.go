package gate_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
)

// A provider that permits three requests a second counts three in every second, the first one included.
func TestNoSecondHasMoreRequestsThanPermitted(t *testing.T) {
	for _, l := range []patra.RateLimit{
		{Key: "crossref", PerSecond: 3, Burst: 3}, {Key: "pubmed", PerSecond: 10, Burst: 10},
		{Key: "doaj", PerSecond: 2, Burst: 5}, {Key: "plos", PerSecond: 0.08, Burst: 5},
		{Key: "zenodo", PerSecond: 100.0 / 60, Burst: 4}, {Key: "fast", PerSecond: 50, Burst: 20},
	} {
		t.Run(l.Key, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gate.NewLocal()
				var mu sync.Mutex
				var sent []patra.Instant
				var all sync.WaitGroup
				for n := range 4 {
					all.Go(func() {
						dice := rand.New(rand.NewPCG(uint64(n), 3))
						for range 60 {
							wait, err := g.Reserve(context.Background(), l, 1)
							if err != nil {
								t.Error(err)
								return
							}
							<-time.After(max(wait, 0) + time.Duration(dice.Int64N(int64(g.MaxLateness(l))+1)))
							mu.Lock()
							sent = append(sent, patra.InstantOf(time.Now()))
							mu.Unlock()
							if dice.IntN(4) == 0 { // a pause saves up for a burst
								<-time.After(time.Duration(dice.Float64() * 3 * float64(time.Second) / l.PerSecond))
							}
						}
					})
				}
				all.Wait()
				if err := gatetest.JudgeSeconds(sent, l.PerSecond, 0); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestTheJudgeOfSecondsCatchesOneRequestTooMany(t *testing.T) {
	sent := []patra.Instant{0, 0, 400_000, patra.Second, patra.Second, 1_400_000, 2 * patra.Second}
	if err := gatetest.JudgeSeconds(sent, 3, 0); err != nil {
		t.Error(err)
	}
	for _, extra := range []patra.Instant{0, 999_999, patra.Second, 2 * patra.Second} {
		with := append([]patra.Instant{extra}, sent...)
		if err := gatetest.JudgeSeconds(with, 3, 0); (err == nil) != (extra == 2*patra.Second) {
			t.Errorf("one more at %d: %v", extra, err)
		}
	}
	slow := []patra.Instant{0, 12_500_000, 25_000_000}
	if err := gatetest.JudgeSeconds(slow, 0.08, 0); err != nil {
		t.Error(err)
	}
	if gatetest.JudgeSeconds(append(slow, 37_499_999), 0.08, 0) == nil {
		t.Error("below one a second the interval counts")
	}
	if err := gatetest.JudgeSeconds(append(slow, 37_460_000), 0.08, 50*time.Millisecond); err != nil {
		t.Errorf("on the way to a provider 50 ms may be lost: %v", err)
	}
}
