package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/sim"
)

// simFlags describe the provider to pretend to be.
type simFlags struct {
	listen, from, to, faults, accessLog, truth string
	perDay, burst                              int
	exact                                      bool
	rate                                       float64
	seed                                       uint64
}

func (a *app) simCmd() *cobra.Command {
	var f simFlags
	c := &cobra.Command{
		Use: "sim", Short: "Serve simulated providers on this machine", Args: noArgs,
		Long: "Serve simulated providers with the shapes and limits of the real ones, each under its real path: Crossref, Europe PMC,\nPubMed, DataCite, OpenAlex (also at /openalex), arXiv's OAI, and OAI-PMH repositories at /oai, /oai/day and /oai/422.\nPoint a harvest at it with --base-url, and give it a store of its own.\n\n" +
			"Profiles of what goes wrong: mild and rough mix some of everything. throttle refuses, and says when to come back in\nevery way that was seen. flaky breaks off. lying counts wrongly, leaves out, doubles, and has papers without a date.\nmoving changes papers while they are read.",
		Example: "  patra sim --listen 127.0.0.1:8090 --profile mild\n  patra harvest crossref --base-url http://127.0.0.1:8090 --contact me@example.org --from 2026-10-01 --to 2026-10-08",
		RunE:    func(c *cobra.Command, _ []string) error { return a.simulate(c.Context(), f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:8090", "address to listen on; port 0 picks a free one")
	fl.StringVar(&f.from, "from", "2026-01-01", "first day that has works")
	fl.StringVar(&f.to, "to", "2027-01-01", "day after the last that has works")
	fl.IntVar(&f.perDay, "per-day", 300, "works a day, on average")
	fl.BoolVar(&f.exact, "exact", false, "exactly --per-day works every day")
	fl.Float64Var(&f.rate, "rate", 5, "requests a second before it answers 429; 0 is no limit")
	fl.IntVar(&f.burst, "burst", 5, "requests at once before the rate counts")
	fl.StringVar(&f.faults, "profile", "none", "what goes wrong: "+strings.Join(sim.Profiles(), ", "))
	fl.StringVar(&f.faults, "faults", "none", "the same as --profile")
	fl.Lookup("faults").Hidden = true
	fl.Uint64Var(&f.seed, "seed", 1, "which world: the same seed always has the same works")
	fl.StringVar(&f.accessLog, "access-log", "", "file to append one JSON line a request to")
	fl.StringVar(&f.truth, "truth", "", "folder to write at the end what was really there: one file a source, one JSON line a version")
	return c
}

func (a *app) simulate(ctx context.Context, f simFlags) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	if f.accessLog != "" {
		log, err := os.OpenFile(f.accessLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return patra.Environment(err)
		}
		defer log.Close()
		cfg.Log = log
	}
	server, base, stop, err := startSim(ctx, f.listen, cfg)
	if err != nil {
		return patra.Environment(err)
	}
	fmt.Fprintf(a.stdout, "Simulating Crossref, Europe PMC, PubMed, DataCite, OpenAlex and OAI-PMH at %s, %s a day from %s to %s. Ctrl-C ends it.\n", base, plural(int64(f.perDay), "work"), f.from, f.to)
	<-ctx.Done()
	stop()
	s := server.Stats()
	fmt.Fprintf(a.stdout, "Served %s in %s.\n", plural(s.Items, "work"), plural(s.Requests, "request"))
	return patra.Environment(writeTruth(server, f.truth))
}

// writeTruth writes the truth of every source that the simulator can speak for.
func writeTruth(server *sim.Server, folder string) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	for _, code := range sim.Codes {
		file, err := os.OpenFile(filepath.Join(folder, code+".jsonl"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if err := errors.Join(server.ByCode(code).WriteTruth(file), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (f simFlags) config() (sim.Config, error) {
	from, err := patra.ParseInstant(f.from)
	if err != nil {
		return sim.Config{}, patra.Invalid("from", "{from}: %s", err)
	}
	to, err := patra.ParseInstant(f.to)
	if err != nil {
		return sim.Config{}, patra.Invalid("to", "{to}: %s", err)
	}
	if from >= to {
		return sim.Config{}, patra.Invalid("from", "{from} %s does not lie before {to} %s", f.from, f.to)
	}
	faults, err := sim.Profile(f.faults)
	if err != nil {
		return sim.Config{}, patra.Invalid("profile", "{profile}: %s", err)
	}
	if f.perDay < 1 || f.rate < 0 {
		return sim.Config{}, patra.Invalid("per_day", "{per_day} is at least 1 and {rate} not negative")
	}
	return sim.Config{Seed: f.seed, From: from.Time(), To: to.Time(), PerDay: f.perDay, Exact: f.exact, Rate: f.rate, Burst: f.burst, Faults: faults}, nil
}

// startSim serves a simulated provider until stop is called.
func startSim(ctx context.Context, listen string, cfg sim.Config) (s *sim.Server, base string, stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, "", nil, err
	}
	s = sim.New(cfg)
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	stop = func() {
		server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "patra: simulator:", err)
		}
	}
	return s, "http://" + l.Addr().String(), stop, nil
}
