package cli

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"patra/internal/store/storetest"
)

// smallDisk is a disk of some kilobytes, which can be made larger, and be made one that can only be read. A machine on which
// nobody may mount anything has none.
func smallDisk(t *testing.T, kilobytes int) (folder string, change func(options string)) {
	t.Helper()
	folder = t.TempDir()
	size := func(kb int) string { return "size=" + strconv.Itoa(kb) + "k" }
	if err := syscall.Mount("patra-test", folder, "tmpfs", 0, size(kilobytes)); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder, func(options string) {
		t.Helper()
		flags := uintptr(syscall.MS_REMOUNT)
		if options == "ro" {
			flags, options = flags|syscall.MS_RDONLY, size(kilobytes)
		}
		if err := syscall.Mount("patra-test", folder, "tmpfs", flags, options); err != nil {
			t.Fatal(err)
		}
	}
}

// endedWith runs a command and gives its exit code and all that it said.
func endedWith(t *testing.T, c *exec.Cmd) (code int, said string) {
	t.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if how, ok := errors.AsType[*exec.ExitError](err); ok {
		return how.ExitCode(), out.String()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, out.String()
}

// counted is a provider of which it is known how often it was asked.
func (s *smallScene) counted() *atomic.Int64 {
	var n atomic.Int64
	inner := s.provider.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		inner.ServeHTTP(w, r)
	}))
	s.t.Cleanup(server.Close)
	s.base = server.URL
	return &n
}

// sound: the file is whole and keeps every promise, also now.
func (s *smallScene) sound() {
	s.t.Helper()
	db := storetest.Inspect(s.t, s.url())
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		s.t.Errorf("the file is damaged: %s %v", verdict, err)
	}
	storetest.CheckInvariants(s.t, db)
}

// The disk of the store is full in the middle of a harvest: that is said in a sentence, nothing half is there, and when
// there is room the same command goes on to the end.
func TestDiskFullUnderTheStore(t *testing.T) {
	t.Parallel()
	disk, change := smallDisk(t, 20<<10)
	s := newSmallScene(t, disk, filepath.Join(t.TempDir(), "answers"))
	if code, out := endedWith(t, s.patra("migrate")); code != 0 {
		t.Fatal(code, out)
	}
	// All but a little is taken by others.
	var free syscall.Statfs_t
	if err := syscall.Statfs(disk, &free); err != nil {
		t.Fatal(err)
	}
	const left = 1200 << 10
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, int64(free.Bavail)*free.Bsize-left), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out := endedWith(t, s.harvest())
	if code != exitEnvironment || !strings.Contains(out, "disk is full") || !strings.Contains(out, "Make room on the disk of the store, and give the same command again") {
		t.Fatalf("it ended with %d and said\n%s", code, out)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s.sound()
	change("size=64m")
	if code, out := endedWith(t, s.harvest()); code != 0 {
		t.Fatalf("with room it ended with %d and said\n%s", code, out)
	}
	s.exact()
	s.sound()
}

// The disk that an export or a backup goes to is full, and that of the store is not: what is said is about the right one.
func TestDiskFullElsewhere(t *testing.T) {
	t.Parallel()
	disk, _ := smallDisk(t, 64)
	s := newSmallScene(t, t.TempDir(), filepath.Join(t.TempDir(), "answers"))
	if code, out := endedWith(t, s.harvest()); code != 0 {
		t.Fatal(code, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"backup", filepath.Join(disk, "b.db")}, "the backup did not fit: " + disk + " is full"},
		{[]string{"records", "export", "--out", filepath.Join(disk, "x.jsonl")}, "x.jsonl is full"},
		{[]string{"records", "export", "--out", filepath.Join(disk, "full.jsonl")}, "full.jsonl is full; make room, then give the same command with --resume"},
	} {
		if strings.Contains(c.want, "full.jsonl") { // there is no room even to begin
			var free syscall.Statfs_t
			if err := syscall.Statfs(disk, &free); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, int64(free.Bavail)*free.Bsize), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if code, out := endedWith(t, s.patra(c.args...)); code != exitEnvironment || !strings.Contains(out, c.want) && !strings.Contains(out, "the disk of "+c.args[len(c.args)-1]+" is full") {
			t.Errorf("%v ended with %d and said\n%s", c.args, code, out)
		}
	}
}

