package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"patra"
	"patra/internal/store"
)

// runRef is a run, or one page of it: RUN or RUN/BATCH.
type runRef struct {
	run, batch int64
}

func parseRunRef(text string) (runRef, error) {
	run, batch, one := strings.Cut(strings.TrimPrefix(text, "run:"), "/")
	var r runRef
	var err error
	if r.run, err = strconv.ParseInt(run, 10, 64); err == nil && one {
		r.batch, err = strconv.ParseInt(batch, 10, 64)
	}
	if err != nil || r.run <= 0 || one && r.batch <= 0 {
		return r, patra.Invalid("", "%q is no run; write RUN or RUN/BATCH, such as 7 or 7/2; see patra runs and patra batches", text)
	}
	return r, nil
}

// String is the reference as it stands in the audit log.
func (r runRef) String() string {
	if r.batch == 0 {
		return fmt.Sprintf("run:%d", r.run)
	}
	return fmt.Sprintf("run:%d/%d", r.run, r.batch)
}

// zipName is the name of a bundle about it.
func (r runRef) zipName() string {
	return strings.NewReplacer(":", "-", "/", "-").Replace(r.String()) + ".zip"
}

func (r runRef) query() store.PageQuery { return store.PageQuery{Run: r.run, BatchNo: r.batch} }

// find reads the run, what its task was given, and how many pages are meant.
func (r runRef) find(ctx context.Context, s *store.Store) (run patra.Run, c *patra.Claim, pages int64, err error) {
	runs, err := s.Runs(ctx, store.Filter{Run: r.run})
	if err != nil {
		return run, nil, 0, err
	}
	if len(runs) == 0 {
		return run, nil, 0, patra.Absent("there is no run %d; see patra runs", r.run)
	}
	run = runs[0]
	if pages, err = s.CountPages(ctx, r.query()); err != nil {
		return run, nil, 0, err
	}
	if pages == 0 {
		gone, err := s.Archived(ctx, "task", run.TaskID)
		if err != nil {
			return run, nil, 0, err
		}
		if len(gone) > 0 {
			return run, nil, 0, patra.Invalid("", "the pages of run %d are in the archive; bring them back with: patra archive restore run:%d", r.run, r.run)
		}
	}
	if pages == 0 && r.batch != 0 {
		return run, nil, 0, patra.Absent("run %d has no page %d; see patra batches --run %d", r.run, r.batch, r.run)
	}
	c, err = s.ClaimContext(ctx, run.TaskID)
	return run, c, pages, err
}
