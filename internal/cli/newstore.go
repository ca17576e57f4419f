package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"patra"
	"patra/internal/blob"
	"patra/internal/config"
	"patra/internal/evidence"
	"patra/internal/store"
)

// dialNew connects to a store that may get its first tables. It refuses one that is empty or not there although answers are
// kept beside it: a wrong path or a lost store would mean a second full harvest.
func (a *app) dialNew(ctx context.Context, c config.Config) (*store.Store, error) {
	asked := false
	if !store.Exists(c.Store.URL) {
		err := a.refuseAstray(c, "there is no store at %s")
		if err != nil && !store.Exists(c.Store.URL) { // no other process made it meanwhile
			return nil, err // before a file is made
		}
		asked = err == nil
	}
	s, err := a.dial(ctx, c)
	if err != nil || !s.Embedded() {
		return s, err
	}
	if err := s.RequireSchema(ctx); errors.Is(err, store.ErrNoTables) && !asked {
		return s, a.refuseAstray(c, "the store %s is empty")
	}
	return s, nil // what else is wrong is said by those who need its tables
}

// refuseAstray looks for kept answers where those of a store would be. Where another store is beside it they may be that
// one's: stores in one folder share the folder of answers. Then it is only said.
func (a *app) refuseAstray(c config.Config, said string) error {
	if strings.HasPrefix(c.Store.URL, "sqlite::memory:") || c.Evidence.URL == config.EvidenceNone {
		return nil
	}
	dir, ok := folderOf(c, c.Evidence.URL, besideStore)
	if !ok || !blob.HoldsFiles(dir, evidence.Folder) {
		return nil
	}
	where := fmt.Sprintf(said, c.Redacted().Store.URL)
	if other := storeBeside(c); other != "" {
		fmt.Fprintf(a.stderr, "patra: %s, and a new one is made; the answers in %s are also those of %s beside it\n", where, dir, other)
		return nil
	}
	return patra.Environment(fmt.Errorf("%s, but %s holds the answers of an earlier harvest. See that store.url is right, or put back a backup; "+
		"patra init --new-store begins a new one beside them", where, dir))
}

// storeBeside is another file of SQLite in the folder of an embedded store, if there is one.
func storeBeside(c config.Config) string {
	const magic = "SQLite format 3\x00"
	own, ok := strings.CutPrefix(c.Store.URL, "sqlite:")
	if !ok {
		return ""
	}
	files, err := os.ReadDir(filepath.Dir(own))
	if err != nil {
		return ""
	}
	for _, f := range files {
		if f.Name() == filepath.Base(own) || !f.Type().IsRegular() {
			continue
		}
		if head, err := beginning(filepath.Join(filepath.Dir(own), f.Name()), len(magic)); err == nil && string(head) == magic {
			return f.Name()
		}
	}
	return ""
}

// beginning is how a file begins.
func beginning(path string, size int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, size)
	_, err = io.ReadFull(f, head)
	return head, err
}
