package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"patra"
)

// File is a sink that is a file with one event on each line. Some events are one write and one fsync. When the file is
// large enough, or a new day begins (UTC), it gets a name with the time and a new one is begun. Two processes may have it
// open at once, as one that was stopped still does when another takes over: each write is whole and at the end of the file.
type File struct {
	path  string
	limit int64
	now   func() time.Time

	f    *os.File
	size int64
	day  string
}

// FileOptions say where the file is and when a new one is begun.
type FileOptions struct {
	Path  string
	Limit int64            // bytes; 0: only at the end of the day
	Now   func() time.Time // nil: the clock
}

// OpenFile opens the file for adding to it. What a process that was killed left of a line is cut off: it was never
// acknowledged, and comes again.
func OpenFile(o FileOptions) (*File, error) {
	s := &File{path: o.Path, limit: o.Limit, now: o.Now}
	if s.now == nil {
		s.now = time.Now
	}
	return s, s.open()
}

func (s *File) open() error {
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	size, at, err := mend(f)
	if err == nil {
		err = syncFolder(s.path)
	}
	if err != nil {
		f.Close()
		return err
	}
	s.f, s.size, s.day = f, size, day(s.now())
	if size > 0 {
		s.day = day(at)
	}
	return nil
}

// mend cuts off an unfinished line, and tells the size and when the file was written last.
func mend(f *os.File) (int64, time.Time, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, time.Time{}, err
	}
	size, err := wholeLines(f, info.Size())
	if err != nil || size == info.Size() {
		return size, info.ModTime(), err
	}
	return size, info.ModTime(), errors.Join(f.Truncate(size), f.Sync())
}

// wholeLines is where the last whole line ends. It looks from the end.
func wholeLines(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for size > 0 {
		part := buf[:min(size, int64(len(buf)))]
		if _, err := f.ReadAt(part, size-int64(len(part))); err != nil && err != io.EOF {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return size - int64(len(part)) + int64(i) + 1, nil
		}
		size -= int64(len(part))
	}
	return 0, nil
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02") }

// syncFolder makes the name of a file durable.
func syncFolder(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Publish implements Publisher.
func (s *File) Publish(_ context.Context, events []patra.Event) []error {
	var lines bytes.Buffer
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			return same(len(events), err)
		}
		lines.Write(append(line, '\n'))
	}
	return same(len(events), s.write(lines.Bytes()))
}

func (s *File) write(lines []byte) error {
	if err := s.turn(); err != nil {
		return err
	}
	n, err := s.f.Write(lines)
	if err == nil {
		err = s.f.Sync()
	}
	if err != nil {
		// Half a line must not stay, for the next write would go on behind it. Opening again cuts it off.
		closeErr := s.f.Close()
		s.f = nil
		return errors.Join(err, closeErr)
	}
	s.size += int64(n)
	return nil
}

// turn sees to it that the right file is open: the one that has the name, of this day, and not too large.
func (s *File) turn() error {
	if s.f != nil && !s.hasName() { // somebody has moved it away
		if err := s.Close(); err != nil {
			return err
		}
	}
	if s.f == nil {
		if err := s.open(); err != nil {
			return err
		}
	}
	if s.size == 0 || (s.day == day(s.now()) && (s.limit == 0 || s.size < s.limit)) {
		return nil
	}
	if err := s.Close(); err != nil {
		return err
	}
	if err := os.Rename(s.path, s.spare()); err != nil {
		return err
	}
	return s.open()
}

func (s *File) hasName() bool {
	ours, err := s.f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(s.path)
	return err == nil && os.SameFile(ours, named)
}

// spare is a name for a finished file that nobody has: feed.jsonl becomes feed-20261115T021500Z.jsonl, and one more in the
// same second feed-20261115T021500Z-2.jsonl.
func (s *File) spare() string {
	ext := filepath.Ext(s.path)
	base := strings.TrimSuffix(s.path, ext) + "-" + s.now().UTC().Format("20060102T150405Z")
	for n := 1; ; n++ {
		name := base + ext
		if n > 1 {
			name = fmt.Sprintf("%s-%d%s", base, n, ext)
		}
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
}

// Close implements Publisher.
func (s *File) Close() error {
	if s.f == nil {
		return nil
	}
	err := s.f.Close()
	s.f = nil
	return err
}