// The disk of the kept answers is full: no page counts as read whose answer is not there, that is said in a sentence, and when
// there is room the same command goes on to the end.
func TestDiskFullUnderKeptAnswers(t *testing.T) {
	t.Parallel()
	answers, change := smallDisk(t, 48)
	s := newSmallScene(t, t.TempDir(), answers)
	code, out := endedWith(t, s.harvest())
	if code != exitEnvironment || !strings.Contains(out, "the disk of the kept answers is full: ") || !strings.Contains(out, answers) || !strings.Contains(out, "NOT_KEPT at evidence.url") ||
		!strings.Contains(out, "Make room where evidence.url points to, and give the same command again") || strings.Contains(out, "INTERNAL") {
		t.Fatalf("it ended with %d and said\n%s", code, out)
	}
	s.sound()
	if code, out := endedWith(t, s.patra("check", "--read-data")); code != 0 || !strings.Contains(out, ", 0 damaged") {
		t.Errorf("after a full disk: %d\n%s", code, out)
	}
	change("size=64m")
	if code, out := endedWith(t, s.harvest()); code != 0 {
		t.Fatalf("with room it ended with %d and said\n%s", code, out)
	}
	s.exact()
	if code, out := endedWith(t, s.patra("check", "--read-data")); code != 0 || !strings.Contains(out, ", 0 damaged") {
		t.Errorf("at the end: %d\n%s", code, out)
	}
}

// A store that cannot be written is refused, and nobody is asked for anything that could not be kept.
func TestDiskReadOnly(t *testing.T) {
	t.Parallel()
	disk, change := smallDisk(t, 20<<10)
	s := newSmallScene(t, disk, filepath.Join(t.TempDir(), "answers"))
	asked := s.counted()
	if code, out := endedWith(t, s.patra("migrate")); code != 0 {
		t.Fatal(code, out)
	}
	change("ro")
	code, out := endedWith(t, s.harvest())
	if code != exitEnvironment || !strings.Contains(out, "must be writable") || asked.Load() != 0 {
		t.Errorf("it ended with %d after %d requests and said\n%s", code, asked.Load(), out)
	}
	change("size=20m")
	if code, out := endedWith(t, s.harvest()); code != 0 || asked.Load() == 0 {
		t.Fatalf("it ended with %d and said\n%s", code, out)
	}
	s.exact()
}

// A process that may open only a few files says so, or gets along. Whatever it did is whole, and one that may open more
// does the rest.
func TestDiskAndFewOpenFiles(t *testing.T) {
	t.Parallel()
	s := newSmallScene(t, t.TempDir(), filepath.Join(t.TempDir(), "answers"))
	if code, out := endedWith(t, s.patra("migrate")); code != 0 {
		t.Fatal(code, out)
	}
	failed := 0
	for _, limit := range []string{"8", "11", "14", "17", "32"} {
		c := s.harvest()
		limited := exec.CommandContext(t.Context(), "sh", append([]string{"-c", "ulimit -n " + limit + "; exec \"$0\" \"$@\""}, append([]string{c.Path}, c.Args[1:]...)...)...)
		limited.Dir, limited.Env = c.Dir, c.Env
		code, out := endedWith(t, limited)
		if code != 0 {
			failed++
			if strings.Contains(out, "panic") || strings.Contains(out, "goroutine ") || strings.TrimSpace(out) == "" {
				t.Errorf("with %s files it ended with %d and said\n%s", limit, code, out)
			}
			// Whoever meets the limit says so: the store, or whoever keeps an answer or wants a connection.
			if !strings.Contains(out, "Only "+limit+" files may be open at once here") && !strings.Contains(out, "too many open files") || strings.Contains(out, "writable") {
				t.Errorf("with %s files it did not say that they are too few:\n%s", limit, out)
			}
		}
		t.Logf("with %s files: exit %d: %s", limit, code, lastLine(out))
		s.sound()
	}
	if failed == 0 {
		t.Error("there were always enough")
	}
	if code, out := endedWith(t, s.harvest()); code != 0 {
		t.Fatalf("it ended with %d and said\n%s", code, out)
	}
	s.exact()
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
