package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
	"unsafe"

	"patra/internal/store/storetest"
)

// terminal is one of our own with so many columns: what is written to it, and the end where it can be read.
func terminal(t *testing.T, columns uint16) (tty, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal("there are no terminals here:", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	var locked, number int32
	size := [4]uint16{40, columns}
	ask := func(f *os.File, what uintptr, with unsafe.Pointer) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), what, uintptr(with)); errno != 0 {
			t.Fatal(errno)
		}
	}
	ask(screen, syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	ask(screen, syscall.TIOCGPTN, unsafe.Pointer(&number))
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	ask(tty, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	return tty, screen
}

// Nothing is cut off at the edge of a terminal, however narrow it is.
func TestNothingIsCutOffAtTheEdge(t *testing.T) {
	w := storetest.Eventful(t, storetest.Engines()[0])
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"records", "query"}, {"query", "explain", "crossref", "-q", "title:cancer"}, {"spec", "explain", "crossref"}, {"gate", "status"}, {"tasks"}, {"source", "list"},
	} {
		for _, columns := range []uint16{60, 80, 200} {
			t.Run(fmt.Sprint(args, columns), func(t *testing.T) {
				tty, screen := terminal(t, columns)
				shown := make(chan []byte)
				go func() {
					all, _ := io.ReadAll(screen) // ends with an error when nobody holds the other end
					shown <- all
				}()
				var stderr bytes.Buffer
				code := run(t.Context(), append(args, "--store", w.URL), append(os.Environ(), "PATRA_CONTACT=me@example.org"), tty, &stderr)
				if err := tty.Close(); err != nil {
					t.Fatal(err)
				}
				text := string(<-shown)
				if code != 0 {
					t.Fatalf("exit code %d: %s", code, stderr.String())
				}
				if strings.Contains(text, "≈") {
					t.Errorf("something is cut off:\n%s", text)
				}
				for line := range strings.SplitSeq(text, "\r\n") {
					if n := utf8.RuneCountInString(line); n > int(columns) && columns >= pageWidth && !strings.HasPrefix(line, "Request  ") {
						t.Errorf("a line has %d columns:\n%s", n, line)
					}
				}
			})
		}
	}
}
