package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"

	"patra"
	"patra/internal/config"
	"patra/internal/executor"
	"patra/internal/observe"
	"patra/internal/secret"
	"patra/internal/store"
	"patra/sources"
)

// app is one invocation: what was asked for, and what it opened.
type app struct {
	version        string // of this program
	environ        []string
	stdout, stderr io.Writer

	configPath, storeURL, logLevel, contact string

	config  *config.Config
	store   *store.Store
	bars    *mpb.Progress                // shared by harvests that run at the same time
	drawn   atomic.Pointer[mpb.Progress] // the bars that are drawn now
	watched atomic.Pointer[silence]      // over the command in the foreground
	within  time.Duration                // how long a provider that was never reached is waited for; 0 is as usual

	once      sync.Once
	turnstile executor.Gate
	metrics   atomic.Pointer[observe.Metrics] // nil: nobody asks for them

	understood sync.Map // name and hash of a source file -> its rows

	mirror string // of a process that serves: what is asked in place of sources' own addresses

	serving bool            // somebody else's words and not a person's answers: see log.go
	secrets observe.Secrets // what this process has met and nobody may see

	tracing sync.Once
	traces  *observe.Traces // nil: nothing is traced

	unlock sync.Once
	vault  *secret.Vault
	shown  *executor.Credentials
}

// load reads the configuration once: defaults, file, environment, flags.
func (a *app) load() (config.Config, error) {
	if a.config != nil {
		return *a.config, nil
	}
	path, explicit := a.configFile()
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
	if a.contact != "" {
		c.Contact = a.contact
	}
	if err := c.Validate(); err != nil {
		return c, err
	}
	a.config = &c
	return c, nil
}

// configFile is where the configuration is, and whether somebody named it.
func (a *app) configFile() (path string, explicit bool) {
	for _, path := range []string{a.configPath, a.getenv("PATRA_CONFIG")} {
		if path != "" {
			return path, true
		}
	}
	return "patra.yaml", false
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
		return nil, patra.Environment(fmt.Errorf("there is no store at %s yet: run `patra init`, or start with `patra harvest`", c.Redacted().Store.URL))
	}
	return a.connect(ctx, c)
}

// openOrCreate connects to the store and makes the embedded one if it is not there: a first harvest needs no set-up.
func (a *app) openOrCreate(ctx context.Context) (*store.Store, error) {
	c, err := a.load()
	if err != nil {
		return nil, err
	}
	s, err := a.dialNew(ctx, c)
	if err != nil {
		return nil, err
	}
	_, err = s.RequireOrCreate(ctx)
	return s, patra.Environment(err)
}

// openReadOnly is for a command that must not leave anything behind: where there is no store, it gets an empty one
// in memory.
func (a *app) openReadOnly(ctx context.Context) (*store.Store, error) {
	c, err := a.load()
	if err != nil {
		return nil, err
	}
	if !store.Exists(c.Store.URL) {
		c.Store.URL = "sqlite::memory:"
		a.config = &c
	}
	return a.openOrCreate(ctx)
}

func (a *app) connect(ctx context.Context, c config.Config) (*store.Store, error) {
	s, err := a.dial(ctx, c)
	if err != nil {
		return nil, err
	}
	return s, patra.Environment(s.RequireSchema(ctx))
}

func (a *app) dial(ctx context.Context, c config.Config) (*store.Store, error) {
	if a.store != nil {
		return a.store, nil
	}
	s, err := store.Open(ctx, c.Store.URL)
	if err != nil {
		return nil, patra.Environment(err)
	}
	a.store = s
	return s, nil
}

// place is somewhere that source files are.
type place struct {
	name  string
	files fs.FS
}

// places are where source files are looked for: the user's folder first.
func (a *app) places() ([]place, error) {
	c, err := a.load()
	if err != nil {
		return nil, err
	}
	shipped := place{"shipped", sources.Files}
	if c.Sources.Dir == "" {
		return []place{shipped}, nil
	}
	if _, err := os.Stat(c.Sources.Dir); err != nil {
		return nil, patra.Invalid("", "sources.dir: %s", err)
	}
	return []place{{c.Sources.Dir, os.DirFS(c.Sources.Dir)}, shipped}, nil
}

func now() patra.Instant { return patra.InstantOf(time.Now()) }
