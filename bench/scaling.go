package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// executors are how many processes share the work.
var executors = []int{1, 2, 4}

// What one client of the limited provider gets: a page of 20 records every 50 milliseconds, whatever it asks for. The days are
// small, so that nobody sits with the last one while others have nothing to do.
const (
	clientPace = 50 * time.Millisecond
	clientRows = 20
)

// scaled is what so many executors came to.
type scaled struct {
	executors int
	rates     []float64
}

// scaling lets 1, 2 and 4 processes work through the same queue. Each is a client of its own to the provider.
func (b *bench) scaling(ctx context.Context, rep *report) error {
	t := tasks[0]
	t.rows = clientRows
	w := world{Days: 200, PerDay: clientRows}
	if b.small {
		w.Days = 20
	}
	engine := "sqlite"
	if b.server != "" {
		engine = "mariadb"
	}
	rep.scaledOn = engine
	for _, n := range executors {
		rep.scaled = append(rep.scaled, scaled{executors: n})
	}
	for range b.rounds {
		for i, n := range executors {
			took, err := b.fleet(ctx, t, w, engine, n)
			if err != nil {
				return fmt.Errorf("%d executors: %w", n, err)
			}
			rate := float64(w.records()) / took.Seconds()
			rep.scaled[i].rates = append(rep.scaled[i].rates, rate)
			fmt.Fprintf(b.out, "scaling  %d executors on %s: %d records in %s, %.0f/s\n", n, engine, w.records(), took.Round(time.Millisecond), rate)
		}
	}
	rep.figures.set("scaling.2", ratios(rep.scaled[1].rates, rep.scaled[0].rates))
	rep.figures.set("scaling.4", ratios(rep.scaled[2].rates, rep.scaled[0].rates))
	return nil
}

// fleet plans a harvest, lets n executors do it, and gives the time from the first request until everything is stored.
func (b *bench) fleet(ctx context.Context, t task, w world, engine string, n int) (took time.Duration, err error) {
	p, err := startProvider(ctx, w, manners{pace: clientPace})
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
		if out, err := exec.CommandContext(ctx, b.bins.patra, append([]string{"--config", settings}, words...)...).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s: %w\n%s", words[0], err, tail(string(out)))
		}
	}
	p.begin()
	var all []*exec.Cmd
	said := make([]strings.Builder, n)
	defer func() {
		for _, cmd := range all {
			_ = cmd.Process.Signal(os.Interrupt)
		}
		for _, cmd := range all {
			_ = cmd.Wait()
		}
	}()
	for i := range n {
		cmd := exec.CommandContext(ctx, b.bins.patra, "--config", settings, "serve", "--role", "executor", "--workers", "4", "--contact", fmt.Sprintf("executor%d@example.org", i))
		cmd.Stdout, cmd.Stderr, cmd.Dir = &said[i], &said[i], folder
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		all = append(all, cmd)
	}
	for tick, late := time.NewTicker(20*time.Millisecond), time.After(10*time.Minute); ; {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-late:
			return 0, errors.New("they have not ended after ten minutes")
		case <-tick.C:
		}
		got, err := r.stored(ctx, engine)
		if err != nil {
			return 0, err
		}
		if got == int64(w.records()) {
			break
		}
	}
	took = time.Since(p.began())
	if seen := p.clients(); seen != n {
		return 0, fmt.Errorf("the provider saw %d clients", seen)
	}
	return took, nil
}
