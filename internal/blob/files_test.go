package blob_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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

// Answers of providers are ours alone: folders are made for nobody else, and those of earlier versions are closed.
func TestFoldersAreOurs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such bits")
	}
	root := filepath.Join(t.TempDir(), "above", "evidence")
	f, err := blob.OpenFiles(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Put(t.Context(), "bodies/ab/x.zst", []byte("x")); err != nil {
		t.Fatal(err)
	}
	modes := func(want fs.FileMode) {
		t.Helper()
		if err := filepath.WalkDir(filepath.Dir(root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().Perm() != want {
				t.Errorf("%s has the mode %04o", path, info.Mode().Perm())
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	modes(0o700)
	for mode, want := range map[fs.FileMode]fs.FileMode{0o750: 0o700, 0o770: 0o770, 0o500 | 0o200: 0o700} {
		if err := os.Chmod(root, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := blob.OpenFiles(root); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(root); err != nil || info.Mode().Perm() != want {
			t.Errorf("a folder with %04o has %v then, %v", mode, info.Mode(), err)
		}
	}
}
