package gate_test

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
)

// apart are rows under keys that no other test has.
type apart struct {
	gate.Rows
	name string
}

func (a apart) UpdateGateState(ctx context.Context, key string, turn func(patra.Instant, time.Duration, patra.RateState) patra.RateState) error {
	return a.Rows.UpdateGateState(ctx, a.name+key, turn)
}

func (a apart) GateState(ctx context.Context, key string) (patra.RateState, patra.Instant, error) {
	return a.Rows.GateState(ctx, a.name+key)
}

// openRedis connects to a server, and closes with the test.
func openRedis(t testing.TB, url string, opts ...gate.RedisOption) *gate.Redis {
	t.Helper()
	r, err := gate.OpenRedis(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// redisGate makes gates over one Redis, each with connections of its own.
func redisGate(t testing.TB) func() gatetest.Gate {
	name := rand.Text()
	return func() gatetest.Gate {
		return gate.NewShared(apart{openRedis(t, gatetest.RedisURL(t), gate.WithClock(time.Now)), name})
	}
}

func TestRedisConformance(t *testing.T) {
	gatetest.RedisURL(t)
	gatetest.Run(t, gatetest.Kind{Fresh: redisGate, Sends: 600})
}

func TestTenThousandRequestsThroughRedis(t *testing.T) {
	gatetest.RedisURL(t)
	for _, c := range gatetest.Cases() {
		if strings.Contains(c.Name, "50 a second with a burst of 20") {
			gatetest.Check(t, c, gatetest.Kind{Fresh: redisGate, Sends: 10_000})
			return
		}
	}
	t.Error("there is no such promise")
}

// Whoever comes in between is not overwritten, by the server's own clock.
func TestNoTurnInRedisIsLost(t *testing.T) {
	name, url := rand.Text(), gatetest.RedisURL(t)
	var all sync.WaitGroup
	const processes, turns = 8, 50
	var crowded atomic.Int64 // who is told that others were faster has not turned anything, and asks the store
	before := patra.InstantOf(time.Now())
	for range processes {
		rows := apart{openRedis(t, url), name}
		all.Go(func() {
			for range turns {
				if err := rows.UpdateGateState(t.Context(), "a", func(_ patra.Instant, _ time.Duration, is patra.RateState) patra.RateState {
					is.Limit++
					return is
				}); err != nil && strings.Contains(err.Error(), "others were faster") {
					crowded.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	is, now, err := apart{openRedis(t, url), name}.GateState(t.Context(), "a")
	if done := processes*turns - crowded.Load(); err != nil || is.Limit != done || done < processes*turns/2 {
		t.Errorf("%d of %d turns are left, %v", is.Limit, done, err)
	}
	if now < before || now > patra.InstantOf(time.Now()) {
		t.Errorf("it is %s in Redis", now)
	}
}

// A server that was started again may have a state from a disk or from a replica, and it may be old.
func TestAStateOfAnEarlierRunIsNone(t *testing.T) {
	s := gatetest.StartRedis(t)
	rows := openRedis(t, s.URL)
	charge := func(_ patra.Instant, _ time.Duration, is patra.RateState) patra.RateState {
		is.Limit++
		return is
	}
	if err := rows.UpdateGateState(t.Context(), "a", charge); err != nil {
		t.Fatal(err)
	}
	s.Save(t)
	if err := rows.UpdateGateState(t.Context(), "a", charge); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if err := rows.UpdateGateState(t.Context(), "a", charge); err == nil {
		t.Error("a dead server answered")
	}
	if err := s.Start(t); err != nil {
		t.Fatal(err)
	}
	if n := s.Keys(t); n != 1 {
		t.Fatalf("%d keys came back from the disk, and one should", n)
	}
	is, _, err := rows.GateState(t.Context(), "a")
	for try := 0; err != nil && try < 10; try++ { // connections that died with the server
		is, _, err = rows.GateState(t.Context(), "a")
	}
	if err != nil || is.Limit != 0 {
		t.Errorf("an old state with %d charges is believed, %v", is.Limit, err)
	}
}

// What is wrong is said without the password.
func TestErrorsOfRedisHideThePassword(t *testing.T) {
	const secret = "canary-4711"
	for _, url := range []string{"redis://:" + secret + "@127.0.0.1:1/0", "redis://:" + secret + "@127.0.0.1:x/0", "redis://u:" + secret + "@[::1/0", "http://:" + secret + "@h/"} {
		r, err := gate.OpenRedis(url)
		if err == nil {
			_, _, err = r.GateState(t.Context(), "a")
			_ = r.Close()
		}
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%v", err)
		}
	}
	s := gatetest.StartRedis(t)
	r := openRedis(t, strings.Replace(s.URL, "redis://", "redis://nobody:"+secret+"@", 1))
	if _, _, err := r.GateState(t.Context(), "a"); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("%v", err)
	}
}
