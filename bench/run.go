package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// score is what a contender came to in a task.
type score struct {
	contender contender
	turns     []result
}

// table is what everybody came to in a task.
type table struct {
	task   task
	scores []score
}

func (b *bench) run(ctx context.Context, only []string, which, page string) error {
	folder, err := os.MkdirTemp("", "patra-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	bins, err := build(ctx, folder)
	if err != nil {
		return err
	}
	var all []table
	for _, t := range tasks {
		if !slices.Contains(only, t.name) {
			continue
		}
		done, err := b.compare(ctx, t, bins, folder, which)
		if err != nil {
			return err
		}
		all = append(all, done)
	}
	if page == "" {
		return nil
	}
	return b.write(page, all)
}

// contenders are all that there are, here.
func (b *bench) contenders(bins binaries) []contender {
	all := []contender{
		bins.floorOf("fetch", "fetch", "sqlite"),
		bins.floorOf("fetch + parse", "parse", "sqlite"),
		bins.floorOf("fetch + DOM", "dom", "sqlite"),
		bins.floorOf("floor, SQLite", "store", "sqlite"),
		bins.harvest("Patra, SQLite", "sqlite"),
	}
	if b.server != "" {
		all = append(all, bins.floorOf("floor, MariaDB", "store", "mariadb"), bins.harvest("Patra, MariaDB", "mariadb"))
	}
	if b.python != "" {
		all = append(all, dlt(b.python))
	}
	return all
}

// compare gives a task to everybody, round by round, and each round begins with another.
func (b *bench) compare(ctx context.Context, t task, bins binaries, folder, which string) (done table, err error) {
	p, err := startProvider(ctx, b.world)
	if err != nil {
		return done, err
	}
	defer p.stop()
	done.task = t
	for _, c := range b.contenders(bins) {
		if c.can(t) && strings.Contains(c.name, which) {
			done.scores = append(done.scores, score{contender: c})
		}
	}
	for n := range b.rounds + 1 {
		for i := range done.scores {
			s := &done.scores[(i+n)%len(done.scores)]
			res, err := b.turn(ctx, p, s.contender, t, folder)
			if err != nil {
				return done, err
			}
			if n == 0 {
				continue // the provider had to write its pages first
			}
			s.turns = append(s.turns, res)
			fmt.Fprintf(b.out, "%-8s %-16s %9d records %8.0f/s  cpu %8s/1000  peak %5d MB  %d requests\n", t.name, s.contender.name, res.Records, res.perSecond(), res.cpuPerThousand().Round(10_000), res.Peak>>20, res.Requests)
		}
	}
	return done, nil
}

// turn is one turn, in a folder and a database of its own.
func (b *bench) turn(ctx context.Context, p *provider, c contender, t task, folder string) (res result, err error) {
	b.turns++
	r := round{task: t, world: b.world, base: p.url, folder: filepath.Join(folder, fmt.Sprint(b.turns)), workers: b.workers}
	if err := os.MkdirAll(r.folder, 0o700); err != nil {
		return res, err
	}
	defer os.RemoveAll(r.folder)
	if strings.Contains(c.name, "MariaDB") {
		name := fmt.Sprintf("bench_%d_%d", os.Getpid(), b.turns)
		r.store = b.server + "/" + name
		if err := b.database(ctx, "CREATE DATABASE "+name); err != nil {
			return res, err
		}
		defer func() { err = errors.Join(err, b.database(context.WithoutCancel(ctx), "DROP DATABASE "+name)) }()
	}
	return c.turn(ctx, p, r)
}

func (b *bench) database(ctx context.Context, statement string) error {
	db, err := sql.Open("mysql", driverURL(b.server+"/"))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, statement)
	return err
}
