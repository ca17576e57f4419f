package cli

import (
	"context"
	"errors"
	"fmt"
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
	if !store.Exists(c.Store.URL) {
		err := refuseAstray(c, "there is no store at %s")
		if err != nil && !store.Exists(c.Store.URL) { // no other process made it meanwhile
			return nil, err // before a file is made
		}
	}
	s, err := a.dial(ctx, c)
	if err != nil || !s.Embedded() {
		return s, err
	}
	if err := s.RequireSchema(ctx); errors.Is(err, store.ErrNoTables) {
		return s, refuseAstray(c, "the store %s is empty")
	}
	return s, nil // what else is wrong is said by those who need its tables
}

// refuseAstray looks for kept answers where those of a store would be.
func refuseAstray(c config.Config, said string) error {
	if strings.HasPrefix(c.Store.URL, "sqlite::memory:") || c.Evidence.URL == config.EvidenceNone {
		return nil
	}
	dir, ok := folderOf(c, c.Evidence.URL, besideStore)
	if !ok || !blob.HoldsFiles(dir, evidence.Folder) {
		return nil
	}
	return patra.Environment(fmt.Errorf(said+", but %s holds the answers of an earlier harvest. See that store.url is right, or put back a backup; "+
		"patra init --new-store begins a new one beside them", c.Redacted().Store.URL, dir))
}
