package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// reads is what make bench-read leaves behind. It fills a store of six gigabytes first, so it is no part of this run.
type reads struct {
	Date      string  `json:"date"`
	Batches   int64   `json:"batches"`
	Records   int64   `json:"records"`
	Questions int     `json:"questions"`
	Slowest   string  `json:"slowest"`
	P95       float64 `json:"p95_ms"`
	Watched   float64 `json:"watched"` // time of a harvest that somebody looks at, by one that nobody does
}

func (b *bench) read(_ context.Context, rep *report) error {
	raw, err := os.ReadFile(b.reads)
	if errors.Is(err, fs.ErrNotExist) {
		rep.figures.absent["read.p95"] = "not measured in this run: `make bench-read`, then `make bench`"
		return nil
	}
	var r reads
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", b.reads, err)
	}
	rep.reads = &r
	if r.Batches < 1_000_000 {
		rep.figures.absent["read.p95"] = fmt.Sprintf("measured at %s batches only: `make bench-read`, then `make bench`", grouped(r.Batches))
		return nil
	}
	rep.figures.set("read.p95", spreadOf(r.P95))
	return nil
}
