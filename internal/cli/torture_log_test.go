package cli

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// accessLog is the provider's own log: a file, with a count of its lines that can be waited on.
type accessLog struct {
	file *os.File

	mu    sync.Mutex
	lines int
	grown chan struct{} // closed and made anew with every line
}

func newAccessLog(t testing.TB, folder string) *accessLog {
	file, err := os.Create(filepath.Join(folder, "access.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return &accessLog{file: file, grown: make(chan struct{})}
}

// Write takes one line.
func (l *accessLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines++
	close(l.grown)
	l.grown = make(chan struct{})
	return l.file.Write(p)
}

// count is how many requests have come.
func (l *accessLog) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines
}

// await returns when so many more requests have come, or when the patience is over; it tells which.
func (l *accessLog) await(more int, patience time.Duration) bool {
	want := l.count() + more
	for deadline := time.After(patience); ; {
		l.mu.Lock()
		n, grown := l.lines, l.grown
		l.mu.Unlock()
		if n >= want {
			return true
		}
		select {
		case <-grown:
		case <-deadline:
			return false
		}
	}
}
