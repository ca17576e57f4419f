package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := bench{out: os.Stdout, server: os.Getenv("PATRA_TEST_MYSQL_URL")}
	var only, which, page string
	flag.IntVar(&b.world.Days, "days", 40, "days of the provider")
	flag.IntVar(&b.world.PerDay, "per-day", 5000, "records of each")
	flag.IntVar(&b.rounds, "rounds", 3, "turns of every contender")
	flag.IntVar(&b.workers, "workers", 4, "days that a contender may read at the same time")
	flag.StringVar(&only, "tasks", "json,pubmed,oai", "what is done")
	flag.StringVar(&which, "only", "", "part of the names of contenders; empty: all")
	flag.StringVar(&page, "page", "", "file to write the results to, as a page")
	flag.StringVar(&b.python, "python", os.Getenv("BENCH_PYTHON"), "a Python with dlt; empty: without it")
	flag.Parse()
	if err := b.run(ctx, strings.Split(only, ","), which, page); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run of everything.
type bench struct {
	out             io.Writer
	server          string // of MariaDB; empty: without it
	python          string // one that has dlt; empty: without it
	world           world
	rounds, workers int
	turns           int
}
