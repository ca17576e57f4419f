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
	"time"
)

// score is what a contender came to in a task.
type score struct {
	contender contender
	world     world // what it was to read
	turns     []result
	failed    string // why there are no turns
}

func (s score) each(of func(result) float64) (all []float64) {
	for _, t := range s.turns {
		all = append(all, of(t))
	}
	return all
}

func (s score) rates() []float64 { return s.each(result.perSecond) }

func (s score) spread(of func(result) float64) spread { return spreadOf(s.each(of)...) }

func (s score) lost() (n int64) {
	for _, t := range s.turns {
		n += t.Lost
	}
	return n
}

// table is what everybody came to in a task.
type table struct {
	task   task
	world  world
	scores []score
}

// named finds a contender's score; one of nobody has no turns.
func (t table) named(name string) score {
	i := slices.IndexFunc(t.scores, func(s score) bool { return s.contender.name == name })
	if i < 0 {
		return score{}
	}
	return t.scores[i]
}

// stage is a part of the benchmark, which writes what it found into the report.
type stage struct {
	name string
	do   func(context.Context, *report) error
}

// stages are all of them, in their order.
func (b *bench) stages() []stage {
	return []stage{
		{"json", b.line("json")}, {"pubmed", b.line("pubmed")}, {"oai", b.line("oai")},
		{"batch", b.batch}, {"memory", b.memory}, {"queue", b.queue}, {"read", b.read},
		{"scaling", b.scaling}, {"limited", b.limited}, {"plan", b.plan}, {"start", b.start},
	}
}

func (b *bench) has(part string) bool { return len(b.parts) == 0 || slices.Contains(b.parts, part) }

