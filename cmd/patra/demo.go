package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra/internal/config"
	"patra/internal/sim"
)

// The demo's world: two weeks, in pages small enough that a person sees the bar move.
const (
	demoFrom   = "2026-10-01"
	demoTo     = "2026-10-15"
	demoPerDay = 400
)

func (a *app) demoCmd() *cobra.Command {
	var once bool
	var dir string
	c := &cobra.Command{
		Use: "demo", Short: "Harvest a simulated provider, with faults, and look at the result", Args: noArgs,
		Long: "The demo starts the built-in simulator of Crossref (its limits, its stateful cursor, some 429s and broken answers\nincluded), harvests two weeks from it into an embedded store and shows what arrived and what was healed.",
		RunE: func(c *cobra.Command, _ []string) error { return a.demo(c.Context(), dir, once) },
	}
	c.Flags().BoolVar(&once, "once", false, "end after the summary, in place of keeping the simulator up")
	c.Flags().StringVar(&dir, "dir", "", "folder for the store (default a new temporary one)")
	return c
}

func (a *app) demo(ctx context.Context, dir string, once bool) (err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "patra-demo-"); err != nil {
			return environment(err)
		}
	}
	from, to := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 15, 0, 0, 0, 0, time.UTC)
	faults, err := sim.Profile("mild")
	if err != nil {
		return err
	}
	server, base, stop, err := startSim(ctx, "127.0.0.1:0", sim.Config{Seed: 7, From: from, To: to, PerDay: demoPerDay, Rate: 3, Burst: 4, Faults: faults})
	if err != nil {
		return environment(err)
	}
	defer stop()
	fmt.Fprintf(a.stdout, "Simulated Crossref at %s: %d works a day, 3 requests a second, some 429s and broken answers.\n", base, demoPerDay)
	cfg := config.Default()
	cfg.Store.URL, cfg.Contact, cfg.Log.Level = "sqlite:"+filepath.Join(dir, "patra.db"), "demo@example.org", "error"
	a.config = &cfg
	sum, err := a.demoHarvest(ctx, base)
	if err != nil {
		return err
	}
	s := server.Stats()
	fmt.Fprintf(a.stdout, "\nThe provider saw %s, refused %s as too fast, and really has %s.\n", plural(s.Requests, "request"), thousands(s.RateLimited+s.Throttled), plural(truth(server, from, to), "work"))
	if sum.Stored != truth(server, from, to) {
		return fmt.Errorf("%d records are stored, but the provider has %d", sum.Stored, truth(server, from, to))
	}
	fmt.Fprintf(a.stdout, "All of them are stored, none twice. Look around:\n\n")
	for _, cmd := range []string{"coverage show", "batches --limit 10", "cursor list", "lineage task/1", "records export"} {
		fmt.Fprintf(a.stdout, "  %s %s --store sqlite:%s\n", program(), cmd, filepath.Join(dir, "patra.db"))
	}
	if err := sum.verdict(); err != nil || once {
		return err
	}
	fmt.Fprintf(a.stdout, "\nThe simulator stays up until Ctrl-C. Harvest it again:\n\n  %s harvest crossref --base-url %s --contact demo@example.org --store sqlite:%s --force --from %s --to %s\n",
		program(), base, filepath.Join(dir, "patra.db"), demoFrom, demoTo)
	<-ctx.Done()
	return nil
}

func (a *app) demoHarvest(ctx context.Context, base string) (*summary, error) {
	req, err := a.request("crossref", askFlags{from: demoFrom, to: demoTo, baseURL: base})
	if err != nil {
		return nil, err
	}
	st, err := a.openOrCreate(ctx)
	if err != nil {
		return nil, err
	}
	sum, err := a.harvest(ctx, st, req, 0)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(a.stdout)
	sum.print(a.stdout)
	return sum, nil
}

// program is how the reader can call this program: a demo is often run before anything is installed.
func program() string {
	if strings.Contains(os.Args[0], string(filepath.Separator)) {
		return os.Args[0]
	}
	return "patra"
}

// truth counts what the simulated provider really has.
func truth(s *sim.Server, from, to time.Time) (n int64) {
	for _, day := range s.Counts(from, to) {
		n += int64(day.Count)
	}
	return n
}
