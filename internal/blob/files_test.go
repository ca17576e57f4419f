package blob_test

import (
	"os"
	"path/filepath"
	"testing"

	"patra/internal/blob"
	"patra/internal/blob/blobtest"
)

func openFiles(t testing.TB, dir string) blob.Backend {
	t.Helper()
	f, err := blob.OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFiles(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) (blob.Backend, func() blob.Backend) {
		dir := filepath.Join(t.TempDir(), "evidence")
		return openFiles(t, dir), func() blob.Backend { return openFiles(t, dir) }
	})
}

// What a process left behind when it died is no blob.
func TestUnfinishedFilesDoNotCount(t *testing.T) {
	dir := t.TempDir()
	f := openFiles(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "tmp", "half"), []byte("ha"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Walk(t.Context(), "", func(i blob.Info) error { t.Errorf("%+v", i); return nil }); err != nil {
		t.Error(err)
	}
}

// A full disk, or a folder that may not be written: an error, and nothing half done.
func TestWhatCannotBeWrittenIsNotThere(t *testing.T) {
	dir := t.TempDir()
	f := openFiles(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("a file where a folder should be"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Put(t.Context(), "a/b", []byte("x")); err == nil {
		t.Error("it was written")
	}
	if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
