package main

import (
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

// version is set by the build.
var version = "dev"

func (a *app) initCmd() *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Write patra.yaml with comments and create the store", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			path, _ := a.configFile()
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			switch {
			case errors.Is(err, fs.ErrExist):
				fmt.Fprintf(a.stdout, "%s is already there and stays as it is.\n", path)
			case err != nil:
				return environment(err)
			default:
				_, err := f.WriteString(config.Template())
				if err := errors.Join(err, f.Close()); err != nil {
					return environment(err)
				}
				fmt.Fprintf(a.stdout, "Wrote %s.\n", path)
			}
			if err := a.migrate(c, "table"); err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, "Next: patra harvest crossref --contact you@example.org --from 2026-11-01 --to 2026-11-02")
			return nil
		},
	}
}

func (a *app) migrateCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "migrate", Short: "Bring the store's tables to this version", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.migrate(c, out) },
	}
	formatFlag(c, &out)
	return c
}

func (a *app) migrate(c *cobra.Command, out format) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	created := !store.Exists(cfg.Store.URL)
	s, err := a.dial(c.Context(), cfg)
	if err != nil {
		return err
	}
	steps, err := s.Migrate(c.Context())
	if err != nil {
		return environment(err)
	}
	where := cfg.Redacted().Store.URL
	switch {
	case out != "table":
		if steps == nil {
			steps = []store.Migration{}
		}
		return printValue(a.stdout, out, map[string]any{"store": where, "created": created, "applied": steps})
	case created:
		fmt.Fprintf(a.stdout, "Created the store %s.\n", where)
	case len(steps) == 0:
		fmt.Fprintf(a.stdout, "The store %s is up to date.\n", where)
	default:
		fmt.Fprintf(a.stdout, "Applied %s to the store %s.\n", plural(int64(len(steps)), "migration"), where)
	}
	return nil
}

func (a *app) versionCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			info := map[string]string{"version": version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
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
			_, err := fmt.Fprintf(a.stdout, "patra %s (%s, %s)\n", version, info["go"], info["platform"])
			return err
		},
	}
	formatFlag(c, &out)
	return c
}
