package cli

import (
	"patra"

	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"patra/internal/config"
	"patra/internal/store"
)

// backupResult is a backup that was made.
type backupResult struct {
	File    string   `json:"file"`
	Bytes   int64    `json:"bytes"`
	Records int64    `json:"records"`
	Version int64    `json:"version"` // of the tables
	Seconds float64  `json:"seconds"`
	Also    []string `json:"also"` // what belongs to it and is elsewhere
}

func (a *app) backupCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "backup FILE", Short: "Copy the store into a file, while everything goes on", Args: exactArgs("FILE"),
		Long: "Backup writes what is in the store at one moment to a new file, whoever works meanwhile, and reads it again to see that it\nis sound. It never overwrites anything. Answers of providers, the archive and the key are not in the store: copy them\nafterwards, so that they have all that the store knows of. A store in a database server is backed up with its own means.",
		Example: `  patra backup /backup/patra-2026-11-15.db
  mariadb-dump --single-transaction --quick patra > patra.sql     a store in MariaDB`,
		RunE: func(c *cobra.Command, args []string) error {
			done, err := a.backup(c.Context(), args[0])
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, done)
			}
			fmt.Fprintf(a.stdout, "Wrote %s (%s bytes, %s) and read it again: it is sound.\n", done.File, thousands(done.Bytes), plural(done.Records, "record"))
			if len(done.Also) > 0 {
				fmt.Fprintf(a.stdout, "Next: copy %s\n", strings.Join(done.Also, ", "))
			}
			return nil
		},
	}
	formatFlag(c, &out)
	return c
}

func (a *app) backup(ctx context.Context, to string) (*backupResult, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	s, err := a.open(ctx)
	if err != nil && (s == nil || errors.Is(err, store.ErrNoTables) || !errors.Is(err, store.ErrNeedsMigration) && !errors.Is(err, store.ErrTooNew)) {
		return nil, err // but of other versions' tables there may be a copy: one is wanted before they are migrated
	}
	began := time.Now()
	show, finish := a.bytesShown("backup")
	c, err := s.Backup(ctx, to, show)
	finish(err == nil)
	switch {
	case errors.Is(err, store.ErrServer):
		return nil, patra.Invalid("", "%s. Next: mariadb-dump --single-transaction --quick DATABASE > %s", err, to)
	case errors.Is(err, fs.ErrExist):
		return nil, patra.Invalid("", "%s is there already, and a backup overwrites nothing; name another file%s", strings.TrimSuffix(pathOf(err, to), ".part"), leftover(err))
	case store.Full(err): // which of the two disks that is, the engine does not say
		return nil, patra.Environment(fmt.Errorf("the backup did not fit: %s is full, or the disk of the store; make room, or name a file elsewhere", filepath.Dir(to)))
	case errors.Is(err, fs.ErrNotExist):
		return nil, patra.Environment(fmt.Errorf("there is no folder %s; make it first", filepath.Dir(to)))
	case err != nil:
		return nil, patra.Environment(err)
	}
	return &backupResult{File: to, Bytes: c.Bytes, Records: c.Records, Version: c.Version, Seconds: time.Since(began).Seconds(), Also: besides(cfg)}, nil
}

// pathOf is the path that an error is about.
func pathOf(err error, otherwise string) string {
	if found, ok := errors.AsType[*fs.PathError](err); ok {
		return found.Path
	}
	return otherwise
}

// leftover says what to do about a backup that was cut off.
func leftover(err error) string {
	if p := pathOf(err, ""); strings.HasSuffix(p, ".part") {
		return ", or delete " + p + " if no other backup is at work"
	}
	return ""
}

// besides is what belongs to a store and is not in it.
func besides(cfg config.Config) (also []string) {
	folder := func(url, usual string) {
		switch {
		case url == config.EvidenceNone:
		case url != "":
			also = append(also, url)
		default:
			file, _ := strings.CutPrefix(cfg.Store.URL, "sqlite:")
			also = append(also, filepath.Join(filepath.Dir(file), usual))
		}
	}
	folder(cfg.Evidence.URL, besideStore)
	folder(cfg.Archive.URL, "archive")
	return append(also, keyFile(cfg))
}

// bytesShown shows how many bytes are written: a bar in a terminal, a line now and then elsewhere.
func (a *app) bytesShown(name string) (show func(done, all int64), finish func(whole bool)) {
	bars := newBars(a.stderr)
	if bars == nil {
		shown := time.Now()
		return func(done, all int64) {
			if time.Since(shown) >= quiet {
				shown = time.Now()
				fmt.Fprintf(a.stderr, "%s: %s of about %s bytes\n", name, thousands(done), thousands(all))
			}
		}, func(bool) {}
	}
	bar := bars.AddBar(0, mpb.PrependDecorators(decor.Name(name+" "), decor.CountersKibiByte("% .1f / % .1f ")), mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)))
	return func(done, all int64) {
			bar.SetTotal(max(all, done+1), false)
			bar.SetCurrent(done)
		}, func(whole bool) {
			if whole {
				bar.SetTotal(-1, true)
			} else {
				bar.Abort(false)
			}
			bars.Wait()
		}
}
