package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

// maxSize is far above every key, and far below what would hurt.
const maxSize = 64 << 10

// everybody are the permissions that make a secret none.
const everybody = 0o006

// ReadFile reads the secret in a file. One line break at its end belongs to the editor, not to the secret.
func ReadFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", reason(path, err)
	}
	defer f.Close()
	info, err := f.Stat() // of the file that is open, so that it cannot be exchanged in between
	switch {
	case err != nil:
		return "", reason(path, err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file", path)
	case info.Mode().Perm()&everybody != 0 && runtime.GOOS != "windows": // which has no such bits
		return "", fmt.Errorf("everybody on this machine may read or change %s; run: chmod 600 %s", path, path)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return "", reason(path, err)
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	switch {
	case len(b) > maxSize:
		return "", fmt.Errorf("%s has more than %d bytes, and is hardly a secret", path, maxSize)
	case value == "":
		return "", fmt.Errorf("%s is empty", path)
	}
	return value, nil
}

// reason says why a file cannot be read, naming its path once.
func reason(path string, err error) error {
	if found, ok := errors.AsType[*fs.PathError](err); ok {
		err = found.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
