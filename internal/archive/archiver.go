// Package archive moves what nobody works with any more out of the tables into files, and back.
//
// What moves are the pages, requests and ids of tasks that ended long ago and never move again: the part of the tables
// that grows fastest. Records, their versions, plans, slices, tasks, runs, coverage and watermarks stay. A file is durable
// before a row goes, and a row goes only if it is what the file has. Where a record came from stays known, and the rest
// comes back with Restore. The package never decides what is old, and never touches what is still in work.
package archive

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"patra"
	"patra/internal/blob"
)

// ErrDamaged says that a file of the archive is not what was put there.
var ErrDamaged = errors.New("the archive is damaged")

// Store is what an archiver needs of the tables.
type Store interface {
	Archivable(ctx context.Context, after int64, before patra.Instant, limit int) ([]patra.ArchivedTask, error)
	TaskRows(ctx context.Context, taskID int64, use func(patra.ArchiveRow) error) error
	Archive(ctx context.Context, now patra.Instant, a patra.ArchivedTask, sum func(each func(use func(patra.ArchiveRow) error) error) (string, error)) error
	Archived(ctx context.Context, kind string, id int64) ([]patra.ArchivedTask, error)
	Restore(ctx context.Context, a patra.ArchivedTask, rows []patra.ArchiveRow) error
}

// Archiver moves tasks between the tables and a place.
type Archiver struct {
	Store Store
	Place blob.Backend
	Tell  func(Progress) // how far it is; may be nil
}

// Progress is what was done so far.
type Progress struct {
	Files    int64 `json:"files"`
	Tasks    int64 `json:"tasks"`
	Pages    int64 `json:"pages"`
	Requests int64 `json:"requests"`
	Items    int64 `json:"items"`
	Bytes    int64 `json:"bytes"` // compressed
}

const (
	packBytes = 64 << 20 // before compression: what is in memory at once
	packTasks = 500
)

// Run moves all tasks that ended before a moment.
func (a *Archiver) Run(ctx context.Context, now, before patra.Instant) (done Progress, err error) {
	for last := int64(0); ; {
		tasks, err := a.Store.Archivable(ctx, last, before, packTasks)
		if err != nil || len(tasks) == 0 {
			return done, err
		}
		n, err := a.pack(ctx, now, tasks, &done)
		if err != nil {
			return done, err
		}
		last = tasks[n-1].TaskID
		if a.Tell != nil {
			a.Tell(done)
		}
	}
}

// pack writes one file of as many tasks as fit, takes them out of the tables, and tells how many they were.
func (a *Archiver) pack(ctx context.Context, now patra.Instant, tasks []patra.ArchivedTask, done *Progress) (n int, err error) {
	p, err := newPack()
	if err != nil {
		return 0, err
	}
	for _, t := range tasks {
		var rows []patra.ArchiveRow
		sum, err := sumOf(func(use func(patra.ArchiveRow) error) error {
			return a.Store.TaskRows(ctx, t.TaskID, func(row patra.ArchiveRow) error {
				rows = append(rows, row)
				return use(row)
			})
		})
		if err != nil {
			return 0, err
		}
		if err := p.add(t, rows, sum); err != nil {
			return 0, err
		}
		if n++; p.size >= packBytes {
			break
		}
	}
	data, err := p.close()
	if err != nil {
		return 0, err
	}
	name := fmt.Sprintf("pages/%s/%s.jsonl.zst", now.Time().UTC().Format("2006/01/02"), rand.Text())
	if err := a.Place.Put(ctx, name, data); err != nil {
		return 0, err
	}
	if err := a.index(ctx, name, p.tasks); err != nil {
		return 0, err
	}
	for _, t := range p.tasks {
		t.Location = name
		if err := a.Store.Archive(ctx, now, t, sumOf); errors.Is(err, patra.ErrChanged) {
			continue // two do the same at once: the file of one of them is of no use
		} else if err != nil {
			return 0, fmt.Errorf("task %d: %w", t.TaskID, err)
		}
		done.Tasks, done.Pages, done.Requests, done.Items = done.Tasks+1, done.Pages+t.Pages, done.Requests+t.Requests, done.Items+t.Items
	}
	done.Files, done.Bytes = done.Files+1, done.Bytes+int64(len(data))
	return n, nil
}

func sumOf(each func(use func(patra.ArchiveRow) error) error) (string, error) {
	sum := newRowSum()
	err := each(sum.add)
	return sum.String(), err
}

// index writes beside a file what is in it, for those who have lost the tables.
func (a *Archiver) index(ctx context.Context, name string, tasks []patra.ArchivedTask) error {
	text, err := json.Marshal(map[string]any{"file": name, "tasks": tasks})
	if err != nil {
		return err
	}
	return a.Place.Put(ctx, name+".index.json", text)
}

// Restore puts everything back that belongs to a plan, a slice, a task, a run or a batch.
func (a *Archiver) Restore(ctx context.Context, kind string, id int64) (done Progress, err error) {
	tasks, err := a.Store.Archived(ctx, kind, id)
	if err != nil {
		return done, err
	}
	files := map[string]map[int64]patra.ArchivedTask{}
	for _, t := range tasks {
		if files[t.Location] == nil {
			files[t.Location] = map[int64]patra.ArchivedTask{}
		}
		files[t.Location][t.TaskID] = t
	}
	for name, wanted := range files {
		if err := a.restoreFrom(ctx, name, wanted, &done); err != nil {
			if !errors.Is(err, blob.ErrNotFound) { // that names it
				err = fmt.Errorf("%s: %w", name, err)
			}
			return done, err
		}
	}
	return done, nil
}

func (a *Archiver) restoreFrom(ctx context.Context, name string, wanted map[int64]patra.ArchivedTask, done *Progress) error {
	data, err := a.Place.Get(ctx, name)
	if err != nil {
		return err
	}
	done.Files++
	err = unpack(data, func(t patra.ArchivedTask, rows []patra.ArchiveRow) error {
		known, ok := wanted[t.TaskID]
		if !ok {
			return nil
		}
		if known.RowsSHA256 != t.RowsSHA256 {
			return fmt.Errorf("task %d is not the one that the tables know: %w", t.TaskID, ErrDamaged)
		}
		delete(wanted, t.TaskID)
		if err := a.Store.Restore(ctx, known, rows); err != nil {
			return err
		}
		done.Tasks, done.Pages, done.Requests, done.Items = done.Tasks+1, done.Pages+t.Pages, done.Requests+t.Requests, done.Items+t.Items
		if a.Tell != nil {
			a.Tell(*done)
		}
		return nil
	})
	if err == nil && len(wanted) > 0 {
		err = fmt.Errorf("%d tasks are missing: %w", len(wanted), ErrDamaged)
	}
	return err
}
