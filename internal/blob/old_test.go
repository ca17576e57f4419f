package blob

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Somebody forgets an old blob, and somebody else puts the same one again after the look and before the deletion, once or
// twice: what was put last stays.
func TestOldBlobsThatArePutAgain(t *testing.T) {
	defer func(was func()) { looked = was }(looked)
	dir := t.TempDir()
	f, err := OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	put := func() {
		if err := f.Put(t.Context(), "a/b", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for _, moments := range [][]bool{{true, false}, {false, true}, {true, true}} {
		put()
		long := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, "a", "b"), long, long); err != nil {
			t.Fatal(err)
		}
		at := 0
		looked = func() {
			if moments[at] {
				put()
			}
			at++
		}
		if _, err := f.DeleteOld(t.Context(), "a/b", time.Now().Add(-time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Get(t.Context(), "a/b"); err != nil {
			t.Errorf("%v: %v", moments, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
