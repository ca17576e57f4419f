package store

import (
	"path/filepath"
	"testing"
	"time"
)

// A transaction that took so long that an export may have passed it by is rolled back and tried again; one that did not is
// left alone.
func TestASlowTransactionIsTriedAgain(t *testing.T) {
	if inTime(longest) != nil || inTime(longest+1) == nil || longest > time.Minute {
		t.Errorf("the bound of %v does not hold", longest)
	}
	s, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "patra.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tries := 0
	err = s.write(t.Context(), "slow", func(*tx) error {
		tries++
		return inTime(longest * time.Duration(3-tries))
	})
	if err != nil || tries != 2 {
		t.Errorf("%d tries, %v", tries, err)
	}
}
