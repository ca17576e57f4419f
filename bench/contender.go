package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// contender is a program that can do a task.
type contender struct {
	name    string
	lacks   string   // what it does not do that Patra does
	tasks   []string // names of those it can do
	command func(ctx context.Context, r round) (*exec.Cmd, error)
	count   func(ctx context.Context, r round, printed string) (int64, error) // how many records are stored afterwards
}

func (c contender) can(t task) bool { return slices.Contains(c.tasks, t.name) }

// round is one turn of one contender.
type round struct {
	task    task
	world   world
	base    string // address of the provider
	folder  string // its own, empty at the beginning
	workers int
	store   string // address of an empty database, where it is not a file of the folder
}

func (r round) first() string { return firstDay.Format(time.DateOnly) }
func (r round) last() string  { return r.world.until().Format(time.DateOnly) }

// result is what a turn came to.
type result struct {
	Records  int64
	Took     time.Duration
	CPU      time.Duration
	Peak     int64 // bytes
	Requests int64
}

func (r result) perSecond() float64 { return float64(r.Records) / r.Took.Seconds() }

func (r result) cpuPerThousand() time.Duration {
	return time.Duration(float64(r.CPU) / float64(r.Records) * 1000)
}

// turn runs a contender once, and counts what it did.
func (c contender) turn(ctx context.Context, p *provider, r round) (result, error) {
	cmd, err := c.command(ctx, r)
	if err != nil {
		return result{}, err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &stdout, &stderr, r.folder
	before, began := p.requests.Load(), time.Now()
	if err := cmd.Run(); err != nil {
		return result{}, fmt.Errorf("%s: %w\n%s\n%s", c.name, err, tail(stdout.String()), tail(stderr.String()))
	}
	res := result{Took: time.Since(began), Requests: p.requests.Load() - before}
	use, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	res.CPU, res.Peak = cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), use.Maxrss<<10
	if res.Records, err = c.count(ctx, r, stdout.String()); err != nil {
		return res, fmt.Errorf("%s: what it stored: %w", c.name, err)
	}
	return res, nil
}

func tail(text string) string { return text[max(0, len(text)-2000):] }

// asPrinted takes a program's word for it. It is for those that store nothing.
func asPrinted(_ context.Context, _ round, printed string) (int64, error) {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	return strconv.ParseInt(lines[len(lines)-1], 10, 64)
}

// median is the turn in the middle, by how long it took.
func median(all []result) result {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b result) int { return int(a.Took - b.Took) })
	return sorted[len(sorted)/2]
}

// into writes a file of a turn's folder.
func (r round) into(name, text string) (string, error) {
	path := filepath.Join(r.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte(text), 0o600)
}
