// Package blob keeps named bytes: in a folder, or in a bucket of an S3-compatible store.
//
// A blob is there whole or not at all, and once Put has returned it stays, whatever happens to the machine. The same name
// may be put again; the last one wins. A blob knows nothing of what it holds: hashing, compressing and forgetting are its
// users' business. Names are paths of plain parts with slashes between them.
package blob

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// ErrNotFound says that there is no blob of that name.
var ErrNotFound = errors.New("there is no such blob")

// Backend is where blobs are kept. It is safe for concurrent use.
type Backend interface {
	// Put keeps a blob. When it returns without an error, the blob is durable.
	Put(ctx context.Context, name string, data []byte) error
	// Get gives a blob, or ErrNotFound.
	Get(ctx context.Context, name string) ([]byte, error)
	// Has tells how large a blob is, or ErrNotFound.
	Has(ctx context.Context, name string) (size int64, err error)
	// Delete forgets a blob. One that is not there is forgotten already.
	Delete(ctx context.Context, name string) error
	// DeleteOld forgets a blob that was put before a time, and tells whether it did. One that is put anew meanwhile stays.
	DeleteOld(ctx context.Context, name string, before time.Time) (bool, error)
	// Walk visits all blobs below a folder, in an order that does not change, until visit fails. The empty folder is everything.
	Walk(ctx context.Context, folder string, visit func(Info) error) error
	// String is where it is, without secrets.
	String() string
}

// Info is what is known of a blob without reading it.
type Info struct {
	Name string
	Size int64
	At   time.Time // when it was put
}

var part = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._=-]*$`)

// maxName bounds names, as file systems do.
const maxName = 512

// check refuses names that could leave the place or mean something to it.
func check(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("a name of %d characters is too long", len(name))
	}
	for p := range strings.SplitSeq(name, "/") {
		if !part.MatchString(p) {
			return fmt.Errorf("%q is not the name of a blob", name)
		}
	}
	return nil
}

// below is the prefix of the names in a folder.
func below(folder string) (string, error) {
	if folder == "" {
		return "", nil
	}
	folder = strings.TrimSuffix(folder, "/")
	return folder + "/", check(folder)
}
