package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"

	"patra"
	"patra/internal/export"
	"patra/internal/store"
)

// exportRun is one export while it runs.
type exportRun struct {
	a     *app
	s     *store.Store
	flags exportFlags
	exportRequest
	cursor  *store.Export
	sink    export.Sink
	began   time.Time
	before  int64 // records that an export which is gone on with had written
	written int64
}

func (a *app) export(ctx context.Context, f exportFlags) error {
	ask, err := f.ask()
	if err != nil {
		return err
	}
	if out, ok := a.stdout.(*os.File); ok && f.out == "-" && f.format == export.Parquet && term.IsTerminal(int(out.Fd())) {
		return patra.Invalid("", "Parquet is nothing to look at; name a file with {out}")
	}
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	if err := a.knownSources(ctx, s, f.sources); err != nil {
		return err
	}
	e := &exportRun{a: a, s: s, flags: f, exportRequest: ask, began: time.Now()}
	if f.table() {
		if e.job.Form.Columns, err = a.columnsFor(ctx, s, f, a.stderr); err != nil {
			return err
		}
	}
	if done, err := e.begin(ctx); done || err != nil {
		return err
	}
	if err := e.copy(ctx); err != nil {
		return e.stopped(err)
	}
	if err := e.end(ctx); err != nil {
		return e.stopped(err)
	}
	return e.report()
}

// begin takes up the cursor, if there is one, and opens the place. done means that a crash left nothing to do but to say so.
func (e *exportRun) begin(ctx context.Context) (done bool, err error) {
	if e.job.Cursor == "" {
		if e.job.UpTo, err = e.s.Newest(ctx); err != nil {
			return false, err
		}
		return e.openPlace(ctx)
	}
	place := e.flags.out
	if place != "-" {
		if place, err = filepath.Abs(place); err != nil {
			return false, patra.Environment(err)
		}
	}
	if !e.stream && export.IsLocked(place) { // who is at work is not to lose the cursor to us
		return false, e.placeError(export.ErrBusy)
	}
	want := store.Export{Name: e.job.Cursor, FilterHash: patra.HashBytes(e.filter), Filter: e.filter, Place: place, Owner: store.NewOwner()}
	c, err := e.s.BeginExport(ctx, want, e.flags.how.Resume)
	if err != nil {
		return false, cursorError(err, c, want)
	}
	e.cursor = &c
	if c.State == store.ExportWritten {
		if done, err := e.settle(ctx); done || err != nil {
			return done, err
		}
	}
	e.job.Haul = &patra.ExportWindow{From: c.TakenTo, To: *c.HaulTo}
	e.extract.Changed = e.job.Haul
	return e.openPlace(ctx)
}

// settle ends an export that was whole when it was cut off: if its file is where it should be, or can be put there, it is
// finished. If the file is gone, its haul is taken again.
func (e *exportRun) settle(ctx context.Context) (bool, error) {
	c := e.cursor
	there := c.Place == "-" // who read along has everything
	if !there {
		var err error
		if there, err = export.FinishPublish(c.Place, c.SHA256); err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, patra.Environment(err)
		}
	}
	if !there {
		return false, e.s.ReopenExport(ctx, *c)
	}
	if err := e.s.FinishExport(ctx, *c); err != nil {
		return false, err
	}
	_, err := fmt.Fprintf(e.a.stderr, "The export before was cut off when all of it, %s, stood in %s. That is noted now.\nNext: the same command takes what changed since.\n", plural(c.Haul, "record"), c.Place)
	return true, err
}

func cursorError(err error, found, want store.Export) error {
	switch {
	case errors.Is(err, store.ErrExportFilter):
		return patra.Invalid("", "the export %s takes other records: it was begun with %s, and this is %s; take another name, or forget it with patra export reset %s", want.Name, filterText(found.Filter), filterText(want.Filter), want.Name)
	case errors.Is(err, store.ErrExportOpen):
		return patra.Incomplete("the export %s was begun %s and not finished; {resume} goes on with it, patra export show %s tells more", want.Name, shortly(found.StartedAt), want.Name)
	}
	return err
}

// openPlace opens where the records go.
func (e *exportRun) openPlace(ctx context.Context) (done bool, err error) {
	switch {
	case e.folder:
		var f *export.Folder
		if f, err = export.OpenFolder(e.flags.out, &e.job, e.limit, e.flags.how); err == nil {
			e.sink, e.extract.After = f, f.Mark()
		}
	case e.stream && e.flags.out == "-":
		e.sink, err = export.NewStream(e.a.stdout, e.job.Form)
	case e.stream:
		var w io.Writer
		if w, err = os.OpenFile(e.flags.out, os.O_WRONLY, 0); err == nil { // it ends with the process
			e.sink, err = export.NewStream(w, e.job.Form)
		}
	default:
		var f *export.File
		if f, err = export.OpenFile(e.flags.out, &e.job, e.flags.how); err == nil {
			e.sink, e.extract.After = f, f.Mark()
		}
	}
	if err == nil {
		e.before = e.sink.Result().Records
		e.extract.UpTo = e.job.UpTo
		return false, nil
	}
	if e.cursor != nil && e.cursor.Fresh { // nothing was begun
		if abandonErr := e.s.AbandonExport(ctx, *e.cursor); abandonErr != nil {
			return false, abandonErr
		}
	}
	return errors.Is(err, export.ErrComplete), e.placeError(err)
}

