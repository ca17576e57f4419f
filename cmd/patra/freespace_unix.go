//go:build unix

package main

import "syscall"

// freeSpace is how many bytes we may still write beside a file; ok is false where nobody can tell.
func freeSpace(dir string) (free uint64, ok bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true //nolint:gosec,unconvert // the types differ between systems, and no size is negative
}
