//go:build unix

package cli

import "syscall"

// diskSpace is how much can still be written beside a file.
type diskSpace struct {
	bytes        uint64
	files        uint64 // that can still be made
	limitedFiles bool   // whether the file system has such a limit
}

// roomAt looks at a folder; ok is false where nobody can tell.
func roomAt(dir string) (r diskSpace, ok bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return r, false
	}
	r.bytes = uint64(s.Bavail) * uint64(s.Bsize)           //nolint:gosec,unconvert // the types differ between systems, and no size is negative
	r.files, r.limitedFiles = uint64(s.Ffree), s.Files > 0 //nolint:gosec,unconvert // likewise
	return r, true
}

// openFiles is how many files, connections included, this process may have open.
func openFiles() (limit uint64, ok bool) {
	var l syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return uint64(l.Cur), err == nil //nolint:gosec,unconvert // likewise
}
