package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Why an export does not begin where it was told to.
var (
	ErrThere      = errors.New("it is there already")
	ErrUnfinished = errors.New("an unfinished export is there")
	ErrOther      = errors.New("the unfinished export that is there is another one")
	ErrComplete   = errors.New("it is complete already")
)

// ExistingPolicy is what to do about what is there already.
type ExistingPolicy struct{ Resume, Force bool }

// decide decides about the journal of an earlier export; nil is none. What comes back is gone on with.
func (h ExistingPolicy) decide(found *Journal, job Job) (*Journal, error) {
	switch {
	case found == nil || h.Force:
		return nil, nil
	case !h.Resume && found.Complete:
		return nil, ErrThere
	case !h.Resume:
		return nil, ErrUnfinished
	case found.Job.identity() != job.identity():
		return nil, ErrOther
	case found.Complete:
		return nil, ErrComplete
	}
	return found, nil
}

// FinishPublish finds out whether a sealed export has its final name, and gives it that if a crash came in between. A folder is
// known by its manifest.
func FinishPublish(place, sha256 string) (bool, error) {
	dir, name := filepath.Split(place)
	if info, err := os.Stat(place); err == nil && info.IsDir() {
		dir, name = place, manifestName
	}
	root, err := os.OpenRoot(filepath.Clean(dir))
	if err != nil {
		return false, err
	}
	defer root.Close()
	if sum, err := hashOf(root, name); err == nil && sum == sha256 {
		return true, nil
	}
	if sum, err := hashOf(root, partialName(name)); err != nil || sum != sha256 {
		return false, nil
	}
	if err := publish(root, name); err != nil {
		return false, fmt.Errorf("give the export its name: %w", err)
	}
	_ = root.Remove(journalName(name)) // there is nothing to go on with any more
	return true, nil
}