func (e *exportRun) placeError(err error) error {
	switch out := e.flags.out; {
	case errors.Is(err, export.ErrComplete):
		_, err := fmt.Fprintf(e.a.stderr, "%s is complete already; there is nothing to go on with.\n", out)
		return err
	case errors.Is(err, export.ErrBusy):
		return patra.Incomplete("another process is writing {out} %s; wait until it ends, or name another place", out)
	case errors.Is(err, export.ErrThere) && e.folder:
		return patra.Invalid("out", "{out} %s is not empty; name another folder, or write over the parts of an export with {force}", out)
	case errors.Is(err, export.ErrThere):
		return patra.Invalid("out", "{out} %s is there already; name another file, or write over it with {force}", out)
	case errors.Is(err, export.ErrUnfinished):
		return patra.Invalid("out", "{out} %s was begun and not finished; {resume} goes on with it, {force} begins anew", out)
	case errors.Is(err, export.ErrOther):
		return patra.Invalid("out", "{out} %s was begun with other records, columns or another format; give the command as it was, or begin anew with {force}", out)
	case errors.Is(err, syscall.ENOSPC):
		return patra.Environment(fmt.Errorf("the disk of %s is full; make room, then give the same command with {resume}", out))
	case errors.Is(err, fs.ErrNotExist):
		return patra.Environment(fmt.Errorf("{out} %s: %w. Make the folder first", out, err))
	}
	return patra.Environment(err)
}

// copy takes the records over.
func (e *exportRun) copy(ctx context.Context) error {
	if e.extract.Limit > 0 {
		if e.extract.Limit -= e.before; e.extract.Limit <= 0 {
			return nil
		}
	}
	expected, err := e.s.EstimateCount(ctx, e.extract)
	if err != nil {
		return err
	}
	bar := e.a.exportBar(e.before, expected)
	defer bar.finish()
	return e.take(ctx, bar.add)
}

// take hands the records on, one by one.
func (e *exportRun) take(ctx context.Context, taken func()) error {
	return e.s.Extract(ctx, e.extract, func(r patra.Record) error {
		if e.lineage {
			if err := addLineage(ctx, e.s, &r); err != nil {
				return err
			}
		}
		if err := e.sink.Write(r); err != nil {
			return outputError{err}
		}
		e.written++
		taken()
		return ctx.Err()
	})
}

// outputError is an error of the place, and not of the store.
type outputError struct{ error }

// Unwrap gives the error inside.
func (w outputError) Unwrap() error { return w.error }

// end makes everything durable, notes that it is whole, gives it its name, and moves the cursor.
func (e *exportRun) end(ctx context.Context) error {
	sum, err := e.sink.Seal()
	if err != nil {
		return outputError{err}
	}
	if e.cursor != nil {
		if err := e.s.SealExport(ctx, *e.cursor, sum, e.before+e.written); err != nil {
			return err
		}
	}
	if err := e.sink.Publish(); err != nil {
		return outputError{err}
	}
	if e.cursor != nil {
		return e.s.FinishExport(ctx, *e.cursor)
	}
	return nil
}

// stopped keeps what can be gone on with, and says what to do.
func (e *exportRun) stopped(err error) error {
	pauseErr := e.sink.Pause()
	next := "the same command with --resume goes on"
	if e.stream {
		next = "give the same command again"
		if e.cursor != nil { // nobody can go on with a stream
			pauseErr = errors.Join(pauseErr, e.s.AbandonExport(context.Background(), *e.cursor))
		}
	}
	var place outputError
	switch {
	case errors.Is(err, store.ErrExportTaken):
		return patra.Conflict("another process has taken over or forgotten the export %s; what this one wrote to %s does not count", e.job.Cursor, e.flags.out)
	case errors.Is(err, syscall.ENOSPC):
		return patra.Environment(fmt.Errorf("the disk of %s is full after %s; make room, then %s", e.flags.out, plural(e.before+e.written, "record"), next))
	case errors.Is(err, syscall.EPIPE):
		return patra.Incomplete("whoever read from %s has stopped reading", e.flags.out)
	case errors.As(err, &place):
		return patra.Environment(fmt.Errorf("%s cannot be written: %w. Mend that; then %s", e.flags.out, err, next))
	case errors.Is(err, context.Canceled):
		if pauseErr != nil {
			return patra.Environment(pauseErr)
		}
		return patra.Incomplete("stopped after %s; %s", plural(e.before+e.written, "record"), next)
	}
	return err
}
