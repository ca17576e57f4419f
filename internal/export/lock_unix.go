//go:build unix

package export

import (
	"errors"
	"os"
	"syscall"
)

// alone sees to it that no other process has the same file or folder in hand. The system lets go of it when the process
// ends, however it ends. Where a disk knows no locks there is none.
var alone = func(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	return nil
}
