package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// unfinished is the folder of what is being written. Nothing in it counts.
const unfinished = "tmp"

// private is who may read what is kept: we alone, as with the store itself. earlier is the mode that folders had before.
const private, earlier = fs.FileMode(0o700), fs.FileMode(0o750)

// Files keeps blobs as files in a folder.
type Files struct {
	root  string
	known sync.Map // folders that are durable already
}

// OpenFiles uses a folder, and makes it if need be.
func OpenFiles(root string) (*Files, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if err := makeRoot(root); err != nil {
		return nil, fmt.Errorf("the folder for blobs cannot be made: %w", err)
	}
	// One with another mode than we ever gave it was opened to others on purpose, and is left so.
	if info, err := os.Stat(root); err == nil && info.Mode().Perm() == earlier {
		_ = os.Chmod(root, private) // of a folder of somebody else it stays; patra doctor says so
	}
	if err := os.MkdirAll(filepath.Join(root, unfinished), private); err != nil {
		return nil, fmt.Errorf("the folder for blobs cannot be made: %w", err)
	}
	return &Files{root: root}, nil
}

// errFound ends a walk.
var errFound = errors.New("found")

// HoldsFiles reports whether there is any blob in a folder of a place that is a folder. The place is not made by looking.
func HoldsFiles(root, folder string) bool {
	err := filepath.WalkDir(filepath.Join(root, folder), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			return errFound
		}
		return nil // what cannot be read is nothing that is found
	})
	return errors.Is(err, errFound)
}

// makeRoot makes the folder of a place, and those above it, so that they are there after a power cut: what is in a folder
// without a name is lost with it.
func makeRoot(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		// Somebody may have made it a moment ago. Of an old one the folder above may well be none that we can open.
		_ = syncFolder(filepath.Dir(dir))
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeRoot(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, private); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(filepath.Dir(dir))
}

// String implements Place.
func (f *Files) String() string { return "file:" + f.root }

func (f *Files) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// Put implements Place: written aside, made durable, then given its name, and the name made durable. Its folder, which is new for
// most names, is made durable in the same time as what is written: the disk waits once for both.
func (f *Files) Put(ctx context.Context, name string, data []byte) (err error) {
	if err := check(name); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	aside := filepath.Join(f.root, unfinished, rand.Text())
	defer func() {
		if err != nil {
			_ = os.Remove(aside)
		}
	}()
	path := f.path(name)
	folder := f.folder(filepath.Dir(path))
	if err := errors.Join(writeDurably(aside, data), folder()); err != nil {
		return fmt.Errorf("blob %s cannot be written: %w", name, err)
	}
	if err := os.Rename(aside, path); err != nil {
		return fmt.Errorf("blob %s cannot be written: %w", name, err)
	}
	return syncFolder(filepath.Dir(path))
}

func writeDurably(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// folder begins to make a folder durable, and gives what waits for it.
func (f *Files) folder(dir string) (wait func() error) {
	if _, ok := f.known.Load(dir); ok {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() { done <- f.makeFolder(dir) }()
	return func() error { return <-done }
}

// makeFolder makes a folder and all above it, so that they are there after a power cut too.
func (f *Files) makeFolder(dir string) error {
	if _, ok := f.known.Load(dir); ok || dir == f.root {
		return nil
	}
	if err := f.makeFolder(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, private); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := syncFolder(filepath.Dir(dir)); err != nil {
		return err
	}
	f.known.Store(dir, true)
	return nil
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Get implements Place.
func (f *Files) Get(ctx context.Context, name string) ([]byte, error) {
	if err := check(name); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	data, err := os.ReadFile(f.path(name))
	return data, missing(name, err)
}

// Has implements Place.
func (f *Files) Has(_ context.Context, name string) (int64, error) {
	if err := check(name); err != nil {
		return 0, err
	}
	info, err := os.Stat(f.path(name))
	if err != nil {
		return 0, missing(name, err)
	}
	return info.Size(), nil
}

// Delete implements Place.
func (f *Files) Delete(_ context.Context, name string) error {
	if err := check(name); err != nil {
		return err
	}
	if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// looked is called where somebody else may come in between. Tests do.
var looked = func() {}

// DeleteOld implements Place. What is looked at must be what is deleted: between a look and a deletion the same name may be
// put again. So the file is taken aside first, where nobody puts anything, and one that is young goes back.
func (f *Files) DeleteOld(_ context.Context, name string, before time.Time) (bool, error) {
	if err := check(name); err != nil {
		return false, err
	}
	path := f.path(name)
	if info, err := os.Stat(path); err != nil || !info.ModTime().Before(before) {
		return false, missingIsFine(err)
	}
	looked()
	aside := filepath.Join(f.root, unfinished, rand.Text())
	if err := os.Rename(path, aside); err != nil {
		return false, missingIsFine(err)
	}
	looked()
	info, err := os.Stat(aside)
	if err != nil {
		return false, err
	}
	if info.ModTime().Before(before) {
		return true, os.Remove(aside)
	}
	// A link takes the place of nobody: if it was put once more, that one is as good.
	if err := os.Link(aside, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	return false, errors.Join(syncFolder(filepath.Dir(path)), os.Remove(aside))
}

// Walk implements Place.
func (f *Files) Walk(ctx context.Context, folder string, visit func(Info) error) error {
	if _, err := below(folder); err != nil {
		return err
	}
	err := filepath.WalkDir(f.path(folder), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // somebody deleted it while we came
		}
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		if e.IsDir() {
			if path == filepath.Join(f.root, unfinished) {
				return fs.SkipDir
			}
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return missingIsFine(err)
		}
		name, err := filepath.Rel(f.root, path)
		if err != nil {
			return err
		}
		return visit(Info{Name: filepath.ToSlash(name), Size: info.Size(), At: info.ModTime()})
	})
	return missingIsFine(err)
}

func missing(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || err != nil && strings.Contains(err.Error(), "is a directory") {
		return fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	return err
}

func missingIsFine(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
