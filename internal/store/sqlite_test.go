package store

import (
	"path/filepath"
	"testing"
)

// What is promised about an embedded store is promised by these settings, and the driver has an order of its own for them.
func TestAnEmbeddedStoreIsSetAsItShouldBe(t *testing.T) {
	s, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "patra.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]string{"page_size": "8192", "journal_mode": "wal", "synchronous": "2", "busy_timeout": "10000", "cache_size": "-8192"} {
		var is string
		if err := s.db.QueryRowContext(t.Context(), "PRAGMA "+setting).Scan(&is); err != nil || is != want {
			t.Errorf("%s is %q and not %s, %v", setting, is, want, err)
		}
	}
}
