package store

import (
	"database/sql"
	"slices"
	"testing"
)

// Signals are settled by their keys, and a key holds the reason: one that is not on the list would stay open for ever.
func TestEveryReasonOfASignalIsKnown(t *testing.T) {
	s, err := Open(t.Context(), "sqlite::memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var reasons []string
	err = s.read(t.Context()).rows(stmt{"reasons", `SELECT item_code FROM sys_dict_item WHERE type_code = 'ing_signal_reason' ORDER BY item_code`}, func(r *sql.Rows) error {
		var reason string
		err := r.Scan(&reason)
		reasons = append(reasons, reason)
		return err
	})
	var known []string
	for _, reason := range everyReason {
		known = append(known, string(reason))
	}
	slices.Sort(known)
	if err != nil || !slices.Equal(reasons, known) {
		t.Errorf("the dictionary has %q, signals are settled for %q, %v", reasons, known, err)
	}
}
