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

func build(ctx context.Context, folder string) (b binaries, err error) {
	b = binaries{filepath.Join(folder, "patra"), filepath.Join(folder, "floor")}
	for path, pkg := range map[string]string{b.patra: "./cmd/patra", b.floor: "./bench/floor"} {
		if out, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, pkg).CombinedOutput(); err != nil {
			return b, fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
		}
	}
	return b, nil
}

func (b binaries) floorOf(name, mode, engine string) contender {
	can := []string{"json", "pubmed", "oai"}
	if mode == "dom" {
		can = can[1:] // it is about XML
	}
	c := contender{name: name, tasks: can, count: asPrinted, command: func(ctx context.Context, r round) (*exec.Cmd, error) {
		store := "sqlite:" + filepath.Join(r.folder, "floor.db")
		if engine == "mariadb" {
			store = "mysql:" + driverURL(r.store)
		}
		return exec.CommandContext(ctx, b.floor, "-kind", r.task.name, "-mode", mode, "-base", r.base, "-store", store, "-days", fmt.Sprint(r.world.Days), "-from", r.first(), "-workers", fmt.Sprint(r.workers)), nil
	}}
	if mode == "store" {
		c.count = func(ctx context.Context, r round, _ string) (int64, error) {
			if engine == "mariadb" {
				return counted(ctx, "mysql", driverURL(r.store), "record")
			}
			return counted(ctx, "sqlite", filepath.Join(r.folder, "floor.db"), "record")
		}
	}
	return c
}

// harvest is Patra with everything on that is on for whoever says nothing.
func (b binaries) harvest(name, engine string, more ...string) contender {
	return contender{name: name, tasks: []string{"json", "pubmed", "oai"},
		command: func(ctx context.Context, r round) (*exec.Cmd, error) {
			text, err := r.task.file()
			if err != nil {
				return nil, err
			}
			if _, err := r.into("sources/"+r.task.source+".yaml", text); err != nil {
				return nil, err
			}
			store := "sqlite:" + filepath.Join(r.folder, "patra.db")
			if engine == "mariadb" {
				store = r.store
			}
			settings, err := r.into("patra.yaml", "store: {url: \""+store+"\"}\nsources: {dir: sources}\ncontact: bench@example.org\n"+strings.Join(more, "\n")+"\n")
			if err != nil {
				return nil, err
			}
			args := []string{"--config", settings, "harvest", r.task.source, "--base-url", r.base + r.task.path, "--from", r.first(), "--to", r.last(), "--workers", fmt.Sprint(r.workers)}
			if r.task.name == "oai" {
				args = append(args, "--param", "baseUrl="+r.base+r.task.path)
			}
			if engine == "mariadb" {
				if out, err := exec.CommandContext(ctx, b.patra, "--config", settings, "migrate").CombinedOutput(); err != nil {
					return nil, fmt.Errorf("migrate: %w\n%s", err, out)
				}
			}
			return exec.CommandContext(ctx, b.patra, args...), nil
		},
		count: func(ctx context.Context, r round, _ string) (int64, error) {
			if engine == "mariadb" {
				return counted(ctx, "mysql", driverURL(r.store), "ing_record")
			}
			return counted(ctx, "sqlite", filepath.Join(r.folder, "patra.db"), "ing_record")
		}}
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
