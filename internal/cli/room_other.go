//go:build !unix

package cli

// room is how much can still be written beside a file.
type room struct {
	bytes, files uint64
	limitedFiles bool
}

// roomAt is not known here.
func roomAt(string) (room, bool) { return room{}, false }

// openFiles is not known here.
func openFiles() (uint64, bool) { return 0, false }
