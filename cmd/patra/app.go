package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"patra"
	"patra/internal/config"
	"patra/internal/source"
	"patra/internal/store"
	"patra/sources"
)

// app is one invocation: what was asked for, and what it opened.
type app struct {
	environ        []string
	stdout, stderr io.Writer

	configPath, storeURL, logLevel string

	config *config.Config
	store  *store.Store
}

// load reads the configuration once: defaults, file, environment, flags.
func (a *app) load() (config.Config, error) {
	if a.config != nil {
		return *a.config, nil
	}
	path, explicit := a.configPath, a.configPath != ""
	if path == "" {
		path, explicit = a.getenv("PATRA_CONFIG"), a.getenv("PATRA_CONFIG") != ""
	}
	if path == "" {
		path = "patra.yaml"
	}
	c, err := config.Load(path, explicit, a.environ)
	if err != nil {
		return c, err
	}
	if a.storeURL != "" {
		c.Store.URL = a.storeURL
	}
	if a.logLevel != "" {
		c.Log.Level = a.logLevel
	}
	if err := c.Validate(); err != nil {
		return c, err
	}
	a.config = &c
	return c, nil
}

func (a *app) getenv(name string) string {
	for _, pair := range a.environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// open connects to a store that must already have its tables.
func (a *app) open(ctx context.Context) (*store.Store, error) {
	c, err := a.load()
	if err != nil {
		return nil, err
	}
	if !store.Exists(c.Store.URL) {
		return nil, environment(fmt.Errorf("there is no store at %s yet: run `patra init`, or start with `patra harvest`", c.Redacted().Store.URL))
	}
	return a.connect(ctx, c)
}

// openOrCreate connects to the store and makes the embedded one if it is not there: a first harvest needs no set-up.
func (a *app) openOrCreate(ctx context.Context) (*store.Store, error) {
	c, err := a.load()
	if err != nil {
		return nil, err
	}
	if store.Exists(c.Store.URL) {
		return a.connect(ctx, c)
	}
	s, err := a.dial(ctx, c)
	if err != nil {
		return nil, err
	}
	_, err = s.Migrate(ctx)
	return s, environment(err)
}

func (a *app) connect(ctx context.Context, c config.Config) (*store.Store, error) {
	s, err := a.dial(ctx, c)
	if err != nil {
		return nil, err
	}
	return s, environment(s.Check(ctx))
}

func (a *app) dial(ctx context.Context, c config.Config) (*store.Store, error) {
	s, err := store.Open(ctx, c.Store.URL)
	if err != nil {
		return nil, environment(err)
	}
	a.store = s
	return s, nil
}

// find loads a source file by code, from the user's folder first.
func (a *app) find(code string) (*source.File, error) {
	c, err := a.load()
	if err != nil {
		return nil, err
	}
	places := []fs.FS{sources.Files}
	if c.Sources.Dir != "" {
		if _, err := os.Stat(c.Sources.Dir); err != nil {
			return nil, usage("sources.dir: %s", err)
		}
		places = []fs.FS{os.DirFS(c.Sources.Dir), sources.Files}
	}
	return source.Find(code, places...)
}

// logger writes to stderr, so that output can be piped.
func (a *app) logger(c config.Config) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		level = slog.LevelWarn
	}
	opts := &slog.HandlerOptions{Level: level}
	if c.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(a.stderr, opts))
	}
	return slog.New(slog.NewTextHandler(a.stderr, opts))
}

func now() patra.Instant { return patra.InstantOf(time.Now()) }
