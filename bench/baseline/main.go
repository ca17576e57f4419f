// Command floor does the bare work of a harvest and nothing else: it fetches pages, finds the records in them, and upserts
// these with a ledger row and a watermark in one transaction a page. It has no leases, no rate gate, no proof, no history, no
// events, no retries, no mapping and no checks. Nobody who does more can be faster, and it shares no code with who is.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// work is what was asked for.
type work struct {
	kind, mode, base, store string
	days, workers, writers  int
	rows                    int // records of a page of JSON
	from                    time.Time

	client *http.Client
	found  atomic.Int64
}

func main() {
	var w work
	var from string
	flag.StringVar(&w.kind, "kind", "json", "json, pubmed or oai")
	flag.StringVar(&w.mode, "mode", "store", "fetch, parse, dom or store")
	flag.StringVar(&w.base, "base", "", "address of the provider")
	flag.StringVar(&w.store, "store", "", "sqlite:FILE or mysql:DSN")
	flag.IntVar(&w.days, "days", 1, "days to read")
	flag.IntVar(&w.workers, "workers", 4, "days that are read at the same time")
	flag.IntVar(&w.writers, "writers", 1, "pages that are written at the same time")
	flag.IntVar(&w.rows, "rows", 1000, "records of a page of JSON")
	flag.StringVar(&from, "from", "2026-01-01", "first day")
	flag.Parse()
	var err error
	if w.from, err = time.Parse(time.DateOnly, from); err == nil {
		err = w.run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, w.found.Load())
}

// run reads every day, in as many hands as there are, and writes in as many as the engine can use.
func (w *work) run(ctx context.Context) error {
	w.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: w.workers, DisableCompression: true}}
	var sink func(batch) error
	if w.mode == "store" {
		s, err := open(ctx, w.store, w.writers)
		if err != nil {
			return err
		}
		defer s.close()
		sink = func(b batch) error { return s.write(ctx, b) }
	} else {
		sink = func(batch) error { return nil }
	}
	pages := make(chan batch, w.workers)
	days := make(chan time.Time)
	readers, reading := errgroup.WithContext(ctx)
	for range w.workers {
		readers.Go(func() error {
			for day := range days {
				if err := w.read(reading, day, pages); err != nil {
					return err
				}
			}
			return nil
		})
	}
	readers.Go(func() error {
		defer close(days)
		for n := range w.days {
			select {
			case days <- w.from.AddDate(0, 0, n):
			case <-reading.Done():
				return reading.Err()
			}
		}
		return nil
	})
	failed := make(chan error, 1)
	go func() {
		failed <- readers.Wait()
		close(pages)
	}()
	var writers errgroup.Group
	for range max(w.writers, 1) {
		writers.Go(func() error {
			for b := range pages {
				w.found.Add(int64(len(b.records)))
				if err := sink(b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := writers.Wait(); err != nil {
		return err
	}
	return <-failed
}

func (w *work) read(ctx context.Context, day time.Time, to chan<- batch) error {
	switch w.kind {
	case "json":
		return w.works(ctx, day, to)
	case "pubmed":
		return w.articles(ctx, day, to)
	case "oai":
		return w.archive(ctx, day, to)
	}
	return fmt.Errorf("kind %q is not known", w.kind)
}

// batch is the records of one page.
type batch struct {
	day     time.Time
	no      int
	records []record
}

// record is one of them, as it came.
type record struct {
	id, updated string
	raw         []byte
}

func plain(day time.Time) string { return day.Format(time.DateOnly) }

func slashed(day time.Time) string { return strings.ReplaceAll(plain(day), "-", "/") }
