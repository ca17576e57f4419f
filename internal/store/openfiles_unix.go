//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// fewFiles is a limit of open files below which a harvest cannot work: the store alone has a dozen open.
const fewFiles = 64

// openFiles says that a process may open too few files, if that is so. SQLite only says that it could not open one.
func openFiles() string {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return ""
	}
	f, err := os.Open(os.DevNull)
	_ = f.Close()
	if limit.Cur >= fewFiles && !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
		return ""
	}
	return fmt.Sprintf("Only %d files may be open at once here; allow more (ulimit -n 1024, or LimitNOFILE of the service), and give the same command again", limit.Cur)
}
