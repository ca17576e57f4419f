package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// What one client of the limited provider gets: a page of 20 records every 50 milliseconds, whatever it asks for.
const (
	clientPace   = 50 * time.Millisecond
	clientRows   = 20
	clientPerDay = 100
)

// scaled is what so many executors came to.
type scaled struct {
	executors int
	rates     []float64
}

// scaling lets 1, 2 and 4 processes work through the same queue. Each is a client of its own to the provider.
func (b *bench) scaling(ctx context.Context, rep *report) error {
	t := tasks[0]
	t.rows, t.known = clientRows, true
	w := world{Days: 300, PerDay: clientPerDay} // more than anybody gets done
	engine := "sqlite"
	if b.server != "" {
		engine = "mariadb"
	}
	rep.scaledOn = engine
	for _, n := range b.executors {
		rep.scaled = append(rep.scaled, scaled{executors: n})
	}
	for range b.rounds {
		for i, n := range b.executors {
			rate, err := b.fleet(ctx, t, w, engine, n)
			if err != nil {
				return fmt.Errorf("%d executors: %w", n, err)
			}
			rep.scaled[i].rates = append(rep.scaled[i].rates, rate)
			fmt.Fprintf(b.out, "scaling  %d executors on %s: %.0f/s\n", n, engine, rate)
		}
	}
	for _, s := range rep.scaled[1:] {
		rep.figures.set(fmt.Sprintf("scaling.%d", s.executors), ratios(s.rates, rep.scaled[0].rates))
	}
	return nil
}

// fleet plans a harvest, lets n executors begin it, and when the provider knows all of them, counts for some seconds how many records
// are stored.
func (b *bench) fleet(ctx context.Context, t task, w world, engine string, n int) (rate float64, err error) {
	p, err := startProvider(ctx, w, manners{Pace: clientPace})
	if err != nil {
		return 0, err
	}
	defer p.stop()
	folder, store, end, err := b.place(ctx, engine)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, end()) }()
	r := round{task: t, world: w, base: p.url, folder: folder, store: store}
	settings, err := r.settings(engine)
	if err != nil {
		return 0, err
	}
	for _, words := range [][]string{{"migrate"}, append([]string{"plan", "HARVEST", t.source, "--no-probe"}, r.window()...)} {
		cmd := exec.CommandContext(ctx, b.bins.patra, append([]string{"--config", settings}, words...)...)
		cmd.Env = append(os.Environ(), "BENCH_CLIENT=planner")
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s: %w\n%s", words[0], err, tail(string(out)))
		}
	}
	if _, err := p.tally(ctx, true); err != nil {
		return 0, err
	}
	var all []*exec.Cmd
	defer func() {
		for _, cmd := range all {
			_ = cmd.Process.Kill() // nobody looks at the store any more
		}
		for _, cmd := range all {
			_ = cmd.Wait()
		}
	}()
	for i := range n {
		cmd := exec.CommandContext(ctx, b.bins.patra, "--config", settings, "serve", "--role", "executor", "--workers", "4")
		cmd.Env = append(os.Environ(), fmt.Sprintf("BENCH_CLIENT=executor-%d", i)) // by which the provider knows its clients
		cmd.Dir = folder
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		all = append(all, cmd)
	}
	late, done := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("not all of them asked the provider for something in two minutes"))
	defer done()
	for {
		seen, err := p.tally(late, false)
		if err != nil {
			return 0, errors.Join(err, context.Cause(late))
		}
		if seen.Clients == n {
			break
		}
		<-time.After(20 * time.Millisecond)
	}
	before, began, err := r.storedNow(ctx, engine)
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(b.scaleFor):
	}
	after, ended, err := r.storedNow(ctx, engine)
	if err == nil && after == int64(w.records()) {
		err = errors.New("there was not enough to do")
	}
	return float64(after-before) / ended.Sub(began).Seconds(), err
}

func (r round) storedNow(ctx context.Context, engine string) (int64, time.Time, error) {
	n, err := r.stored(ctx, engine)
	return n, time.Now(), err
}
