package main

import (
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
	version string
	lacks   string   // what it does not do that Patra does
	tasks   []string // names of those it can do
	engine  string   // mariadb if it needs a database there
	workers int      // days that it may read at the same time; 0: as many as everybody
	share   int      // it reads one day in so many, because it would take too long; 0 and 1: all
	rows    int      // records of a page; 0: what the task says
	ours    bool     // whether the run ends if it fails
	kind    kind
	command func(ctx context.Context, r round) (*exec.Cmd, error)
	count   func(ctx context.Context, r round) (int64, error) // how many records are stored afterwards
}

// kind is what a contender is, for whoever looks at a picture.
type kind string

const (
	part  kind = "part"  // a part of the work
	floor kind = "floor" // the bare work
	us    kind = "us"
	peer  kind = "peer"
)

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

// said is where a contender's output is.
func (r round) said() string { return filepath.Join(r.folder, "stdout") }

// result is what a turn came to.
type result struct {
	Records int64 // that are stored
	Lost    int64 // that the provider has and that are not stored
	Took    time.Duration
	CPU     time.Duration
	Peak    int64 // bytes
	tally
}

func (r result) perSecond() float64 { return float64(r.Records) / r.Took.Seconds() }

// perThousand is the processor time of a thousand records, in milliseconds.
func (r result) perThousand() float64 {
	return float64(r.CPU.Microseconds()) / float64(max(r.Records, 1))
}

// turn runs a contender once, and counts what it did.
func (c contender) turn(ctx context.Context, p *provider, r round) (result, error) {
	cmd, err := c.command(ctx, r)
	if err != nil {
		return result{}, err
	}
	stdout, err := os.Create(r.said())
	if err != nil {
		return result{}, err
	}
	defer stdout.Close()
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.Dir = stdout, &stderr, r.folder
	if _, err := p.tally(ctx, true); err != nil {
		return result{}, err
	}
	began := time.Now()
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(r.said())
		return result{}, fmt.Errorf("%s: %w\n%s\n%s", c.name, err, tail(string(said)), tail(stderr.String()))
	}
	res := result{Took: time.Since(began)}
	if res.tally, err = p.tally(ctx, false); err != nil {
		return res, err
	}
	use, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	res.CPU, res.Peak = cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), use.Maxrss<<10
	if res.Records, err = c.count(ctx, r); err != nil {
		return res, fmt.Errorf("%s: what it stored: %w", c.name, err)
	}
	res.Lost = int64(r.world.records()) - res.Records
	return res, nil
}

func tail(text string) string { return text[max(0, len(text)-2000):] }

// asPrinted takes a program's word for it. It is for those that store nothing.
func asPrinted(_ context.Context, r round) (int64, error) {
	printed, err := os.ReadFile(r.said())
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(printed)), 10, 64)
}

// into writes a file of a turn's folder.
func (r round) into(name, text string) (string, error) {
	path := filepath.Join(r.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte(text), 0o600)
}
