package executor_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
	"patra/internal/query"
	"patra/internal/source"
	"patra/internal/store"
)

// tallied is a gate that counts its grants, and fails when it has given enough.
type tallied struct {
	*gate.Local
	given, most int
}

var errNoGate = errors.New("the gate cannot be reached")

func (g *tallied) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	if g.given++; g.given > g.most {
		return 0, errNoGate
	}
	return g.Local.Reserve(ctx, l, cost)
}

// slowRows need a while to write a row.
type slowRows struct {
	requests
	wait time.Duration
}

func (r *slowRows) OpenRequest(ctx context.Context, now patra.Instant, open patra.RequestOpen) (int64, error) {
	<-time.After(r.wait)
	return r.requests.OpenRequest(ctx, now, open)
}

// Between a grant and the request there is a row to be written and a connection to be made, and a process may be stopped.
// A grant that got old meanwhile is void, and each time that something really leaves has a grant of its own.
func TestAnOldGrantIsNotUsed(t *testing.T) {
	const long = 10 * time.Second
	for _, c := range []struct {
		name   string
		rows   time.Duration // to write a row
		dial   time.Duration // to make a connection
		broken int           // the request that is answered by closing the connection
		most   int           // grants, then the gate fails
		came   int
		given  int
	}{
		{name: "all is quick", most: 99, came: 3, given: 3},
		{name: "rows are slow", rows: long, most: 99, came: 3, given: 6},
		{name: "the connection is slow", dial: long, most: 99, came: 3, given: 4},
		{name: "the transport sends a second time", broken: 2, most: 99, came: 4, given: 4},
		{name: "the gate fails at the last moment", dial: long, most: 1, came: 0, given: 2},
		{name: "the gate fails before a request is repeated", broken: 2, most: 2, came: 2, given: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var came []patra.Instant
				works := newWorks().Handler()
				client := pipeClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					came = append(came, patra.InstantOf(time.Now()))
					n := len(came)
					mu.Unlock()
					if n == c.broken {
						panic(http.ErrAbortHandler)
					}
					works.ServeHTTP(w, r)
				}))
				transport := client.Transport.(*http.Transport)
				dial := transport.DialContext
				transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
					<-time.After(c.dial)
					return dial(ctx, network, address)
				}
				g, rows := &tallied{Local: gate.NewLocal(), most: c.most}, &slowRows{wait: c.rows}
				p := &executor.Prober{Store: rows, Gate: g, Log: slog.New(slog.DiscardHandler), Client: func(*source.Spec, string) *http.Client { return client }}
				spec := specOf(t, paged(offsets, "P1M"))
				spec.Rate.PerSecond, spec.Rate.Burst = 1, 1
				var err error
				for n := 0; n < 3 && err == nil; n++ {
					_, err = p.Probe(t.Context(), spec, query.All(), month, "http://provider")
				}
				if fails := c.most < 99; fails != errors.Is(err, errNoGate) || !fails && err != nil {
					t.Errorf("%v", err)
				}
				if len(came) != c.came || g.given != c.given {
					t.Errorf("%d requests came with %d grants, want %d with %d", len(came), g.given, c.came, c.given)
				}
				if err := gatetest.Judge(came, 1, 1); err != nil {
					t.Error(err)
				}
				for i, x := range rows.closed {
					if x.SentAt < rows.opened[i].AcquiredAt {
						t.Errorf("row %d: sent at %s, before its grant", i, x.SentAt)
					}
				}
			})
		})
	}
}

// Without a gate nothing is sent. The run gives up, and its task is tried again later like after any trouble of ours.
func TestNothingIsSentWithoutAGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		came := 0
		b := newBubble(t, func(http.Handler) http.Handler {
			return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came++ })
		})
		x := b.executor(nil)
		x.Gate = &tallied{Local: gate.NewLocal()}
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		failed, err := b.Tasks(t.Context(), store.Filter{Status: patra.Failed, Limit: 10})
		if err != nil || len(failed) != 2 || came > 0 {
			t.Errorf("%d tasks failed, %d requests came, %v", len(failed), came, err)
		}
		for _, task := range failed {
			if task.Attempts != task.MaxAttempts {
				t.Errorf("%d of %d attempts", task.Attempts, task.MaxAttempts)
			}
		}
	})
}
