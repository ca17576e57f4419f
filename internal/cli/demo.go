package cli

import (
	"patra"

	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"patra/internal/config"
	"patra/internal/sim"
)

// demoHarvest is one source of the demo.
type demoHarvest struct {
	code   string
	ask    planFlags
	path   string // of the provider at the simulator, where the source's own path does not say it
	really func(s *sim.Server, from, to time.Time) int64
}

// demoPerDay is small enough that a person sees the bars move.
const demoPerDay = 400

// demoHarvests are read at the same time, each under its own limits.
var demoHarvests = []demoHarvest{
	{code: "crossref", ask: planFlags{from: "2026-10-01", to: "2026-10-15"}, really: func(s *sim.Server, from, to time.Time) (n int64) {
		for _, day := range s.Counts(from, to) {
			n += int64(day.Count)
		}
		return n
	}},
	{code: "europepmc", ask: planFlags{from: "2026-10-01", to: "2026-10-15"}, really: func(s *sim.Server, from, to time.Time) int64 {
		return int64(s.EuropePMC().By("UPDATE_DATE").Count(from, to))
	}},
	{code: "pubmed", ask: planFlags{from: "2026-10-01", to: "2026-10-08"}, really: func(s *sim.Server, from, to time.Time) int64 {
		return int64(s.PubMed().Count(from, to))
	}},
	{code: "oai", ask: planFlags{from: "2026-10-01", to: "2026-10-04", params: []string{"baseUrl=https://example.org/oai"}}, path: "/oai/day", really: func(s *sim.Server, from, to time.Time) int64 {
		return int64(s.OAIDay().Count(from, to))
	}},
}

func (a *app) demoCmd() *cobra.Command {
	var once bool
	var dir string
	c := &cobra.Command{
		Use: "demo", Short: "Harvest simulated providers, with faults, and look at the result", Args: noArgs,
		Long: "The demo starts the built-in simulator of Crossref, Europe PMC, PubMed and an OAI-PMH repository (their limits, their ways of\npaging, some 429s and broken answers included), harvests them at the same time into an embedded store and shows what\narrived and what was healed. Then it serves the dashboard, until Ctrl-C.",
		RunE: func(c *cobra.Command, _ []string) error { return a.demo(c.Context(), dir, once) },
	}
	c.Flags().BoolVar(&once, "once", false, "end after the summary, in place of showing the dashboard")
	c.Flags().StringVar(&dir, "dir", "", "folder for the store (default a new temporary one)")
	return c
}

func (a *app) demo(ctx context.Context, dir string, once bool) (err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "patra-demo-"); err != nil {
			return patra.Environment(err)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return patra.Environment(err)
	}
	faults, err := sim.Profile("mild")
	if err != nil {
		return err
	}
	world := sim.Config{Seed: 7, From: time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), PerDay: demoPerDay, Rate: 5, Burst: 6, Faults: faults}
	server, base, stop, err := startSim(ctx, "127.0.0.1:0", world)
	if err != nil {
		return patra.Environment(err)
	}
	defer stop()
	fmt.Fprintf(a.stdout, "Simulated Crossref, Europe PMC, PubMed and an OAI-PMH repository at %s:\nabout %d works a day, 5 requests a second, some 429s and broken answers.\n\n", base, demoPerDay)
	cfg := config.Default()
	cfg.Store.URL, cfg.Contact, cfg.Log.Level = "sqlite:"+filepath.Join(dir, "patra.db"), "demo@example.org", "error"
	a.config = &cfg
	sums, err := a.demoAll(ctx, base)
	if err != nil {
		return err
	}
	if err := a.demoCompare(server, sums); err != nil {
		return err
	}
	db := "--store sqlite:" + filepath.Join(dir, "patra.db")
	fmt.Fprintln(a.stdout, "All of them are stored, none twice. Look around:")
	fmt.Fprintln(a.stdout)
	for _, cmd := range []string{"coverage show", "batches --limit 10", "cursor list", "lineage task/1", "records export"} {
		fmt.Fprintf(a.stdout, "  %s %s %s\n", programName(), cmd, db)
	}
	if once {
		return nil
	}
	if err := a.demoGap(ctx, base); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\nThree days of Crossref were left out on purpose: fill them on the coverage map. Or harvest more, until Ctrl-C:\n\n  %s harvest crossref --base-url %s --contact demo@example.org %s --to 2026-10-25\n\n", programName(), base, db)
	a.config.API.Listen = demoListen(ctx)
	return a.serve(ctx, allRoles, base, 0)
}

// demoGap harvests some days with others left out before them, so that there is something to see and to do.
func (a *app) demoGap(ctx context.Context, base string) error {
	st, err := a.openOrCreate(ctx)
	if err != nil {
		return err
	}
	req, err := a.request(ctx, "crossref", planFlags{from: "2026-10-18", to: "2026-10-21", baseURL: base})
	if err != nil {
		return err
	}
	a.bars = newBars(a.stderr)
	_, err = a.runWork(ctx, st, req, 0, true)
	if a.bars != nil {
		a.bars.Wait()
	}
	return err
}

// demoListen is where the dashboard of the demo is: at its usual place, or anywhere if somebody else is there.
func demoListen(ctx context.Context) string {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", config.UsualListen)
	if err != nil {
		return "127.0.0.1:0"
	}
	_ = l.Close()
	return config.UsualListen
}

// demoAll harvests all sources at the same time.
func (a *app) demoAll(ctx context.Context, base string) ([]*summary, error) {
	st, err := a.openOrCreate(ctx)
	if err != nil {
		return nil, err
	}
	sums := make([]*summary, len(demoHarvests))
	a.bars = newBars(a.stderr)
	group, ctx := errgroup.WithContext(ctx)
	for i, d := range demoHarvests {
		d.ask.baseURL = base + d.path
		req, err := a.request(ctx, d.code, d.ask)
		if err != nil {
			return nil, err
		}
		group.Go(func() (err error) {
			sums[i], err = a.runWork(ctx, st, req, 0, true)
			return err
		})
	}
	err = group.Wait()
	if a.bars != nil {
		a.bars.Wait()
	}
	return sums, err
}

// demoCompare shows what was done and holds it against what the providers really have.
func (a *app) demoCompare(server *sim.Server, sums []*summary) error {
	for i, sum := range sums {
		fmt.Fprintln(a.stdout)
		sum.print(a.stdout)
		if err := sum.verdict(); err != nil {
			return err
		}
		w := sum.Plan.Window
		if really := demoHarvests[i].really(server, w.From.Time(), w.To.Time()); sum.Stored != really {
			return fmt.Errorf("%d records of %s are stored, but the provider has %d", sum.Stored, sum.source, really)
		}
	}
	s := server.Stats()
	fmt.Fprintf(a.stdout, "\nThe providers saw %s and refused %s as too fast. They have as many works as were stored.\n", plural(s.Requests, "request"), thousands(s.RateLimited+s.Throttled))
	return nil
}

// programName is how the reader can call this program: a demo is often run before anything is installed.
func programName() string {
	if strings.Contains(os.Args[0], string(filepath.Separator)) {
		return os.Args[0]
	}
	return "patra"
}
