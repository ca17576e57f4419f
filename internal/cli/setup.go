package cli

import (
	"patra"

	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"patra/internal/config"
	"patra/internal/store"
)

func (a *app) initCmd() *cobra.Command {
	var out format
	var newStore bool
	c := &cobra.Command{
		Use: "init", Short: "Write patra.yaml with comments and create the store", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			path, _ := a.configFile()
			said := fmt.Sprintf("Wrote %s.", path)
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			switch {
			case errors.Is(err, fs.ErrExist):
				said = fmt.Sprintf("%s is already there and stays as it is.", path)
			case err != nil:
				return patra.Environment(err)
			default:
				_, err := f.WriteString(config.Template())
				if err := errors.Join(err, f.Close()); err != nil {
					return patra.Environment(err)
				}
			}
			if out == "table" { // what is written is written, whatever becomes of the store
				fmt.Fprintln(a.stdout, said)
			}
			dial := a.dialNew
			if newStore {
				dial = a.dial
			}
			m, err := a.migrate(c.Context(), dial)
			if err != nil {
				return err
			}
			m.Config = path
			return a.done(out, m, m.said(), "patra harvest crossref --contact you@example.org --from 2026-11-01 --to 2026-11-02")
		},
	}
	c.Flags().BoolVar(&newStore, "new-store", false, "create an empty store also beside the kept answers of another one")
	formatFlag(c, &out)
	return c
}

func (a *app) migrateCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "migrate", Short: "Bring the store's tables to this version", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := a.migrate(c.Context(), a.dialNew)
			if err != nil {
				return err
			}
			return a.done(out, m, m.said(), "")
		},
	}
	formatFlag(c, &out)
	return c
}

// migrateResult is what became of a store.
type migrateResult struct {
	Config  string               `json:"config,omitempty"` // the file that it is named in, where that was asked for too
	Store   string               `json:"store"`
	Created bool                 `json:"created"`
	Applied []store.Migration    `json:"applied"`
	Newer   *store.SchemaVersion `json:"newer,omitempty"` // where it is, if that is ahead of this program
}

func (m migrateResult) said() string {
	switch {
	case m.Created:
		return fmt.Sprintf("Created the store %s.", m.Store)
	case m.Newer != nil:
		return fmt.Sprintf("The store %s is newer than this patra (version %d, this one knows %d), and stays as it is. "+
			"This patra can work with it; replace it by the newer one.", m.Store, m.Newer.Store, m.Newer.Program)
	case len(m.Applied) == 0:
		return fmt.Sprintf("The store %s is up to date.", m.Store)
	}
	return fmt.Sprintf("Applied %s to the store %s.", plural(int64(len(m.Applied)), "migration"), m.Store)
}

func (a *app) migrate(ctx context.Context, dial func(context.Context, config.Config) (*store.Store, error)) (migrateResult, error) {
	cfg, err := a.load()
	if err != nil {
		return migrateResult{}, err
	}
	m := migrateResult{Store: cfg.Redacted().Store.URL, Created: !store.Exists(cfg.Store.URL), Applied: []store.Migration{}}
	s, err := dial(ctx, cfg)
	if err != nil {
		return m, err
	}
	steps, err := s.Migrate(ctx)
	m.Applied = append(m.Applied, steps...)
	if err != nil {
		return m, patra.Environment(err)
	}
	v, err := s.SchemaVersion(ctx)
	if v.Ahead() {
		m.Newer = &v
	}
	return m, patra.Environment(err)
}

func (a *app) versionCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			info := map[string]string{"version": a.version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
			if b, ok := debug.ReadBuildInfo(); ok {
				for _, s := range b.Settings {
					if s.Key == "vcs.revision" {
						info["revision"] = s.Value
					}
				}
			}
			if out != "table" {
				return printValue(a.stdout, out, info)
			}
			_, err := fmt.Fprintf(a.stdout, "patra %s (%s, %s)\n", a.version, info["go"], info["platform"])
			return err
		},
	}
	formatFlag(c, &out)
	return c
}
