package main

import (
	"context"
	"database/sql"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	_ "github.com/go-sql-driver/mysql" // what was stored is counted from outside
	_ "modernc.org/sqlite"
)

// binaries are the programs of ours.
type binaries struct{ patra, floor string }

// build makes them as they are released, or as it is quickest, or takes the Patra that was named.
func build(ctx context.Context, folder, patra string, released bool) (b binaries, err error) {
	b = binaries{patra, filepath.Join(folder, "floor")}
	make := map[string]string{b.floor: "patra/bench/baseline"}
	if patra == "" {
		b.patra = filepath.Join(folder, "patra")
		make[b.patra] = "patra/cmd/patra"
	}
	for path, pkg := range make {
		args := []string{"build", "-o", path}
		if released { // as it is given to others; compiling everything anew takes a while
			args = append(args, "-trimpath", "-ldflags", "-s -w")
		}
		if out, err := exec.CommandContext(ctx, "go", append(args, pkg)...).CombinedOutput(); err != nil {
			return b, fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
		}
	}
	return b, nil
}

var everything = []string{"json", "pubmed", "oai"}

// floorOf is the floor program in one of its modes.
func (b binaries) floorOf(name, mode, engine string) contender {
	c := contender{name: name, tasks: everything, engine: engine, ours: true, kind: part, count: asPrinted}
	writers := 1
	if engine == "mariadb" {
		writers = serverWorkers
		c.workers = serverWorkers
	}
	if mode == "dom" {
		c.tasks = everything[1:] // it is about XML
	}
	c.command = func(ctx context.Context, r round) (*exec.Cmd, error) {
		store := "sqlite:" + filepath.Join(r.folder, "floor.db")
		if engine == "mariadb" {
			store = "mysql:" + driverURL(r.store)
		}
		return exec.CommandContext(ctx, b.floor, "-kind", r.task.name, "-mode", mode, "-base", r.base, "-store", store, "-days", fmt.Sprint(r.world.Days), "-from", r.first(),
			"-rows", fmt.Sprint(r.task.rows), "-workers", fmt.Sprint(r.workers), "-writers", fmt.Sprint(writers)), nil
	}
	if mode == "store" {
		c.kind = floor
		c.count = func(ctx context.Context, r round) (int64, error) {
			if engine == "mariadb" {
				return counted(ctx, "mysql", driverURL(r.store), "record")
			}
			return counted(ctx, "sqlite", filepath.Join(r.folder, "floor.db"), "record")
		}
	}
	return c
}

// serverWorkers is how many hands everybody has on a database server.
const serverWorkers = 2

// harvest is Patra with everything on that is on for whoever says nothing.
func (b binaries) harvest(name, engine string) contender {
	c := contender{name: name, tasks: everything, engine: engine, ours: true, kind: us,
		command: func(ctx context.Context, r round) (*exec.Cmd, error) {
			settings, err := r.settings(engine)
			if err != nil {
				return nil, err
			}
			if engine == "mariadb" {
				if out, err := exec.CommandContext(ctx, b.patra, "--config", settings, "migrate").CombinedOutput(); err != nil {
					return nil, fmt.Errorf("migrate: %w\n%s", err, out)
				}
			}
			return exec.CommandContext(ctx, b.patra, append([]string{"--config", settings, "harvest", r.task.source, "--workers", fmt.Sprint(r.workers)}, r.window()...)...), nil
		},
		count: func(ctx context.Context, r round) (int64, error) { return r.stored(ctx, engine) }}
	if engine == "mariadb" {
		c.workers = serverWorkers
	}
	return c
}

// settings writes the source of a turn, and a patra.yaml that says where the store is and nothing else.
func (r round) settings(engine string) (path string, err error) {
	text, err := r.task.file()
	if err != nil {
		return "", err
	}
	if _, err := r.into("sources/"+r.task.source+".yaml", text); err != nil {
		return "", err
	}
	store := "sqlite:" + filepath.Join(r.folder, "patra.db")
	if engine == "mariadb" {
		store = r.store
	}
	text = "store: {url: \"" + store + "\"}\nsources: {dir: " + filepath.Join(r.folder, "sources") + "}\ncontact: bench@example.org\n"
	if r.task.known {
		text += "secrets: {bench: \"env:BENCH_CLIENT\"}\nexecutor: {perPartition: 64}\n" // everybody may read the same source
	}
	return r.into("patra.yaml", text)
}

// window are the words that say what is to be read.
func (r round) window() []string {
	args := []string{"--base-url", r.base + r.task.path, "--from", r.first(), "--to", r.last()}
	if r.task.name == "oai" {
		args = append(args, "--param", "baseUrl="+r.base+r.task.path)
	}
	return args
}

// stored counts the records of Patra's store, from outside.
func (r round) stored(ctx context.Context, engine string) (int64, error) {
	if engine == "mariadb" {
		return counted(ctx, "mysql", driverURL(r.store), "ing_record")
	}
	return counted(ctx, "sqlite", filepath.Join(r.folder, "patra.db"), "ing_record")
}

// driverURL is the address of a MySQL database as its driver wants it.
func driverURL(address string) string {
	who, where, _ := strings.Cut(strings.TrimPrefix(address, "mysql://"), "@")
	host, name, _ := strings.Cut(where, "/")
	return who + "@tcp(" + host + ")/" + name + "?maxAllowedPacket=0"
}

func counted(ctx context.Context, driver, address, table string) (n int64, err error) {
	db, err := sql.Open(driver, address)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n)
	return n, err
}
