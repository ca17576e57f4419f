package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

func main() {
	if told := os.Getenv(provideVariable); told != "" {
		if err := provide(told, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := usual()
	b.out, b.server, b.python, b.metha = os.Stdout, os.Getenv("PATRA_TEST_MYSQL_URL"), os.Getenv("BENCH_PYTHON"), os.Getenv("BENCH_METHA")
	var parts, sizes, page string
	var small bool
	flag.BoolVar(&small, "quick", false, "the least of everything: to see that it works, not how fast it is")
	flag.IntVar(&b.world.Days, "days", b.world.Days, "days of the provider")
	flag.IntVar(&b.world.PerDay, "per-day", b.world.PerDay, "records of each")
	flag.IntVar(&b.rounds, "rounds", b.rounds, "turns of every contender")
	flag.IntVar(&b.workers, "workers", b.workers, "days that a contender may read at the same time")
	flag.IntVar(&b.queued, "queued", b.queued, "tasks in the queue that is claimed from")
	flag.StringVar(&sizes, "sizes", "10000,100000,1000000", "numbers of records whose harvest is looked at for memory")
	flag.StringVar(&parts, "parts", "", "what is measured: json, pubmed, oai, batch, memory, queue, read, scaling, limited, plan, start, and whether with peers; empty: everything")
	flag.StringVar(&b.only, "only", "", "part of the names of contenders; empty: all")
	flag.StringVar(&b.reads, "reads", "bin/bench-read.json", "what make bench-read left behind")
	flag.StringVar(&b.patra, "patra", "", "program to measure; empty: it is built from here")
	flag.StringVar(&page, "page", "", "file to write the results to, as a page; pictures go to images/ beside it")
	flag.Parse()
	if parts != "" {
		b.parts = strings.Split(parts, ",")
	}
	err := b.takeSizes(sizes)
	if err == nil {
		if small {
			b.quick()
		}
		err = b.all(ctx, page)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run of everything.
type bench struct {
	out             io.Writer
	server          string // of MariaDB; empty: without it
	python, metha   string // what peers need; empty: without them
	patra           string // program to measure; empty: it is built
	reads           string // file of the read side
	parts           []string
	only            string
	world           world
	rounds, workers int
	sizes           []int
	queued          int           // tasks in the queue
	claims          int           // how many of them are claimed in a round
	years           []int         // that are planned by the hour
	limitFor        time.Duration // how long a provider with a limited rate is asked
	scaleFor        time.Duration // how long records are counted while executors work
	executors       []int         // processes that share the work; the first is one
	starts          int
	small           bool

	folder string
	bins   binaries
	others []contender
	turns  int
}

// usual is what is measured if nobody says otherwise.
func usual() *bench {
	return &bench{world: world{Days: 20, PerDay: 5000}, rounds: 3, workers: 4, queued: 1_000_000, claims: 500, years: []int{2, 10}, limitFor: 30 * time.Second, scaleFor: 8 * time.Second, executors: []int{1, 2, 4}, starts: 20}
}

// quick takes the least of everything.
func (b *bench) quick() {
	b.world, b.rounds, b.sizes, b.queued, b.claims, b.years = world{Days: 4, PerDay: 500}, 1, []int{500, 1000}, 2000, 50, []int{2}
	b.limitFor, b.scaleFor, b.starts, b.small = time.Second, 500*time.Millisecond, 3, true
}

func (b *bench) takeSizes(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return fmt.Errorf("-sizes: %q is no number of records", word)
		}
		b.sizes = append(b.sizes, n)
	}
	return nil
}

// all measures, and writes the page.
func (b *bench) all(ctx context.Context, page string) error {
	began := time.Now()
	rep, err := b.run(ctx)
	if err != nil {
		return err
	}
	rep.took = time.Since(began)
	fmt.Fprintln(b.out)
	fmt.Fprint(b.out, rep.goals(false))
	if page == "" {
		return nil
	}
	return rep.write(b, page)
}
