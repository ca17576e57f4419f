package cli

import (
	"bytes"
	"slices"
	"sync"
)

// lockedBuffer is what somebody writes, to be read while it is written. The buffer in it has no way in but ours: whoever copies into
// a buffer itself goes past the lock.
type lockedBuffer struct {
	mu      sync.Mutex
	written bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.written.Write(p)
}

// copy is what was written so far.
func (b *lockedBuffer) copy() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.written.Bytes())
}

// String implements fmt.Stringer.
func (b *lockedBuffer) String() string { return string(b.copy()) }

// tail is the end of it.
func (b *lockedBuffer) tail() string {
	text := b.copy()
	return string(text[max(len(text)-2000, 0):])
}
