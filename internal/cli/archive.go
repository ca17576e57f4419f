package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patra"
	"patra/internal/archive"
	"patra/internal/blob"
	"patra/internal/config"
	"patra/internal/store"
)

// archiveResult is what a round of archiving did.
type archiveResult struct {
	archive.Progress
	Before patra.Instant `json:"before,omitzero"`
	Events int64         `json:"events"`
	Bodies int           `json:"bodies"` // answers that are kept no longer
	Place  string        `json:"place"`
}

func (a *app) archiveCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "archive", Short: "Move old pages of the ledger into files, and back",
		Long: "What moves are the pages, requests and ids of tasks that ended long ago and never move again. Records, their versions,\nplans, tasks, coverage and watermarks stay, and so does what a record says of where it came from.",
	}
	c.AddCommand(a.archiveRunCmd(), a.archiveRestoreCmd())
	return c
}

func (a *app) archiveRunCmd() *cobra.Command {
	var out format
	var older string
	c := &cobra.Command{
		Use: "run", Short: "Move what ended long ago, and forget answers that are kept no longer", Args: noArgs,
		Example: "  patra archive run\n  patra archive run --older-than 30d",
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			after := cfg.Archive.After
			if older != "" {
				if err := after.UnmarshalText([]byte(older)); err != nil {
					return patra.Invalid("older_than", "{older_than}: %s", err)
				}
			} else if after == 0 {
				return patra.Invalid("older_than", "archive.after is 0s in the configuration, so nothing is ever old; say {older_than} 90d")
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			done, err := a.archiveRound(c.Context(), cfg, s, time.Duration(after))
			if err != nil {
				return err
			}
			if out != "table" {
				return printValue(a.stdout, out, done)
			}
			if done.Tasks+done.Events+int64(done.Bodies) == 0 {
				fmt.Fprintf(a.stdout, "Nothing to move: no task that never moves again ended before %s.\n", seconds(done.Before))
				return nil
			}
			fmt.Fprintf(a.stdout, "Moved %s of %s that ended before %s, and %s of cursors, to\n%s.\n", plural(done.Pages, "page"), plural(done.Tasks, "task"), seconds(done.Before), plural(done.Events, "event"), done.Place)
			fmt.Fprintf(a.stdout, "Forgot %s that nobody needs any more.\n", plural(int64(done.Bodies), "answer"))
			if done.Tasks > 0 {
				fmt.Fprintln(a.stdout, "Back again: patra archive restore task:ID (or plan:, slice:, run:, batch:, cursor:)")
			}
			return nil
		},
	}
	formatFlag(c, &out)
	c.Flags().StringVar(&older, "older-than", "", "how long ago they ended, in place of archive.after")
	return c
}

// archivePlace is where the archive is.
func (a *app) archivePlace(cfg config.Config) (blob.Backend, error) {
	place, err := a.place(cfg, cfg.Archive.URL, "archive", cfg.Archive.AccessKey, cfg.Archive.SecretKey)
	if err != nil {
		return nil, patra.Environment(fmt.Errorf("the archive cannot be opened (archive.url): %w", err))
	}
	return place, nil
}

// archiveRound moves and forgets everything that is old.
func (a *app) archiveRound(ctx context.Context, cfg config.Config, s *store.Store, after time.Duration) (done archiveResult, err error) {
	place, err := a.archivePlace(cfg)
	if err != nil {
		return done, err
	}
	clock := now()
	done.Before, done.Place = clock.Add(-after), place.String()
	x := &archive.Archiver{Store: s, Place: place}
	if done.Progress, err = x.Run(ctx, clock, done.Before); err != nil {
		return done, err
	}
	if done.Events, err = x.CompactEvents(ctx, s, clock, done.Before, "archive"); err != nil {
		return done, err
	}
	if done.Bodies, err = a.forgetBodies(ctx, cfg, s, clock); err != nil {
		return done, err
	}
	if done.Tasks+done.Events+int64(done.Bodies) > 0 {
		_, err = s.Audit(ctx, audited(ctx, patra.AuditArchive, done.Place, "", map[string]any{"before": done.Before, "tasks": done.Tasks, "pages": done.Pages, "events": done.Events, "bodies": done.Bodies}))
	}
	return done, err
}

// forgetBodies deletes answers that are kept no longer.
func (a *app) forgetBodies(ctx context.Context, cfg config.Config, s *store.Store, clock patra.Instant) (n int, err error) {
	kept, err := a.evidence(cfg)
	if err != nil || kept == nil {
		return 0, err
	}
	for {
		names, err := s.ExpireBodies(ctx, clock)
		if err != nil || len(names) == 0 {
			return n, err
		}
		gone, err := kept.DeleteUnreferenced(ctx, names, clock.Time())
		if n += gone; err != nil {
			return n, err
		}
	}
}

// restoreLists are where to look for the number of what can be restored.
var restoreLists = map[string]string{"plan": "patra plans", "slice": "patra slices", "task": "patra tasks", "run": "patra runs", "batch": "patra batches", "cursor": "patra cursor list"}

func (a *app) archiveRestoreCmd() *cobra.Command {
	var out format
	c := &cobra.Command{
		Use: "restore WHAT", Short: "Bring back the pages of a plan, slice, task, run or batch, or the events of a cursor", Args: exactArgs("WHAT"),
		Example: "  patra archive restore task:17\n  patra archive restore cursor:1",
		RunE: func(c *cobra.Command, args []string) error {
			kind, number, _ := strings.Cut(args[0], ":")
			id, err := strconv.ParseInt(number, 10, 64)
			if err != nil || !strings.Contains(" plan slice task run batch cursor ", " "+kind+" ") {
				return patra.Invalid("", "%q is nothing that is archived; write plan:ID, slice:ID, task:ID, run:ID, batch:ID or cursor:ID", args[0])
			}
			cfg, err := a.load()
			if err != nil {
				return err
			}
			s, err := a.open(c.Context())
			if err != nil {
				return err
			}
			if ever, err := s.Existed(c.Context(), kind, id); err != nil {
				return err
			} else if !ever {
				return patra.Invalid("", "there is no %s %d, here or in the archive; see %s", kind, id, restoreLists[kind])
			}
			place, err := a.archivePlace(cfg)
			if err != nil {
				return err
			}
			x := &archive.Archiver{Store: s, Place: place}
			done := archiveResult{Place: place.String()}
			if kind == "cursor" {
				done.Events, err = x.RestoreEvents(c.Context(), s, id)
			} else {
				done.Progress, err = x.Restore(c.Context(), kind, id)
			}
			if errors.Is(err, archive.ErrDamaged) || errors.Is(err, blob.ErrNotFound) {
				return fmt.Errorf("%w; put the file back from a copy of %s. Nothing was brought back of it", err, place)
			}
			if err != nil {
				return err
			}
			if done.Tasks+done.Events > 0 {
				if _, err := s.Audit(c.Context(), audited(c.Context(), patra.AuditRestore, args[0], "", map[string]any{"tasks": done.Tasks, "pages": done.Pages, "events": done.Events})); err != nil {
					return err
				}
			}
			if out != "table" {
				return printValue(a.stdout, out, done)
			}
			if done.Tasks+done.Events == 0 {
				fmt.Fprintf(a.stdout, "Nothing of %s is in the archive: it is in the tables, or never was.\n", args[0])
				return nil
			}
			fmt.Fprintf(a.stdout, "Brought back %s of %s, and %s of cursors.\n", plural(done.Pages, "page"), plural(done.Tasks, "task"), plural(done.Events, "event"))
			return nil
		},
	}
	formatFlag(c, &out)
	return c
}