func (b *bench) run(ctx context.Context) (*report, error) {
	folder, err := os.MkdirTemp("", "patra-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	b.folder = folder
	if b.server != "" {
		if err := b.tune(ctx); err != nil {
			return nil, err
		}
	}
	if b.bins, err = build(ctx, folder, b.patra, !b.small); err != nil {
		return nil, err
	}
	rep := &report{figures: newFigures()}
	fmt.Fprintln(b.out, "== peers (the first time, Benthos is compiled for some minutes)")
	b.others, rep.away = b.peers(ctx, folder)
	for _, m := range rep.away {
		rep.figures.absent[m.goal] = "not measured: " + m.why
	}
	for _, g := range goals {
		if b.server == "" && strings.Contains(g.key, "mariadb") {
			rep.figures.absent[g.key] = "not measured: there is no MariaDB here"
		}
	}
	for _, s := range b.stages() {
		if !b.has(s.name) {
			continue
		}
		fmt.Fprintf(b.out, "== %s\n", s.name)
		began := time.Now()
		if err := s.do(ctx, rep); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(b.out, "== %s took %s\n", s.name, time.Since(began).Round(100*time.Millisecond))
	}
	return rep, nil
}

// contenders are all that there are, here.
func (b *bench) contenders() []contender {
	all := []contender{
		b.bins.floorOf("fetch", "fetch", "sqlite"),
		b.bins.floorOf("fetch + parse", "parse", "sqlite"),
		b.bins.floorOf("fetch + DOM", "dom", "sqlite"),
		b.bins.floorOf("floor, SQLite", "store", "sqlite"),
		b.bins.harvest("Patra, SQLite", "sqlite"),
	}
	if b.server != "" {
		all = append(all, b.bins.floorOf("floor, MariaDB", "store", "mariadb"), b.bins.harvest("Patra, MariaDB", "mariadb"))
	}
	return append(all, b.others...)
}

// line gives a task to everybody, and takes the ratios that are wanted of it.
func (b *bench) line(name string) func(context.Context, *report) error {
	return func(ctx context.Context, rep *report) error {
		t := tasks[slices.IndexFunc(tasks, func(t task) bool { return t.name == name })]
		var who []contender
		for _, c := range b.contenders() {
			if c.can(t) && strings.Contains(c.name, b.only) {
				who = append(who, c)
			}
		}
		done, err := b.compare(ctx, t, t.world(b.world), manners{}, b.rounds, who)
		if err != nil {
			return err
		}
		rep.tables = append(rep.tables, done)
		ours := done.named("Patra, SQLite")
		by := func(key, other string) { rep.figures.set(key, ratios(ours.rates(), done.named(other).rates())) }
		by(name+".floor", "floor, SQLite")
		switch name {
		case "json":
			by("json.benthos", "Benthos, SQLite")
			by("json.dlt", "dlt, SQLite")
			by("json.airbyte", "Airbyte CDK")
			rep.figures.set("mariadb.floor", ratios(done.named("Patra, MariaDB").rates(), done.named("floor, MariaDB").rates()))
		case "pubmed":
			by("pubmed.dom", "fetch + DOM")
		case "oai":
			by("oai.metha", "metha")
			if len(ours.turns) > 0 {
				rep.figures.set("oai.lost", spreadOf(float64(ours.lost())))
			}
		}
		return nil
	}
}

// compare gives a task to contenders, round by round, and each round begins with another. Whoever is the
// first to ask for a page has another turn, as the provider has it in memory then.
func (b *bench) compare(ctx context.Context, t task, w world, m manners, rounds int, who []contender) (done table, err error) {
	p, err := startProvider(ctx, w, m)
	if err != nil {
		return done, err
	}
	defer p.stop()
	done.task, done.world = t, w
	for _, c := range who {
		s := score{contender: c, world: w}
		s.world.Days = max(w.Days/max(c.share, 1), 1)
		done.scores = append(done.scores, s)
	}
	for n := range rounds {
		for i := range done.scores {
			s := &done.scores[(i+n)%len(done.scores)]
			if s.failed != "" {
				continue
			}
			res, err := b.turn(ctx, p, s.contender, t, s.world)
			if err == nil && res.Written > 0 { // the provider had to write pages while the clock ran
				res, err = b.turn(ctx, p, s.contender, t, s.world)
			}
			if err != nil && (s.contender.ours || ctx.Err() != nil) {
				return done, err
			}
			if err != nil {
				s.failed, s.turns = lastLine(err.Error()), nil
				fmt.Fprintf(b.out, "%-8s %-16s failed: %v\n", t.name, s.contender.name, err)
				continue
			}
			s.turns = append(s.turns, res)
			fmt.Fprintf(b.out, "%-8s %-16s %9d records %8.0f/s  cpu %6.1f ms/1000  peak %4d MB  %d requests", t.name, s.contender.name, res.Records, res.perSecond(), res.perThousand(), res.Peak/1e6, res.Requests)
			if res.Lost != 0 {
				fmt.Fprintf(b.out, "  %d LOST", res.Lost)
			}
			fmt.Fprintln(b.out)
		}
	}
	return done, nil
}

// place makes a folder and, where one is needed, a database for a turn; end removes both.
func (b *bench) place(ctx context.Context, engine string) (folder, store string, end func() error, err error) {
	b.turns++
	folder = filepath.Join(b.folder, fmt.Sprint(b.turns))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", "", nil, err
	}
	end = func() error { return os.RemoveAll(folder) }
	if engine != "mariadb" {
		return folder, "", end, nil
	}
	name := fmt.Sprintf("bench_%d_%d", os.Getpid(), b.turns)
	if err := b.database(ctx, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"); err != nil {
		return "", "", nil, err
	}
	return folder, b.server + "/" + name, func() error {
		return errors.Join(os.RemoveAll(folder), b.database(context.WithoutCancel(ctx), "DROP DATABASE "+name))
	}, nil
}

// turn is one turn, in a folder and a database of its own.
func (b *bench) turn(ctx context.Context, p *provider, c contender, t task, w world) (res result, err error) {
	folder, store, end, err := b.place(ctx, c.engine)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, end()) }()
	r := round{task: t, world: w, base: p.url, folder: folder, store: store, workers: b.workers}
	if c.workers > 0 {
		r.workers = c.workers
	}
	if c.rows > 0 {
		r.task.rows = c.rows
	}
	return c.turn(ctx, p, r)
}

// tune gives a server, which is thrown away afterwards, the memory and the care of one that is used in earnest.
func (b *bench) tune(ctx context.Context) error {
	return errors.Join(b.database(ctx, "SET GLOBAL innodb_flush_log_at_trx_commit = 1"), b.database(ctx, "SET GLOBAL innodb_buffer_pool_size = 1073741824"))
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
