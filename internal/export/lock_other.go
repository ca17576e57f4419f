//go:build !unix

package export

import "os"

// alone does nothing where the system has no advisory locks: write to a place from one process at a time there.
var alone = func(*os.File) error { return nil }
