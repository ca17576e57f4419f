package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"patra/internal/store"
)

// Limits of what is around the store.
const (
	spaceWarn = 2 << 30
	spaceFail = 100 << 20
	filesWarn = 100_000 // every answer of a provider is a file
	filesFail = 1_000
	walWarn   = 1 << 30
)

// examineDisk looks whether there is room beside the embedded file, and whether it may be used.
func examineDisk(s *store.Store) []finding {
	if s.File() == "" {
		return nil
	}
	found := examineFolder("disk", filepath.Dir(s.File()), "the store")
	if info, err := os.Stat(s.File() + "-wal"); err == nil {
		found = append(found, judgeWAL(info.Size())...)
	}
	return found
}

// examineFolder tries to write into a folder, and looks how much fits.
func examineFolder(check, dir, what string) []finding {
	f, err := os.CreateTemp(dir, ".patra-doctor-*")
	if err != nil {
		return []finding{fail(check, "Allow patra to write there", "%s is not writable: %s", dir, why(err))}
	}
	f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return []finding{warn(check, "Remove it", "%s could not be removed: %s", f.Name(), err)}
	}
	r, known := roomAt(dir)
	if !known {
		return []finding{passed(check, "%s is writable", dir)}
	}
	return judgeRoom(check, what, r)
}

// judgeRoom says whether what is left is enough.
func judgeRoom(check, what string, r diskSpace) []finding {
	const next, stops = "Make room before a long harvest", "Make room: a harvest stops when nothing can be written"
	text := fmt.Sprintf("%.1f GiB are free beside %s", float64(r.bytes)/(1<<30), what)
	var found []finding
	switch {
	case r.bytes < spaceFail:
		found = append(found, fail(check, stops, "%s", text))
	case r.bytes < spaceWarn:
		found = append(found, warn(check, next, "%s", text))
	}
	files := fmt.Sprintf("%s files can still be made beside %s (inodes)", thousands(int64(min(r.files, 1<<62))), what) //nolint:gosec // bounded
	switch {
	case r.limitedFiles && r.files < filesFail:
		found = append(found, fail(check, stops, "%s", files))
	case r.limitedFiles && r.files < filesWarn:
		found = append(found, warn(check, next, "%s", files))
	}
	if len(found) == 0 {
		found = append(found, passed(check, "%s", text))
	}
	return found
}

// judgeWAL says whether the log of the embedded engine is of a usual size. It is emptied when nobody reads.
func judgeWAL(size int64) []finding {
	if size <= walWarn {
		return nil
	}
	return []finding{warn("wal", "Something reads the store for hours, such as an export or a copy: end it. Else stop every patra once", "The write-ahead log of the store has %.1f GiB", float64(size)/(1<<30))}
}

// why is the reason of an error about a file, without the name that we gave it for a moment.
func why(err error) error {
	if found, ok := errors.AsType[*fs.PathError](err); ok {
		return found.Err
	}
	return err
}
