package export

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrBusy says that another process writes to the same place.
var ErrBusy = errors.New("another process is writing it")

// Two processes that write the same unfinished file, as when an export is gone on with that only seemed to be dead, would
// each write into the other's, and neither hash would tell. So whoever writes holds a lock until the final name is given.

// lockFolder takes a folder of parts.
func lockFolder(root *os.Root) (*os.File, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	if err := alone(dir); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// lockFile takes the unfinished file, and makes it if need be. It is let go of and taken anew when it got its final name
// meanwhile: then it is somebody's export, and not ours to write to.
func lockFile(root *os.Root, name string) (*os.File, error) {
	for {
		f, err := root.OpenFile(partialName(name), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := alone(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		ours, err := f.Stat()
		named, namedErr := root.Lstat(partialName(name))
		if err == nil && namedErr == nil && os.SameFile(ours, named) {
			return f, nil
		}
		if err := errors.Join(err, f.Close()); err != nil || namedErr != nil && !errors.Is(namedErr, fs.ErrNotExist) {
			return nil, errors.Join(err, namedErr)
		}
	}
}

// IsLocked reports whether another process writes to a place. It is for those who have something to take over before they open
// it, and takes nothing itself.
func IsLocked(place string) bool {
	if info, err := os.Stat(place); err != nil || !info.IsDir() {
		place = filepath.Join(filepath.Dir(place), partialName(filepath.Base(place)))
	}
	f, err := os.Open(place)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(alone(f), ErrBusy)
}
